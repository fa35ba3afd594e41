package gram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/microkernel"
	"halfspace/internal/parallel"
	"halfspace/kernel/f64"
)

// panelRows is the number of rows of one rank-k update. In a block of columns they take 8 KiB, a quarter of the
// first-level cache.
const panelRows = linalg.PanelRows

// A Triangle is the lower triangle of a symmetric matrix of N x N float64, row by row: element (i, j) with j <= i is
// Data[i*(i+1)/2+j]. LAPACK calls it packed storage.
type Triangle struct {
	N    int
	Data []float64
}

// NewTriangle returns a triangle of zeros. It returns an error if its bytes overflow an int.
func NewTriangle(n int) (*Triangle, error) {
	elements, err := triangleElements(n)
	if err != nil {
		return nil, err
	}
	return &Triangle{n, block.Alloc[float64](elements)}, nil
}

func triangleElements(n int) (int, error) {
	if n < 0 || n > math.MaxInt32-64 || n > 0 && n/2+1 > math.MaxInt/8/n {
		return 0, fmt.Errorf("a matrix of %d x %d float64 is too large for this machine's addresses", n, n)
	}
	return n * (n + 1) / 2, nil
}

// Row returns the elements of row i up to the diagonal.
func (m *Triangle) Row(i int) []float64 { return m.Data[i*(i+1)/2:][:i+1] }

// At returns the element in row i and column j.
func (m *Triangle) At(i, j int) float64 { return m.Data[max(i, j)*(max(i, j)+1)/2+min(i, j)] }

// MulVec sets y to the product of m and v. Both have N elements and must not overlap. It passes over the elements once,
// in order: y[i] = f64.Dot(row i up to the diagonal, v), then y[j] = fma(v[i], row i[j], y[j]) for j < i.
func (m *Triangle) MulVec(y, v []float64) {
	for i := range m.N {
		row := m.Row(i)
		y[i] = f64.Dot(row, v[:i+1])
		f64.Axpy(y[:i], v[i], row[:i])
	}
}

// check returns an error unless m has the elements that NewTriangle makes.
func (m *Triangle) check() error {
	if m == nil {
		return errors.New("the matrix is nil: make it by NewTriangle")
	}
	n, err := triangleElements(m.N)
	if err == nil && len(m.Data) < n {
		err = fmt.Errorf("a triangle of %d rows has %d elements, not %d: make it by NewTriangle", m.N, len(m.Data), n)
	}
	return err
}

// Scatter sets m to X' diag(s) X for the rows X of src: element (i, j) is the sum over the rows r of s[r] x[r][i]
// x[r][j]. It is, for example, the Hessian of a logistic loss, and with s = 1 the matrix from which scatter matrices
// are made. m must have as many rows as src has columns, or more; see below.
//
// setWeights sets s[r] for each row r of a chunk. It is called for several chunks at once. If it is nil, every weight is 1.
//
// m may have n more rows than src has columns. Then each row gets n extra columns f, which setWeights sets too: the
// extra columns of row r begin at f[r*n]. Row cols+k of m holds the sums over the rows of f[r*n+k] s[r] x[r][j]. Extra
// columns cost almost no time if they fit in the last block of 32 columns. Products of two extra columns are undefined
// in m.
//
// All sums are float64. A chunk of 4,096 rows is cut into panels of 32 rows: first the rows with a weight above 0, then
// the rows with a weight below 0. With u[r] = sqrt(|s[r]|) x[r], a panel's sum starts at +0 and is fma(u[r][i],
// u[r][j], sum) for j <= i, with r ascending. For weights below 0 it is fma(-u[r][i], u[r][j], sum). Panels are added
// to zeros in order, and chunks in row order. So the result depends neither on the number of workers nor on the
// instruction set. x is the row minus the subtrahend of its block's Centring, if the block has one.
func Scatter(ctx context.Context, m *Triangle, src block.Source,
	setWeights func(chunk block.Chunk, s, f []float64), workers int) error {
	workers, err := parallel.Resolve(workers)
	if err == nil {
		err = m.check()
	}
	if err != nil {
		return err
	}
	spec, err := block.SpecOf(src)
	if err != nil {
		return err
	}
	cols := spec.Cols()
	more := m.N - cols
	if more < 0 || more > 0 && setWeights == nil {
		return fmt.Errorf("the scatter matrix of %d columns can't have %d rows", cols, m.N)
	}
	if setWeights == nil {
		setWeights = func(_ block.Chunk, s, _ []float64) {
			for i := range s {
				s[i] = 1
			}
		}
	}
	total := newSums(cols, more)
	var chunks []*chunk
	w := make([]*scaledPanel, workers)
	for i := range w {
		w[i] = newScaledPanel(cols, more)
	}
	for found, err := range block.Chunks(ctx, src, windowChunks(cols, more)) {
		if err != nil {
			return err
		}
		for len(chunks) < len(found) {
			chunks = append(chunks, &chunk{sums: newSums(cols, more)})
		}
		for i, r := range found {
			chunks[i].Chunk = r
		}
		if err := scatterChunks(ctx, chunks[:len(found)], setWeights, w); err != nil {
			return err
		}
		for _, r := range chunks[:len(found)] {
			total.add(r.sums)
		}
	}
	total.store(m)
	return nil
}

// A chunk is the rows of a block.Chunk, their weights, their extra columns, and the sums over them.
type chunk struct {
	block.Chunk
	s, f       []float64
	ownWeights weights // memory of s and f if workers share the chunk
	sums       sums
}

// weights is memory for the weights and the extra columns of a chunk's rows.
type weights struct{ s, f []float64 }

// of returns the memory for a number of rows, with more extra columns each.
func (v *weights) of(rows, more int) (s, f []float64) {
	if v.s == nil {
		v.s, v.f = make([]float64, block.ChunkRows), make([]float64, block.ChunkRows*more)
	}
	return v.s[:rows], v.f[:rows*more]
}

// windowChunks is the number of chunks that workers share at a time: 64, or fewer if their sums or extra columns are large.
func windowChunks(cols, more int) int {
	const most = 16 << 20
	return min(64, max(1, most/(8*cols*(cols+more)+8*more*block.ChunkRows+1)))
}

// scatterChunks computes the sums of each chunk while the chunk is in the cache. With few chunks, workers share a chunk:
// each part of the work is some rows of the sums, and the parts have about the same area.
func scatterChunks(ctx context.Context, chunks []*chunk,
	setWeights func(chunk block.Chunk, s, f []float64), w []*scaledPanel) error {
	if len(chunks) == 0 {
		return nil
	}
	cuts := chunks[0].sums.cut((2*len(w) + len(chunks) - 1) / len(chunks))
	parts := len(cuts) - 1
	err := parallel.For(ctx, len(w), len(chunks), func(worker, i int) {
		r := chunks[i]
		clear(r.sums.blocks)
		if parts == 1 { // the worker's weights stay in its cache
			r.s, r.f = w[worker].weights.of(r.Len(), w[worker].more)
		} else {
			r.s, r.f = r.ownWeights.of(r.Len(), w[worker].more)
		}
		setWeights(r.Chunk, r.s, r.f)
		if parts == 1 {
			w[worker].sum(ctx, r, 0, cuts[1])
		}
	})
	if err == nil && parts > 1 {
		err = parallel.For(ctx, len(w), len(chunks)*parts, func(worker, task int) {
			r, part := chunks[task/parts], task%parts
			w[worker].sum(ctx, r, cuts[part], cuts[part+1])
		})
	}
	return cmp.Or(err, ctx.Err()) // a sum that ctx ended is incomplete
}

// sums is the lower triangle of a symmetric matrix in blocks of 32 x 32. Block i(i+1)/2+j is at block row i and block
// column j <= i. Block rows of extra columns have wide block columns, as many as the other columns need.
type sums struct {
	n, wide int
	blocks  []float64
}

const blockSize = microkernel.BlockCols * microkernel.BlockCols

func newSums(cols, more int) sums {
	s := sums{n: cols + more, wide: roundUp(cols, microkernel.BlockCols) / microkernel.BlockCols}
	s.blocks = block.Alloc[float64](s.first(s.rows()) * blockSize)
	return s
}

func (s sums) rows() int { return roundUp(s.n, microkernel.BlockCols) / microkernel.BlockCols }

// first returns the number of the first block of block row i.
func (s sums) first(i int) int {
	t := min(i, s.wide)
	return t*(t+1)/2 + (i-t)*s.wide
}

func (s sums) block(i, j int) []float64 { return s.blocks[(s.first(i)+j)*blockSize:][:blockSize] }

// cut returns the borders of at most parts ranges of block rows.
func (s sums) cut(parts int) []int {
	cuts, n := []int{0}, s.rows()
	for i := 1; i <= n; i++ {
		if i == n || s.first(i)*parts >= s.first(n)*len(cuts) {
			cuts = append(cuts, i)
		}
	}
	return cuts
}

// add adds t. Elements above the diagonal are undefined.
func (s sums) add(t sums) { f64.Axpy(s.blocks, 1, t.blocks) }

// store writes the sums to m.
func (s sums) store(m *Triangle) {
	for i := range m.N {
		row := m.Row(i)
		for j := 0; j < min(len(row), s.wide*microkernel.BlockCols); j += microkernel.BlockCols {
			b := s.block(i/microkernel.BlockCols, j/microkernel.BlockCols)
			copy(row[j:], b[i%microkernel.BlockCols*microkernel.BlockCols:][:microkernel.BlockCols])
		}
	}
}

// A scaledPanel is a panel of rows in blocks of columns, multiplied by the square roots of their weights.
type scaledPanel struct {
	hasNegative bool // a weight is below 0
	negated     []float64
	cols, more  int // number of columns, and of extra columns
	wide        []float64
	weights     weights   // weights of a chunk's rows
	idx         []int32   // numbers of the chunk's rows with weights of one sign
	rows        []float32 // sparse rows
	s, f        []float64 // weights and extra columns of rows with others between them
}

func newScaledPanel(cols, more int) *scaledPanel {
	n := roundUp(cols+more, microkernel.BlockCols) * panelRows
	return &scaledPanel{cols: cols, more: more, wide: block.Alloc[float64](n)}
}

// sum adds the rows of r to block rows lo to hi-1 of its sums. It stops when ctx ends.
func (w *scaledPanel) sum(ctx context.Context, r *chunk, lo, hi int) {
	w.add(ctx, r, lo, hi, false)
	if w.hasNegative {
		w.add(ctx, r, lo, hi, true)
	}
}

// list sets idx to the rows with weights below 0 if below is set, and to the rows with weights above 0 otherwise. It writes
// every number, and advances only past these rows: a branch would often be predicted wrong.
func (w *scaledPanel) list(s []float64, below bool) {
	if w.idx == nil {
		w.idx = make([]int32, block.ChunkRows)
	}
	idx, n, negative := w.idx[:len(s)], 0, 0
	for k, v := range s {
		idx[n] = int32(k)
		more, less := 0, 0
		if !(v <= 0) {
			more = 1
		}
		if v < 0 {
			less = 1
		}
		negative += less
		if below {
			more = less
		}
		n += more
	}
	w.idx, w.hasNegative = w.idx[:n], negative > 0
}

// add is sum for the rows with weights below 0 if below is set, and for the rows with weights above 0 otherwise.
func (w *scaledPanel) add(ctx context.Context, r *chunk, lo, hi int, below bool) {
	w.list(r.s, below)
	for at := 0; at < len(w.idx) && ctx.Err() == nil; at += panelRows {
		idx := w.idx[at:min(len(w.idx), at+panelRows)]
		s, f := w.weightsOf(r, idx)
		w.loadRows(r, idx, s, hi)
		w.lengthen(s, f)
		for i := lo; i < hi; i++ {
			rows := min(microkernel.BlockCols, roundUp(w.cols+w.more-i*microkernel.BlockCols, 4))
			a := w.wide[i*panelRows*microkernel.BlockCols:][:len(s)*microkernel.BlockCols]
			if below {
				w.negated = w.negated[:0]
				for _, v := range a {
					w.negated = append(w.negated, -v)
				}
				a = w.negated
			}
			for j := range min(i+1, roundUp(w.cols, microkernel.BlockCols)/microkernel.BlockCols) {
				b := w.wide[j*panelRows*microkernel.BlockCols:][:len(s)*microkernel.BlockCols]
				microkernel.RankKUpdate(r.sums.block(i, j), a, b, rows, j < i)
			}
		}
	}
}

// weightsOf returns the absolute values of the weights of the rows of r with the numbers idx, and their extra columns. It copies
// them if some rows between these are left out (many in a support vector machine), or if the weights are below 0.
func (w *scaledPanel) weightsOf(r *chunk, idx []int32) (s, f []float64) {
	n, k := len(idx), int(idx[0])
	if int(idx[n-1])-k == n-1 && !(r.s[k] < 0) {
		return r.s[k : k+n], r.f[k*w.more : (k+n)*w.more]
	}
	if w.s == nil {
		w.s, w.f = make([]float64, panelRows), make([]float64, panelRows*w.more)
	}
	for i, row := range idx {
		w.s[i] = math.Abs(r.s[row])
	}
	for i := range w.f[:n*w.more] {
		w.f[i] = r.f[int(idx[i/w.more])*w.more+i%w.more]
	}
	return w.s[:n], w.f[:n*w.more]
}

// loadRows fills the first blocks blocks of the panel with the rows of r that have the numbers idx and the weights s.
func (w *scaledPanel) loadRows(r *chunk, idx []int32, s []float64, blocks int) {
	if r.Sparse != nil {
		if w.rows == nil {
			w.rows = make([]float32, panelRows*r.Stride)
		}
		for i, row := range idx {
			r.Row(int(row), w.rows[i*r.Stride:][:r.Stride])
		}
		linalg.WidenPanel(w.wide, w.rows, s, r.Stride, w.cols, blocks, r.Centring)
		return
	}
	linalg.WidenRows(w.wide, r.Block, idx, s, w.cols, blocks)
}

// lengthen appends the extra columns to the rows.
func (w *scaledPanel) lengthen(s, f []float64) {
	for k := range w.more {
		c := w.cols + k
		at := w.wide[c/microkernel.BlockCols*panelRows*microkernel.BlockCols+c%microkernel.BlockCols:]
		for i, weight := range s {
			v := f[i*w.more+k]
			if weight != 1 { // a square root takes as long as the rest of the loop
				v *= math.Sqrt(weight)
			}
			at[i*microkernel.BlockCols] = v
		}
	}
}
