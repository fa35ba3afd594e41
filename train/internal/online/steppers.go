package online

import (
	"context"
	"maps"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/model"
	"halfspace/train/learner"
)

// A stepperRule is the rule of a stepper.
type stepperRule struct {
	learner.Stepper
	t      *Training
	scores []float32
	gather Gatherer
}

// StepperRule returns the rule of a learner whose algorithm is learner.Online. The training converges if an epoch in any
// order but learner.Random changes nothing.
func StepperRule(_ context.Context, t *Training) (Rule, error) {
	spec := t.Src.Spec()
	stepper, err := t.Learner.Stepper(spec, t.Task.Settings)
	if err != nil {
		return nil, err
	}
	if t.Task.Init != nil {
		stepper.Begin(t.Task.Init.Weights, t.Task.Init.State)
	}
	t.ReportsLastSum = true
	return &stepperRule{Stepper: stepper, t: t, scores: make([]float32, spec.Vectors())}, nil
}

// A batchStepper makes the steps of several rows by one call of a kernel.
type batchStepper interface {
	// TakesBatch tells whether the kernel takes rows such as the rows of b.
	TakesBatch(b *block.Block) bool

	// Steps steps through rows lo to hi-1 of b and writes the numbers of the rows that change the weights to log, from 0 for
	// row lo on. It ends early if log is full.
	Steps(log []uint32, b *block.Block, lo, hi int) (visits, updates int)
}

func (s *stepperRule) Visit(_ context.Context, p *Panel, log []uint32) (visits, updates int, err error) {
	first, _ := p.At(0)
	if batch, ok := s.Stepper.(batchStepper); ok && batch.TakesBatch(first) {
		rows, lo := s.gather.Rows(p)
		visits, updates = batch.Steps(log, rows, lo, lo+p.Len())
		return visits, updates, nil
	}
	for i := range p.Len() {
		b, r := p.At(i)
		if s.Step(s.scores, b, r, b.Y[r]) {
			log[updates] = uint32(i)
			updates++
		}
	}
	return p.Len(), updates, nil
}

func stateNames(state map[string][]float64) []string { return slices.Sorted(maps.Keys(state)) }

func (s *stepperRule) State(w *checkpoint.Walk) {
	weights, state := s.Weights(), s.Stepper.State()
	checkpoint.Values(w, weights)
	for _, name := range stateNames(state) {
		checkpoint.Values(w, state[name])
	}
	if w.IsReading() {
		s.Stepper.Begin(slices.Clone(weights), state)
	}
}

func (s *stepperRule) Begin(w []float32, vectors [][]float64) {
	state := s.Stepper.State()
	for i, name := range stateNames(state) {
		state[name] = vectors[i]
	}
	s.Stepper.Begin(w, state)
}

func (s *stepperRule) Vectors() (vectors [][]float64) {
	state := s.Stepper.State()
	for _, name := range stateNames(state) {
		vectors = append(vectors, state[name])
	}
	return vectors
}

// MixShards changes nothing without an update.
func (s *stepperRule) MixShards(shards []ShardResult) {
	if slices.ContainsFunc(shards, func(p ShardResult) bool { return p.Updates > 0 }) {
		w := slices.Clone(s.Weights())
		Mix(w, shards, s.t.Opt.Mix)
		s.Begin(w, MeanState(shards))
	}
}

// ShardBytes counts a state twice while it is mixed, and one more number for each weight of a stepper with a state.
func (s *stepperRule) ShardBytes() int64 {
	each := int64(4)
	if n := len(s.Stepper.State()); n > 0 {
		each += 8 * int64(2*n+1)
	}
	return each * int64(len(s.Weights()))
}

// OwnResult adds the state of the stepper to the model.
func (s *stepperRule) OwnResult(r *learner.Result) *learner.TaskResult {
	return &learner.TaskResult{Result: r, OwnResult: r, AddToModel: func(m *model.Model) { m.State = model.NewState(s.Stepper.State()) }}
}
