package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const iris = "../../examples/iris.parquet"

// TestMulticlassSklearn has the weights, probabilities and errors of scikit-learn's OneVsRestClassifier of logistic regressions on iris;
// see testdata/sklearn_ovr.py.
func TestMulticlassSklearn(t *testing.T) {
	inParallel(t)
	var fixture struct {
		Cases []struct {
			L2, Errors             float64
			Weights, Probabilities [][]float64
			Bias                   []float64
		}
	}
	if err := json.Unmarshal([]byte(read(t, "testdata/sklearn_ovr.json")), &fixture); err != nil || len(fixture.Cases) == 0 {
		t.Fatal("no cases", err)
	}
	path := filepath.Join(t.TempDir(), "m.json")
	for _, c := range fixture.Cases {
		r := decode(t, "train", iris, "--label", "species", "--algo", "logistic", "--multiclass", "ovr", "--l2", fmt.Sprint(c.L2), "--out", path, "--json")
		if r["train_errors"] != c.Errors {
			t.Errorf("l2 %v: %v errors, want %v", c.L2, r["train_errors"], c.Errors)
		}
		m := loadedModel(t, path)
		for k, want := range c.Weights {
			for i, w := range append(want, c.Bias[k]) {
				if got := append(slices.Clone(m.Weights[k]), m.Bias[k])[i]; math.Abs(got-w) > 5e-6*math.Abs(w) { // scikit-learn has the rows in float64
					t.Errorf("l2 %v: class %d has %v at %d, want %v", c.L2, k, got, i, w)
				}
			}
		}
		succeed(t, "predict", "--model", path, iris, "--proba", "--out", path+".csv")
		lines := strings.Split(read(t, path+".csv"), "\n")
		for k, want := range c.Probabilities {
			for class, w := range want {
				if got, err := strconv.ParseFloat(strings.Split(lines[1+10*k], ",")[1+class], 64); err != nil || math.Abs(got-w) > 1e-6 {
					t.Errorf("l2 %v: row %d has the probability %v of class %d, want %v", c.L2, 10*k, got, class, w)
				}
			}
		}
	}
}
