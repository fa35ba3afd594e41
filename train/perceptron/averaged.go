package perceptron

import (
	"math"

	"halfspace/block"
	"halfspace/kernel"
)

// A mean is the mean of the weights after every visit, made without a look at those that change nothing.
//
// Over a span of n visits, an update of a y x that comes after c of them stands in n - c of the weights. Their sum is
// n w - sum of c a y x over the updates, with w the last of them (the lazy form; Collins 2002, Daume's thesis 2006, figure
// 2.3). A span is short, so that the second sum is small numbers of T; the spans are summed in float64.
type mean[T kernel.Float] struct {
	late []T       // of the span: the sum of c a y x
	a    []T       // c a of some updates
	span int64     // its visits
	sum  []float64 // of the weights of the spans before
}

// spanVisits is how many visits make a span at least.
const spanVisits = block.RunRows

func newMean[T kernel.Float](stride int) *mean[T] {
	return &mean[T]{late: block.Alloc[T](stride), sum: make([]float64, stride)}
}

// add takes in visits from position first of a walk, of which those at some positions updated the weights, which are w now. again
// does what those updates did, from number k on as many as a has elements, to other weights with a in the place of eta.
func (m *mean[T]) add(first, visits int, positions []uint32, eta T, w []T, again func(k int, a, to []T)) {
	m.a = m.a[:0]
	for _, p := range positions {
		m.a = append(m.a, T(m.span+int64(p)-int64(first))*eta)
	}
	again(0, m.a, m.late)
	if m.span += int64(visits); m.span >= spanVisits {
		m.end(w)
	}
}

// end ends a span, at whose end the weights are w.
func (m *mean[T]) end(w []T) {
	for i, v := range w {
		m.sum[i] += math.FMA(float64(m.span), float64(v), -float64(m.late[i]))
	}
	clear(m.late)
	m.span = 0
}

// weights returns the mean over all visits, at whose end the weights are w.
func (m *mean[T]) weights(w []T, visits int64) []T {
	m.end(w)
	out := block.Alloc[T](len(w))
	for i, s := range m.sum {
		out[i] = T(s / float64(visits))
	}
	return out
}
