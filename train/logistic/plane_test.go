package logistic

import (
	"math/rand/v2"
	"testing"

	"halfspace/internal/require"
	"halfspace/internal/testproblems"
)

// TestProbe: a pass without the terms of most rows finds the same reach as a pass with all terms, and proves only what the
// latter finds. Some rows lie on the plane of the direction, or all lie on one side.
func TestProbe(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	proved := 0
	for round := range 300 {
		n, classes := 1+rng.IntN(100), 2+round%3
		x, y := make([][]float64, n), make([]float64, n)
		for r := range x {
			x[r] = []float64{float64(rng.IntN(7) - 3), float64(rng.IntN(7) - 3)}
			y[r] = float64(rng.IntN(classes))
		}
		d := testproblems.Classes(x, y, classes, true)
		if classes == 2 {
			for r := range y {
				if y[r] = 1; x[r][0]-x[r][1] < 0 || rng.IntN(1+round) > 200 {
					y[r] = -1
				}
			}
			d = testproblems.Dense(x, y, true)
		}
		s := newProblem(d, 0, 1)
		direction := make([]float64, s.vectors*s.cols)
		for i := range direction {
			direction[i] = float64(rng.IntN(3) - 1)
		}
		if classes == 2 && round%4 > 0 {
			copy(direction, []float64{1, -1, 0})
		}
		args := probeArgs{D: s.spread(direction)}
		rough := require.Value(s.probeBy(t.Context(), args))(t)
		args.Exact = true
		exact := require.Value(s.probeBy(t.Context(), args))(t)
		if rough.Reach != exact.Reach || exact.hasSeparateSides() && !rough.hasSeparateSides() {
			t.Fatalf("round %d: %+v, and %+v with all terms", round, rough, exact)
		}
		if !rough.hasSeparateSides() {
			proved++
		}
	}
	if proved < 50 || proved > 250 {
		t.Errorf("%d of 300 directions proved to separate nothing", proved)
	}
}
