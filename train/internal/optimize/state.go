package optimize

import (
	"context"
	"errors"
	"slices"

	"halfspace/internal/checkpoint"
)

func (s *dual) mark() { s.Checkpoint.Pass(s.passes(), s.visited, s.state) }

// state saves or restores the state of the search before a sweep.
func (s *dual) state(w *checkpoint.Walk) {
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

func (s *net) mark() { s.Checkpoint.Pass(s.passes, s.passes*s.Rows.Rows(), s.state) }

// resume restores the state of a checkpoint, if there is one.
func (s *net) resume(ctx context.Context) error {
	loaded, err := s.Checkpoint.Load(s.state)
	if loaded {
		err = s.derive(ctx)
	}
	return err
}

// state saves or restores the state of the search before a step. It leaves out the numbers that derive computes.
func (s *net) state(w *checkpoint.Walk) {
	w.Clock(&s.start)
	for _, v := range []*int64{&s.passes, &s.visited, &s.steps} {
		w.Int(v)
	}
	for _, v := range []*float64{&s.lower, &s.part, &s.forcing} {
		w.Float(v)
	}
	w.Bool(&s.brief)
	w.Generator(s.pcg)
	checkpoint.Values(w, s.w)
	checkpoint.Values(w, s.scores)
}
