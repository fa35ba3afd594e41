package svm

import (
	"context"
	"iter"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/schema"
)

const (
	farthest = 0x1p-12 // of the square of a column's mean is the variance at least of a column that isn't far from zero
	constant = 0x1p-92 // of it is the variance at most of a column that is taken for constant
)

// A frame is a change of variables for columns whose mean is many times their deviation. Of each of them, a multiple of another column
// is subtracted, so that what is left has a mean of about 0: of the bias, which is 1, or without a bias of one of them. The other column's
// weight becomes that of all of them together. Rows in a frame are float64: what is subtracted is nearly what there is, so that the
// difference is exact, but for values that are far from the rest.
type frame struct {
	of       int       // the column that is subtracted
	multiple []float64 // of it, for each column
}

// far returns the frame for the columns that are far from zero, or nil if there are none. at are sums at weights of 0, where all rows have
// the same dual variable over their weight, and h is the matrix there.
func (p *problem[T]) far(at *sums, h *hessian) *frame {
	f := &frame{of: p.cols - 1, multiple: make([]float64, p.cols)}
	total, found, largest := at.a[0]+at.a[1], 0, 0.0
	for i := range p.src.Spec().Features {
		mean := (at.ax[0][i] + at.ax[1][i]) / total
		square := (h.rows[i*(i+1)/2+i] - p.l2) / (p.loss.slope * at.weight)
		if mean != 0 && square-float64(mean*mean) <= farthest*mean*mean {
			f.multiple[i] = float64(T(mean))
			found++
			if size := math.Abs(mean); !p.src.Spec().Bias && size > largest {
				f.of, largest = i, size
			}
		}
	}
	if found == 0 || !p.src.Spec().Bias && found == 1 {
		return nil
	}
	if !p.src.Spec().Bias {
		by := f.multiple[f.of]
		f.multiple[f.of] = 0
		for i := range f.multiple {
			f.multiple[i] /= by
		}
	}
	return f
}

// constant tells whether all columns of the frame are nothing but rounding errors there, so that it serves nothing. h is the matrix in the frame
// where all rows are free.
func (p *problem[T]) constant(h *hessian, weight float64) bool {
	for i, m := range p.frame.multiple {
		square := (h.rows[i*(i+1)/2+i] - p.l2) / (p.loss.slope * weight)
		if m != 0 && square > constant*m*m {
			return false
		}
	}
	return p.src.Spec().Bias
}

// biased tells whether what is subtracted is multiples of the bias, the last of so many columns, or nothing, so that weights are penalised as
// they were.
func (f *frame) biased(cols int) bool { return f == nil || f.of == cols-1 }

// original returns the weights of the rows as they were, given those in the frame.
func (f *frame) original(w []float64) []float64 {
	if f == nil {
		return w
	}
	out := append([]float64(nil), w...)
	for i, m := range f.multiple {
		out[f.of] = math.FMA(-m, w[i], out[f.of])
	}
	return out
}

// A framed source is the rows of another in a frame.
type framed[T kernel.Float] struct {
	src     block.Source[T]
	frame   *frame
	workers int
}

func (f framed[T]) Spec() *schema.Spec { return f.src.Spec() }
func (f framed[T]) Rows() int64        { return f.src.Rows() }

// Blocks yields the blocks of the other source. A block is valid until the next one is asked for.
func (f framed[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[float64], error] {
	return func(yield func(*block.Block[float64], error) bool) {
		var into *block.Block[float64]
		for b, err := range f.src.Blocks(ctx) {
			if err == nil {
				into, err = f.change(ctx, b, into)
			}
			if !yield(into, err) || err != nil {
				return
			}
		}
	}
}

// change returns a block's rows in the frame. It may use the memory of the block before.
func (f framed[T]) change(ctx context.Context, b *block.Block[T], before *block.Block[float64]) (*block.Block[float64], error) {
	if b.Sparse != nil {
		return f.sparse(b), nil
	}
	to := before
	if to == nil || to.Len() < b.Len() {
		to = block.New[float64](b.First, b.Len(), b.Cols)
	}
	to = to.Slice(0, b.Len())
	to.First, to.W = b.First, b.W
	if b.Y == nil {
		to.Y = nil
	}
	changed := f.frame.changed()
	runs := (b.Len() + block.RunRows - 1) / block.RunRows
	return to, parallel.For(ctx, f.workers, runs, func(_, n int) {
		for r := n * block.RunRows; r < min(b.Len(), (n+1)*block.RunRows); r++ {
			if b.Y != nil {
				to.Y[r] = float64(b.Y[r])
			}
			f.row(b.X[r*b.Stride:][:b.Cols], to.X[r*to.Stride:], changed)
		}
	})
}

// row writes a dense row in the frame.
func (f framed[T]) row(from []T, to []float64, changed []uint32) {
	for i, v := range from {
		to[i] = float64(v)
	}
	x := -to[f.frame.of]
	for _, c := range changed {
		to[c] = math.FMA(x, f.frame.multiple[c], to[c])
	}
}

// changed returns the columns that something is subtracted from.
func (f *frame) changed() (columns []uint32) {
	for c, m := range f.multiple {
		if m != 0 {
			columns = append(columns, uint32(c))
		}
	}
	return columns
}

// sparse returns sparse rows in the frame. Each column that something is subtracted from is stored in each row.
func (f framed[T]) sparse(b *block.Block[T]) *block.Block[float64] {
	to := &kernel.SparseRows[float64]{Ptr: []int64{0}}
	var y []float64
	for _, v := range b.Y {
		y = append(y, float64(v))
	}
	changed := f.frame.changed()
	for r := range b.Len() {
		columns, values := b.Sparse.Row(r)
		x := 0.0
		if k, there := slices.BinarySearch(columns, uint32(f.frame.of)); there {
			x = -float64(values[k])
		}
		for rest := changed; len(columns)+len(rest) > 0; {
			v, c := 0.0, uint32(math.MaxUint32)
			if len(columns) > 0 {
				c = columns[0]
			}
			if len(rest) > 0 && rest[0] <= c {
				c = rest[0]
				rest = rest[1:]
			}
			if len(columns) > 0 && columns[0] == c {
				v = float64(values[0])
				columns, values = columns[1:], values[1:]
			}
			to.Idx, to.Val = append(to.Idx, c), append(to.Val, math.FMA(x, f.frame.multiple[c], v))
		}
		to.Ptr = append(to.Ptr, int64(len(to.Idx)))
	}
	return &block.Block[float64]{First: b.First, Cols: b.Cols, Stride: kernel.Stride[float64](b.Cols), Sparse: to, Y: y, W: b.W}
}
