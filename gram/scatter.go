package gram

import (
	"context"
	"fmt"
	"slices"

	"halfspace/block"
	"halfspace/kernel"
)

// panelRows is how many rows Outer gets at a time: those of a block of columns, and the same weighed, are 16 KiB together, half of the first-level cache.
const panelRows = 32

// Scatter sets m to X' diag(s) X for the rows X of src: element (i, j) is the sum over rows r of s[r] x[r][i] x[r][j]. That is
// the Hessian of Newton's method for a logistic loss, and with s = 1 what scatter matrices are made of. m has as many rows as
// src has columns.
//
// weigh sets s[r] for each row r of a run; it is called for several runs at once. Without it, every weight is 1.
//
// All is float64. Within a run of 4,096 rows, those whose weight isn't 0 are cut into panels of 32; a panel's sum starts at +0 and is
// fma(x[r][i], s[r]*x[r][j], sum), j <= i, with r ascending; panels are added in order to zeros, and runs in row order to
// zeros. So the result doesn't depend on the number of workers, nor on the instruction set.
func Scatter[T kernel.Float](ctx context.Context, m *Symmetric[float64], src block.Source[T], weigh func(run block.Run[T], s []float64),
	workers int) error {
	cols := src.Spec().Cols()
	if m.N != cols {
		return fmt.Errorf("the scatter matrix of %d columns has as many rows, not %d", cols, m.N)
	}
	if weigh == nil {
		weigh = func(_ block.Run[T], s []float64) {
			for i := range s {
				s[i] = 1
			}
		}
	}
	workers = max(1, workers)
	total := newSums(cols)
	var runs []*run[T]
	w := make([]*weigher[T], workers)
	for i := range w {
		w[i] = newWeigher[T](cols)
	}
	for found, err := range block.Runs(ctx, src, windowRuns(cols)) {
		if err != nil {
			return err
		}
		for len(runs) < len(found) {
			runs = append(runs, &run[T]{sums: newSums(cols), s: make([]float64, block.RunRows)})
		}
		for i, r := range found {
			runs[i].Run, runs[i].s = r, runs[i].s[:r.Len()]
		}
		if err := scatterRuns(ctx, runs[:len(found)], weigh, w); err != nil {
			return err
		}
		for _, r := range runs[:len(found)] {
			total.add(r.sums)
		}
	}
	total.store(m)
	return nil
}

// A run is the rows of a run, their weights, and the sums over them.
type run[T kernel.Float] struct {
	block.Run[T]
	s    []float64
	sums sums
}

// windowRuns is how many runs are shared out at a time if they are in memory: 64, unless their sums are large.
func windowRuns(cols int) int {
	const most = 16 << 20
	return min(64, max(1, most/(8*cols*cols+1)))
}

// scatterRuns computes the sums of each run. Where there are few runs, workers share them: each part of a run is some rows of
// the sums, cut so that the parts have about the same area.
func scatterRuns[T kernel.Float](ctx context.Context, runs []*run[T], weigh func(block.Run[T], []float64), w []*weigher[T]) error {
	err := block.Parallel(ctx, len(w), len(runs), func(_, i int) {
		clear(runs[i].sums.blocks)
		weigh(runs[i].Run, runs[i].s)
	})
	if err != nil || len(runs) == 0 {
		return err
	}
	cuts := runs[0].sums.cut((2*len(w) + len(runs) - 1) / len(runs))
	parts := len(cuts) - 1
	return block.Parallel(ctx, len(w), len(runs)*parts, func(worker, task int) {
		r, part := runs[task/parts], task%parts
		w[worker].sum(r, cuts[part], cuts[part+1])
	})
}

// sums is the lower triangle of a symmetric matrix in blocks of OuterCols x OuterCols: of block rows i and block columns
// j <= i, block i(i+1)/2+j.
type sums struct {
	cols   int
	blocks []float64
}

const blockSize = kernel.OuterCols * kernel.OuterCols

func newSums(cols int) sums {
	n := up(cols, kernel.OuterCols) / kernel.OuterCols
	return sums{cols, block.Alloc[float64](n * (n + 1) / 2 * blockSize)}
}

func (s sums) rows() int { return up(s.cols, kernel.OuterCols) / kernel.OuterCols }

func (s sums) block(i, j int) []float64 { return s.blocks[(i*(i+1)/2+j)*blockSize:][:blockSize] }

// cut returns the borders of at most so many ranges of block rows.
func (s sums) cut(parts int) []int {
	cuts, n := []int{0}, s.rows()
	for i := 1; i <= n; i++ {
		if i == n || i*(i+1)*parts >= n*(n+1)*len(cuts) {
			cuts = append(cuts, i)
		}
	}
	return cuts
}

// add adds t. Elements above the diagonal say nothing.
func (s sums) add(t sums) { kernel.Axpy(1, t.blocks, s.blocks) }

// store writes the sums to m.
func (s sums) store(m *Symmetric[float64]) {
	for i := range m.N {
		row := m.lower(i)
		for j := 0; j < len(row); j += kernel.OuterCols {
			b := s.block(i/kernel.OuterCols, j/kernel.OuterCols)
			copy(row[j:], b[i%kernel.OuterCols*kernel.OuterCols:][:kernel.OuterCols])
		}
		for j := 0; m.Storage == Full && j < i; j++ {
			m.Data[j*m.Stride+i] = row[j]
		}
	}
}

// A weigher holds a panel of rows in blocks of columns, as float64, and the same multiplied by the weights.
type weigher[T kernel.Float] struct {
	cols          int
	wide, weighed []float64
	rows          []T       // where rows are gathered
	s             []float64 // their weights
}

func newWeigher[T kernel.Float](cols int) *weigher[T] {
	n := up(cols, kernel.OuterCols) * panelRows
	return &weigher[T]{cols: cols, wide: block.Alloc[float64](n), weighed: block.Alloc[float64](n)}
}

// sum adds the rows of r to block rows lo to hi of its sums.
func (w *weigher[T]) sum(r *run[T], lo, hi int) {
	for k := 0; k < len(r.s); {
		var x []T
		var s []float64
		x, s, k = w.panel(r, k)
		w.fill(x, s, r.Stride, hi)
		for i := lo; i < hi && len(s) > 0; i++ {
			rows := min(kernel.OuterCols, up(w.cols-i*kernel.OuterCols, 4))
			a := w.wide[i*panelRows*kernel.OuterCols:][:len(s)*kernel.OuterCols]
			for j := range i + 1 {
				b := w.weighed[j*panelRows*kernel.OuterCols:][:len(s)*kernel.OuterCols]
				kernel.Outer(a, b, r.sums.block(i, j), rows, j < i)
			}
		}
	}
}

// panel returns the next rows of r from row k on whose weights aren't 0, a panel at most, their weights, and where to go on. They are
// gathered if some are left out, as half of them are in a support vector machine, or if rows are sparse.
func (w *weigher[T]) panel(r *run[T], k int) (x []T, s []float64, next int) {
	n := min(panelRows, len(r.s)-k)
	if r.Sparse == nil && !slices.Contains(r.s[k:k+n], 0) {
		return r.X[k*r.Stride:], r.s[k : k+n], k + n
	}
	if w.rows == nil {
		w.rows, w.s = make([]T, panelRows*r.Stride), make([]float64, panelRows)
	}
	for n = 0; n < panelRows && k < len(r.s); k++ {
		if r.s[k] == 0 {
			continue
		}
		row := w.rows[n*r.Stride:][:r.Stride]
		if r.Sparse == nil {
			copy(row, r.X[k*r.Stride:])
		} else {
			clear(row)
			columns, values := r.Sparse.Row(k)
			for i, c := range columns {
				row[c] = values[i]
			}
		}
		w.s[n] = r.s[k]
		n++
	}
	return w.rows, w.s[:n], k
}

// fill fills the first so many blocks of columns with rows.
func (w *weigher[T]) fill(x []T, s []float64, stride, blocks int) {
	for j := range blocks {
		first := j * kernel.OuterCols
		at := first * panelRows
		kernel.Weigh(w.wide[at:], w.weighed[at:], x[first:], s, stride, min(kernel.OuterCols, up(w.cols-first, 4)))
	}
}
