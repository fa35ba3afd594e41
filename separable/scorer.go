package separable

import (
	"context"
	"errors"
	"math"

	"halfspace/block"
	"halfspace/kernel"
)

// dot returns the dot product of x and w, and a bound of its error.
func dot(x, w []float64) (sum, off float64) {
	size, largest := 0.0, 1.0
	for i, v := range x {
		largest = max(largest, math.Abs(v))
		product := float64(v * w[i])
		sum += product
		size += math.Abs(product)
	}
	// Each product has at most as many roundings of 2^-53 as there are elements, and w may be rounded; so may size. A
	// tiny product or element of w has an error of half the least number.
	return sum, float64(roundings(len(x))*size) + float64(float64(len(x)+2)*math.SmallestNonzeroFloat64*largest)
}

// roundings bounds the error of a dot product of n columns in float64, relative to the sum of its products' magnitudes.
func roundings(n int) float64 { return float64(n+2) * 0x1p-52 }

// A scorer holds weights as a block's Scores takes them, and a bound of the error of such scores.
type scorer[T kernel.Float] struct {
	w     []T     // of a block's stride, scaled by a power of two
	limit float64 // bounds |score - exact score| of the scaled w; +Inf: a score decides nothing
	scale float64 // what w was multiplied by
}

// newScorer prepares the weights w for rows of up to that norm. The weights are scaled to a largest magnitude below 1, so
// that they neither overflow nor vanish.
func newScorer[T kernel.Float](w []float64, radius float64) *scorer[T] {
	largest, squares := 0.0, 0.0
	for _, v := range w {
		largest = max(largest, math.Abs(v))
	}
	s := &scorer[T]{w: block.Alloc[T](kernel.Stride[T](len(w))), scale: 1}
	if largest > 0 {
		_, e := math.Frexp(largest)
		s.scale = math.Ldexp(1, -max(-1000, min(1000, e)))
	}
	for i, v := range w {
		v *= s.scale
		s.w[i] = T(v)
		squares += float64(v * v)
	}
	unit, least, most, lanes := 0x1p-53, math.SmallestNonzeroFloat64, math.MaxFloat64, 16
	if T(1)+T(0x1p-30) == 1 {
		unit, least, most, lanes = 0x1p-24, math.SmallestNonzeroFloat32, math.MaxFloat32, 32
	}
	// An element has k roundings: the fused multiply-adds of its lane, the fold of the lanes, and two roundings of w.
	// The errors of radius and squares are far less than one of them; so is k u squared.
	n := float64(len(w))
	k := math.Ceil(n/float64(lanes)) + math.Log2(float64(lanes)) + 4
	s.limit = float64(k*unit*radius*math.Sqrt(squares)) + float64(least*(n+1)*(1+radius))
	if !(radius*math.Sqrt(squares) < most/4) { // a sum may overflow
		s.limit = math.Inf(1)
	}
	return s
}

// copyRow copies the columns of row i to x.
func copyRow[T kernel.Float](b *block.Block[T], i int, x []float64) {
	if b.Sparse == nil {
		for j, v := range b.X[i*b.Stride:][:len(x)] {
			x[j] = float64(v)
		}
		return
	}
	clear(x)
	idx, val := b.Sparse.Row(i)
	for k, j := range idx {
		x[j] = float64(val[k])
	}
}

// longest returns the largest norm of a row. It is an error if there are no rows, or labels that aren't -1 and +1.
func longest[T kernel.Float](ctx context.Context, src block.Source[T], workers int) (float64, error) {
	if src.Rows() == 0 {
		return 0, errors.New("there are no rows to check")
	}
	type found struct {
		norm     float64
		unsigned bool
	}
	part := func(r block.Run[T]) found {
		f := found{norm: math.Sqrt(r.MaxSquaredNorm())}
		if !squares(f.norm) {
			f.norm = scaledNorm(r.Block)
		}
		f.unsigned = len(r.Y) != r.Len()
		for _, y := range r.Y {
			f.unsigned = f.unsigned || y != 1 && y != -1
		}
		return f
	}
	norm, unsigned := 0.0, false
	err := block.ReduceRuns(ctx, src, workers, part, func(f found) {
		norm = max(norm, f.norm)
		unsigned = unsigned || f.unsigned
	})
	if err == nil && unsigned {
		err = errors.New("the labels aren't -1 and +1: take rows of two classes")
	}
	return norm, err
}

// squares tells whether the square of a norm, and the products made of it, are within float64's range.
func squares(norm float64) bool { return norm > 1e-140 && norm < 1e140 }

// scaledNorm returns the largest norm of a row, or the largest number if that norm is larger. Its squares neither
// overflow nor vanish.
func scaledNorm[T kernel.Float](b *block.Block[T]) float64 {
	norm := 0.0
	x := make([]float64, b.Cols)
	for i := range b.Len() {
		copyRow(b, i, x)
		largest, sum := 0.0, 0.0
		for _, v := range x {
			largest = max(largest, math.Abs(v))
		}
		if largest == 0 {
			continue
		}
		for _, v := range x {
			q := v / largest
			sum += float64(q * q)
		}
		norm = max(norm, min(math.MaxFloat64, largest*math.Sqrt(sum)))
	}
	return norm
}
