package perceptron

import (
	"math"

	"halfspace/block"
	"halfspace/train/internal/online"
)

// A mean is the mean of the weights after every visit. Visits without an update cost no time.
//
// Let a span have n visits. An update by a y x after c of these visits is part of the weights after n - c visits. The
// sum of the weights is n w - sum of c a y x over the updates, where w are the last weights (the lazy form; Collins
// 2002; Daume's thesis 2006, figure 2.3). A span is short, so that the second sum has small numbers, which float32
// holds well. Spans are summed in float64.
type mean struct {
	lateSum []float32 // for the span: the sum of c a y x over its updates
	a       []float32 // work memory: c a of some updates
	span    int64     // number of visits in the span
	sum     []float64 // sum of the weights over the visits of earlier spans
}

// spanVisits is the least number of visits in a span.
const spanVisits = block.ChunkRows

// add adds visits to a panel, with updates at the given positions. w are the weights after them.
func (m *mean) add(u *rule, panel *online.Panel, visits int, positions []uint32, w []float32) {
	m.a = m.a[:0]
	for _, p := range positions {
		m.a = append(m.a, float32(m.span+int64(p))*u.eta)
	}
	u.repeatUpdates(m.lateSum, m.a, panel, 0, positions)
	if m.span += int64(visits); m.span >= spanVisits {
		m.end(w)
	}
}

// end ends a span. w are its last weights.
func (m *mean) end(w []float32) {
	for i, v := range w {
		m.sum[i] += math.FMA(float64(m.span), float64(v), -float64(m.lateSum[i]))
	}
	clear(m.lateSum)
	m.span = 0
}

// weights returns the mean over all visits. w are the last weights.
func (m *mean) weights(w []float32, visits int64) []float32 {
	m.end(w)
	out := block.Alloc[float32](len(w))
	for i, s := range m.sum {
		out[i] = float32(s / float64(visits))
	}
	return out
}
