package perceptron

import (
	"math"

	"halfspace/internal/block"
	"halfspace/train/internal/online"
)

// A mean is the mean of the weights after every visit. Visits without an update cost no time.
//
// Take n consecutive visits. An update by a y x after c of these visits is part of the weights after n - c visits. The
// sum of the weights is n w - sum of c a y x over the updates, where w are the last weights (the lazy form; Collins
// 2002; Daume's thesis 2006, figure 2.3). n is small, so that the second sum has small numbers, which float32 holds
// well. The sums of n visits each are summed in float64.
type mean struct {
	lateSum []float32 // the sum of c a y x over the updates of the last visits
	a       []float32 // work memory: c a of some updates
	visits  int64     // number of the last visits, which sum lacks
	sum     []float64 // sum of the weights over the earlier visits
}

// leastVisits is the least number of visits that are added to sum together.
const leastVisits = block.ChunkRows

// add adds visits to a panel, with updates at the given positions. w are the weights after them.
func (m *mean) add(u *rule, panel *online.Panel, visits int, positions []uint32, w []float32) {
	m.a = m.a[:0]
	for _, p := range positions {
		m.a = append(m.a, float32(m.visits+int64(p))*u.eta)
	}
	u.repeatUpdates(m.lateSum, m.a, panel, 0, positions)
	if m.visits += int64(visits); m.visits >= leastVisits {
		m.end(w)
	}
}

// end adds the last visits to sum. w are the weights after them.
func (m *mean) end(w []float32) {
	for i, v := range w {
		m.sum[i] += math.FMA(float64(m.visits), float64(v), -float64(m.lateSum[i]))
	}
	clear(m.lateSum)
	m.visits = 0
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
