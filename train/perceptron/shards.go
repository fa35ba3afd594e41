package perceptron

import (
	"context"
	"time"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/train/internal/online"
)

// A shards is the shards of a training.
type shards struct {
	*online.Shards
	all *training // the learner that mixes them
}

// errPause ends the visits of a shard until the states of all shards are saved.
var errPause = online.ErrPause

func newShards(l *training) (x *shards, err error) {
	x = &shards{all: l}
	x.Shards, err = online.NewShards(l.src, l.opt.Options, func(rows block.Source, s int) (online.Member, error) {
		shard, err := newShard(rows, l.opt, s, l.w)
		if err == nil {
			shard.member = x
		}
		return member{shard}, err
	}, x.remoteEpoch)
	return x, err
}

// epoch makes an epoch of all shards, from the weights of x.all, and mixes their weights at the end.
func (x *shards) epoch(ctx context.Context, epoch int64) error {
	l := x.all
	if l.at == l.rows { // an interrupt came after the mix
		return nil
	}
	parts, err := x.Epoch(ctx, epoch, l.mark)
	if err != nil {
		return err
	}
	clean := l.take(parts)
	if l.at = l.rows; clean {
		l.streak = l.rows
		return l.finish()
	}
	return l.checkUpdates()
}

// take mixes the parts into the weights. It tells whether no row would change the weights with which the parts began.
func (l *training) take(parts []online.Part) (clean bool) {
	clean = true
	for _, p := range parts {
		l.visits += p.Visits
		l.updates += p.Updates
		clean = clean && p.Clean
		if l.mean != nil {
			for i, s := range p.Sum {
				l.mean.sum[i] += s
			}
		}
	}
	l.mixed += online.Mix(l.w, parts, l.opt.Mix)
	return clean
}

func (x *shards) due() bool { return x.Due(x.all.epoch) }

// mayReport counts the visits and updates of a shard. It reports the progress of all shards if the last report is older
// than reportEvery.
func (x *shards) mayReport(shard *training) {
	visits, updates := shard.visits-shard.told.visits, shard.updates-shard.told.updates
	shard.told.visits, shard.told.updates = shard.visits, shard.updates
	x.Tell(visits, updates, func() {
		if time.Since(x.all.reported) > reportEvery {
			x.all.report(nil)
		}
	})
}

// A member is the learner of one shard as a online.Member.
type member struct{ *training }

func (m member) Pass(ctx context.Context, epoch int64) error { return m.pass(ctx, epoch) }

func (m member) Part() online.Part { return m.part() }

func (m member) Visits() int64 { return m.visits }

func (m member) State(w *checkpoint.Walk) { m.state(w) }

// newShard returns the learner of a shard in an epoch that begins with the weights w.
func newShard(rows block.Source, opt Options, shard int, w []float32) (*training, error) {
	opt.Shards, opt.Workers = 1, 1
	opt.MaxUpdates, opt.L2, opt.EarlyStop, opt.Pocket, opt.Init = 0, 0, 0, "", nil // these options belong to all shards together
	opt.Checkpoint, opt.Progress = nil, nil
	l, err := newLearner(context.Background(), rows, nil, opt)
	if err == nil {
		l.stream = online.Stream(shard, 0)
		copy(l.w, w)
	}
	return l, err
}

// pass makes the remaining visits of a shard in an epoch.
func (l *training) pass(ctx context.Context, epoch int64) error {
	visit, err := l.order()
	if err != nil {
		return err
	}
	l.since = l.visits
	if err = l.goOn(ctx); err == nil {
		err = visit(ctx, epoch)
	}
	if err != errStop {
		return err
	}
	return nil
}

// part returns the result of the shard in the epoch so far.
func (l *training) part() online.Part {
	p := online.Part{Weights: l.w, Visits: l.visits, Updates: l.updates, Clean: l.converged}
	if l.mean != nil {
		l.mean.end(l.w)
		p.Sum = l.mean.sum
	}
	return p
}

// Pass makes an epoch of one shard, from the mixed weights w, in which each vector has the stride of a block. rows are
// the rows of the shard, numbered from 0: see mixing.dealable. The result depends on the arguments but not on opt.Workers.
// The errors are the errors of Train.
func Pass(ctx context.Context, rows block.Source, opt Options, epoch int64, shard int, w []float32) (part online.Part, err error) {
	if opt, err = opt.withDefaults(false); err != nil {
		return part, err
	}
	if rows, err = block.Validate(ctx, rows, opt.Workers); err != nil {
		return part, err
	}
	l, err := newShard(rows, opt, shard, w)
	if err != nil {
		return part, err
	}
	if err := l.pass(ctx, epoch); err != nil {
		return part, err
	}
	return l.part(), nil
}
