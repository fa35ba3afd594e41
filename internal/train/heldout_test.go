package train_test

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/train/logistic"
)

// heldOutText returns the figures of held-out rows as a text.
func heldOutText(h *train.HeldOutEvaluation) string {
	text := fmt.Sprint(h.Confusion.Rows(), h.Confusion.Errors(), h.Scores.AUC(), h.LogLoss(), h.Brier(), h.LearningCurve, h.Folds)
	for _, w := range h.WorstRows {
		text += fmt.Sprintf("; %d %d %d %g %g", w.Row, w.Class, w.Predicted, w.Score, w.Probability)
	}
	if h.ClassScores != nil {
		text += fmt.Sprint(h.ClassScores.AUC())
	}
	return text
}

// TestHeldOut: the figures of a hold-out are the figures of the model on these rows, and the figures of folds are the figures of the models of the
// other folds, together. The worst rows have their numbers among all rows. Nothing depends on the workers or on blocks in memory.
func TestHeldOut(t *testing.T) {
	for _, classes := range []int{2, 3} {
		rows := noiseRows(700, 3, classes)
		l := logistic.New(logistic.Options{L2: 1})
		opt := train.Options{HoldOut: 0.3, Output: train.Output{HeldOut: true}, Workers: 1}
		run := require.Value(train.Run(t.Context(), rows, l, opt))(t)
		parts := require.Value(train.HoldOutRows(t.Context(), rows, l, opt))(t)
		want := require.Value(train.Evaluate(t.Context(), run.Model, parts.HeldRows, 1))(t)
		got := run.HeldOut
		if got.Confusion.Errors() != want.Confusion.Errors() || got.Confusion.Errors() != run.Validation.Errors || got.Scores.AUC() != want.Scores.AUC() && classes == 2 || got.LogLoss() != want.LogLoss() ||
			got.Brier() != want.Brier() || classes > 2 && !slices.Equal(got.ClassScores.AUC(), want.ClassScores.AUC()) || !reflect.DeepEqual(got.Confusion, want.Confusion) {
			t.Errorf("%d classes, hold-out: %s", classes, heldOutText(got))
		}
		learned := got.LearningCurve
		if len(learned) != 5 || learned[4].Rows != parts.KeptRows.Rows() || learned[4].HeldOutErrors.Errors != want.Confusion.Errors() || learned[3].Rows*2-parts.KeptRows.Rows() > 6 {
			t.Errorf("%d classes, learning curve %v", classes, learned)
		}
		for i, w := range got.WorstRows {
			all, of := rowOf(rows, w.Row), rowOf(parts.HeldRows, want.WorstRows[i].Row)
			if !slices.Equal(all, of) {
				t.Errorf("%d classes: row %d is %v, want %v", classes, w.Row, all, of)
			}
		}

		folds := train.Options{CV: train.CV{Folds: 4}, Output: train.Output{HeldOut: true}, Workers: 1}
		pooled := require.Value(train.Run(t.Context(), rows, l, folds))(t).HeldOut
		if pooled.Folds != 4 || pooled.Confusion.Rows() != rows.Rows() {
			t.Fatalf("%d folds with %d rows", pooled.Folds, pooled.Confusion.Rows())
		}
		judged := require.Value(train.CrossValidate(t.Context(), rows, l, folds))(t)
		if errors := *judged.Points[0].Errors; errors != pooled.Confusion.Errors() {
			t.Errorf("%d pooled errors, and %d in the folds", pooled.Confusion.Errors(), errors)
		}
		s := &train.Session{Options: folds, Rows: rows, Learner: l}
		require.NoError(t, s.PoolFolds(t.Context()))
		if again := heldOutText(s.HeldOut); again != heldOutText(pooled) {
			t.Errorf("%s\npooled after the cross-validation, %s\nwithin it", again, heldOutText(pooled))
		}
		folds.Workers, opt.Workers = 3, 3
		if more := require.Value(train.Run(t.Context(), rows, l, folds))(t).HeldOut; heldOutText(more) != heldOutText(pooled) {
			t.Errorf("by 3 workers %s, by one %s", heldOutText(more), heldOutText(pooled))
		}
		if more := require.Value(train.Run(t.Context(), streamedSource{rows}, l, opt))(t).HeldOut; heldOutText(more) != heldOutText(got) {
			t.Errorf("streamed %s, in memory %s", heldOutText(more), heldOutText(got))
		}
		// Every held-out row is judged by a model that didn't see it: the pooled log loss is worse than that on training rows.
		whole := require.Value(train.Evaluate(t.Context(), run.Model, rows, 1))(t)
		if !(pooled.LogLoss() > whole.LogLoss()) || math.IsNaN(whole.LogLoss()) {
			t.Errorf("log loss %g held out, %g on all rows", pooled.LogLoss(), whole.LogLoss())
		}
	}
}

// streamedSource is a source that isn't in memory.
type streamedSource struct{ block.Source }

// rowOf returns the features and the label of a row.
func rowOf(src block.Source, row int64) (values []float32) {
	for b := range src.Blocks(context.Background()) {
		if at := row - b.First; at >= 0 && at < int64(b.Len()) {
			values = append(slices.Clone(b.X[int(at)*b.Stride:][:b.Cols]), b.Y[at])
		}
	}
	return values
}

// TestHeldOutResumed: a cross-validation that goes on from a checkpoint pools the same held-out rows.
func TestHeldOutResumed(t *testing.T) {
	dir, rows, l := t.TempDir(), noiseRows(120, 2, 2), logistic.New(logistic.Options{L2: 1})
	judge := func(stop int64) *train.HeldOutEvaluation {
		run := require.Value(checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true, Epochs: 1}))(t)
		defer run.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s := &train.Session{Rows: rows, Learner: l, State: run, Options: train.Options{CV: train.CV{Folds: 4}, Output: train.Output{HeldOut: true}, Watch: train.Watch{Stage: func(s train.Stage) {
			if s.Done == stop && s.Total == 4 {
				cancel()
			}
		}}}}
		err := s.CrossValidate(ctx)
		if (err == nil) != (stop < 0) {
			t.Fatal(err)
		}
		if stop < 0 {
			require.NoError(t, s.PoolFolds(ctx))
		}
		return s.HeldOut
	}
	judge(2)
	resumed := judge(-1)
	whole := require.Value(train.Run(t.Context(), rows, l, train.Options{CV: train.CV{Folds: 4}, Output: train.Output{HeldOut: true}}))(t).HeldOut
	if heldOutText(resumed) != heldOutText(whole) {
		t.Errorf("resumed %s, at once %s", heldOutText(resumed), heldOutText(whole))
	}
}
