package svm

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/internal/dualdescent"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// TestJoint: the gap of several classes together is proven to be small. No weights near the result are better than the gap
// allows.
func TestJoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, classes := range []int{3, 5} {
		for _, bias := range []bool{true, false} {
			src := noisyClasses(120, 4, classes, bias)
			for _, rows := range []*block.Data{src, testproblems.Weighted(src, func(r int) float64 { return float64(r % 3) })} {
				opt := Settings{Options: Options{Loss: Hinge, L2: 0.5}}
				opt.Seed = 1
				r, err := Train(t.Context(), rows, opt)
				if err != nil || !r.Converged || r.Gap > optimize.ConvergedGap*r.Objective || r.Objective <= 0 {
					t.Fatalf("%d classes, bias %t: gap %g of %g, converged %t, error %v", classes, bias, r.Gap, r.Objective, r.Converged, err)
				}
				weights := testproblems.Float64s(r.Weights)
				if at := objectiveJoint(rows, weights, opt.L2); math.Abs(at-r.Objective) > 1e-12*at {
					t.Errorf("%d classes, bias %t: objective %v, by its definition %v", classes, bias, r.Objective, at)
				}
				for range 20 {
					other := slices.Clone(weights)
					size := math.Pow(10, -6*rng.Float64())
					for i := range other {
						other[i] += size * rng.NormFloat64()
					}
					if at := objectiveJoint(rows, other, opt.L2); at < r.Objective-r.Gap {
						t.Fatalf("%d classes, bias %t: %v is below %v - %v", classes, bias, at, r.Objective, r.Gap)
					}
				}
			}
		}
	}
}

// TestJointScale: large features, whose dual variables are far below their bounds, are learned from.
func TestJointScale(t *testing.T) {
	src := noisyClasses(120, 4, 3, false)
	var blocks []*block.Block
	for b := range src.Blocks(t.Context()) {
		c := b.Clone()
		for i := range c.X {
			c.X[i] *= 1 << 24
		}
		blocks = append(blocks, c)
	}
	opt := Settings{Options: Options{Loss: Hinge, L2: 0.5}}
	got, err := Train(t.Context(), block.NewData(src.Spec(), blocks), opt)
	if err != nil || got.Updates == 0 || got.Errors > 60 {
		t.Errorf("%d errors of 120 with large features after %d steps, error %v", got.Errors, got.Updates, err)
	}
}

// noisyClasses returns rows of normal features whose class is mostly that of the greatest of some products.
func noisyClasses(rows, features, classes int, bias bool) *block.Data {
	rng := rand.New(rand.NewPCG(uint64(classes), 1))
	centres := make([][]float64, classes)
	for k := range centres {
		for range features {
			centres[k] = append(centres[k], rng.NormFloat64())
		}
	}
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		k := rng.IntN(classes)
		y[r] = float64(k)
		for i := range features {
			v := 0.0
			if rng.IntN(4) > 0 {
				v = float64(float32(centres[k][i] + 0.7*rng.NormFloat64()))
			}
			x[r] = append(x[r], v)
		}
	}
	return testproblems.Classes(x, y, classes, bias)
}

// objectiveJoint computes the objective of Crammer and Singer by its definition.
func objectiveJoint(rows *block.Data, w []float64, l2 float64) (sum float64) {
	cols, features := rows.Spec().Cols(), len(rows.Spec().Features)
	for b := range rows.Blocks(context.Background()) {
		for r, y := range b.Y {
			var scores []float64
			for v := range slices.Chunk(w, cols) {
				score := 1.0
				for c, x := range v {
					score += x * float64(b.X[r*b.Stride+c])
				}
				scores = append(scores, score)
			}
			scores[int(y)]--
			sum += b.Weight(r) * (slices.Max(scores) - scores[int(y)])
		}
	}
	for v := range slices.Chunk(w, cols) {
		for _, x := range v[:features] {
			sum += l2 / 2 * x * x
		}
	}
	return sum
}

// TestJointOfTwo: two classes together have the optimum of the hinge with half of the penalty. Their vectors are opposite, and the loss
// takes their difference.
func TestJointOfTwo(t *testing.T) {
	for _, bias := range []bool{true, false} {
		numbers := noisyClasses(200, 4, 2, bias)
		task := jointTask(numbers, Settings{Options: Options{L2: 0.8, Epochs: 10_000}})
		joint := require.Value(dualdescent.CrammerSinger(t.Context(), task, 0))(t)
		signs := noisyClasses(200, 4, 2, bias)
		for b := range signs.Blocks(t.Context()) {
			for r, y := range b.Y {
				b.Y[r] = 2*y - 1
			}
		}
		two := require.Value(Train(t.Context(), signs, Settings{Options: Options{Loss: Hinge, L2: 0.4}}))(t)
		if off := math.Abs(joint.Objective - two.Objective); off > joint.Gap()+two.Gap || joint.Gap() > optimize.ConvergedGap*joint.Objective {
			t.Errorf("bias %t: objective %v and gap %v, of two classes %v and %v", bias, joint.Objective, joint.Gap(), two.Objective, two.Gap)
		}
	}
}

// TestJointInterrupted: an interrupt after some updates keeps the weights, and the loss is theirs.
func TestJointInterrupted(t *testing.T) {
	src := noisyClasses(60, 3, 3, true)
	ctx, cancel := context.WithCancel(t.Context())
	opt := Settings{Options: Options{Epochs: 500, Loss: Hinge}, Run: learner.Run{Progress: func(p learner.Progress) {
		if p.Updates > 0 {
			cancel()
		}
	}}}
	r, err := Train(ctx, src, opt)
	if r == nil || !r.Interrupted || err == nil || r.Loss == 0 {
		t.Errorf("interrupted: %+v, error %v", r, err)
	}
}
