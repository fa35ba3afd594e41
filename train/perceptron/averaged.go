package perceptron

import (
	"math"

	"halfspace/internal/block"
	"halfspace/kernel"
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

// visit is rule.visit, and adds the visits to the mean. For dense rows in file order without sample weights, one kernel
// updates the weights and lateSum: to read a misclassified row again costs more than to update lateSum by it.
func (m *mean) visit(u *rule, w []float32, log []uint32, p *online.Panel) (visits, updates int) {
	if b := p.Block; b != nil && b.Sparse == nil && u.scores == nil && !u.hasSampleWeights {
		x := b.X[p.Lo*b.Stride : p.Hi*b.Stride]
		visits, updates = kernel.EpochAveraged(w, m.lateSum, log, x, b.Y[p.Lo:p.Hi], u.eta, u.margin, int(m.visits))
	} else {
		visits, updates = u.visit(w, log, p)
		m.addUpdates(u, p, log[:updates])
	}
	if m.visits += int64(visits); m.visits >= leastVisits {
		m.end(w)
	}
	return visits, updates
}

// addUpdates adds the updates at the given positions of a panel to lateSum.
func (m *mean) addUpdates(u *rule, panel *online.Panel, positions []uint32) {
	m.a = m.a[:0]
	for _, p := range positions {
		m.a = append(m.a, float32(m.visits+int64(p))*u.eta)
	}
	u.repeatUpdates(m.lateSum, m.a, panel, 0, positions)
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
