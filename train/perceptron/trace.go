package perceptron

import (
	"slices"

	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// A tracer repeats updates on a copy of the weights, to report them.
type tracer struct {
	w               []float32 // the weights, as before the panel until its updates are repeated
	updatesPerPoint int64
	cols            int
	vector          []float64 // weights after the last reported update
}

// trace repeats the updates of a visit to a panel, at the given positions. It passes every update whose number is a
// multiple of every to opt.Trace. l.Visits and l.Updates are the counts before the panel.
func (l *training) trace(panel *online.Panel, positions []uint32) {
	t, a := l.tracer, []float32{l.rule.eta}
	last := (l.Updates + int64(len(positions))) / t.updatesPerPoint * t.updatesPerPoint
	for k, p := range positions {
		number := l.Updates + int64(k) + 1
		if number > last {
			return
		}
		look := number%t.updatesPerPoint == 0
		u := learner.Update{Number: number, Visit: l.Visits + int64(p) + 1}
		if look {
			u.Row, u.Score = panel.Number(int(p)), t.score(&l.rule, panel, k, p)
		}
		l.rule.repeatUpdates(t.w, a, panel, k, positions[k:k+1])
		if look {
			u.Vector = t.unpaddedWeights(l.rule.stride)
			l.opt.Trace(u)
		}
	}
}

// score returns the score of the row of update k, at position p, before the update. For several classes it is the score
// of the row's class minus the score of its rival.
func (t *tracer) score(u *rule, panel *online.Panel, k int, p uint32) float64 {
	b, r := panel.At(int(p))
	if u.scores == nil {
		return float64(b.Dot(r, t.w))
	}
	own, rival := t.w[int(b.Y[r])*u.stride:][:u.stride], t.w[int(u.rivals[k])*u.stride:][:u.stride]
	return float64(b.Dot(r, own)) - float64(b.Dot(r, rival))
}

// unpaddedWeights returns the weights as float64, without padding.
func (t *tracer) unpaddedWeights(stride int) []float64 {
	t.vector = t.vector[:0]
	for v := range slices.Chunk(t.w, stride) {
		for _, x := range v[:t.cols] {
			t.vector = append(t.vector, float64(x))
		}
	}
	return t.vector
}
