package separability

import (
	"context"
	"math"
	"math/big"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
)

// verifySeparator tells whether y (w.x) > 0 holds exactly for every row. w is the vector whole; its last element is the
// bias, and only its direction matters. It returns the number of the first row for which this is false (-1: none), and
// the number of rows that took exact arithmetic. No row may be longer than radius.
//
// It computes a row's score in float32 first, as Scores does, and then in float64. The sign of a score counts if the
// score is farther from 0 than the error bound of that arithmetic (Higham, "Accuracy and Stability of Numerical
// Algorithms", 2002, section 3.1). Otherwise integers decide: a floating-point number is an integer times a power of
// two.
func verifySeparator(ctx context.Context, src block.Source, whole []*big.Int, radius float64,
	workers int) (row, exact int64, err error) {
	w := roundedWeights(whole)
	s := newScorer(w, radius)
	type found struct{ row, exact int64 }
	part := func(r block.Chunk) found {
		f := found{row: -1}
		var buf [block.ChunkRows]float32
		scores := buf[:r.Len()]
		r.Scores(s.w, scores)
		x := make([]float64, len(w))
		for i, score := range scores {
			y := float64(r.Y[i])
			if y*float64(score) > s.limit {
				continue
			}
			linalg.Widen(r.Block, i, x)
			m, off := dot(x, w)
			sign := 0
			switch {
			case y*m > off:
				continue
			case y*m < -off:
				sign = -1
			default:
				f.exact++
				sign = exactSign(x, whole) * int(y)
			}
			if sign <= 0 {
				f.row = r.First + int64(i)
				return f
			}
		}
		return f
	}
	row = -1
	err = block.ReduceChunks(ctx, src, workers, part, func(f found) {
		exact += f.exact
		if row < 0 {
			row = f.row
		}
	})
	return row, exact, err
}

// exactMargin returns the smallest y (w.x) of a row, divided by the norm of w. w is the vector whole. It computes a
// score exactly only if float64 doesn't show that another score of the chunk is smaller.
func exactMargin(ctx context.Context, src block.Source, whole []*big.Int, workers int) (float64, error) {
	w := roundedWeights(whole)
	part := func(r block.Chunk) *big.Float {
		x := make([]float64, len(w))
		above := math.Inf(1) // an upper bound of the smallest score so far
		low := make([]float64, r.Len())
		for i := range low {
			linalg.Widen(r.Block, i, x)
			v, off := dot(x, w)
			v = float64(v * float64(r.Y[i]))
			low[i], above = v-off, min(above, v+off)
		}
		least := new(big.Float).SetInf(false)
		for i, v := range low {
			if ctx.Err() != nil {
				break
			}
			if v > above {
				continue
			}
			linalg.Widen(r.Block, i, x)
			sum := new(big.Rat)
			for j, v := range x {
				sum.Add(sum, new(big.Rat).Mul(new(big.Rat).SetFloat64(v*float64(r.Y[i])), new(big.Rat).SetInt(whole[j])))
			}
			if f := new(big.Float).SetRat(sum); f.Cmp(least) < 0 {
				least = f
			}
		}
		return least
	}
	least := new(big.Float).SetInf(false)
	err := block.ReduceChunks(ctx, src, workers, part, func(f *big.Float) {
		if f.Cmp(least) < 0 {
			least = f
		}
	})
	square := new(big.Float)
	for _, v := range whole {
		f := new(big.Float).SetInt(v)
		square.Add(square, f.Mul(f, f))
	}
	margin, _ := new(big.Float).Quo(least, square.Sqrt(square)).Float64()
	return margin, err
}

// integers returns v times the power of two that makes all elements integers.
func integers(v []float64) []*big.Int {
	least := math.MaxInt
	for _, f := range v {
		if f != 0 {
			_, e := math.Frexp(f)
			least = min(least, e-53)
		}
	}
	out := make([]*big.Int, len(v))
	for i, f := range v {
		fraction, e := math.Frexp(f)
		out[i] = big.NewInt(int64(fraction * (1 << 53)))
		if f != 0 {
			out[i].Lsh(out[i], uint(e-53-least))
		}
	}
	return out
}

// roundedWeights returns whole times a power of two that makes the largest magnitude less than 1, rounded to the
// nearest float64.
func roundedWeights(whole []*big.Int) []float64 {
	bits := 0
	for _, v := range whole {
		bits = max(bits, v.BitLen())
	}
	w := make([]float64, len(whole))
	for i, v := range whole {
		f := new(big.Float).SetInt(v)
		w[i], _ = f.SetMantExp(f, -bits).Float64()
	}
	return w
}

// exactSign returns the sign of the dot product of x and w.
func exactSign(x []float64, w []*big.Int) int {
	var sum, product big.Int
	for i, v := range integers(x) {
		sum.Add(&sum, product.Mul(v, w[i]))
	}
	return sum.Sign()
}
