package perceptron

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/pocket"
	"halfspace/train"
)

// wideRows returns rows with a few features each that aren't zero, the label of a plane, and a share of wrong labels.
func wideRows(rows, features int, wrong float64, classes int) *block.Data {
	rng := rand.New(rand.NewPCG(7, uint64(features)))
	plane := make([]float64, features)
	for c := range plane {
		plane[c] = rng.NormFloat64()
	}
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r] = make([]float64, features)
		score := 0.0
		for range 12 {
			c := int(float64(features) * rng.Float64() * rng.Float64())
			x[r][c] = float64(1 + rng.IntN(3))
			score += x[r][c] * plane[c]
		}
		if y[r] = 1; score < 0 != (rng.Float64() < wrong) {
			y[r] = -1
		}
		if classes > 2 {
			y[r] = float64(int(max(0, 10+score)) % classes)
		}
	}
	if classes > 2 {
		return testrows.Classes(x, y, classes, true)
	}
	return testrows.Dense(x, y, true)
}

// TestSparseForm: sparse rows give the result of the same rows in dense form, to the bit, with every option. Epochs end
// within spans of the mean, and within panels.
func TestSparseForm(t *testing.T) {
	options := []struct {
		name string
		opt  Options
	}{
		{"last", Options{}},
		{"averaged", Options{Form: train.Averaged}},
		{"voted", Options{Form: train.Voted, VoterBytes: 1 << 30, Options: train.Options{MaxUpdates: 300}}},
		{"margin", Options{Form: train.Averaged, Margin: 0.5}},
		{"decay", Options{Form: train.Averaged, L2: 0.01}},
		{"capped", Options{Form: train.Averaged, Options: train.Options{MaxUpdates: 700}}},
		{"exact", Options{Pocket: pocket.Exact, Options: train.Options{MaxUpdates: 100}}},
		{"ratchet", Options{Pocket: pocket.Ratchet, Options: train.Options{MaxUpdates: 100}}},
		{"epoch", Options{Pocket: pocket.Epoch}},
	}
	n := 0 // so that each order comes with each option
	for _, features := range []int{30, 1400} {
		for _, wrong := range []float64{0, 0.1} {
			d := wideRows(1300, features, wrong, 2)
			for _, weighted := range []bool{false, true} {
				rows := d
				if weighted {
					rows = testrows.Weighted(d, func(row int) float64 { return float64(row%4) / 2 })
				}
				for _, o := range options {
					o.opt.Order, o.opt.Epochs, o.opt.Eta = train.Orders[n%len(train.Orders)], 7, 0.5
					n++
					sameForms(t, fmt.Sprintf("%d features, %v wrong, weighted %t, %s, %s", features, wrong, weighted, o.name, o.opt.Order), rows, o.opt)
				}
			}
		}
	}
	classes := wideRows(1300, 300, 0, 4)
	for _, order := range train.Orders {
		for _, form := range []train.Form{train.Last, train.Averaged} {
			opt := Options{Form: form, Margin: 0.25, Options: train.Options{Order: order, Epochs: 4}}
			sameForms(t, fmt.Sprintf("classes, %s, %s", form, order), classes, opt)
		}
	}
}

func sameForms(t *testing.T, what string, dense *block.Data, opt Options) {
	t.Helper()
	want, err := Train(context.Background(), dense, opt)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got, err := Train(context.Background(), testrows.Sparse(dense), opt)
	if err != nil {
		t.Fatalf("%s, sparse: %v", what, err)
	}
	for _, r := range []*train.Result{want, got} {
		r.Seconds, r.RowsScored = 0, 0 // of dense rows, bounds and hard rows save scores
		for i := range r.Curve {
			r.Curve[i].Seconds = 0
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: dense rows give %+v, sparse ones %+v", what, short(want), short(got))
	}
}

// short leaves out what is long.
func short(r *train.Result) train.Result {
	s := *r
	s.Weights, s.Last, s.Voters, s.Counts = s.Weights[:3], nil, nil, nil
	return s
}
