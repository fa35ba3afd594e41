package lda

import (
	"context"
	"math"

	"halfspace/block"
	"halfspace/internal/csr"
	"halfspace/internal/dense"
	"halfspace/internal/distributed"
)

// factorise returns the factor of the covariance s within classes, and the ridge that it added. m are the moments of
// the rows. If s loses too many digits by its squares, factorise finds the factor without squares in a pass over the
// rows, and calls passed after it.
func factorise(ctx context.Context, src block.Source, opt Settings, m *moments, s []float64, passed func()) (*dense.Factor, float64, error) {
	d := src.Spec().Width()
	f, ridge, err := dense.Factorise(ctx, s, d)
	if f == nil || opt.Shrinkage != 0 || d > dense.MostTriangle || ridge == 0 && !f.Blurred() {
		return f, ridge, err
	}
	var args rootArgs
	for class := range m.N {
		args.Means = append(args.Means, m.means(class)[:d])
	}
	t := dense.NewTriangle(d)
	if err := distributed.Reduce(ctx, src, opt.Workers, rootPass, args, rootRun(src, args), t.Merge); err != nil {
		return nil, 0, err
	}
	passed()
	r := t.Elements()
	for i := range r {
		r[i] /= math.Sqrt(m.rows())
	}
	sharp, none, err := dense.FactorTriangle(ctx, r, d, nil)
	if err != nil || sharp == nil || none > 0 { // features depend on each other
		return f, ridge, err
	}
	return sharp, 0, nil
}

// rootArgs are the means of the features for each class.
type rootArgs struct{ Means [][]float64 }

var rootPass = distributed.NewPerChunk("lda.root", rootRun)

// rootRun returns the function that computes the triangular factor of a chunk. Its rows are the rows of the chunk minus the
// means of their classes, each times the square root of its sample weight.
func rootRun(src block.Source, args rootArgs) func(block.Chunk) []float64 {
	classes, d := len(args.Means), src.Spec().Width()
	return func(chunk block.Chunk) []float64 {
		t, row := dense.NewTriangle(d), make([]float64, src.Spec().Cols())
		for r, y := range chunk.Y {
			class, root := classOf(y, classes), math.Sqrt(chunk.Weight(r))
			if root == 0 {
				continue
			}
			csr.Widen(chunk.Block, r, row)
			to := t.Next()
			for i, v := range row[:d] {
				t.Set(to, i, float64(root*(v-args.Means[class][i])))
			}
		}
		return t.Elements()
	}
}
