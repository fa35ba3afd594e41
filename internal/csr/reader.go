package csr

import (
	"halfspace/block"
	"halfspace/kernel"
)

// A Reader yields the rows of runs without zeros, as those of Rows. It packs dense rows one by one, in memory that stays in
// the first-level cache. It isn't safe for concurrent use.
type Reader[T kernel.Float] struct {
	sparse *kernel.SparseRows[T] // nil if the rows are dense
	run    block.Run[T]
	full   bool
	idx    []uint32
	every  []uint32 // the number of each column
	val    []T
}

// Read begins with rows in CSR form that have no zeros.
func (r *Reader[T]) Read(rows *kernel.SparseRows[T]) { r.sparse = rows }

// ReadDense begins with the rows of a dense run. full says that no element is 0.
func (r *Reader[T]) ReadDense(run block.Run[T], full bool) {
	r.sparse, r.run, r.full = nil, run, full
	if len(r.every) == run.Cols {
		return
	}
	r.idx, r.val, r.every = make([]uint32, run.Cols), make([]T, run.Cols), make([]uint32, run.Cols)
	for i := range r.every {
		r.every[i] = uint32(i)
	}
}

// Row returns the columns and the values of row k. They are valid until the next call.
func (r *Reader[T]) Row(k int) ([]uint32, []T) {
	if r.sparse != nil {
		return r.sparse.Row(k)
	}
	x := r.run.X[k*r.run.Stride:][:r.run.Cols]
	if r.full {
		return r.every, x
	}
	n := pack(r.idx, r.val, x)
	return r.idx[:n], r.val[:n]
}

// pack writes the elements of a dense row that aren't 0, and returns how many they are. It writes every element and then
// goes on or not: a branch would often be predicted wrongly.
func pack[T kernel.Float](idx []uint32, val, x []T) (n int) {
	idx, val = idx[:len(x)], val[:len(x)]
	for i, v := range x {
		idx[n], val[n] = uint32(i), v
		more := 0
		if v != 0 {
			more = 1
		}
		n += more
	}
	return n
}

// Elements returns how many elements of a dense run aren't 0.
func Elements[T kernel.Float](run block.Run[T]) (n int) {
	for r := range run.Len() {
		for _, v := range run.X[r*run.Stride:][:run.Cols] {
			more := 0
			if v != 0 {
				more = 1
			}
			n += more
		}
	}
	return n
}
