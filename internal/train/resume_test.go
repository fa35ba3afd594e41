package train_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/parallel"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/train/learner"
)

// A refitSource counts how often features are learned again.
type refitSource struct {
	*block.Data
	refits *int
}

func (o refitSource) Unwrap() block.Source { return o.Data }

func (o refitSource) Refit(_ context.Context, choices []func(class int) bool) (again []func(context.Context) (block.Source, error), err error) {
	for range choices {
		again = append(again, func(context.Context) (block.Source, error) { *o.refits++; return o.Data, nil })
	}
	return again, nil
}

// TestResumeJudged: what was judged when a training stopped is not judged again, also after it finished, and its features aren't learned
// again. With other options it is refused.
func TestResumeJudged(t *testing.T) {
	learner, data, dir := train.Describe("logistic"), noiseRows(300, 4, 2), t.TempDir()
	for _, c := range []struct{ folds, stop, judged int }{{3, 3, 3}, {4, 9, 0}, {3, 9, 4}, {3, 9, 0}} {
		told := ""
		run, err := checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true, Note: func(text string) { told += text }})
		if err != nil {
			t.Fatal(err)
		}
		if _, resumed := run.ResumedVisits(); resumed != (c.folds == 3 && c.judged == 0) {
			t.Errorf("%+v: learning is resumed: %t", c, resumed)
		}
		ctx, cancel := context.WithCancel(t.Context())
		judged, rows := 0, refitSource{data, new(int)}
		stage := func(s train.Stage) {
			if s.Name == "cross-validating" && s.Training == nil && !strings.Contains(s.Detail, "dealing") {
				judged++
			}
			if judged == c.stop {
				cancel()
			}
		}
		cv := train.CV{Folds: c.folds, Grid: []train.Axis{{Option: "l2", Values: []any{"1", "2"}}}}
		settings := learner.New()
		settings.RunOptions().Workers = 1
		_, err = (&train.Session{Options: train.Options{CV: cv, Watch: train.Watch{Stage: stage}}, Rows: rows, Learner: configure(learner, settings), State: run}).Run(ctx)
		switch {
		case c.stop == judged && errors.Is(err, context.Canceled):
		case c.folds == 4 && err != nil && strings.Contains(err.Error(), "the sum of the options that are judged"):
		case err != nil || run.Finish() != nil:
			t.Errorf("%+v: %v", c, err)
		}
		if judged != c.judged {
			t.Errorf("%+v: %d trainings were judged", c, judged)
		}
		if want := (judged + 1) / 2; *rows.refits != want { // two points in a fold
			t.Errorf("%+v: features were learned again for %d folds, want %d", c, *rows.refits, want)
		}
		if c.judged == 4 && !strings.HasPrefix(told, "what was judged is kept") {
			t.Errorf("%+v: told %q", c, told)
		}
		run.Close()
		cancel()
	}
}

// TestClockJumps: a clock that jumps by an hour each time a training reports its progress changes no model. Those hours count after a
// resume too, up to the state that was saved.
func TestClockJumps(t *testing.T) {
	if parallel.RaceEnabled {
		t.Skip("SKIPPED under the race detector alone: it has one worker, so nothing runs beside it but what TestResume runs there too")
	}
	for _, c := range []training{
		{"few", "averaged", "order=shuffle"}, {"few", "pocket", ""}, {"few three", "passive-aggressive", ""}, {"few", "dual", ""}, {"few three", "averaged", "multiclass=ovr"},
		{"few", "logistic", ""}, {"few three", "logistic", "solver=lbfgs"}, {"few", "logistic", "solver=sgd"}, {"few", "logistic", "l1=1"}, {"few", "logistic", "solver=truncated l2=0.01"},
		{"few three", "logistic", "multiclass=ovr"}, {"few", "svm", "loss=hinge"}, {"few three", "svm", "loss=hinge multiclass=joint"}, {"wide", "svm", "l2=0.001"},
		{"columns", "svm", "loss=hinge epochs=12"}, {"columns", "logistic", "l1=0.1 epochs=12"},
	} {
		t.Run(c.String(), func(t *testing.T) {
			rows := rowSets()[c.rows]
			if c.rows == "columns" {
				rows = testproblems.Sparse(rows)
			}
			dir, want, slept := t.TempDir(), []byte(nil), 0.0
			synctest.Test(t, func(t *testing.T) {
				for _, stop := range []int{0, 5, -1} {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					var run *checkpoint.Run
					if stop != 0 {
						var err error
						if run, err = checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true}); err != nil {
							t.Fatal(err)
						}
						defer run.Close()
					}
					l, opt, _ := c.settings(t, 1)
					s := train.Session{Options: opt, Rows: rows, Learner: l, State: run}
					calls := 0
					l.Settings.RunOptions().Progress = func(learner.Progress) {
						if calls++; stop > 0 {
							time.Sleep(time.Hour)
							slept++
						}
						if calls == stop {
							cancel()
						}
					}
					f, err := s.Run(ctx)
					if stop > 0 {
						if run.Close(); !errors.Is(err, context.Canceled) {
							t.Fatalf("it ended after %d reports: %v", calls, err)
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					if file := fileOf(t, f.Model); stop == 0 {
						want = file
					} else if !bytes.Equal(file, want) {
						t.Error("another model")
					}
					if hours := f.Result.Seconds / 3600; stop < 0 && (hours != math.Round(hours) || hours < 1 || hours > slept) {
						t.Errorf("it took %v of %v hours", hours, slept)
					}
				}
			})
		})
	}
}
