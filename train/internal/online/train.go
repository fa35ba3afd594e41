package online

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/distributed"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/train/learner"
)

// Train trains l, whose algorithm must be a RuleMaker, on all rows of src with the settings s. The result
// doesn't depend on the workers. Errors: options out of range, no rows, weights that overflow, errors of src, and ctx's
// error.
func Train(ctx context.Context, l *learner.Learner, src block.Source, s learner.Settings) (*learner.Result, error) {
	return TrainValidated(ctx, l, src, nil, s)
}

// TrainValidated is Train with rows to validate on.
func TrainValidated(ctx context.Context, l *learner.Learner, src, validation block.Source, s learner.Settings) (*learner.Result, error) {
	learned, err := l.Train(ctx, &learner.Task{Rows: src, Validation: validation, Settings: s})
	if learned == nil {
		return nil, err
	}
	return learned.Result, err
}

// A RuleMaker is an algorithm that learns by a rule.
type RuleMaker interface {
	learner.Algorithm

	// Rule returns the rule of a training, or of a shard. It uses the fields of t above Rule.
	Rule(ctx context.Context, t *Training) (Rule, error)
}

// passes are the tasks that make the passes of shards on a cluster, by the names of the learners.
var passes = map[string]*distributed.Task[passArgs, ShardResult]{}

// Sharded makes a learner whose rules are Mixers ready for shards on a cluster, and returns it. A program calls it once
// for a learner, when it begins.
func Sharded(l *learner.Learner) *learner.Learner {
	passes[l.Name] = newPassTask(l)
	return l
}

// Learn is the training of l, whose algorithm must be a RuleMaker. It makes up to Epochs epochs in the order Order.
//
// With more than one shard, each shard has its own rule in an epoch. All rules begin with the same weights and vectors.
// After the epoch, their weights and vectors are mixed.
func Learn(ctx context.Context, l *learner.Learner, task *learner.Task) (*learner.TaskResult, error) {
	t := &Training{Learner: l, Task: task}
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	if t.Opt.Shards > 1 {
		var err error
		t.shards, err = NewShards(t.Src, t.Opt, func(rows block.Source, number int) (Member, error) {
			m, err := newShard(l, t.Task, t.Opt, rows, number)
			if err == nil {
				m.parent = t
				m.mixer().Begin(t.Rule.Weights(), t.mixer().Vectors())
			}
			return member{m}, err
		}, t.passesOnCluster)
		if err != nil {
			return nil, err
		}
	}
	r, err := t.train(ctx)
	if r == nil {
		return nil, err
	}
	own := any(r)
	if t.OwnResult != nil {
		own = t.OwnResult(r)
	}
	return &learner.TaskResult{Result: r, OwnResult: own, AddToModel: t.AddToModel}, err
}

// prepare checks the shared options and the rows, and makes the rule.
func (t *Training) prepare(ctx context.Context) (err error) {
	l, task := t.Learner, *t.Task
	task.Settings = task.Settings.Copy()
	if t.Src, err = l.Begin(ctx, task.Rows, task.Settings); err != nil {
		return err
	}
	t.Task, t.Opt = &task, task.Settings.Shared()
	if err := t.makeRule(ctx); err != nil {
		return err
	}
	if t.Opt.Shards > 1 {
		return CheckMemory(t.Task, t.mixer().ShardBytes())
	}
	return nil
}

// mixer returns the rule of a learner with shards.
func (t *Training) mixer() Mixer { return t.Rule.(Mixer) }

func (t *Training) makeRule(ctx context.Context) (err error) {
	if t.Learner.Option("max-updates") == nil {
		t.Opt.MaxUpdates = 0
	}
	if t.Learner.Option("order") == nil {
		t.Opt.Order = learner.Cyclic
	}
	t.Rows, t.startTime = t.Src.Rows(), time.Now()
	if t.Rule, err = t.Learner.Algorithm.(RuleMaker).Rule(ctx, t); err != nil {
		return err
	}
	t.log = make([]uint32, MostRows(kernel.Stride(t.Src.Spec().Cols())))
	if t.OneUpdatePerPanel {
		t.log = t.log[:1]
	}
	return nil
}

// shardsEpoch makes an epoch of all shards, and mixes their weights at its end.
func (t *Training) shardsEpoch(ctx context.Context) error {
	if t.visitsInEpoch < t.Rows { // otherwise an interrupt came after the mix
		parts, err := t.shards.Epoch(ctx, t.Epoch, t.mark)
		if err != nil {
			return err
		}
		clean := t.mixShards(parts)
		t.visitsInEpoch = t.Rows
		if clean && t.ConvergesByStreak {
			t.Converged, t.streak = true, t.Rows
			return ErrStop
		}
	}
	if !t.ConvergesByStreak && t.Updates == t.updatesBefore && t.Opt.Order != learner.Random {
		t.Converged = true
		return ErrStop
	}
	return t.checkEnd(ctx)
}

// mixShards counts the visits and updates of the shards, and mixes them. It tells whether no row would change the
// weights with which the shards began.
func (t *Training) mixShards(shards []ShardResult) (clean bool) {
	clean = true
	for _, p := range shards {
		t.Visits += p.Visits
		t.Updates += p.Updates
		clean = clean && p.ChangesNothing
	}
	t.mixer().MixShards(shards)
	t.shardVisits.Store(0)
	t.shardUpdates.Store(0)
	return clean
}

// newShard returns the training of a shard in an epoch.
func newShard(l *learner.Learner, task *learner.Task, opt learner.Options, rows block.Source, number int) (*Training, error) {
	opt.Shards, opt.Workers, opt.MaxUpdates = 1, 1, 0 // these options belong to all shards together
	opt.Checkpoint, opt.Progress, opt.Trace = nil, nil, nil
	t := &Training{Learner: l, Task: task, Opt: opt, Src: rows, isShard: true, shardNumber: number}
	return t, t.makeRule(context.Background())
}

// A member is the training of a shard as a Member.
type member struct{ *Training }

func (m member) Pass(ctx context.Context, epoch int64) error {
	pass, err := m.newPass() // its windows are in memory until it ends
	if err != nil {
		return err
	}
	m.visitsAtBegin = m.Training.Visits
	if err = m.resume(ctx); err == nil {
		err = m.epoch(ctx, pass, epoch)
	}
	if err == ErrStop {
		return nil
	}
	return err
}

func (m member) Result() ShardResult {
	return ShardResult{State: m.mixer().Vectors(), Weights: m.Rule.Weights(), Visits: m.Training.Visits,
		Updates: m.Updates, ChangesNothing: m.Converged}
}

func (m member) Visits() int64 { return m.Training.Visits }

func (m member) State(w *checkpoint.Walk) { m.state(w) }

type passArgs struct {
	Settings []byte // the learner's options, encoded by distributed.Encode
	Epoch    int64
	W        []float32
	Vectors  [][]float64
}

// newPassTask returns the task that makes the pass of a shard on a cluster. A piece is a shard.
func newPassTask(l *learner.Learner) *distributed.Task[passArgs, ShardResult] {
	return distributed.New(l.Name+".pass", func(ctx context.Context, piece distributed.Piece, args passArgs) (result ShardResult,
		err error) {
		s := l.New()
		if err := distributed.Decode(args.Settings, s); err != nil {
			return result, err
		}
		rows, err := block.Validate(ctx, piece.Source, piece.Workers)
		if err != nil {
			return result, err
		}
		t, err := newShard(l, &learner.Task{Rows: rows, Settings: s}, s.Shared(), rows, piece.Number)
		if err != nil {
			return result, err
		}
		t.mixer().Begin(args.W, args.Vectors)
		m := member{t}
		err = m.Pass(ctx, args.Epoch)
		return m.Result(), err
	})
}

// passesOnCluster makes the passes of an epoch on a cluster, and returns the results of the shards.
func (t *Training) passesOnCluster(ctx context.Context, epoch int64, dealt [][]int64) (shards []ShardResult, err error) {
	s := t.Task.Settings.Copy()
	s.RunOptions().Checkpoint, s.RunOptions().Progress, s.RunOptions().Trace = nil, nil, nil // they stay here
	settings, err := distributed.Encode(reflect.ValueOf(s).Elem().Interface())
	if err != nil {
		return nil, err
	}
	err = distributed.Each(ctx, t.Src, passes[t.Learner.Name], passArgs{settings, epoch, t.Rule.Weights(), t.mixer().Vectors()}, dealt,
		func(p ShardResult) error {
			shards = append(shards, p)
			return nil
		})
	return shards, err
}

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
	t.AddToModel = func(m *model.Model) { m.State = model.NewState(stepper.State()) }
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

func (s *stepperRule) Visit(_ context.Context, p *Panel, _ int, log []uint32) (visits, updates int, err error) {
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
