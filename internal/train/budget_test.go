package train_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/train/lda"
	"halfspace/train/learner"
)

// endless returns a learner whose training on the given number of rows or more ends only with its context.
func endless(rows int64) train.Learner {
	l := lda.New(lda.Options{})
	slow := *l.Learner
	slow.Name, slow.Algorithm = "endless", endlessAlgorithm{l.Algorithm, l.Algorithm.(learner.Batch), l.Algorithm.(learner.Multi), rows}
	l.Learner = &slow
	return l
}

type endlessAlgorithm struct {
	learner.Algorithm
	learner.Batch
	learner.Multi
	rows int64
}

func (a endlessAlgorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	if task.Rows.Rows() < a.rows {
		return a.Algorithm.Train(ctx, task)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestBudget: a comparison leaves out a learner that would never end, whether it is found out on a part of the rows or
// only on all rows of a fold. The figures of the other learners are the figures without a budget.
func TestBudget(t *testing.T) {
	data, fast := inseparableRows(t, 600, 3), lda.New(lda.Options{})
	const folds = 5
	plain := require.Value(train.Compare(t.Context(), data, train.Options{CV: train.CV{Folds: folds}}, fast))(t)
	for _, hangsFrom := range []int64{1, 300} { // 120 of the 480 rows of a fold are timed
		opt := train.Options{CV: train.CV{Folds: folds, Budget: 4 * time.Second}}
		cv := require.Value(train.Compare(t.Context(), data, opt, endless(hangsFrom), fast))(t)
		var slow *train.OverBudgetError
		if !errors.As(cv.Points[0].Failure(), &slow) || slow.Spent == 0 || slow.Rows < hangsFrom || cv.Points[0].Errors != nil {
			t.Errorf("endless from %d rows on: %v, %+v", hangsFrom, cv.Points[0].Failure(), slow)
		}
		got, want := cv.Points[1], plain.Points[0]
		if got.Failure() != nil || cv.ChosenPoint != 1 {
			t.Fatalf("point %d is chosen; the fast learner: %v", cv.ChosenPoint, got.Failure())
		}
		if *got.Errors != *want.Errors || !slices.Equal(got.FoldAccuracy, want.FoldAccuracy) || !slices.Equal(got.Figures.AUC, want.Figures.AUC) {
			t.Errorf("%+v, without a budget %+v", got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	opt := train.Options{CV: train.CV{Folds: folds, Budget: time.Hour}}
	opt.Watch.Stage = func(s train.Stage) {
		if s.Detail == fmt.Sprintf("fold 1 of %d, timing endless", folds) {
			cancel()
		}
	}
	if cv, err := train.Compare(ctx, data, opt, endless(1), fast); !errors.Is(err, context.Canceled) || cv.Points[0].Failure() != nil {
		t.Errorf("interrupted: %v", err)
	}
}
