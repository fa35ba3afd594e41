package optimize

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"time"

	"halfspace/internal/checkpoint"
	"halfspace/train/learner"
)

// state saves or restores the state of the search before a sweep.
func (s *dual) state(w *checkpoint.Walk) {
	s.Tally.State(w)
	learner.State(w, &s.centre, &s.most, &s.least, &s.lower, &s.loss, &s.enough, &s.waking)
	w.Generator(s.pcg)
	learner.State(w, s.w, s.a)
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
	learner.State(w, &s.start, &s.passes, &s.visited, &s.steps, &s.lower, &s.part, &s.forcing, &s.brief)
	w.Generator(s.pcg)
	learner.State(w, s.w, s.scores)
}

// A Tally counts the visits and the steps of a search. A pass counts as many visits as there are rows.
type Tally struct {
	*Task
	Visited, Steps int64 // Visited counts rows
	Start          time.Time
}

// Passes returns the number of passes over the rows, rounded up.
func (t *Tally) Passes() int64 {
	rows := max(1, t.Rows.Rows())
	return (t.Visited + rows - 1) / rows
}

// Visit counts visits, and reports progress. sum and m may be nil; see learner.Progress.
func (t *Tally) Visit(visits int64, sum func() [sha256.Size]byte, m *learner.Measure) {
	t.Visited += visits
	if t.Progress == nil {
		return
	}
	t.Progress(learner.Progress{Epoch: t.Passes(), Epochs: t.Epochs, Visits: t.Visited, Rows: t.Rows.Rows(), Updates: t.Steps, Best: -1,
		Elapsed: time.Since(t.Start), Sum: sum, Measure: m})
}

// Mark gives the state of the search to the checkpoint.
func (t *Tally) Mark(state func(*checkpoint.Walk)) { t.Checkpoint.Pass(t.Passes(), t.Visited, state) }

// State saves or restores the tally.
func (t *Tally) State(w *checkpoint.Walk) { learner.State(w, &t.Start, &t.Visited, &t.Steps) }
