package gram

import (
	"cmp"
	"context"
	"sync"
	"unsafe"

	"halfspace/block"
	"halfspace/internal/microkernel"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// A product is the inner products of the rows of a with those of b, computed by blocks: result(i, j) for each row i of a
// and row j of b, or, where a and b are the same, for j <= i alone. The order of operations of each doesn't depend on the
// blocks' sizes, save KC, nor on who computes it.
type product[T kernel.Float] struct {
	table
	a, b     *Rows[T]
	triangle bool // a and b are the same; only j <= i is wanted

	// place, if there is one, returns where element (i, j) of the result is to be, and how its rows lie from there on. Blocks
	// that can be are computed there.
	place func(i, j int) (to []T, ldc, grow int)

	// finish takes a block of the result. Elements above the diagonal of a triangle are undefined. Blocks of a row come with
	// ascending columns, from one worker, whose number is given.
	finish func(worker int, b *part[T])
}

// A part is a block of a result, from row i and column j on. Its rows lie as microkernel.Tile writes them.
type part[T kernel.Float] struct {
	i, j, rows, cols int
	data             []T
	ldc, grow        int
	placed           bool // data is where the block is to be
}

// at returns where row r begins, and how far it is from there to the next.
func (b *part[T]) at(r int) (first, ldc int) { return r*b.ldc + r*(r-1)/2*b.grow, b.ldc + r*b.grow }

func (b *part[T]) row(r int) []T {
	first, _ := b.at(r)
	return b.data[first:][:b.cols]
}

// lower returns row r up to the diagonal, and none of it if it lies above.
func (b *part[T]) lower(r int) []T {
	n := min(b.cols, b.i+r+1-b.j)
	if n <= 0 {
		return nil
	}
	return b.row(r)[:n]
}

// A worker's memory: room for rows of a, packed, and for as many of the result, stride elements apart.
type worker[T kernel.Float] struct {
	rows   int
	packed []T
	stride int
	block  []T
	packer packer[T]
}

func newProduct[T kernel.Float](a, b *Rows[T], triangle bool) *product[T] {
	return &product[T]{table: tableFor[T](b.cols), a: a, b: b, triangle: triangle}
}

// run computes the product on so many workers: all of them pack NC rows of b, then each takes rows of a, MC at a time,
// packs them, and multiplies.
func (p *product[T]) run(ctx context.Context, workers int) error {
	if err := cmp.Or(p.a.err, p.b.err); err != nil {
		return err
	}
	rows := min(mc, up(p.a.n, p.mr)) // at a time
	workers = min(max(1, workers), p.a.n/p.mr+1)
	room, stride := up(min(p.nc, p.b.n), p.nr), min(p.nb, up(p.b.n, p.nr))
	const line = 16 // elements of a cache line, or of two
	memory := take[T](up(room*p.b.cols, line) + workers*(up(rows*p.a.cols, line)+up(rows*stride, line)))
	defer put(memory)
	free := *memory
	cut := func(n int) []T {
		part := free[:n:n]
		free = free[up(n, line):]
		return part
	}
	packed, w := cut(room*p.b.cols), make([]worker[T], workers)
	for i := range w {
		w[i] = worker[T]{rows: rows, packed: cut(rows * p.a.cols), stride: stride, block: cut(rows * stride)}
	}
	for lo := 0; lo < p.b.n; lo += p.nc {
		hi := min(p.b.n, lo+p.nc)
		const group = 8 // tiles of columns for each task
		err := parallel.For(ctx, workers, up(hi-lo, group*p.nr)/(group*p.nr), func(worker, task int) {
			at := task * group * p.nr
			w[worker].packer.pack(p.b, packed, p.nr, room, at, lo+at, min(hi, lo+at+group*p.nr))
		})
		if err != nil {
			return err
		}
		cuts := p.cut(lo, workers)
		err = parallel.For(ctx, workers, len(cuts)-1, func(worker, task int) {
			task = len(cuts) - 2 - task // of a triangle the longest rows first, so that the shortest are left for the end
			p.rows(&w[worker], worker, packed, room, cuts[task], cuts[task+1], lo, hi)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// buffers are the memory of former products, by the type of elements: new memory would cost as much as packing does.
var buffers [2]sync.Pool

func pool[T kernel.Float]() *sync.Pool { return &buffers[unsafe.Sizeof(T(0))/8] }

// take returns n elements that hold anything.
func take[T kernel.Float](n int) *[]T {
	if b, ok := pool[T]().Get().(*[]T); ok && len(*b) >= n {
		return b
	}
	b := block.Alloc[T](n)
	return &b
}

func put[T kernel.Float](b *[]T) { pool[T]().Put(b) }

// tasksEach is how many tasks each worker has at least, where there are rows enough.
const tasksEach = 4

// cut returns the borders of tasks: about equally many rows, at most MC, a multiple of MR but for the last task.
func (p *product[T]) cut(lo, workers int) []int {
	i := 0
	if p.triangle {
		i = lo
	}
	n := p.a.n - i
	tasks := up(max((n+mc-1)/mc, tasksEach*workers), workers)
	rows := up((n+tasks-1)/tasks, p.mr)
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

// rows computes rows i0 to i1 of the result for the columns lo to hi, whose rows of b are in packed.
func (p *product[T]) rows(w *worker[T], number int, packed []T, room, i0, i1, lo, hi int) {
	w.packer.pack(p.a, w.packed, p.mr, w.rows, 0, i0, i1)
	whole := hi // columns up to there are in no tile that isn't all of the result
	if p.triangle {
		hi = min(hi, i1)
		whole = min(hi, i0)
	}
	whole = lo + (whole-lo)/p.nr*p.nr
	if p.place == nil || (i1-i0)%p.mr != 0 || p.b.cols == 0 {
		whole = lo
	}
	b := part[T]{i: i0, rows: i1 - i0}
	for b.j = lo; b.j < hi; b.j += b.cols {
		b.cols = min(hi-b.j, p.nb)
		if b.placed = b.j < whole; b.placed {
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

// panel adds to a block of the result the products of the columns from k on.
func (p *product[T]) panel(w *worker[T], packed []T, b *part[T], lo, k int) {
	n := min(kc, p.b.cols-k)
	a := w.packed[k*w.rows:][:up(b.rows, p.mr)*n]
	for j := b.j; j < b.j+b.cols; j += p.nr {
		first := 0 // row of the first tile that isn't above the diagonal
		if p.triangle && j > b.i {
			first = (j - b.i) / p.mr * p.mr
		}
		at, ldc := b.at(first)
		microkernel.Tile(b.data[at+j-b.j:], ldc, b.grow, a[first*n:], packed[(j-lo)*n:][:p.nr*n], k > 0)
	}
}
