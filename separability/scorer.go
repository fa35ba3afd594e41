package separability

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
	// Each product has at most as many roundings of 2^-53 as there are elements, and w may be rounded. The same holds
	// for size. A tiny product or element of w has an error of half the least number.
	return sum, float64(roundings(len(x))*size) + float64(float64(len(x)+2)*math.SmallestNonzeroFloat64*largest)
}

// roundings returns a bound of the float64 error of a dot product of n columns, relative to the sum of its products'
// magnitudes.
func roundings(n int) float64 { return float64(n+2) * 0x1p-52 }

// A scorer is weights in the form for a block's Scores, and a bound of the error of the scores.
type scorer struct {
	w     []float32 // with the stride of a block, scaled by a power of two
	limit float64   // bound of |score - exact score| for the scaled w; +Inf: a score decides nothing
	scale float64   // factor by which w was multiplied
}

// newScorer returns the scorer of the weights w for rows whose norm is at most radius. It scales the weights to a
// largest magnitude below 1, so that they neither overflow nor vanish.
func newScorer(w []float64, radius float64) *scorer {
	largest, squares := 0.0, 0.0
	for _, v := range w {
		largest = max(largest, math.Abs(v))
	}
	s := &scorer{w: block.Alloc[float32](kernel.Stride(len(w))), scale: 1}
	if largest > 0 {
		_, e := math.Frexp(largest)
		s.scale = math.Ldexp(1, -max(-1000, min(1000, e)))
	}
	for i, v := range w {
		v *= s.scale
		s.w[i] = float32(v)
		squares += float64(v * v)
	}
	const unit, lanes = 0x1p-24, 32.0
	// A score has k roundings: the fused multiply-adds of its lane, the fold of the lanes, and two roundings of w. The
	// errors of radius and squares are far smaller than one of these; so is the square of k u.
	n := float64(len(w))
	k := math.Ceil(n/lanes) + math.Log2(lanes) + 4
	s.limit = float64(k*unit*radius*math.Sqrt(squares)) + float64(math.SmallestNonzeroFloat32*(n+1)*(1+radius))
	if !(radius*math.Sqrt(squares) < math.MaxFloat32/4) { // a sum may overflow
		s.limit = math.Inf(1)
	}
	return s
}

// longest returns the largest norm of a row. It returns an error if there are no rows, or more than two classes.
func longest(ctx context.Context, src block.Source, workers int) (float64, error) {
	if src.Rows() == 0 {
		return 0, errors.New("there are no rows to check")
	}
	if src.Spec().Vectors() > 1 {
		return 0, errors.New("the labels aren't -1 and +1: take rows of two classes")
	}
	norm := 0.0
	err := block.ReduceChunks(ctx, src, workers, func(r block.Chunk) float64 { return math.Sqrt(r.MaxSquaredNorm()) }, func(n float64) { norm = max(norm, n) })
	return norm, err
}
