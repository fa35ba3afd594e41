package learner_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"halfspace/train/learner"
)

// TestUpdateBound: bounds are whole numbers, and never below the text book's. There is none if the margin may be only
// rounding.
func TestUpdateBound(t *testing.T) {
	r := learner.Result{Weights: []float32{1, 1, -3}, Radius: math.Sqrt(26), Margin: 1 / math.Sqrt(11)}
	for _, c := range []struct{ margin, eta, want float64 }{{0, 1, 286}, {0, 0.25, 286}, {2, 1, 330}, {2, 0.5, 374}} {
		if got := r.UpdateBound(c.margin, c.eta); got != c.want {
			t.Errorf("margin %v, eta %v: %v, want %v", c.margin, c.eta, got, c.want)
		}
	}
	if r.MistakeBound() != 286 || learner.MostUpdates(r.Radius, r.Margin, 3) != 286 {
		t.Errorf("bounds %v and %v, want 286", r.MistakeBound(), learner.MostUpdates(r.Radius, r.Margin, 3))
	}
	for margin := 0x1p-1; margin > 0x1p-40; margin /= 2 {
		r := learner.Result{Weights: []float32{1}, Radius: 1, Margin: margin}
		if got := r.MistakeBound(); got < 1/margin/margin || got < math.Inf(1) && margin < 0x1p-24 {
			t.Errorf("margin %v: bound %v", margin, got)
		}
	}
	if none := (&learner.Result{Radius: 1, Margin: 1}); !math.IsInf(none.MistakeBound(), 1) {
		t.Errorf("bound %v without weights", none.MistakeBound())
	}
}

// TestUpdateBoundFrom: no number above the bound keeps the inequality of the theorem, in exact fractions, and the bound keeps it for a slightly larger radius, for weights
// to begin with in every direction and of every size. With zeros it is UpdateBound.
func TestUpdateBoundFrom(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	whole := func(most int) float64 { return float64(rng.IntN(2*most+1) - most) }
	before, after := 0, 0 // cases below the bound of zeros, and above it
	for k := range 400 {
		vectors := 1 + k%2
		r := &learner.Result{Weights: [][]float32{{3, 0, 0}, {3, 0, 0, -3, 0, 0}}[k%2], Radius: float64(1 + rng.IntN(30)), Margin: 1 / float64(1+rng.IntN(4))}
		margin, eta, size := float64(rng.IntN(3)), 1/float64(int(1)<<rng.IntN(3)), []int{3, 300, 1_000_000}[k%3]
		w0 := make([]float64, len(r.Weights))
		for v := 0; v < len(w0); v += 3 {
			w0[v] = whole(size)
			if k%4 > 1 { // else it has the direction of u, or the opposite one
				w0[v+1] = whole(size)
			}
		}
		if k%4 < 2 && vectors == 2 {
			w0[3] = -w0[0]
		}
		plain := r.UpdateBound(margin, eta)
		if zeros := learner.UpdateBoundFrom(r, make([]float64, len(w0)), vectors, margin, eta); zeros != plain {
			t.Errorf("case %d: %v updates from zeros, %v without them", k, zeros, plain)
		}
		got := learner.UpdateBoundFrom(r, w0, vectors, margin, eta)
		wider := *r // the bound allows for the rounding of float32 scores, which grows with the weights
		wider.Radius *= 1.001
		if size < 1_000_000 && !holds(&wider, w0, vectors, margin, eta, got) || holds(r, w0, vectors, margin, eta, got+1) {
			t.Errorf("case %d: %+v from %v, margin %v, eta %v: %v updates, which isn't the last number of them", k, r, w0, margin, eta, got)
		}
		if got < plain {
			before++
		} else if got > plain {
			after++
		}
	}
	if before < 50 || after < 50 {
		t.Errorf("%d bounds below that of zeros, %d above it: too few to tell", before, after)
	}
	for _, r := range []learner.Result{{Radius: 1, Margin: 1}, {Weights: []float32{1}, Radius: 1}, {Weights: []float32{1}, Radius: 1, Margin: 0x1p-24}} {
		if got := learner.UpdateBoundFrom(&r, []float64{1}, 1, 0, 1); !math.IsInf(got, 1) {
			t.Errorf("%+v: bound %v without a margin", r, got)
		}
	}
	huge := &learner.Result{Weights: []float32{1, 1}, Radius: 1, Margin: 0.5}
	if got := learner.UpdateBoundFrom(huge, []float64{math.MaxFloat64, -math.MaxFloat64}, 1, 0, 1); !math.IsInf(got, 1) {
		t.Errorf("bound %v with weights whose norm overflows", got)
	}
}

// holds tells whether so many updates keep the inequality of UpdateBoundFrom. The direction of r.Weights is that of the first
// feature; of two vectors it is (1, 0, 0, -1, 0, 0). Both sides are divided by the step of an update, so that all is rational.
func holds(r *learner.Result, w0 []float64, vectors int, margin, eta, updates float64) bool {
	rat := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	mul := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
	rho := new(big.Rat).SetFrac64(1, int64(math.Round(1/r.Margin)))
	step := mul(rat(eta), rho) // without the root of 2
	square, dot := new(big.Rat), rat(w0[0])
	for _, v := range w0 {
		square.Add(square, mul(rat(v), rat(v)))
	}
	if vectors == 2 {
		dot.Sub(dot, rat(w0[3]))
		dot.Quo(dot, rat(2))
		square.Quo(square, rat(2))
	}
	dot.Quo(dot, step)
	square.Quo(square, mul(step, step))
	grows := new(big.Rat).Add(rat(r.Radius*r.Radius), rat(2*margin/eta))
	grows.Quo(grows, mul(rho, rho))
	left, right := dot.Add(dot, rat(updates)), square.Add(square, mul(rat(updates), grows))
	return left.Sign() <= 0 || mul(left, left).Cmp(right) <= 0
}
