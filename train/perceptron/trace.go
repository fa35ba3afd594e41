package perceptron

import (
	"slices"

	"halfspace/train"
)

// A tracer repeats updates to look at them. The weights that learn are not touched.
type tracer struct {
	w      []float32 // the weights before the stretch
	every  int64
	cols   int
	vector []float64 // of the last update
}

// trace repeats the updates of a visit to a stretch, whose positions are given, and hands every so many of them to
// opt.Trace. The counts of visits and updates are those before the stretch.
func (l *learner) trace(s *stretch, positions []uint32) {
	t, a := l.tracer, []float32{l.rule.eta}
	last := (l.updates + int64(len(positions))) / t.every * t.every
	for k, p := range positions {
		number := l.updates + int64(k) + 1
		if number > last {
			return
		}
		look := number%t.every == 0
		u := train.Update{Number: number, Visit: l.visits + int64(p) + 1}
		if look {
			u.Row, u.Score = s.number(p), t.score(&l.rule, s, k, p)
		}
		l.rule.repeat(t.w, a, s, k, positions[k:k+1])
		if look {
			u.Vector = t.unpadded(l.rule.stride)
			l.opt.Trace(u)
		}
	}
}

// score returns the score of the row of update k, at position p, before the update.
func (t *tracer) score(u *rule, s *stretch, k int, p uint32) float64 {
	b, r := s.at(int(p))
	if u.scores == nil {
		return float64(b.Dot(r, t.w))
	}
	own, rival := t.w[int(b.Y[r])*u.stride:][:u.stride], t.w[int(u.rivals[k])*u.stride:][:u.stride]
	return float64(b.Dot(r, own)) - float64(b.Dot(r, rival))
}

// unpadded returns the weights in float64 without padding.
func (t *tracer) unpadded(stride int) []float64 {
	t.vector = t.vector[:0]
	for v := range slices.Chunk(t.w, stride) {
		for _, x := range v[:t.cols] {
			t.vector = append(t.vector, float64(x))
		}
	}
	return t.vector
}
