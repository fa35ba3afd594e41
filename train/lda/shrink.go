package lda

import (
	"context"
	"math"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
)

// shrink sets the covariance s of d columns to (1-a) s + a trace(s)/d I.
func shrink(s []float64, d int, a float64) {
	trace := 0.0
	for i := range d {
		trace += s[i*(i+1)/2+i]
	}
	for i := range s {
		s[i] *= 1 - a
	}
	for i := range d {
		s[i*(i+1)/2+i] += float64(a*trace) / float64(d)
	}
}

// ledoitWolf returns the covariance within classes, with the covariance of each class shrunk by its own share, and the
// shares. It calls passed after each pass.
//
// Let a class of n rows have the covariance C and the mean variance mu, with the class's deviations as units. Let q be
// the squared norm of a row minus the class mean. With beta = (sum of q^2/n - sum of C^2)/(d n) and delta = (sum of C^2
// - d mu^2)/d, the share is min(beta, delta)/delta. Sums of C^2 are over all elements of C.
func ledoitWolf(ctx context.Context, src block.Source, workers int, m *moments, passed func()) (s, shares []float64, err error) {
	d := src.Spec().Width()
	units := make([][]float64, len(m.N)) // 1/deviation
	covariances := make([][]float64, len(m.N))
	for class := range units {
		one, err := sumMoments(ctx, src, workers, class)
		if err != nil {
			return nil, nil, err
		}
		passed()
		c, _ := one.covariance(d)
		units[class] = make([]float64, d)
		for i := range d {
			variance, square := c[i*(i+1)/2+i], one.products.At(i, i)/m.N[class]
			if units[class][i] = 1 / math.Sqrt(variance); variance <= 1e-13*square {
				units[class][i] = 1 // the column is constant up to rounding
			}
		}
		covariances[class] = c
	}
	fourth, err := fourthMoments(ctx, src, workers, m, units)
	if err != nil {
		return nil, nil, err
	}
	passed()
	s = make([]float64, d*(d+1)/2)
	for class, c := range covariances {
		n, u := m.N[class], units[class]
		squares, trace := 0.0, 0.0
		for i := range d {
			for j := range i {
				v := float64(c[i*(i+1)/2+j] * u[i] * u[j]) // float64(), so that no compiler fuses the product into the sum
				squares += float64(2 * v * v)
			}
			v := float64(c[i*(i+1)/2+i] * u[i] * u[i])
			squares += float64(v * v)
			trace += v
		}
		mu := trace / float64(d)
		beta := (fourth[class]/n - squares) / float64(d) / n
		delta := (squares - float64(trace*mu)) / float64(d)
		share := 0.0
		if beta = min(beta, delta); beta > 0 {
			share = beta / delta
		}
		shares = append(shares, share)
		for i := range d {
			for j := range i + 1 {
				v := float64((1 - share) * c[i*(i+1)/2+j])
				if i == j {
					v += share * mu / u[i] / u[i]
				}
				s[i*(i+1)/2+j] += float64(v * n / m.rows())
			}
		}
	}
	return s, shares, nil
}

// fourthMoments returns for each class the sum over its rows of |(x - mean) unit|^4, times sample weights.
func fourthMoments(ctx context.Context, src block.Source, workers int, m *moments, units [][]float64) ([]float64, error) {
	args := fourthArgs{make([][]float64, len(m.N)), units}
	for class := range args.Means {
		args.Means[class] = m.means(class)
	}
	total := make([]float64, len(m.N))
	err := fourthPass.Reduce(ctx, src, workers, args, func(s []float64) { f64.Axpy(total, 1, s) })
	return total, err
}

var fourthPass = passes.New("lda.fourth", fourthChunk)

type fourthArgs struct{ Means, Units [][]float64 }

func fourthChunk(src block.Source, args fourthArgs) func(block.Chunk) []float64 {
	k, d := len(args.Means), src.Spec().Width()
	return func(chunk block.Chunk) []float64 {
		sums, row := make([]float64, k), make([]float64, src.Spec().Cols())
		for r, y := range chunk.Y {
			linalg.Widen(chunk.Block, r, row)
			class, q := classOf(y, k), 0.0
			mean, unit := args.Means[class], args.Units[class]
			for i, x := range row[:d] {
				v := (x - mean[i]) * unit[i]
				q = math.FMA(v, v, q)
			}
			sums[class] = math.FMA(float64(chunk.Weight(r)*q), q, sums[class])
		}
		return sums
	}
}
