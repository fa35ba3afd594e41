package train_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// partedRows returns rows of a number of classes. In the rows of class k, feature k is 1, and each other feature is at
// most 0.5.
func partedRows(t *testing.T, rng *rand.Rand, classes int) *block.Data {
	t.Helper()
	var x [][]float64
	var y []int
	for i := range 80 {
		row := make([]float64, 4)
		for c := range row {
			row[c] = 0.5 * rng.Float64()
		}
		row[i%classes] = 1
		x, y = append(x, row), append(y, i%classes)
	}
	data := require.Value(block.FromRows(x, y, block.RowOptions{}))(t)
	return data
}

// TestUpdateBound: a perceptron that begins with weights of any direction and size, and separates the rows, makes at most as many
// updates as its bound. So it does online. Some
// trainings make more updates than they could from zeros.
func TestUpdateBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	exceeded := 0
	for k := range 60 {
		classes := 2 + k%2
		data := partedRows(t, rng, classes)
		n := data.Spec().Cols() * data.Spec().Vectors()
		w := make([]float64, n)
		for i := range w {
			w[i] = []float64{1, 30, 1000}[k%3] * rng.NormFloat64()
		}
		if k%4 == 0 { // opposite to a plane that separates the rows
			copy(w, []float64{500, -500, 0, 0, 0})
		}
		narrow := make([]float32, n)
		for i, v := range w {
			narrow[i] = float32(v)
		}
		from := model.New(data.Spec(), narrow)
		from.Algorithm = "perceptron"
		o := perceptron.Options{Eta: []float64{1, 0.25}[k/2%2], Order: learner.Orders[k%len(learner.Orders)], Epochs: 100_000, Margin: float64(k % 5)}
		if k%7 == 0 {
			o.Form = learner.Averaged
		}
		f := require.Value(train.Run(t.Context(), data, perceptron.New(o), train.Options{Init: from, Multiclass: []string{"", model.Joint}[k%2]}))(t)
		apart := !math.IsInf(f.Result.UpdateBound(o.Margin, o.Eta), 1) // by more than rounding
		if !f.Result.Converged || f.Model.Training.MistakeBound != nil || apart && f.UpdateBound == nil {
			t.Fatalf("case %d: converged %v, margin %v, bounds %v and %v", k, f.Result.Converged, f.Result.Margin, f.Model.Training.MistakeBound, f.UpdateBound)
		}
		if f.UpdateBound == nil { // the mean of all doesn't separate the rows
			continue
		}
		if float64(f.Result.Updates) > *f.UpdateBound {
			t.Errorf("case %d: %d updates of at most %v", k, f.Result.Updates, *f.UpdateBound)
		}
		if float64(f.Result.Updates) > f.Result.UpdateBound(o.Margin, o.Eta) {
			exceeded++
		}
		if classes > 2 {
			continue
		}
		online := require.Value(train.Run(t.Context(), data, perceptron.New(perceptron.Options{Eta: o.Eta}), train.Options{Init: from, Online: &train.Online{}}))(t)
		if separates := online.Model.Training.Margin != nil; separates != (online.UpdateBound != nil) || separates && float64(online.Online.Updates) > *online.UpdateBound {
			t.Errorf("case %d: separates %v, %d updates, bound %v", k, separates, online.Online.Updates, online.UpdateBound)
		}
	}
	if exceeded < 5 {
		t.Errorf("%d trainings made more updates than from zeros: too few to tell", exceeded)
	}
}
