package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A classesCase is rows of several classes and scikit-learn's figures of them, of testdata/sklearn_classes.py.
type classesCase struct {
	Name             string
	Probabilities    [][]float32 // [class][row]
	Classes          []float32
	Weights          []float64
	Predicted        []int
	AUC              []float64
	AUCMacro         *float64  `json:"auc_macro"` // null of two classes
	AUCWeighted      *float64  `json:"auc_weighted"`
	AveragePrecision []float64 `json:"average_precision"`
	F1Macro          float64   `json:"f1_macro"`
	F1Weighted       float64   `json:"f1_weighted"`
	BalancedAccuracy float64   `json:"balanced_accuracy"`
}

func TestSklearnClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(41, 42))
	for _, c := range casesOf[classesCase](t, "sklearn_classes.json") {
		scores, confusion := NewClassScores(len(c.Probabilities)), NewConfusion(len(c.Probabilities))
		for _, i := range rng.Perm(len(c.Classes)) {
			p, weight, weights := make([][]float32, len(c.Probabilities)), 1.0, []float64(nil)
			for k := range p {
				p[k] = c.Probabilities[k][i : i+1]
			}
			if len(c.Weights) > 0 {
				weight, weights = c.Weights[i], c.Weights[i:i+1]
			}
			scores.Add(p, c.Classes[i:i+1], weights)
			confusion.Add(int(c.Classes[i]), c.Predicted[i], weight)
		}
		for k, want := range c.AUC {
			if got := scores.AUC()[k]; !near(got, want) {
				t.Errorf("%s: AUC of class %d is %v, want %v", c.Name, k, got, want)
			}
			if got := scores.Class(k).AveragePrecision(); !near(got, c.AveragePrecision[k]) {
				t.Errorf("%s: average precision of class %d is %v, want %v", c.Name, k, got, c.AveragePrecision[k])
			}
		}
		if c.AUCMacro != nil && (!near(scores.MacroAUC(), *c.AUCMacro) || !near(scores.WeightedAUC(), *c.AUCWeighted)) {
			t.Errorf("%s: AUC %v and %v, want %v and %v", c.Name, scores.MacroAUC(), scores.WeightedAUC(), *c.AUCMacro, *c.AUCWeighted)
		}
		for k, pair := range [][2]float64{{confusion.MacroF1(), c.F1Macro}, {confusion.WeightedF1(), c.F1Weighted}, {confusion.BalancedAccuracy(), c.BalancedAccuracy}} {
			if !near(pair[0], pair[1]) {
				t.Errorf("%s: figure %d is %v, want %v", c.Name, k, pair[0], pair[1])
			}
		}
	}
}

// TestClassScores: the area of a class is that of its scores, with the class's rows as the positive ones. The macro and the weighted
// area are means of those that are defined.
func TestClassScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	for range 200 {
		rows, classes := 1+rng.IntN(20), 3
		scores, labels, weights := make([][]float32, classes), make([]float32, rows), make([]float64, rows)
		for i := range rows {
			labels[i], weights[i] = float32(rng.IntN(classes)), float64(rng.IntN(3))
			for k := range scores {
				scores[k] = append(scores[k], float32(rng.IntN(4)))
			}
		}
		s := NewClassScores(classes)
		half := rng.IntN(rows + 1)
		for _, part := range [][2]int{{0, half}, {half, rows}} {
			var some [][]float32
			for k := range scores {
				some = append(some, scores[k][part[0]:part[1]])
			}
			s.Add(some, labels[part[0]:part[1]], weights[part[0]:part[1]])
			s.AUC() // before the other rows
		}
		var macro, weighted Mean
		for k := range classes {
			one, weight, own := new(Scores), 0.0, make([]float32, rows)
			for i, y := range labels {
				if own[i] = -1; int(y) == k {
					own[i], weight = 1, weight+weights[i]
				}
			}
			one.Add(scores[k], own, weights)
			got, want := s.AUC()[k], one.AUC()
			if got != want && (got == got || want == want) {
				t.Fatalf("class %d of %v: %v, want %v", k, labels, got, want)
			}
			if want == want {
				macro.Add([]float64{want}, nil)
				weighted.Add([]float64{want}, []float64{weight})
			}
		}
		for name, pair := range map[string][2]float64{"macro": {s.MacroAUC(), macro.Value()}, "weighted": {s.WeightedAUC(), weighted.Value()}} {
			if got, want := pair[0], pair[1]; !(math.Abs(got-want) < 1e-12) && (got == got || want == want) {
				t.Fatalf("%s AUC %v, want %v", name, got, want)
			}
		}
	}
	if empty := NewConfusion(3); !math.IsNaN(empty.WeightedF1()) || !math.IsNaN(empty.BalancedAccuracy()) || !slices.Equal(empty.Counts(), []int64{0, 0, 0}) {
		t.Error("figures of no rows are defined")
	}
}
