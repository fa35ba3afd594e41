package optimize

import (
	"context"
	"errors"
	"slices"
	"time"

	"halfspace/internal/checkpoint"
	"halfspace/train/learner"
)

// state saves or restores the state of the search before a sweep.
func (s *dual) state(w *checkpoint.Walk) {
	s.tally.state(w)
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

// A tally counts the visits and the steps of a search. A pass counts as many visits as there are rows.
type tally struct {
	*Task
	visited, steps int64 // visited counts rows
	start          time.Time
}

// passes returns the number of passes over the rows, rounded up.
func (t *tally) passes() int64 {
	rows := max(1, t.Rows.Rows())
	return (t.visited + rows - 1) / rows
}

// visit counts visits, and reports progress with weights w.
func (t *tally) visit(visits int64, w []float64, m *learner.Measure) {
	t.visited += visits
	if t.Progress == nil {
		return
	}
	t.Progress(learner.Progress{Epoch: t.passes(), Epochs: t.Epochs, Visits: t.visited, Rows: t.Rows.Rows(), Updates: t.steps, Best: -1,
		Elapsed: time.Since(t.start), Sum: learner.SumOf(w), Measure: m})
}

func (t *tally) mark(state func(*checkpoint.Walk)) { t.Checkpoint.Pass(t.passes(), t.visited, state) }

// state saves or restores the tally.
func (t *tally) state(w *checkpoint.Walk) {
	w.Clock(&t.start)
	w.Int(&t.visited)
	w.Int(&t.steps)
}
