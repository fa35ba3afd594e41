package dual

import (
	"context"
	"os"
	"testing"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/train"
)

// TestMNIST is a small form of Freund and Schapire's experiment; see BenchmarkMNIST in bench. On new digits, voted and
// averaged classifiers err less than the last ones, and a polynomial kernel less than a linear one. It is skipped if
// the digits aren't beside the repository.
func TestMNIST(t *testing.T) {
	const folder = "../../../shared/data/mnist"
	if _, err := os.Stat(folder); err != nil || testing.Short() {
		t.Skip("there are no digits beside the repository, or this run is to be short")
	}
	rows, err := testrows.MNIST(folder, "train", 3000)
	if err != nil {
		t.Fatal(err)
	}
	test, err := testrows.MNIST(folder, "test", 2000)
	if err != nil {
		t.Fatal(err)
	}
	errors := map[string]map[train.Form]float64{}
	for _, k := range []model.Kernel{{Kind: "linear"}, {Kind: "poly", Degree: 4, Gamma: 1, Coef0: 1}} {
		errors[k.Kind] = map[train.Form]float64{}
		for _, form := range train.Forms {
			r := mustTrain(t, rows, Options{Options: train.Options{Epochs: 1}, Form: form, Kernel: k})
			errors[k.Kind][form] = errorShare(t, r, test)
		}
	}
	for kind, e := range errors {
		if e[train.Voted] >= e[train.Last] || e[train.Averaged] >= e[train.Last] || e[train.Last] > 0.3 {
			t.Errorf("shares of errors, %s kernel: %v", kind, e)
		}
	}
	if linear, poly := errors["linear"], errors["poly"]; min(linear[train.Voted], linear[train.Averaged]) <= poly[train.Last] {
		t.Errorf("shares of errors, linear: %v, of degree 4: %v", linear, poly)
	}
}

func errorShare(t *testing.T, r *Result, test *block.Data) float64 {
	t.Helper()
	s, err := predict.NewScorer(r.Model(test.Spec()), 2)
	if err != nil {
		t.Fatal(err)
	}
	errors := 0
	for b := range test.Blocks(context.Background()) {
		scores, err := s.Scores(context.Background(), b)
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range b.Y {
			if predict.Predicted(scores, i, 0) != int(y) {
				errors++
			}
		}
	}
	return float64(errors) / float64(test.Rows())
}
