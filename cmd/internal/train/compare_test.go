package train

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"halfspace/dataset"
	"halfspace/internal/humanize"
	"halfspace/internal/require"
	"halfspace/internal/train"
)

// TestCompareCommand: the command of the best learner is whole, so that it can be copied.
func TestCompareCommand(t *testing.T) {
	c := &comparison{judgedPoints: judgedPoints{Points: []judgedPoint{{Point: &train.Point{Accuracy: new(float64)}}}, Baseline: &train.Baseline{}},
		Best: "halfspace train " + strings.Repeat("a.csv ", 1000) + "--label y"}
	if text := c.sheet().String(); !strings.Contains(text, c.Best) {
		t.Error(text)
	}
}

// TestEntrants: compare ranks all learners but the two that README.md names.
func TestEntrants(t *testing.T) {
	var absent []string
	for _, l := range train.Learners {
		if !slices.ContainsFunc(entrants, func(e entrant) bool { return e.name() == l.Name }) {
			absent = append(absent, l.Name)
		}
	}
	if slices.Sort(absent); !slices.Equal(absent, []string{"arow", "dual"}) {
		t.Errorf("compare doesn't rank %v", absent)
	}
}

// TestInterruptedCompare: an interrupted comparison has the figures of the folds so far, and its table says how many they are.
func TestInterruptedCompare(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	data, err := dataset.Load(ctx, "../../../examples/breast-cancer.parquet", dataset.Options{Label: "diagnosis"})
	require.NoError(t, err)
	var learners []train.Learner
	var names []string
	for _, name := range []string{"averaged", "lda", "logistic"} {
		l, err := train.LearnerNamed(name)
		require.NoError(t, err)
		learners, names = append(learners, l), append(names, "--algo "+name)
	}
	whole, err := train.Compare(context.Background(), data, train.Options{CV: train.CV{}}, learners...)
	require.NoError(t, err)
	for begun, folds := range map[int64][]int{8: {3, 3, 2}, 1: {1, 0, 0}} { // of the trainings of each learner
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		opt := train.Options{Watch: train.Watch{Stage: func(s train.Stage) {
			if s.Done == begun {
				cancel()
			}
		}}}
		cv, err := train.Compare(ctx, data, opt, learners...)
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		for i, p := range cv.Points {
			if !slices.Equal(p.FoldAccuracy, whole.Points[i].FoldAccuracy[:folds[i]]) || (p.Errors == nil) != (folds[i] == 0) || len(p.Figures.AUC) != folds[i] {
				t.Errorf("%s after %d trainings: %+v", names[i], begun, p)
			}
		}
		c := &comparison{judgedPoints: judgedPoints{Interrupted: true, Baseline: &train.Baseline{}}}
		c.add(names, cv)
		text := c.sheet().String()
		for i, n := range folds {
			want := humanize.Count(int64(n)) + " of 5\n"
			if n == 0 {
				want = "Left out: " + names[i][len("--algo "):] + ": interrupted before its first fold was judged"
			}
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
}
