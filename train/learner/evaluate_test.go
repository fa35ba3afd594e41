package learner_test

import (
	"context"
	"math"
	"testing"

	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
)

// TestEvaluateClasses compares errors, norm, radius and margin of several classes with their definitions, row by row.
func TestEvaluateClasses(t *testing.T) {
	const features, classes = 5, 3
	d := testproblems.RandomClasses(9000, features, classes, 0)
	cols := d.Spec().Cols()
	r := learner.Result{Weights: make([]float32, classes*cols)}
	for c := range classes {
		r.Weights[c*cols+c%features] = float32(1 + c/features)
	}
	require.NoError(t, learner.Evaluate(context.Background(), d, 2, &r))
	margin, radius := math.Inf(1), 0.0
	for b := range d.Blocks(context.Background()) {
		for i, y := range b.Y {
			x := testproblems.Float64s(b.X[i*b.Stride:][:cols])
			square := 0.0
			for _, v := range x {
				square += v * v
			}
			radius = max(radius, math.Sqrt(square))
			for c := range classes {
				if c != int(y) {
					margin = min(margin, x[int(y)]-x[c])
				}
			}
		}
	}
	if margin /= math.Sqrt(2 * classes); r.Errors != 0 || r.Norm != math.Sqrt(classes) || math.Abs(r.Margin/margin-1) > 1e-12 || math.Abs(r.Radius/radius-1) > 1e-12 {
		t.Errorf("errors %d, norm %v, margin %v, radius %v; want 0, %v, %v, %v", r.Errors, r.Norm, r.Margin, r.Radius, math.Sqrt(classes), margin, radius)
	}
	r.Weights[0], r.Errors = 0, 0 // no score favours the first class
	require.NoError(t, learner.Evaluate(context.Background(), d, 2, &r))
	if r.Errors < 1000 || r.Errors > 8000 {
		t.Errorf("%d errors", r.Errors)
	}
	r.Weights[0] = float32(math.Inf(1))
	if err := learner.Evaluate(context.Background(), d, 2, &r); err == nil {
		t.Error("no error where scores overflow")
	}
}
