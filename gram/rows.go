package gram

import (
	"context"
	"sort"

	"halfspace/block"
	"halfspace/kernel"
)

// Rows are rows of a matrix by their numbers, dense or sparse.
type Rows[T kernel.Float] struct {
	blocks []*block.Block[T]
	first  []int // row of each block
	n      int
	cols   int
}

// RowsOf returns the rows of d, the bias included. It shares their memory.
func RowsOf[T kernel.Float](d *block.Data[T]) *Rows[T] {
	x := &Rows[T]{cols: d.Spec().Cols()}
	for b := range d.Blocks(context.Background()) { // of a data set in memory: no error
		x.blocks, x.first = append(x.blocks, b), append(x.first, x.n)
		x.n += b.Len()
	}
	return x
}

// Dense returns n rows of cols elements, each of which begins stride elements after the one before. It shares the memory
// of values, and panics if that is shorter.
func Dense[T kernel.Float](values []T, n, cols, stride int) *Rows[T] {
	if n < 0 || cols < 0 || stride < cols {
		panic("gram: a negative size, or rows longer than the stride")
	}
	if n > 0 && cols > 0 && (len(values) < cols || (len(values)-cols)/stride < n-1) {
		panic("gram: short values")
	}
	return &Rows[T]{blocks: []*block.Block[T]{{Cols: cols, Stride: stride, X: values}}, first: []int{0}, n: n, cols: cols}
}

// Len returns the number of rows.
func (x *Rows[T]) Len() int { return x.n }

// Cols returns the number of columns, the bias included.
func (x *Rows[T]) Cols() int { return x.cols }

// find returns the block that holds row r, and the row's number in it.
func (x *Rows[T]) find(r int) (b *block.Block[T], local int) {
	i := sort.SearchInts(x.first, r+1) - 1
	return x.blocks[i], r - x.first[i]
}

// pack packs rows lo to hi as rows at, at+1, ... of packed, which has room for total rows. Both at and total are multiples
// of width. A panel of up to KC columns of all rows comes after the other; in it, groups of width rows; in a group, the
// elements of its rows for each column. Zeros fill the last group.
func (x *Rows[T]) pack(packed []T, width, total, at, lo, hi int) {
	for r := lo; r < lo+up(hi-lo, width); r++ {
		group, i := at+(r-lo)/width*width, (r-lo)%width
		if r >= hi {
			x.packRow(packed, width, total, group, i, nil)
			continue
		}
		b, local := x.find(r)
		if b.Sparse == nil {
			x.packRow(packed, width, total, group, i, b.X[local*b.Stride:][:x.cols])
			continue
		}
		x.packRow(packed, width, total, group, i, nil)
		columns, values := b.Sparse.Row(local)
		for k, c := range columns {
			k0 := int(c) / kc * kc
			packed[k0*total+group*min(kc, x.cols-k0)+(int(c)-k0)*width+i] = values[k]
		}
	}
}

// packRow packs a row, nil for zeros, as row i of a group.
func (x *Rows[T]) packRow(packed []T, width, total, group, i int, row []T) {
	for k0 := 0; k0 < x.cols; k0 += kc {
		n := min(kc, x.cols-k0)
		to := packed[k0*total+group*n:][:n*width]
		if row == nil {
			for j := i; j < len(to); j += width {
				to[j] = 0
			}
			continue
		}
		part := row[k0 : k0+n]
		for j := i; j < len(to) && len(part) > 0; j += width {
			to[j] = part[0]
			part = part[1:]
		}
	}
}
