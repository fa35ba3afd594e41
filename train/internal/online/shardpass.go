package online

import (
	"context"
	"reflect"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/passes"
	"halfspace/train/learner"
)

// shardTasks are the tasks that make the passes of shards in other processes, by the names of the learners.
var shardTasks = map[string]*passes.Task[passArgs, ShardResult]{}

// Sharded makes a learner whose rules are Mixers ready for shards in other processes, and returns it. A program calls it
// once for a learner, when it begins.
func Sharded(l *learner.Learner) *learner.Learner {
	shardTasks[l.Name] = newShardTask(l)
	return l
}

// makeShards makes the shards, after the rule of all shards.
func (t *Training) makeShards() (err error) {
	if err := CheckMemory(t.Task, t.mixer().ShardBytes()); err != nil {
		return err
	}
	t.shards, err = NewShards(t.Src, t.Opt, func(rows block.Source, number int) (Member, error) {
		m, err := newShard(t.Learner, t.Task, t.Opt, rows, number)
		if err == nil {
			m.shard.parent = t
			m.mixer().Begin(t.Rule.Weights(), t.mixer().Vectors())
		}
		return trainingMember{m}, err
	}, t.remotePasses)
	return err
}

// mixer returns the rule of a learner with shards.
func (t *Training) mixer() Mixer { return t.Rule.(Mixer) }

// shardsEpoch makes an epoch of all shards, and mixes their weights at its end.
func (t *Training) shardsEpoch(ctx context.Context) error {
	if t.visitsInEpoch < t.Rows { // otherwise an interrupt came after the mix
		parts, err := t.shards.Epoch(ctx, t.Epoch, t.mark)
		if err != nil {
			return err
		}
		clean := t.mixShards(parts)
		t.visitsInEpoch = t.Rows
		if clean && t.Streak != nil {
			t.Converged, t.Streak.run = true, t.Rows
			return ErrStop
		}
	}
	if t.Streak == nil && t.Updates == t.updatesBefore && t.Opt.Order != learner.Random {
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
	t.reports.shardVisits.Store(0)
	t.reports.shardUpdates.Store(0)
	return clean
}

// newShard returns the training of a shard in an epoch.
func newShard(l *learner.Learner, task *learner.Task, opt learner.Options, rows block.Source, number int) (*Training, error) {
	opt.Shards, opt.Workers, opt.MaxUpdates = 1, 1, 0 // these options belong to all shards together
	opt.Checkpoint, opt.Progress, opt.Trace = nil, nil, nil
	t := &Training{Learner: l, Task: task, Opt: opt, Src: rows, shard: &shardPlace{number: number}}
	return t, t.makeRule(context.Background())
}

// A trainingMember is the training of a shard as a Member.
type trainingMember struct{ *Training }

func (m trainingMember) Pass(ctx context.Context, epoch int64) error {
	pass, err := m.newPass() // its windows are in memory until it ends
	if err != nil {
		return err
	}
	m.shard.visitsAtBegin = m.Training.Visits
	if err = m.resume(ctx); err == nil {
		err = m.visitAll(ctx, pass, epoch)
	}
	if err == ErrStop {
		return nil
	}
	return err
}

func (m trainingMember) Result() ShardResult {
	return ShardResult{State: m.mixer().Vectors(), Weights: m.Rule.Weights(), Visits: m.Training.Visits,
		Updates: m.Updates, ChangesNothing: m.Converged}
}

func (m trainingMember) Visits() int64 { return m.Training.Visits }

func (m trainingMember) State(w *checkpoint.Walk) { m.state(w) }

type passArgs struct {
	Settings []byte // the learner's options, encoded by settings
	Epoch    int64
	W        []float32
	Vectors  [][]float64
}

// newShardTask returns the task that makes the pass of a shard in another process. A piece is a shard.
func newShardTask(l *learner.Learner) *passes.Task[passArgs, ShardResult] {
	return passes.NewTask(l.Name+".pass", func(ctx context.Context, piece passes.Piece, args passArgs) (result ShardResult,
		err error) {
		s := l.New()
		if err := checkpoint.Read(args.Settings, settings(s)); err != nil {
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
		m := trainingMember{t}
		err = m.Pass(ctx, args.Epoch)
		return m.Result(), err
	})
}

// settings writes or reads the options of a learner.
func settings(s learner.Settings) func(*checkpoint.Walk) {
	return func(w *checkpoint.Walk) { checkpoint.Value(w, reflect.ValueOf(s).Elem(), nil) }
}

// remotePasses makes the passes of an epoch in other processes, and returns the results of the shards.
func (t *Training) remotePasses(ctx context.Context, epoch int64, dealt [][]int64) (shards []ShardResult, err error) {
	s := t.Task.Settings.Copy()
	s.RunOptions().Checkpoint, s.RunOptions().Progress, s.RunOptions().Trace = nil, nil, nil // they stay here
	encoded, err := checkpoint.Write(settings(s))
	if err != nil {
		return nil, err
	}
	err = shardTasks[t.Learner.Name].Each(ctx, t.Src, passArgs{encoded, epoch, t.Rule.Weights(), t.mixer().Vectors()}, dealt,
		func(p ShardResult) error {
			shards = append(shards, p)
			return nil
		})
	return shards, err
}
