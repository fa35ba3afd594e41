package coordinate

import (
	"errors"
	"slices"

	"halfspace/checkpoint"
)

func (s *dual[T]) mark() { s.Checkpoint.Pass(s.passes(), s.visited, s.state) }

// state walks what the search is at before a sweep.
func (s *dual[T]) state(w *checkpoint.Walk) {
	w.Clock(&s.start)
	w.Int(&s.visited)
	w.Int(&s.steps)
	for _, v := range []*float64{&s.centre, &s.most, &s.least, &s.lower, &s.loss, &s.enough, &s.waking} {
		w.Float(v)
	}
	w.Generator(s.pcg)
	checkpoint.Values(w, s.w)
	checkpoint.Values(w, s.a)
	checkpoint.Values(w, s.asleep)
	checkpoint.Slice(w, &s.order)
	if len(s.order) > 0 && int(slices.Max(s.order)) >= len(s.y) {
		w.Fail(errors.New("it has another row"))
	}
}
