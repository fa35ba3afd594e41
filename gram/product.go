package gram

import (
	"context"
	"sync"
	"unsafe"

	"halfspace/block"
	"halfspace/kernel"
)

// A product is the inner products of the rows of a with those of b, computed by blocks: result(i, j) for each row i of a
// and row j of b, or, where a and b are the same, for j <= i alone. The order of operations of each doesn't depend on the
// blocks' sizes, save KC, nor on who computes it.
type product[T kernel.Float] struct {
	table
	a, b     *Rows[T]
	triangle bool // a and b are the same; only j <= i is wanted

	// finish takes a block of the result, from row i and column j on: len(block)/stride rows, of which cols columns count.
	// Elements above the diagonal of a triangle are undefined. Blocks of a row come with ascending columns, from one
	// worker, whose number is given.
	finish func(worker, i, j, cols int, block []T, stride int)
}

// A worker's memory: room for rows of a, packed, and for as many of the result, stride elements apart.
type worker[T kernel.Float] struct {
	rows   int
	packed []T
	stride int
	block  []T
}

func newProduct[T kernel.Float](a, b *Rows[T], triangle bool) *product[T] {
	return &product[T]{table: tableFor[T](b.cols), a: a, b: b, triangle: triangle}
}

// run computes the product on so many workers: all of them pack NC rows of b, then each takes rows of a, MC at a time,
// packs them, and multiplies.
func (p *product[T]) run(ctx context.Context, workers int) error {
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
		w[i] = worker[T]{rows, cut(rows * p.a.cols), stride, cut(rows * stride)}
	}
	for lo := 0; lo < p.b.n; lo += p.nc {
		hi := min(p.b.n, lo+p.nc)
		const group = 8 // tiles of columns for each task
		err := block.Parallel(ctx, workers, up(hi-lo, group*p.nr)/(group*p.nr), func(_, task int) {
			at := task * group * p.nr
			p.b.pack(packed, p.nr, room, at, lo+at, min(hi, lo+at+group*p.nr))
		})
		if err != nil {
			return err
		}
		cuts := p.cut(lo, hi, tasksEach*workers)
		err = block.Parallel(ctx, workers, len(cuts)-1, func(worker, task int) {
			for i := cuts[task]; i < cuts[task+1]; i += mc {
				p.rows(w[worker], worker, packed, room, i, min(i+mc, cuts[task+1]), lo, hi)
			}
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

// tasksEach is how many tasks each worker has where all are equally fast.
const tasksEach = 8

// cut returns the borders of at most so many tasks: ranges of rows whose parts of columns lo to hi have about the same
// area. All but the last have a multiple of MR rows.
func (p *product[T]) cut(lo, hi, tasks int) []int {
	first := 0
	if p.triangle {
		first = lo
	}
	area := func(i int) int { // of rows first to i
		if !p.triangle {
			return (i - first) * (hi - lo)
		}
		corner := min(i, hi) - lo
		return corner*(corner+1)/2 + (i-lo-corner)*(hi-lo)
	}
	cuts := []int{first}
	for i := first; i < p.a.n; {
		i = min(i+p.mr, p.a.n)
		if i == p.a.n || area(i) >= area(p.a.n)/tasks*len(cuts) {
			cuts = append(cuts, i)
		}
	}
	return cuts
}

// rows computes rows i0 to i1 of the result for the columns lo to hi, whose rows of b are in packed.
func (p *product[T]) rows(w worker[T], number int, packed []T, room, i0, i1, lo, hi int) {
	p.a.pack(w.packed, p.mr, w.rows, 0, i0, i1)
	if p.triangle {
		hi = min(hi, i1)
	}
	for j0 := lo; j0 < hi; j0 += p.nb {
		j1 := min(hi, j0+p.nb)
		if p.b.cols == 0 {
			clear(w.block)
		}
		for k := 0; k < p.b.cols; k += kc {
			p.panel(w, packed[k*room:], i0, i1, j0, j1, lo, k)
		}
		p.finish(number, i0, j0, j1-j0, w.block[:(i1-i0)*w.stride], w.stride)
	}
}

// panel adds to the block of rows i0 to i1 and columns j0 to j1 the products of the columns from k on.
func (p *product[T]) panel(w worker[T], packed []T, i0, i1, j0, j1, lo, k int) {
	n := min(kc, p.b.cols-k)
	a := w.packed[k*w.rows:][:up(i1-i0, p.mr)*n]
	for j := j0; j < j1; j += p.nr {
		first := 0 // row of the first tile that isn't above the diagonal
		if p.triangle && j > i0 {
			first = (j - i0) / p.mr * p.mr
		}
		kernel.Tile(a[first*n:], packed[(j-lo)*n:][:p.nr*n], w.block[first*w.stride+j-j0:], w.stride, k > 0)
	}
}
