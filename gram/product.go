package gram

import (
	"cmp"
	"context"
	"sync"

	"halfspace/internal/block"
	"halfspace/internal/microkernel"
	"halfspace/internal/parallel"
)

// A product computes the inner products of the rows of a and the rows of b by blocks: result(i, j) for row i of a and
// row j of b. If a and b are the same, it computes only j <= i. The order of operations of an element depends only on
// KC, not on the other sizes of blocks nor on the worker.
type product struct {
	table
	a, b     *Rows
	triangle bool // a and b are the same, and only j <= i is computed

	// place returns the memory of the result from element (i, j) on, and the distance between its rows. Blocks are
	// computed in that memory where they fit. If place is nil, blocks have their own memory.
	place func(i, j int) (to []float32, ldc, grow int)

	// finish is called with each block of the result. Elements above the diagonal of a triangle are undefined. The
	// blocks of a row come from one worker, in ascending order of columns. worker is the number of that worker.
	finish func(worker int, b *part)
}

// A part is a block of a result, from row i and column j on. Its rows lie as microkernel.Tile writes them.
type part struct {
	i, j, rows, cols int
	data             []float32
	ldc, grow        int
	isInPlace        bool // data is the memory that place returned
}

// at returns the first element of row r, and the distance to the next row.
func (b *part) at(r int) (first, ldc int) { return r*b.ldc + r*(r-1)/2*b.grow, b.ldc + r*b.grow }

func (b *part) row(r int) []float32 {
	first, _ := b.at(r)
	return b.data[first:][:b.cols]
}

// lower returns row r up to the diagonal, or nil if the block's part of the row lies above the diagonal.
func (b *part) lower(r int) []float32 {
	n := min(b.cols, b.i+r+1-b.j)
	if n <= 0 {
		return nil
	}
	return b.row(r)[:n]
}

// A worker is memory for packed rows of a, and for the same number of rows of the result, stride elements apart.
type worker struct {
	rows   int
	packed []float32
	stride int
	block  []float32
	packer packer
}

func newProduct(a, b *Rows, triangle bool) *product {
	return &product{table: tableFor(b.cols), a: a, b: b, triangle: triangle}
}

// run computes the product on workers goroutines. They pack NC rows of b together. Then each worker takes MC rows of a
// at a time, packs them, and multiplies.
func (p *product) run(ctx context.Context, workers int) error {
	if err := cmp.Or(p.a.err, p.b.err); err != nil {
		return err
	}
	rows := min(mc, roundUp(p.a.n, p.mr)) // rows of one task, at most
	workers = min(parallel.Workers(workers), p.a.n/p.mr+1)
	if t := p.transpose(); t != nil {
		return p.runSparse(ctx, workers, t)
	}
	room, stride := roundUp(min(p.nc, p.b.n), p.nr), min(nb, roundUp(p.b.n, p.nr))
	const line = 16 // elements of a cache line
	memory := take(roundUp(room*p.b.cols, line) + workers*(roundUp(rows*p.a.cols, line)+roundUp(rows*stride, line)))
	defer put(memory)
	free := *memory
	cut := func(n int) []float32 {
		part := free[:n:n]
		free = free[roundUp(n, line):]
		return part
	}
	packed, w := cut(room*p.b.cols), make([]worker, workers)
	for i := range w {
		w[i] = worker{rows: rows, packed: cut(rows * p.a.cols), stride: stride, block: cut(rows * stride)}
	}
	for lo := 0; lo < p.b.n; lo += p.nc {
		hi := min(p.b.n, lo+p.nc)
		const group = 8 // tiles of columns for each task
		err := parallel.For(ctx, workers, roundUp(hi-lo, group*p.nr)/(group*p.nr), func(worker, task int) {
			at := task * group * p.nr
			w[worker].packer.pack(p.b, packed, p.nr, room, at, lo+at, min(hi, lo+at+group*p.nr))
		})
		if err != nil {
			return err
		}
		cuts := p.cut(lo, workers)
		err = parallel.For(ctx, workers, len(cuts)-1, func(worker, task int) {
			// The longest rows of a triangle come first, so that workers end at about the same time.
			task = len(cuts) - 2 - task
			p.rows(ctx, &w[worker], worker, packed, room, cuts[task], cuts[task+1], lo, hi)
		})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// buffers holds the memory of earlier products: new memory would cost as much as packing.
var buffers sync.Pool

// take returns n elements or more, with any values.
func take(n int) *[]float32 {
	if b, ok := buffers.Get().(*[]float32); ok && len(*b) >= n {
		return b
	}
	b := block.Alloc[float32](n)
	return &b
}

func put(b *[]float32) { buffers.Put(b) }

// tasksPerWorker is the least number of tasks for each worker, if there are enough rows.
const tasksPerWorker = 4

// cut returns the borders of tasks of about equal size: at most MC rows, and a multiple of MR except for the last task.
func (p *product) cut(lo, workers int) []int {
	i := 0
	if p.triangle {
		i = lo
	}
	n := p.a.n - i
	tasks := roundUp(max((n+mc-1)/mc, tasksPerWorker*workers), workers)
	rows := roundUp((n+tasks-1)/tasks, p.mr)
	cuts := []int{i}
	for whole := i + n/p.mr*p.mr; i < whole; {
		i = min(i+rows, whole)
		cuts = append(cuts, i)
	}
	if i < p.a.n {
		cuts = append(cuts, p.a.n)
	}
	return cuts
}

// rows computes rows i0 to i1-1 of the result for the columns lo to hi-1, whose rows of b are in packed. It ends early
// if ctx ends.
func (p *product) rows(ctx context.Context, w *worker, number int, packed []float32, room, i0, i1, lo, hi int) {
	w.packer.pack(p.a, w.packed, p.mr, w.rows, 0, i0, i1)
	whole := hi // tiles before this column are whole
	if p.triangle {
		hi = min(hi, i1)
		whole = min(hi, i0)
	}
	whole = lo + (whole-lo)/p.nr*p.nr
	if p.place == nil || (i1-i0)%p.mr != 0 || p.b.cols == 0 {
		whole = lo
	}
	b := part{i: i0, rows: i1 - i0}
	for b.j = lo; b.j < hi && ctx.Err() == nil; b.j += b.cols {
		b.cols = min(hi-b.j, nb)
		if b.isInPlace = b.j < whole; b.isInPlace {
			b.cols = min(b.cols, whole-b.j)
			b.data, b.ldc, b.grow = p.place(b.i, b.j)
		} else {
			b.data, b.ldc, b.grow = w.block, w.stride, 0
		}
		if p.b.cols == 0 {
			clear(w.block)
		}
		for k := 0; k < p.b.cols; k += kc {
			p.panel(w, packed[k*room:], &b, lo, k)
		}
		p.finish(number, &b)
	}
}

// panel adds the products of the columns from k on, up to KC, to a block of the result.
func (p *product) panel(w *worker, packed []float32, b *part, lo, k int) {
	n := min(kc, p.b.cols-k)
	a := w.packed[k*w.rows:][:roundUp(b.rows, p.mr)*n]
	for j := b.j; j < b.j+b.cols; j += p.nr {
		first := 0 // row of the first tile on or below the diagonal
		if p.triangle && j > b.i {
			first = (j - b.i) / p.mr * p.mr
		}
		at, ldc := b.at(first)
		microkernel.Tile(b.data[at+j-b.j:], ldc, b.grow, a[first*n:], packed[(j-lo)*n:][:p.nr*n], k > 0)
	}
}

// The sizes of blocks, after Goto and van de Geijn (2008) and BLIS. MR and NR of the micro-kernel depend on the
// instruction set (microkernel.TileShape); they divide MC and NB for every instruction set.
//
//   - KC: columns of a panel. A panel of NR rows stays in the first-level cache while MC rows pass: 16 KiB.
//   - MC: rows that a worker packs at a time. MC x KC elements stay in the second-level cache: 144 KiB of float32.
//   - NB: columns of the result that a worker computes at a time. MC x NB elements stay in the second-level cache until
//     all panels are added.
//   - NC: packed rows that all workers share: at most ncBytes, which stream from the third-level cache or from memory.
//
// KC and NB are the same for every instruction set, because sums are cut there: inner products every KC columns, and
// sums over columns of the result (Expand, Combine) every NB columns. NC cuts no sum.
const (
	kc      = 256
	mc      = 144
	nb      = 384
	ncBytes = 32 << 20
)

// A table is the sizes of blocks for an instruction set and a number of columns.
type table struct{ mr, nr, nc int }

func tableFor(cols int) table {
	var t table
	t.mr, t.nr = microkernel.TileShape()
	t.nc = max(1, ncBytes/4/max(1, cols)/nb) * nb
	return t
}

// roundUp returns n rounded up to a multiple of m.
func roundUp(n, m int) int { return (n + m - 1) / m * m }
