package svm

import (
	"math"
	"slices"

	"halfspace/train/learner"
)

const (
	farthest = 0x1p-12 // a column is far from zero if its variance is at most this times its squared mean
	constant = 0x1p-92 // a column is constant if its variance is at most this times its squared mean
)

// A frame is a change of variables for columns whose mean is many times their deviation. learner.Centre subtracts a
// multiple of another column from each of these columns, so that the mean becomes about 0. The other column is the
// bias, which is 1; without a bias it is one of these columns. The weight of the other column then stands for all of
// them together.
type frame struct {
	of       int       // number of the other column
	multiple []float64 // multiple of the other column that is subtracted from each column
}

// far returns the frame for the columns that are far from zero, or nil if none are. at and h are the sums and the
// Hessian at zero weights, where the dual variable of each row is proportional to its sample weight.
func (p *problem) far(at *sums, h *hessian) *frame {
	f := &frame{of: p.cols - 1, multiple: make([]float64, p.cols)}
	total, found, largest := at.a[0]+at.a[1], 0, 0.0
	for i := range p.src.Spec().Width() {
		mean := (at.ax[0][i] + at.ax[1][i]) / total
		square := (h.rows[i*(i+1)/2+i] - p.l2) / (p.loss.slope * at.weight)
		if mean != 0 && square-float64(mean*mean) <= farthest*mean*mean {
			f.multiple[i] = float64(float32(mean))
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

// constant tells whether the frame is useless, because it leaves only rounding errors of all of its columns. h must be
// the Hessian in the frame with all rows in the active set.
func (p *problem) constant(h *hessian, weight float64) bool {
	for i, m := range p.frame.multiple {
		square := (h.rows[i*(i+1)/2+i] - p.l2) / (p.loss.slope * weight)
		if m != 0 && square > constant*m*m {
			return false
		}
	}
	return p.src.Spec().Bias
}

// biased tells whether the frame subtracts multiples of the bias, which is the last of cols columns, or nothing. The
// penalty in the frame is then the penalty of the original weights.
func (f *frame) biased(cols int) bool { return f == nil || f.of == cols-1 }

// original turns weights for the rows in the frame into weights for the original rows.
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

// inside turns weights for the original rows into weights for the rows in the frame.
func (f *frame) inside(w []float64) []float64 {
	if f == nil {
		return w
	}
	out, n := slices.Clone(w), len(f.multiple)
	v := append(slices.Clone(w[:n]), w[f.of])
	learner.Recentre(v, append(slices.Clone(f.multiple), 0))
	out[f.of] = v[n]
	return out
}
