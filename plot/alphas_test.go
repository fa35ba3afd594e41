package plot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/schema"
)

// kernelModel returns a model with these dual coefficients by row, or with a row of them for each of several classes.
func kernelModel(coefficients ...[]float32) *model.Model {
	m := &model.Model{Dtype: model.Float32, Classes: []schema.Class{schema.StringClass("no"), schema.StringClass(hostile)}, Expansion: new(model.Expansion)}
	for i := range coefficients[0] {
		m.Expansion.Rows = append(m.Expansion.Rows, int64(10*i))
	}
	for i, c := range coefficients {
		m.Expansion.Coefficients = append(m.Expansion.Coefficients, model.Pack(c))
		if i > 1 {
			m.Classes = append(m.Classes, schema.StringClass(fmt.Sprint(i)))
		}
	}
	m.Positive = m.Classes[1]
	m.Training.Rows = 1000
	return m
}

// TestAlphas: each coefficient that isn't 0 is drawn once, with its row and on the side of its class.
func TestAlphas(t *testing.T) {
	drawn := func(f *Figure) string {
		all := map[float64]string{}
		for _, s := range f.Series {
			for i, y := range s.Y {
				all[y] = fmt.Sprintf("%s %s %g", f.Y.Names[int(y)], s.Name, s.X[i])
			}
		}
		text := ""
		for k := range f.Y.Names {
			text += all[float64(len(f.Y.Names)-1-k)] + "; "
		}
		return text
	}
	if got := drawn(Alphas(kernelModel([]float32{2, 0, -5}), 0)); got != "row 20 no 5; row 0 "+hostile+" 2; " {
		t.Error(got)
	}
	several := kernelModel([]float32{1, 0, 0}, []float32{0, -2, 3}, []float32{0, 0, 4})
	if got := drawn(Alphas(several, 1)); got != "row 20 "+hostile+" 3; row 10 other classes 2; " {
		t.Error(got)
	}
	if Alphas(several, 3) != nil || Alphas(&model.Model{}, 0) != nil {
		t.Error("there are coefficients of no class")
	}
	voted := kernelModel([]float32{1, -1, 1})
	voted.Expansion.Votes = []model.Votes{{Mistakes: model.Pack([]uint32{1, 2, 1, 1})}}
	if got := drawn(Alphas(voted, 0)); got != "row 10 no 3; row 20 "+hostile+" 1; " {
		t.Error(got)
	}
	linear := &model.Model{}
	linear.Training.MisclassifiedRows = []model.MisclassifiedRow{{Row: 2, Updates: 5}, {Row: 0, Updates: 2}}
	if got := drawn(Alphas(linear, 0)); got != "row 2  5; row 0  2; " {
		t.Error(got)
	}
	linear.Weights, linear.Training.Updates = [][]float64{{1}, {2}, {3}}, 9
	if got := Alphas(linear, 0).Subtitle; got != "how often rows made an update, summed over the classes; the 2 rows with the most" {
		t.Error(got)
	}
	rng, many, sum := rand.New(rand.NewPCG(9, 9)), make([]float32, 500), 0.0
	for i := range many {
		many[i] = float32(rng.NormFloat64())
		sum += math.Abs(float64(many[i]))
	}
	f := Alphas(kernelModel(many), 0)
	for _, s := range f.Series {
		for i, y := range s.Y {
			if sum -= y; i > 0 && y > s.Y[i-1] || s.X[i] != float64(i+1) {
				t.Fatalf("%s: the coefficients don't fall", s.Name)
			}
		}
	}
	if len(f.Series) != 2 || math.Abs(sum) > 1e-9 || !strings.Contains(f.Text, "500 of 1,000 rows") {
		t.Errorf("%d curves, %g left, %s", len(f.Series), sum, f.Text)
	}
}

// TestWitness: each weight is drawn once, beside its row and on the side of its class. Of many, the largest 30 are.
func TestWitness(t *testing.T) {
	for _, n := range []int{2, 30, 100} {
		rng := rand.New(rand.NewPCG(uint64(n), 1))
		rows, labels, weights := make([]int64, n), make([]int, n), make([]float64, n)
		at := map[string]int{}
		for i, k := range rng.Perm(n) {
			rows[i], labels[i], weights[i] = int64(k), 2*rng.IntN(2)-1, rng.Float64()
			at[fmt.Sprintf("row %d", k)] = i
		}
		f := Witness(rows, labels, weights, [2]string{"no", "yes"})
		drawn, least := 0, math.Inf(1)
		for _, s := range f.Series {
			for k, y := range s.Y {
				i, known := at[f.Y.Names[int(y)]]
				if !known || weights[i] != s.X[k] || (s.Name == "yes") != (labels[i] > 0) {
					t.Errorf("%d rows: %s has the weight %g of class %s", n, f.Y.Names[int(y)], s.X[k], s.Name)
				}
				drawn, least = drawn+1, min(least, s.X[k])
				delete(at, f.Y.Names[int(y)])
			}
		}
		if drawn != min(n, 30) {
			t.Errorf("%d rows: %d are drawn", n, drawn)
		}
		for _, i := range at {
			if weights[i] > least {
				t.Errorf("%d rows: the weight %g isn't drawn, and %g is", n, weights[i], least)
			}
		}
	}
}
