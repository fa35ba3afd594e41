package fit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"halfspace/block"
	"halfspace/checkpoint"
	"halfspace/fit"
	"halfspace/internal/race"
	"halfspace/internal/testrows"
	"halfspace/train"
)

// set sets options of a training, each an option of the learner, multiclass, the grid of a cross-validation, or the points of a path. It
// returns the latter.
func set(t *testing.T, learner *train.Learner, settings train.Settings, opt *fit.Options, options []string) (path int) {
	t.Helper()
	for _, option := range options {
		switch name, value, _ := strings.Cut(option, "="); name {
		case "multiclass":
			opt.Multiclass = value
		case "grid":
			opt.CV = &fit.CV{Folds: 3, Score: fit.ByF1, Grid: []fit.Axis{{Option: value, Values: []string{"0.1", "0.5", "1"}}}}
		case "path":
			path, _ = strconv.Atoi(value)
		default:
			if err := learner.Option(name).Set(settings, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	return path
}

// TestResumeDual is TestResume of the dual forms, with and without windows.
func TestResumeDual(t *testing.T) {
	for _, c := range []struct {
		rows, classes int
		options       string
	}{
		{4200, 2, "order=shuffle epochs=50 kernel=rbf gamma=50"},
		{4200, 2, "order=fixed-shuffle form=averaged epochs=50 kernel=rbf gamma=50"},
		{4200, 3, "order=random epochs=2"},
		{700, 2, "order=cyclic epochs=50"},
		{600, 3, "order=shuffle epochs=50 form=voted"},
		{500, 2, "order=random epochs=9 kernel=poly max-updates=900"},
	} {
		t.Run(fmt.Sprintf("%d_%d_%s", c.rows, c.classes, strings.ReplaceAll(c.options, " ", "_")), func(t *testing.T) {
			t.Parallel()
			small, options := noise(c.rows, 5, c.classes), strings.Fields(c.options)
			if c.rows > 4096 {
				resumed(t, small, "dual", options)
				return
			}
			resumed(t, testrows.Sparse(small), "kernel-perceptron", options)
			resumed(t, apart(small), "dual", options)
			resumed(t, testrows.Weighted(noise(c.rows, 5, c.classes), func(r int) float64 { return float64(r%3) / 2 }), "dual", options)
		})
	}
}

// apart returns rows with other labels, which planes separate.
func apart(d *block.Data) *block.Data {
	var x [][]float64
	var y []float64
	for b := range d.Blocks(context.Background()) {
		for r := range b.Y {
			row := []float64{float64(b.X[r*b.Stride]), float64(b.X[r*b.Stride+1])}
			label := math.Copysign(1, row[0]-row[1])
			row[0] += label / 8
			x, y = append(x, row), append(y, label)
		}
	}
	return testrows.Dense(x, y, true)
}

// An opened source counts how often features are learned again.
type opened struct {
	*block.Data
	times *int
}

func (o opened) Unwrap() block.Source { return o.Data }

func (o opened) Relearn(_ context.Context, choices []func(class int) bool) (again []func(context.Context) (block.Source, error), err error) {
	for range choices {
		again = append(again, func(context.Context) (block.Source, error) { *o.times++; return o.Data, nil })
	}
	return again, nil
}

// TestResumeJudged: what was judged when a training stopped is not judged again, also after it finished, and its features aren't learned
// again. With other options it is refused.
func TestResumeJudged(t *testing.T) {
	learner, data, dir := fit.Describe("logistic"), noise(300, 4, 2), t.TempDir()
	for _, c := range []struct{ folds, stop, judged int }{{3, 3, 3}, {4, 9, 0}, {3, 9, 4}, {3, 9, 0}} {
		told := ""
		run, err := checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true, Note: func(text string) { told += text }})
		if err != nil {
			t.Fatal(err)
		}
		if _, resumed := run.Resumed(); resumed != (c.folds == 3 && c.judged == 0) {
			t.Errorf("%+v: learning is resumed: %t", c, resumed)
		}
		ctx, cancel := context.WithCancel(t.Context())
		judged, rows := 0, opened{data, new(int)}
		stage := func(s fit.Stage) {
			if s.Name == "cross-validating" && s.Training == nil && !strings.Contains(s.Detail, "dealing") {
				judged++
			}
			if judged == c.stop {
				cancel()
			}
		}
		cv := &fit.CV{Folds: c.folds, Grid: []fit.Axis{{Option: "l2", Values: []string{"1", "2"}}}}
		settings := learner.New()
		settings.Shared().Workers = 1
		_, err = fit.Learn(ctx, rows, fit.New(learner, settings), fit.Options{Checkpoint: run, CV: cv, Stage: stage})
		switch {
		case c.stop == judged && errors.Is(err, context.Canceled):
		case c.folds == 4 && err != nil && strings.Contains(err.Error(), "the sum of the options that are judged"):
		case err != nil || run.Finish() != nil:
			t.Errorf("%+v: %v", c, err)
		}
		if judged != c.judged {
			t.Errorf("%+v: %d trainings were judged", c, judged)
		}
		if want := (judged + 1) / 2; *rows.times != want { // two points in a fold
			t.Errorf("%+v: features were learned again for %d folds, want %d", c, *rows.times, want)
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
	if race.Enabled {
		t.Skip("SKIPPED under the race detector alone: it has one worker, so nothing runs beside it but what TestResume runs there too")
	}
	for _, c := range []struct {
		learner, options  string
		features, classes int
	}{
		{"averaged", "order=shuffle", 5, 2}, {"pocket", "", 5, 2}, {"passive-aggressive", "", 5, 3}, {"dual", "", 5, 2}, {"averaged", "multiclass=ovr", 4, 3},
		{"logistic", "", 9, 2}, {"logistic", "solver=lbfgs", 9, 3}, {"logistic", "solver=sgd", 9, 2}, {"logistic", "l1=1", 30, 2}, {"logistic", "solver=truncated l2=0.01", 60, 2},
		{"logistic", "multiclass=ovr", 9, 3}, {"svm", "loss=hinge", 9, 2}, {"svm", "loss=hinge multiclass=joint", 5, 3}, {"svm", "l2=0.001", 40, 2},
		{"svm", "loss=hinge", 16_400, 2}, {"logistic", "l1=0.1", 16_400, 2},
	} {
		t.Run(fmt.Sprintf("%s_%s_%d", c.learner, strings.ReplaceAll(c.options, " ", "_"), c.features), func(t *testing.T) {
			rows := noise(400, c.features, c.classes)
			if c.features > 1000 {
				rows = testrows.Sparse(noise(40, c.features, c.classes))
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
					learner, opt := fit.Describe(c.learner), fit.Options{Checkpoint: run}
					settings := learner.New()
					calls := 0
					settings.Shared().Workers = 1
					settings.Shared().Progress = func(train.Progress) {
						if calls++; stop > 0 {
							time.Sleep(time.Hour)
							slept++
						}
						if calls == stop {
							cancel()
						}
					}
					set(t, learner, settings, &opt, strings.Fields(c.options))
					f, err := fit.Learn(ctx, rows, fit.New(learner, settings), opt)
					if stop > 0 {
						if run.Close(); !errors.Is(err, context.Canceled) {
							t.Fatalf("it ended after %d reports: %v", calls, err)
						}
						continue
					}
					if err != nil {
						t.Fatal(err)
					}
					var file bytes.Buffer
					if _, err := f.Model.WriteTo(&file); err != nil {
						t.Fatal(err)
					}
					if stop == 0 {
						want = file.Bytes()
					} else if !bytes.Equal(file.Bytes(), want) {
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
