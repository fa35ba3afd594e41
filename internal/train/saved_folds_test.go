package train_test

import (
	"context"
	"path/filepath"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/require"
	"halfspace/internal/train"
)

// TestSavedFolds: a cross-validation that goes on saves as often as before, where checkpoints are counted in trainings.
func TestSavedFolds(t *testing.T) {
	dir, rows := t.TempDir(), noiseRows(60, 2, 2)
	l, err := train.LearnerNamed("perceptron")
	if err == nil {
		l, err = l.With("epochs", "1")
	}
	if err != nil {
		t.Fatal(err)
	}
	var newest [7]string // the checkpoint when so many trainings are done
	judge := func(stop int64) {
		t.Helper()
		run := require.Value(checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true, Epochs: 1}))(t)
		defer run.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		opt := train.Options{CV: train.CV{Folds: 6}, Watch: train.Watch{Stage: func(s train.Stage) {
			if files, _ := filepath.Glob(dir + "/*"); s.Total == 6 && s.Training == nil && len(files) > 0 {
				newest[s.Done] = files[len(files)-1]
			}
			if s.Done == stop {
				cancel()
			}
		}}}
		s := &train.Session{Options: opt, Rows: block.Source(rows), Learner: l, State: run}
		if err := s.CrossValidate(ctx); (err == nil) != (stop < 0) {
			t.Fatal(err)
		}
	}
	judge(3)
	judge(-1)
	for done := 2; done < 6; done++ {
		if newest[done] == newest[done-1] || newest[done] == "" {
			t.Errorf("no checkpoint after %d trainings: %q", done, newest)
		}
	}
}
