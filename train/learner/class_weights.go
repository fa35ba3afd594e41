package learner

import (
	"cmp"
	"context"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/passes"
	"halfspace/predict"
	"halfspace/schema"
)

// ClassCounts returns the number of rows of each class of src, in the order of the classes of its spec. It ignores
// sample weights. It makes one pass over the rows. It returns an error if a label stands for no class.
func ClassCounts(ctx context.Context, src block.Source, workers int) ([]int64, error) {
	spec, err := block.SpecOf(src)
	if err != nil {
		return nil, err
	}
	counts, _, err := countClasses(ctx, src, spec, workers)
	return counts, err
}

// countClasses returns the number of rows of each class, and the sum of their sample weights. Rows of a source without sample
// weights have the weight 1.
func countClasses(ctx context.Context, src block.Source, spec *schema.Spec, workers int) ([]int64, []float64, error) {
	counts, sums := make([]int64, len(spec.Classes)), make([]float64, len(spec.Classes))
	var unknown error // the first error of a label
	err := countPass.Reduce(ctx, src, workers, struct{}{}, func(f chunkCounts) {
		unknown = cmp.Or(unknown, f.Err)
		for c := range counts {
			if f.Err == nil {
				counts[c] += f.N[c]
				sums[c] += f.W[c]
			}
		}
	})
	return counts, sums, cmp.Or(err, unknown)
}

var countPass = passes.New("train.classes", countChunk)

type chunkCounts struct {
	N   []int64
	W   []float64 // sums of the sample weights
	Err error
}

// countChunk returns the function that counts the rows of each class in a chunk, and adds their sample weights in row order.
func countChunk(src block.Source, _ struct{}) func(block.Chunk) chunkCounts {
	spec := src.Spec()
	return func(chunk block.Chunk) (f chunkCounts) {
		if f.Err = chunk.CheckLabels(spec.Vectors()); f.Err != nil {
			return f
		}
		n := max(2, len(spec.Classes)) // a spec may name fewer than two classes
		f.N, f.W = make([]int64, n), make([]float64, n)
		for r, y := range chunk.Y {
			c := ClassOf(y, spec)
			f.N[c]++
			if spec.Weighted {
				f.W[c] += chunk.W[r]
			} else {
				f.W[c]++
			}
		}
		return f
	}
}

// BalancedWeights returns a weight for each class of src, in the order of the classes of its spec. The weight is
// s/(k m) for a class whose sample weights have the sum m, among k classes of positive sums, which add up to s: each of these
// classes gets the same total weight. Without sample weights, m is the number of rows. Another class has the weight 1. A row of
// weight 2 counts as two rows, as in scikit-learn 1.9. BalancedWeights makes one pass over the rows.
func BalancedWeights(ctx context.Context, src block.Source, workers int) ([]float64, error) {
	spec, err := block.SpecOf(src)
	if err != nil {
		return nil, err
	}
	_, sums, err := countClasses(ctx, src, spec, workers)
	if err != nil {
		return nil, err
	}
	present, all := 0.0, 0.0
	for _, sum := range sums {
		if sum > 0 {
			present++
		}
		all += sum
	}
	weights := make([]float64, len(sums))
	for c, sum := range sums {
		if weights[c] = 1; sum > 0 {
			weights[c] = all / (present * sum)
		}
	}
	return weights, nil
}

// ClassOf returns the number of the class that the label y stands for.
func ClassOf(y float32, spec *schema.Spec) int {
	if len(spec.Classes) > 2 {
		return int(y)
	}
	return predict.Class(y, spec.PositiveClass())
}

// WithClassWeights returns the rows of src with the sample weight of each row multiplied by the weight of its class.
// classes has one weight for each class of src, in the order of the classes of its spec. If src is a *block.Data, the
// result is a *block.Data that shares everything but the sample weights. If src is a block.Seekable, the result is a
// block.Seekable. A row whose label stands for no class gets the weight NaN, which a training refuses.
func WithClassWeights(src block.Source, classes []float64) block.Source {
	return classWeightsView.Of(src, classes)
}

var classWeightsView = passes.NewView("train.class-weights", func(before *schema.Spec, classes []float64) passes.Change {
	spec := *before
	spec.Weighted = true
	return passes.Change{
		Spec: &spec,
		Block: func(b, spare *block.Block) *block.Block {
			var weights []float64
			if spare != nil {
				weights = spare.W[:cap(spare.W)]
			}
			if len(weights) < b.Len() {
				weights = make([]float64, b.Len())
			}
			return reweight(b, weights, &spec, classes)
		},
		Read: func(rows int, to *block.Block, from func(*block.Block) error) error {
			b := *to
			if to.Sparse == nil {
				b = *to.Slice(0, rows)
			}
			if !before.Weighted {
				b.W = nil
			}
			if err := from(&b); err != nil {
				return err
			}
			if to.Sparse != nil {
				to.Y, to.W = b.Y, slices.Grow(to.W[:0], rows)[:rows]
			}
			reweight(&b, to.W, &spec, classes)
			return nil
		},
	}
})

// reweight returns b with its new sample weights, which it writes to buf. buf may be b.W.
func reweight(b *block.Block, buf []float64, spec *schema.Spec, classes []float64) *block.Block {
	c := *b
	c.W = buf[:b.Len()]
	for r, y := range b.Y {
		weight := math.NaN()
		if class := ClassOf(y, spec); class >= 0 && class < len(classes) {
			weight = classes[class]
		}
		if b.W != nil {
			weight *= b.W[r]
		}
		c.W[r] = weight
	}
	return &c
}
