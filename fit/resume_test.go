package fit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/checkpoint"
	"halfspace/fit"
	"halfspace/internal/testrows"
)

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
			small, options := noise[float32](c.rows, 5, c.classes), strings.Fields(c.options)
			if c.rows > 4096 {
				resumed(t, small, "dual", options)
				return
			}
			resumed(t, testrows.Sparse(small), "kernel-perceptron", options)
			resumed(t, apart(small), "dual", options)
			resumed(t, testrows.Weighted(noise[float64](c.rows, 5, c.classes), func(r int) float64 { return float64(r%3) / 2 }), "dual", options)
		})
	}
}

// apart returns rows with other labels, which planes separate.
func apart(d *block.Data[float32]) *block.Data[float32] {
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
	return testrows.Dense[float32](x, y, true)
}

// TestResumeJudged: what was judged when a training stopped is not judged again, also after it finished. With other options it is refused.
func TestResumeJudged(t *testing.T) {
	learner, rows, dir := fit.Describe("logistic"), noise[float32](300, 4, 2), t.TempDir()
	for _, c := range []struct{ folds, stop, judged int }{{3, 3, 3}, {4, 9, 0}, {3, 9, 4}, {3, 9, 0}} {
		run, err := checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		judged := 0
		stage := func(name string, done, _ int64) {
			if strings.HasPrefix(name, "cross-validating") {
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
		run.Close()
		cancel()
	}
}
