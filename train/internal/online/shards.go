package online

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/distributed"
	"halfspace/train/learner"
)

// A member is the learner of one shard in an epoch.
type member struct {
	*training
	all   *training // learner with the mixed weights; nil on a cluster
	shard int
	told  struct{ visits, updates int64 } // counts at the last call of Shards.Tell
}

// shard makes the member of a shard in the epoch that begins.
func (l *training) shard(rows block.Source, shard int) (Member, error) {
	m, err := newMember(l.of, rows, l.settings, l.opt, shard)
	if err != nil {
		return nil, err
	}
	m.all = l
	m.stepper.Begin(l.stepper.Weights(), l.stepper.State())
	return m, nil
}

func newMember(l *learner.Learner, rows block.Source, s learner.Settings, opt learner.Options, shard int) (*member, error) {
	opt.Shards, opt.Workers, opt.Checkpoint, opt.Progress = 1, 1, nil, nil // these options belong to all shards together
	own, err := newLearner(l, rows, s, opt)
	if err != nil {
		return nil, err
	}
	m := &member{training: own, shard: shard}
	own.member = m
	return m, nil
}

// shardBytes returns the bytes of a shard. A state is in memory twice while it is mixed, and steppers with a state keep
// one more number for each weight.
func (l *training) shardBytes() int64 {
	each := int64(4)
	if n := len(l.stepper.State()); n > 0 {
		each += 8 * int64(2*n+1)
	}
	return each * int64(len(l.stepper.Weights()))
}

// Pass makes the remaining visits of an epoch; see Member.
func (m *member) Pass(ctx context.Context, epoch int64) error {
	rows, err := NewRows(m.src, m.opt)
	if err != nil {
		return err
	}
	rows.Shard, m.since = m.shard, m.r.Visits
	return rows.Epoch(ctx, epoch, m.r.Visits, m.visit)
}

func (m *member) Part() Part {
	return Part{Weights: m.stepper.Weights(), State: inOrder(m.stepper.State()), Visits: m.r.Visits, Updates: m.r.Updates, Clean: m.r.Updates == 0}
}

func (m *member) Visits() int64 { return m.r.Visits }

func (m *member) State(w *checkpoint.Walk) { m.state(w) }

func (m *member) due() bool { return m.all != nil && m.all.shards.Due(m.all.done) }

func (m *member) mayReport() {
	if m.all == nil {
		return
	}
	visits, updates := m.r.Visits-m.told.visits, m.r.Updates-m.told.updates
	m.told.visits, m.told.updates = m.r.Visits, m.r.Updates
	m.all.shards.Tell(visits, updates, m.all.mayReport)
}

// inOrder returns the vectors of a state, sorted by their names.
func inOrder(state map[string][]float64) (vectors [][]float64) {
	for _, name := range slices.Sorted(maps.Keys(state)) {
		vectors = append(vectors, state[name])
	}
	return vectors
}

// take counts the visits and updates of the parts, and mixes their weights and states for the next epoch. Without an
// update it changes no weights.
func (l *training) take(parts []Part) {
	before := l.r.Updates
	for _, p := range parts {
		l.r.Visits += p.Visits
		l.r.Updates += p.Updates
	}
	if l.r.Updates == before {
		return
	}
	w, state := slices.Clone(l.stepper.Weights()), l.stepper.State()
	Mix(w, parts, l.opt.Mix)
	for i, name := range slices.Sorted(maps.Keys(state)) {
		state[name] = MeanState(parts, i)
	}
	l.stepper.Begin(w, state)
}

// passArgs are the arguments of the passes of an epoch on a cluster.
type passArgs struct {
	settings []byte // the learner's options, encoded by distributed.Encode
	epoch    int64
	w        []float32
	state    [][]float64
}

// A pass is the pass of a shard on a cluster. A piece is a shard.
type pass = distributed.Task[passArgs, Part]

// newPass returns the pass of a learner's shards, or nil if the learner takes no shards.
func newPass(l *learner.Learner) *pass {
	if l.Option("shards") == nil {
		return nil
	}
	return distributed.New(l.Name+".pass", func(ctx context.Context, piece distributed.Piece, args passArgs) (part Part, err error) {
		s := l.New()
		if err := distributed.Decode(args.settings, s); err != nil {
			return part, err
		}
		opt, err := s.Shared().WithDefaults()
		if err != nil {
			return part, err
		}
		rows, err := block.Validate(ctx, piece.Source, piece.Workers)
		if err != nil {
			return part, err
		}
		m, err := newMember(l, rows, s, opt, piece.Number)
		if err != nil {
			return part, err
		}
		m.stepper.Begin(args.w, named(m.stepper.State(), args.state))
		err = m.Pass(ctx, args.epoch)
		return m.Part(), err
	})
}

// named replaces the vectors of state by the given vectors, which inOrder returned. It returns state.
func named(state map[string][]float64, vectors [][]float64) map[string][]float64 {
	for i, name := range slices.Sorted(maps.Keys(state)) {
		state[name] = vectors[i]
	}
	return state
}

// elsewhere makes the passes of an epoch on a cluster, and returns the parts of the shards.
func (l *training) elsewhere(ctx context.Context, p *pass, epoch int64, dealt [][]int64) (parts []Part, err error) {
	s := learner.CopySettings(l.settings)
	s.Shared().Checkpoint, s.Shared().Progress, s.Shared().Trace = nil, nil, nil // these options belong to all shards together
	settings, err := distributed.Encode(reflect.ValueOf(s).Elem().Interface())
	if err != nil {
		return nil, err
	}
	args := passArgs{settings, epoch, l.stepper.Weights(), inOrder(l.stepper.State())}
	err = distributed.Each(ctx, l.src, p, args, dealt, func(part Part) error {
		parts = append(parts, part)
		return nil
	})
	return parts, err
}
