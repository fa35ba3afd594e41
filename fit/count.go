package fit

import (
	"context"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/predict"
)

// Tally counts the rows that a model predicts wrongly.
type Tally struct {
	Rows, Errors int64
	Weight       float64 // of the rows that are wrong
}

// Count counts the rows whose prediction by a model isn't their label. It adds up their weights within runs, then over
// runs.
func Count[T kernel.Float](ctx context.Context, m *model.Model, src block.Source[T], workers int) (t Tally, err error) {
	scorer, err := predict.NewScorer[T](m, workers)
	if err != nil {
		return t, err
	}
	positive := src.Spec().PositiveClass()
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return t, err
		}
		scores, err := scorer.Scores(ctx, b)
		if err != nil {
			return t, err
		}
		run := 0.0
		for i, y := range b.Y {
			if predict.Predicted(scores, i, positive) != predict.Labelled(y, len(scores), positive) {
				t.Errors++
				run += b.Weight(i)
			}
			if (i+1)%block.RunRows == 0 || i == len(b.Y)-1 {
				t.Weight += run
				run = 0
			}
		}
		t.Rows += int64(b.Len())
	}
	return t, nil
}
