package transform

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSentinels: a number in nines that recurs far from the other values may stand for a missing value; others don't.
func TestSentinels(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	values := func(n int, lo, hi float64) (all []float64) {
		for range n {
			all = append(all, lo+rng.Float64()*(hi-lo))
		}
		return all
	}
	for name, c := range map[string]struct {
		values []float64
		rare   float64
		n      int // number of rows with rare
		want   bool
	}{
		"-999 below":            {values(300, -12, 200), -999, 37, true},
		"9999 above":            {values(300, 0, 50), 9999, 3, true},
		"-9 beside codes":       {slices.Repeat([]float64{0, 1, 2}, 50), -9, 5, true},
		"-200, often":           {values(300, -2, 45), -200, 37, true},
		"twice":                 {values(300, 0, 50), 9999, 2, false},
		"99 is an age":          {values(300, 0, 50), 99, 37, false},
		"no nines":              {values(300, 0, 50), -998, 3, false},
		"within the others":     {values(300, -1000, 200), -999, 37, false},
		"near the others":       {values(300, -600, 200), -999, 37, false},
		"one other value":       {slices.Repeat([]float64{4}, 300), -999, 37, false},
		"a number of two kinds": {slices.Repeat([]float64{4}, 300), 4, 37, false},
	} {
		all := append(slices.Clone(c.values), slices.Repeat([]float64{c.rare}, c.n)...)
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var e extremes
		for _, v := range all {
			e.add(v)
		}
		v, rows, lo, hi, ok := e.sentinel()
		if ok != c.want {
			t.Errorf("%s: found %t", name, ok)
		}
		if c.want && (v != c.rare || rows != c.n || lo != slices.Min(c.values) || hi != slices.Max(c.values)) {
			t.Errorf("%s: %g in %d rows, others %g to %g", name, v, rows, lo, hi)
		}
	}
}
