package coordinate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/testrows"
	"halfspace/kernel/f64"
	"halfspace/train"
	"halfspace/train/elastic"
)

// TestFace: at a precise step, the quadratic model is flat along all weights that kept their sign, unless one lost it. No sign
// changes, and along holds the scores of the step. If polish can't take it, it clears them.
func TestFace(t *testing.T) {
	rng, ctx := rand.New(rand.NewPCG(7, 8)), context.Background()
	kept := 0
	for trial := range 20 {
		n, features := 200, 5+rng.IntN(20)
		x, y := make([][]float64, n), make([]float64, n)
		for r := range x {
			x[r] = make([]float64, features)
			score := rng.NormFloat64()
			for i := range x[r] {
				if rng.IntN(3) == 0 {
					x[r][i] = rng.NormFloat64()
				}
				score += x[r][i] * float64(i%3-1)
			}
			y[r] = math.Copysign(1, score)
		}
		testrows.Round(x)
		d := testrows.Dense(x, y, trial%2 > 0)
		s := newNet(&Net{Penalty: elastic.Penalty{L1: 2, L2: float64(trial % 3)}, Options: train.Options{Epochs: 1000, Workers: 1}, Rows: d, Loss: f64.Logistic})
		if err := s.begin(ctx); err != nil {
			t.Fatal(err)
		}
		next, _, err := s.step(ctx, 0.25)
		if err != nil {
			t.Fatal(err)
		}
		if moved, err := s.move(ctx, next); err != nil || !moved || s.evaluate(ctx) != nil {
			t.Fatalf("moved %t, error %v", moved, err)
		}
		s.forcing = 1e-9
		if next, err = s.face(ctx); err != nil {
			t.Fatal(err)
		}
		whole := true
		for j := range s.features {
			if s.w[j] == 0 && next[j] != 0 || next[j]*s.w[j] < 0 {
				t.Errorf("weight %d goes from %v to %v", j, s.w[j], next[j])
			}
			whole = whole && (next[j] != 0) == (s.w[j] != 0)
		}
		model := append([]float64{}, s.gradient...)
		for r := range x {
			score := 0.0
			for i, v := range append(x[r], 1)[:len(s.w)] {
				score += v * (next[i] - s.w[i])
			}
			if math.Abs(score-s.along[2*r+1]) > 1e-12 {
				t.Errorf("row %d: the step changes its score by %v, not %v", r, score, s.along[2*r+1])
			}
			for i, v := range append(x[r], 1)[:len(s.w)] {
				model[i] += s.along[2*r] * score * v
			}
		}
		loss := s.loss
		s.loss = math.Inf(-1) // no weights are better
		if whole, err := s.polish(ctx); whole || err != nil {
			t.Errorf("polish says %t, %v", whole, err)
		}
		s.loss = loss
		for r := range x {
			if s.along[2*r+1] != 0 {
				t.Fatalf("row %d has a score of %v left from a step that was not taken", r, s.along[2*r+1])
			}
		}
		if !whole {
			continue
		}
		kept++
		for j, w := range next {
			if j < s.features {
				model[j] += s.L2*w + math.Copysign(s.L1, w)
			}
			if (w != 0 || j >= s.features) && math.Abs(model[j]) > 1e-6 {
				t.Errorf("weight %d: the slope of the model is %v", j, model[j])
			}
		}
	}
	if kept == 0 {
		t.Error("no step kept all signs")
	}
}
