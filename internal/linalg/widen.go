package linalg

import (
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/microkernel"
)

// Widen writes row r of a block to out, after the centring of the block. out has an element for each column.
func Widen(b *block.Block, r int, out []float64) {
	if b.Sparse != nil {
		clear(out)
		columns, values := b.Sparse.Row(r)
		for k, c := range columns {
			out[c] = float64(values[k])
		}
	} else {
		for c, v := range b.X[r*b.Stride:][:len(out)] {
			out[c] = float64(v)
		}
	}
	if b.Centring != nil {
		b.Centring.Apply(out)
	}
}

// AppendCentred appends the columns and the values of row r of a sparse block with a centring. The result includes every
// column that the centring changes.
func AppendCentred(b *block.Block, r int, idx []uint32, val []float64) ([]uint32, []float64) {
	columns, values := b.Sparse.Row(r)
	c, x := b.Centring, 0.0
	if k, there := slices.BinarySearch(columns, uint32(c.Column)); there {
		x = -float64(values[k])
	}
	for rest := c.ChangedColumns; len(columns)+len(rest) > 0; {
		v, at := 0.0, uint32(math.MaxUint32)
		if len(columns) > 0 {
			at = columns[0]
		}
		if len(rest) > 0 && rest[0] <= at {
			at = rest[0]
			rest = rest[1:]
		}
		if len(columns) > 0 && columns[0] == at {
			v = float64(values[0])
			columns, values = columns[1:], values[1:]
		}
		idx, val = append(idx, at), append(val, math.FMA(x, c.Multiples[at], v))
	}
	return idx, val
}

// A WideReader yields rows of blocks as float64, after the centring of the block, one by one, in memory that stays in the
// first-level cache. It isn't safe for concurrent use.
type WideReader struct {
	allColumns []uint32 // the number of each column
	columns    []uint32
	values     []float64
}

// Row returns the columns and the values of row r of a block. A dense row has all columns. A sparse row has its stored
// columns, and the columns that a centring changes. The slices are valid until the next call. The caller may change
// only the values.
func (w *WideReader) Row(b *block.Block, r int) ([]uint32, []float64) {
	if b.Sparse != nil && b.Centring != nil {
		w.columns, w.values = AppendCentred(b, r, w.columns[:0], w.values[:0])
		return w.columns, w.values
	}
	if b.Sparse != nil {
		columns, values := b.Sparse.Row(r)
		w.values = w.values[:0]
		for _, v := range values {
			w.values = append(w.values, float64(v))
		}
		return columns, w.values
	}
	for len(w.allColumns) < b.Cols {
		w.allColumns = append(w.allColumns, uint32(len(w.allColumns)))
	}
	w.values = slices.Grow(w.values[:0], b.Cols)[:b.Cols]
	Widen(b, r, w.values)
	return w.allColumns[:b.Cols], w.values
}

// PanelRows is the largest number of rows of a Panel. With a block of columns they fill a quarter of the first-level cache.
const PanelRows = 32

// widenedRows is the number of rows that WidenPanel reads side by side. CPUs prefetch few streams of memory at a time.
const widenedRows = 4

var ones = slices.Repeat([]float64{1}, PanelRows)

// WidenRows is WidenPanel for the rows of a dense block that have the given numbers, in ascending order.
func WidenRows(panel []float64, b *block.Block, numbers []int32, s []float64, cols, blocks int) {
	for first, end := 0, 0; first < len(numbers); first = end {
		for end = first + 1; end < len(numbers) && int(numbers[end]) == int(numbers[first])+end-first; end++ {
		}
		x := b.X[int(numbers[first])*b.Stride:]
		WidenPanel(panel[first*microkernel.BlockCols:], x, s[first:end], b.Stride, cols, blocks, b.Centring)
	}
}

// WidenPanel writes rows x of cols columns, times the square roots of s, to a panel: blocks of microkernel.BlockCols
// columns, each with PanelRows rows. It writes only the first blocks blocks. A product of two elements of a row then
// contains the row's weight once. x are rows of a dense block with the centring c, which may be nil.
func WidenPanel(panel []float64, x []float32, s []float64, stride, cols, blocks int, c *block.Centring) {
	const n, size = microkernel.BlockCols, PanelRows * microkernel.BlockCols
	blocks = min(blocks, (cols+n-1)/n)
	by := s
	if c != nil {
		by = ones[:len(s)]
	}
	for r := 0; r < len(s); r += widenedRows {
		some := by[r:min(len(s), r+widenedRows)]
		for j := range blocks {
			microkernel.ScaleRows(panel[j*size+r*n:], x[r*stride+j*n:], some, stride, min(n, (cols-j*n+3)/4*4))
		}
	}
	if c == nil {
		return
	}
	for _, i := range c.ChangedColumns {
		if int(i) >= blocks*n {
			break
		}
		column, m := panel[int(i)/n*size+int(i)%n:], c.Multiples[i]
		for r := range s {
			column[r*n] = math.FMA(-float64(x[r*stride+c.Column]), m, column[r*n])
		}
	}
	for r, weight := range s {
		if weight == 1 {
			continue
		}
		root := math.Sqrt(weight)
		for j := range blocks {
			row := panel[j*size+r*n:][:min(n, cols-j*n)]
			for k, v := range row {
				row[k] = float64(root * v)
			}
		}
	}
}
