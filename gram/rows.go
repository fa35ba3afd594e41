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
	zeros  []T // a row of them
}

// RowsOf returns the rows of d, the bias included. It shares their memory.
func RowsOf[T kernel.Float](d *block.Data[T]) *Rows[T] {
	x := &Rows[T]{cols: d.Spec().Cols(), zeros: make([]T, d.Spec().Cols())}
	for b := range d.Blocks(context.Background()) { // of a data set in memory: no error
		x.blocks, x.first = append(x.blocks, b), append(x.first, x.n)
		x.n += b.Len()
	}
	return x
}

// FeaturesOf returns the rows of d without the bias. It shares their memory.
func FeaturesOf[T kernel.Float](d *block.Data[T]) *Rows[T] {
	x := RowsOf(d)
	x.cols = len(d.Spec().Features)
	return x
}

// Values returns copies of some rows, one after the other.
func (x *Rows[T]) Values(numbers []uint32) []T {
	values := make([]T, 0, len(numbers)*x.cols)
	for _, r := range numbers {
		values = append(values, x.row(int(r), x.n)...)
	}
	return values
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
	return &Rows[T]{blocks: []*block.Block[T]{{Cols: cols, Stride: stride, X: values}}, first: []int{0}, n: n, cols: cols,
		zeros: make([]T, cols)}
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
// of width, which is even. A panel of up to KC columns of all rows comes after the other; in it, groups of width rows; in a
// group, the elements of its rows for each column. Zeros fill the last group.
func (x *Rows[T]) pack(packed []T, width, total, at, lo, hi int) {
	for r := lo; r < lo+up(hi-lo, width); {
		group, i := at+(r-lo)/width*width, (r-lo)%width
		a, b := x.row(r, hi), x.row(r+1, hi)
		if width-i < 4 {
			for k0 := 0; k0 < x.cols; k0 += kc {
				n := min(kc, x.cols-k0)
				interleave2(packed[k0*total+group*n+i:], width, a[k0:k0+n], b[k0:])
			}
			r += 2
			continue
		}
		c, d := x.row(r+2, hi), x.row(r+3, hi)
		for k0 := 0; k0 < x.cols; k0 += kc {
			n := min(kc, x.cols-k0)
			interleave4(packed[k0*total+group*n+i:], width, a[k0:k0+n], b[k0:], c[k0:], d[k0:])
		}
		r += 4
	}
}

// row returns row r, zeros if r is not below hi.
func (x *Rows[T]) row(r, hi int) []T {
	if r >= hi {
		return x.zeros
	}
	b, local := x.find(r)
	if b.Sparse == nil {
		return b.X[local*b.Stride:][:x.cols]
	}
	row := make([]T, x.cols)
	columns, values := b.Sparse.Row(local)
	for k, c := range columns {
		if int(c) < len(row) { // the bias may be left out
			row[c] = values[k]
		}
	}
	return row
}

// interleave2 and interleave4 write element k of each row to dst[k*width], dst[k*width+1], ...
func interleave2[T kernel.Float](dst []T, width int, a, b []T) {
	b = b[:len(a)]
	for k, v := range a {
		to := dst[k*width:][:2]
		to[0], to[1] = v, b[k]
	}
}

func interleave4[T kernel.Float](dst []T, width int, a, b, c, d []T) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	for k, v := range a {
		to := dst[k*width:][:4]
		to[0], to[1], to[2], to[3] = v, b[k], c[k], d[k]
	}
}
