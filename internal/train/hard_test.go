package train_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/testproblems"
)

// A hardProblem is a random problem with what breaks solvers: rows that are far larger than others, columns of unlike
// scales or far from zero, and columns that nearly depend on others.
type hardProblem struct {
	name    string
	x       [][]float64
	y       []float64 // -1 and 1, or class numbers
	classes int
	l2      float64
}

func newHard(seed uint64) *hardProblem {
	rng := rand.New(rand.NewPCG(seed, 37))
	rows, features := 20+rng.IntN(130), 1+rng.IntN(5)
	if seed%200 == 7 {
		rows, features = block.ChunkRows+rng.IntN(2000), 1+rng.IntN(3)
	}
	h := &hardProblem{classes: 2 + rng.IntN(2)}
	rng.IntN(2) // the sets stay the same
	scores := make([][]float64, rows)
	for r := range rows {
		x := make([]float64, features)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		h.x, scores[r] = append(h.x, x), make([]float64, h.classes)
	}
	for k := range h.classes {
		for i := range features {
			w := 2 * rng.NormFloat64()
			for r := range rows {
				scores[r][k] += w * h.x[r][i]
			}
		}
	}
	noise := []float64{0.3, 1, 3}[rng.IntN(3)]
	for r := range rows {
		for k := range scores[r] {
			scores[r][k] -= noise * math.Log(-math.Log(rng.Float64()))
		}
		best := slices.Index(scores[r], slices.Max(scores[r]))
		if r < h.classes {
			best = r // each class has rows
		}
		h.y = append(h.y, float64(best))
		if h.classes == 2 {
			h.y[r] = float64(2*best - 1)
		}
	}
	is := func(share float64) bool { return rng.Float64() < share }
	room := 1e13                 // what differences, offsets and outliers leave of the digits of a score
	if features > 1 && is(0.5) { // before all else, the difference decides
		by := math.Pow(10, -12*rng.Float64())
		if room *= by; is(0.15) {
			by, room = 0, 1e13
		}
		h.name += fmt.Sprintf(" near %.1g", by)
		for r := range h.x {
			h.x[r][0] = h.x[r][1] + by*h.x[r][0]
			if features > 2 && by > 1e-6 {
				h.x[r][0] += h.x[r][2]
			}
		}
	}
	scaled, far := is(0.4), is(0.3)
	if scaled {
		h.name += " scales"
	}
	if far {
		h.name += " offsets"
	}
	scales, most := make([]float64, features), 1.0
	for i := range scales {
		scale, by := 1.0, 0.0
		if scaled {
			scale = math.Pow(10, 18*rng.Float64()-6)
		}
		if far {
			by = math.Pow(10, min(9, math.Log10(room))*rng.Float64())
			most = max(most, by)
		}
		for r := range h.x {
			h.x[r][i] = float64(scale * (h.x[r][i] + by))
		}
		scales[i] = scale
	}
	room /= most
	if is(0.5) {
		size := math.Pow(10, min(12, math.Log10(room))*rng.Float64())
		h.name += fmt.Sprintf(" outliers %.1g", size)
		sentinel := is(0.5)
		for range 1 + rng.IntN(3) {
			x := h.x[rng.IntN(rows)]
			for i := range x {
				if sentinel {
					x[i] = min(size, room*scales[i])
				} else {
					x[i] *= size
				}
			}
		}
	}
	if seed%40 == 13 {
		h.times(rng)
	}
	h.l2 = []float64{0, math.Pow(10, -3-11*rng.Float64()), 1, 1000}[rng.IntN(4)]
	if seed%40 == 13 {
		h.l2 = 0
	}
	h.name = fmt.Sprintf("set %d: %d x %d, %d classes, l2 %.2g:%s", seed, rows, len(h.x[0]), h.classes, h.l2, h.name)
	testproblems.Round(h.x)
	return h
}

// times makes the features two Unix times whose difference, about a step of float32, decides.
func (h *hardProblem) times(rng *rand.Rand) {
	h.name = " two times"
	for r := range h.x {
		start, apart := math.Round(1.7e9+1e7*rng.Float64()), 120*rng.NormFloat64()
		h.x[r] = []float64{start, start + math.Round(apart)}
		apart += 20 * rng.NormFloat64()
		switch {
		case r < h.classes: // each class has rows
		case h.classes == 2:
			h.y[r] = math.Copysign(1, apart)
		default:
			h.y[r] = 1 + math.Round(min(1, max(-1, apart/120)))
		}
	}
}
