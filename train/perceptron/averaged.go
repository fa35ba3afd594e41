package perceptron

import (
	"math"

	"halfspace/block"
)

// A mean is the mean of the weights after every visit. Visits that update nothing cost it nothing.
//
// Let a span have n visits. An update of a y x after c of them is part of n - c of the weights. Their sum is n w - sum
// of c a y x over the updates, with the last weights w (the lazy form; Collins 2002, Daume's thesis 2006, figure 2.3).
// A span is short, so that the second sum has small numbers of float32. Spans are summed in float64.
type mean struct {
	late []float32 // of the span: the sum of c a y x
	a    []float32 // c a of some updates
	span int64     // its visits
	sum  []float64 // of the weights of the spans before
}

// spanVisits is the least number of visits of a span.
const spanVisits = block.RunRows

func newMean(stride int) *mean {
	return &mean{late: block.Alloc[float32](stride), sum: make([]float64, stride)}
}

// add counts visits to a stretch. The updates were at some positions, and the weights are w now.
func (m *mean) add(u *rule, s *stretch, visits int, positions []uint32, w []float32) {
	m.a = m.a[:0]
	for _, p := range positions {
		m.a = append(m.a, float32(m.span+int64(p))*u.eta)
	}
	u.repeat(m.late, m.a, s, 0, positions)
	if m.span += int64(visits); m.span >= spanVisits {
		m.end(w)
	}
}

// end ends a span with the weights w.
func (m *mean) end(w []float32) {
	for i, v := range w {
		m.sum[i] += math.FMA(float64(m.span), float64(v), -float64(m.late[i]))
	}
	clear(m.late)
	m.span = 0
}

// weights returns the mean over all visits. The last weights are w.
func (m *mean) weights(w []float32, visits int64) []float32 {
	m.end(w)
	out := block.Alloc[float32](len(w))
	for i, s := range m.sum {
		out[i] = float32(s / float64(visits))
	}
	return out
}
