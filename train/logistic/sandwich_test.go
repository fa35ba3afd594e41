package logistic

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/learner"
)

// TestSandwich: standard errors of rows whose weights aren't counts are those that NumPy computes (testdata/robust.py
// made them). That holds for far columns, streams, and any number of workers. Without a penalty, multiplying all
// weights doesn't change them.
func TestSandwich(t *testing.T) {
	var fixture struct {
		Cases []struct {
			Name         string
			L2           float64
			FitIntercept bool `json:"fit_intercept"`
			X            [][]float64
			Y            []float64
			SampleWeight []float64 `json:"sample_weight"`
			ClassWeight  []float64 `json:"class_weight"`
		}
	}
	var want []struct {
		Name      string
		StdErrors []float64 `json:"std_errors"`
	}
	for path, to := range map[string]any{"testdata/sklearn_logistic.json": &fixture, "testdata/robust.json": &want} {
		b, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(b, to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	differ := 0
	for i, c := range fixture.Cases {
		dense := testproblems.Dense(c.X, c.Y, c.FitIntercept)
		d, sparse := reweightedRows(t, dense, c.SampleWeight, c.ClassWeight), reweightedRows(t, testproblems.Sparse(dense), c.SampleWeight, c.ClassWeight)
		if want[i].Name != c.Name {
			t.Fatalf("case %d is %s, and the errors are of %s", i, c.Name, want[i].Name)
		}
		var first []float64
		for workers := 1; workers < 4; workers++ {
			for _, src := range []block.Source{d, sparse} {
				r := require.Value(Train(context.Background(), src, Settings{Options: Options{L2: c.L2, NoPenalty: true, Robust: true}, Run: learner.Run{Workers: workers}}))(t)
				require.NearNumbers(t, c.Name, r.StdErrors, want[i].StdErrors, 1e-6)
				if first == nil {
					first = r.StdErrors
				}
				if src == d && !slices.Equal(first, r.StdErrors) {
					t.Errorf("%s, %d workers: %v, with one %v", c.Name, workers, r.StdErrors, first)
				}
			}
		}
		plain := mustTrain(t, d, Settings{Options: Options{L2: c.L2}})
		if !slices.Equal(plain.StdErrors, first) {
			differ++
		}
		if c.L2 > 0 {
			continue
		}
		heavy := mustTrain(t, learner.WithClassWeights(d, []float64{7, 7}), Settings{Options: Options{Robust: true}})
		require.NearNumbers(t, c.Name+", 7 times the weights", heavy.StdErrors, first, 1e-6)
	}
	if differ == 0 {
		t.Error("no errors differ from those of numbers of rows")
	}
}
