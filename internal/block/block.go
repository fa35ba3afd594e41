// Package block defines blocks of labelled rows, the unit that every algorithm reads.
//
// Source yields the blocks of a data set. FromRows, FromFlat and FromGenerator make sources from the rows of a
// program. Package schema describes the columns.
//
// Rows are numbered from 0 in the order in which they were kept. A chunk is ChunkRows consecutive rows. A block is as
// many whole chunks as fit in about 8 MiB, at least 1; only the last block is shorter. Blocks are cut by row number
// alone, never at the bounds of files or row groups. So the same rows give the same blocks from every source.
package block

import (
	"iter"
	"math"
	"slices"

	"halfspace/kernel"
	"halfspace/schema"
)

// ChunkRows is the number of rows in a chunk. A sum over rows is computed within each chunk, then over the chunks in row
// order.
const ChunkRows = 4096

// blockBytes is the approximate size of a block in bytes. Several blocks must fit into memory, and a block must be
// large enough to hide the cost of starting work on it.
const blockBytes = 8 << 20

// scanBytes is the approximate size in bytes of a block that is used once.
const scanBytes = 1 << 20

// A Block is consecutive rows of a data set with their labels, dense or sparse (compressed sparse rows, CSR).
//
// A dense block has X: row r is X[r*Stride : (r+1)*Stride], which is the values of the Cols columns, then zeros. A
// sparse block has Sparse in place of X, with ascending columns in each row. If the block has a bias, the bias is the
// last of the Cols columns and is 1 in every row, in both forms.
//
// Algorithms read rows through the methods, which give the same results for both forms. If an argument has another
// length than the method states, the method panics with a constant message before it writes anything, as package
// kernel does.
type Block struct {
	First  int64 // number of the block's first row
	Cols   int   // columns, the bias included
	Stride int   // kernel.Stride(Cols), the length of a vector of weights

	X      []float32          // dense rows
	Sparse *kernel.SparseRows // or sparse rows
	Y      []float32          // labels: -1 and +1, or class numbers; nil if unknown
	W      []float64          // sample weights, finite and at least 0, if Spec.Weighted is set; nil: every weight is 1

	Centring *Centring // nil: the rows are as stored
}

// A Centring subtracts from each column of a block a multiple of one column. The block stores the rows without the
// change. Code that widens a row to float64 applies the Centring to the widened row. The methods of Block ignore it.
type Centring struct {
	Column         int       // the column that is multiplied and subtracted
	Multiples      []float64 // for each column, the multiple of Column that is subtracted; 0 for Column itself
	ChangedColumns []uint32  // the columns with a multiple other than 0, ascending
}

// NewCentring returns the Centring that subtracts multiple[c] times column of from each column c. multiple[of] must
// be 0. If column of is the bias, which is 1 in every row, NewCentring subtracts the constant multiple[c] from column
// c.
func NewCentring(of int, multiple []float64) *Centring {
	c := &Centring{Column: of, Multiples: multiple}
	for i, m := range multiple {
		if m != 0 {
			c.ChangedColumns = append(c.ChangedColumns, uint32(i))
		}
	}
	return c
}

// Apply changes row, which has an element for each column. Each difference is rounded once. The difference of a
// float32 and a constant near it is exact.
func (c *Centring) Apply(row []float64) {
	x := -row[c.Column]
	for _, i := range c.ChangedColumns {
		row[i] = math.FMA(x, c.Multiples[i], row[i])
	}
}

// New returns a dense block of rows rows and cols columns. All values and labels are 0.
func New(first int64, rows, cols int) *Block {
	stride := kernel.Stride(cols)
	return &Block{First: first, Cols: cols, Stride: stride, X: Alloc[float32](rows * stride), Y: Alloc[float32](rows)}
}

// NewFor is New for the columns of spec. The block also has sample weights, all 0, if spec.Weighted is set.
func NewFor(spec *schema.Spec, first int64, rows int) *Block {
	b := New(first, rows, spec.Cols())
	if spec.Weighted {
		b.W = Alloc[float64](rows)
	}
	return b
}

// Rows returns the number of rows in each block of a data set of cols columns. The last block may be shorter.
func Rows(cols int) int {
	return chunks(blockBytes, cols) * ChunkRows
}

// ScanRows returns the number of rows in a block that is used once: it stays in the second-level cache.
func ScanRows(cols int) int { return chunks(scanBytes, cols) * ChunkRows }

// chunks returns the number of chunks that take about that number of bytes, at least 1.
func chunks(bytes, cols int) int { return max(1, bytes/(ChunkRows*kernel.Stride(cols)*4)) }

// Len returns the number of rows. A nil block has 0 rows.
func (b *Block) Len() int {
	switch {
	case b == nil:
		return 0
	case b.Sparse != nil:
		return max(0, len(b.Sparse.Ptr)-1)
	case b.Stride <= 0:
		return 0
	}
	return len(b.X) / b.Stride
}

// Slice returns the rows from lo up to, but not including, hi as a block that shares memory with b.
func (b *Block) Slice(lo, hi int) *Block {
	s := new(Block)
	b.SliceInto(s, lo, hi)
	return s
}

// SliceInto sets s to the rows from lo up to, but not including, hi, which share memory with b. s is a zero value or
// comes from SliceInto, which then allocates nothing.
func (b *Block) SliceInto(s *Block, lo, hi int) {
	sparse := s.Sparse
	*s = Block{First: b.First + int64(lo), Cols: b.Cols, Stride: b.Stride, Centring: b.Centring}
	if b.Sparse != nil {
		if s.Sparse = sparse; sparse == nil {
			s.Sparse = new(kernel.SparseRows)
		}
		*s.Sparse = kernel.SparseRows{Ptr: b.Sparse.Ptr[lo : hi+1], Idx: b.Sparse.Idx, Val: b.Sparse.Val}
	} else {
		s.X = b.X[lo*b.Stride : hi*b.Stride]
	}
	if b.Y != nil {
		s.Y = b.Y[lo:hi]
	}
	if b.W != nil {
		s.W = b.W[lo:hi]
	}
}

// Clone returns a copy that shares no memory with b, except for the Centring, which never changes.
func (b *Block) Clone() *Block {
	c := *b
	c.Y, c.W = slices.Clone(b.Y), slices.Clone(b.W)
	if b.Sparse != nil {
		c.Sparse = &kernel.SparseRows{Ptr: slices.Clone(b.Sparse.Ptr), Idx: slices.Clone(b.Sparse.Idx),
			Val: slices.Clone(b.Sparse.Val)}
	} else {
		c.X = Alloc[float32](len(b.X))
		copy(c.X, b.X)
	}
	return &c
}

// Scores writes the dot product of each row and w to out. w has Stride elements, out has Len elements.
func (b *Block) Scores(w, out []float32) {
	b.fits(w)
	if len(out) != b.Len() {
		panic("block: length of out is not the number of rows")
	}
	if b.Sparse != nil {
		b.Sparse.Scores(out, w)
		return
	}
	for p := range b.panels(kernel.PanelRows(b.Stride)) {
		kernel.Scores(out[p.First-b.First:][:p.Len()], p.X, w)
	}
}

// fits panics unless w has Stride elements.
func (b *Block) fits(w []float32) {
	if len(w) != b.Stride {
		panic("block: length of w is not the stride")
	}
}

// panels yields the rows of a dense block as blocks of at most rows rows. The limit bounds the work of one kernel
// call.
func (b *Block) panels(rows int) iter.Seq[*Block] {
	return func(yield func(*Block) bool) {
		for lo := 0; lo < b.Len(); lo += rows {
			if !yield(b.Slice(lo, min(b.Len(), lo+rows))) {
				return
			}
		}
	}
}

// Errors adds to counts[i] the number of rows whose label differs from the prediction of candidate i. The prediction
// is +1 if the score is > 0, otherwise -1. The candidates must have the block's columns.
func (b *Block) Errors(c *kernel.ErrorCounter, counts []int64) {
	if c.Cols() != b.Cols {
		panic("block: candidates of other columns")
	}
	if len(b.Y) != b.Len() {
		panic("block: short labels")
	}
	if b.Sparse == nil {
		c.Errors(counts, b.X, b.Y)
		return
	}
	if len(counts) != c.Len() {
		panic("block: length of counts is not the number of candidates")
	}
	c.Interleaved().Scores(b.Sparse, func(r, first int, scores []float32) {
		positive := b.Y[r] > 0
		for i, s := range scores {
			n := int64(0) // computed without a branch, which the processor would mispredict
			if (s > 0) != positive {
				n = 1
			}
			counts[first+i] += n
		}
	})
}

// Row writes row r to the front of to, and zeros after its columns.
func (b *Block) Row(r int, to []float32) {
	if b.Sparse == nil {
		clear(to[copy(to, b.X[r*b.Stride:][:b.Cols]):])
		return
	}
	clear(to)
	columns, values := b.Sparse.Row(r)
	for k, c := range columns {
		to[c] = values[k]
	}
}

// Elements yields the columns and the values of row r that aren't 0. A sparse row may yield stored zeros too.
func (b *Block) Elements(r int) iter.Seq2[int, float32] {
	return func(yield func(int, float32) bool) {
		if b.Sparse == nil {
			for c, v := range b.X[r*b.Stride:][:b.Cols] {
				if v != 0 && !yield(c, v) {
					return
				}
			}
			return
		}
		columns, values := b.Sparse.Row(r)
		for k, c := range columns {
			if !yield(int(c), values[k]) {
				return
			}
		}
	}
}

// Weight returns the sample weight of row r.
func (b *Block) Weight(r int) float64 {
	if b.W == nil {
		return 1
	}
	return b.W[r]
}

// Dot returns the dot product of row r and w, which has Stride elements.
func (b *Block) Dot(r int, w []float32) float32 {
	b.fits(w)
	if b.Sparse != nil {
		return b.Sparse.Score(r, w)
	}
	return kernel.Dot(b.X[r*b.Stride:(r+1)*b.Stride], w)
}

// Axpy adds a times row r to w, which has Stride elements.
func (b *Block) Axpy(w []float32, a float32, r int) {
	b.fits(w)
	if b.Sparse != nil {
		b.Sparse.Add(w, a, r)
		return
	}
	kernel.Axpy(w, a, b.X[r*b.Stride:(r+1)*b.Stride])
}

// RowScores writes the dot product of row r and each vector in w to out. w holds len(out) vectors of Stride elements.
// In a dense block, RowScores passes the vectors to the kernel as rows and the row as weights: the products and the
// order of their sum are the same.
func (b *Block) RowScores(r int, w, out []float32) {
	if len(w) != len(out)*b.Stride {
		panic("block: length of w is not a stride for each element of out")
	}
	if b.Sparse != nil {
		for i := range out {
			out[i] = b.Sparse.Score(r, w[i*b.Stride:(i+1)*b.Stride])
		}
		return
	}
	x := b.X[r*b.Stride : (r+1)*b.Stride]
	panel := kernel.PanelRows(b.Stride)
	for lo := 0; lo < len(out); lo += panel {
		hi := min(len(out), lo+panel)
		kernel.Scores(out[lo:hi], w[lo*b.Stride:hi*b.Stride], x)
	}
}

// MaxSquaredNorm returns the largest squared Euclidean norm of a row, the bias included. See kernel.MaxSquaredNorm.
func (b *Block) MaxSquaredNorm() float64 {
	if b.Sparse != nil {
		return b.Sparse.MaxSquaredNorm()
	}
	largest := 0.0
	for p := range b.panels(kernel.PanelRows(b.Stride)) {
		largest = max(largest, kernel.MaxSquaredNorm(p.X, b.Stride))
	}
	return largest
}

// SquaredNorm returns the squared Euclidean norm of row r, the bias included. It adds the squares in the same order
// as MaxSquaredNorm.
func (b *Block) SquaredNorm(r int) float64 {
	if b.Sparse != nil {
		row := kernel.SparseRows{Ptr: b.Sparse.Ptr[r : r+2], Idx: b.Sparse.Idx, Val: b.Sparse.Val}
		return row.MaxSquaredNorm()
	}
	return kernel.MaxSquaredNorm(b.X[r*b.Stride:(r+1)*b.Stride], b.Stride)
}
