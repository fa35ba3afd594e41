package gram

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"

	"halfspace/internal/block"
	"halfspace/kernel"
)

// Rows are the rows of a matrix, dense or sparse, accessed by number. Values must not change after the first kernel
// computation, because Rows keeps their norms.
type Rows struct {
	blocks []*block.Block
	first  []int // number of the first row of each block
	n      int
	cols   int
	zeros  []float32 // a row of zeros
	err    error     // error of the blocks

	columnMajor []float32 // for Columns: element k of row r is across[k*lda+r]; blocks is then nil
	lda         int

	mutex sync.Mutex // guards norms
	norms []float32  // squared norms; see squaredNorms
}

// RowsOf returns the rows of d, including the bias. They share d's memory. If a block doesn't have the shape of d's
// Spec (see block.Block.CheckShape), every computation on the rows returns that error.
func RowsOf(d *block.Data) *Rows {
	spec, err := block.SpecOf(block.Source(d))
	if err != nil {
		return &Rows{err: err}
	}
	x := &Rows{cols: spec.Cols(), zeros: make([]float32, spec.Cols())}
	n := 0
	for b := range d.Blocks(context.Background()) { // no error: the data set is in memory
		if err := b.CheckShape(spec.Cols()); err != nil {
			x.err = fmt.Errorf("block %d: %w", n, err)
			break
		}
		x.add(b)
		n++
	}
	return x
}

// BlockRows returns the first cols columns of the rows of b, whose shape must be right. They share b's memory.
func BlockRows(b *block.Block, cols int) *Rows {
	if b == nil {
		return &Rows{err: errors.New("the block is nil")}
	}
	x := &Rows{cols: cols, zeros: make([]float32, cols)}
	if x.err = b.CheckShape(b.Cols); x.err == nil && b.Cols < cols {
		x.err = fmt.Errorf("a block has %d columns, fewer than %d", b.Cols, cols)
	}
	if x.err == nil {
		x.add(b)
	}
	return x
}

// add adds the rows of a block.
func (x *Rows) add(b *block.Block) {
	x.blocks, x.first = append(x.blocks, b), append(x.first, x.n)
	x.n += b.Len()
}

// FeaturesOf returns the rows of d without the bias. They share d's memory.
func FeaturesOf(d *block.Data) *Rows {
	x := RowsOf(d)
	if x.err == nil {
		x.cols = d.Spec().Width()
	}
	return x
}

// Values returns copies of the rows with the given numbers, without gaps.
func (x *Rows) Values(numbers []uint32) []float32 {
	values := make([]float32, 0, len(numbers)*x.cols)
	for _, r := range numbers {
		values = append(values, x.row(int(r), x.n)...)
	}
	return values
}

// Add adds a times row r to sum, which has one element for each column: sum[c] = fma(a, row[c], sum[c]).
func (x *Rows) Add(sum []float64, a float64, r int) {
	if x.columnMajor == nil {
		if b, _ := x.find(r); b.Sparse != nil {
			columns, values := x.sparseRow(r)
			for k, c := range columns {
				sum[c] = math.FMA(a, float64(values[k]), sum[c])
			}
			return
		}
	}
	for c, v := range x.row(r, x.n) {
		sum[c] = math.FMA(a, float64(v), sum[c])
	}
}

// Dense returns n rows of cols elements that begin stride elements apart in values. They share the memory of values.
// Dense panics if values is too short, if a size is negative, or if stride is less than cols.
func Dense(values []float32, n, cols, stride int) *Rows {
	if n < 0 || cols < 0 || stride < cols {
		panic("gram: a negative size, or rows longer than the stride")
	}
	if n > 0 && cols > 0 && (len(values) < cols || (len(values)-cols)/stride < n-1) {
		panic("gram: short values")
	}
	return &Rows{blocks: []*block.Block{{Cols: cols, Stride: stride, X: values}}, first: []int{0}, n: n, cols: cols,
		zeros: make([]float32, cols)}
}

// Columns is Dense for rows that are the columns of a matrix: element k of row r is values[k*stride+r].
func Columns(values []float32, n, cols, stride int) *Rows {
	Dense(values, cols, n, stride) // checks the arguments
	if n == 0 || cols == 0 {
		return Dense(nil, n, cols, cols)
	}
	return &Rows{columnMajor: values, lda: stride, n: n, cols: cols, zeros: make([]float32, cols)}
}

// Len returns the number of rows.
func (x *Rows) Len() int { return x.n }

// Cols returns the number of columns, the bias included.
func (x *Rows) Cols() int { return x.cols }

// find returns the block that holds row r, and the number of the row in the block.
func (x *Rows) find(r int) (b *block.Block, local int) {
	i := sort.SearchInts(x.first, r+1) - 1
	return x.blocks[i], r - x.first[i]
}

// A packer packs rows.
type packer struct {
	rows      [][]float32 // rows of a group
	part      [][]float32 // columns of a panel, for each row of the group
	widePanel []float32   // elements of a panel in rows of kernel.Stride(width)
}

// pack packs rows lo to hi-1 of x as rows at, at+1, ... of packed, which has memory for total rows. at and total are
// multiples of width. packed holds panels of up to KC columns. A panel holds groups of width rows. A group holds, for
// each column, the elements of its rows. Zeros fill the last group.
func (p *packer) pack(x *Rows, packed []float32, width, total, at, lo, hi int) {
	if x.columnMajor != nil {
		x.packColumns(packed, width, total, at, lo, hi)
		return
	}
	stride := kernel.Stride(width)
	if stride != width && len(p.widePanel) < kc*stride {
		p.widePanel = block.Alloc[float32](kc * stride)
	}
	for r := lo; r < hi; r += width {
		p.rows, p.part = p.rows[:0], p.part[:0]
		for i := range width {
			p.rows = append(p.rows, x.row(r+i, hi))
		}
		p.part = append(p.part, p.rows...)
		for k0 := 0; k0 < x.cols; k0 += kc {
			n := min(kc, x.cols-k0)
			for i, row := range p.rows {
				p.part[i] = row[k0 : k0+n]
			}
			to := packed[k0*total+(at+r-lo)*n:][:n*width]
			if stride == width {
				kernel.Transpose(to, stride, p.part)
				continue
			}
			kernel.Transpose(p.widePanel[:n*stride], stride, p.part)
			squeeze(to, width, p.widePanel, stride)
		}
	}
}

// packColumns is pack for Columns. Their elements are already in packed order, so packColumns copies them.
func (x *Rows) packColumns(packed []float32, width, total, at, lo, hi int) {
	for k0 := 0; k0 < x.cols; k0 += kc {
		n := min(kc, x.cols-k0)
		for k := range n {
			row := x.columnMajor[(k0+k)*x.lda:][lo:hi]
			to := packed[k0*total+at*n+k*width:]
			for ; len(row) >= width; row = row[width:] {
				if width == 6 { // AVX2: faster than copy
					d, s := to[:6], row[:6]
					d[0], d[1], d[2], d[3], d[4], d[5] = s[0], s[1], s[2], s[3], s[4], s[5]
				} else {
					copy(to[:width], row)
				}
				to = to[min(len(to), n*width):]
			}
			if len(row) > 0 {
				clear(to[copy(to, row):width])
			}
		}
	}
}

// squeeze copies the first width elements of each row of wide, element by element, which is faster than copy.
func squeeze(dst []float32, width int, wide []float32, stride int) {
	for ; width == 6 && len(dst) >= 6; dst, wide = dst[6:], wide[stride:] { // AVX2
		to, from := dst[:6], wide[:6]
		to[0], to[1], to[2], to[3], to[4], to[5] = from[0], from[1], from[2], from[3], from[4], from[5]
	}
	for ; len(dst) > 0; dst, wide = dst[width:], wide[stride:] {
		for i := range width {
			dst[i] = wide[i]
		}
	}
}

// row returns row r, or zeros if r is not below hi.
func (x *Rows) row(r, hi int) []float32 {
	if r >= hi {
		return x.zeros
	}
	if x.columnMajor != nil {
		row := make([]float32, x.cols)
		for k := range row {
			row[k] = x.columnMajor[k*x.lda+r]
		}
		return row
	}
	if b, local := x.find(r); b.Sparse == nil {
		return b.X[local*b.Stride:][:x.cols]
	}
	row := make([]float32, x.cols)
	columns, values := x.sparseRow(r)
	for k, c := range columns {
		row[c] = values[k]
	}
	return row
}
