package perceptron

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"halfspace/block"
	"halfspace/checkpoint"
	"halfspace/kernel"
	"halfspace/train/mixing"
)

// A shards is the shards of a training. Between two epochs there are none.
type shards[T kernel.Float] struct {
	all  *learner[T]     // that they are mixed in
	rows *mixing.Rows[T] // nil if a cluster has them
	each []*learner[T]   // of the epoch that goes on; nil between two epochs
	done []bool          // which of them have finished it

	visits, updates atomic.Int64 // of the epoch, as far as they were told
	reports         sync.Mutex
}

// errPause ends the visits of a shard until the states of all are saved.
var errPause = errors.New("paused")

func newShards[T kernel.Float](l *learner[T]) (*shards[T], error) {
	x := &shards[T]{all: l}
	var err error
	if !remote(l.src) {
		if x.rows, err = mixing.NewRows(l.src); err != nil {
			return nil, err
		}
	}
	_, err = mixing.Deal(l.rows, &l.opt.Options, 0) // which tells of too many shards
	return x, err
}

// epoch is an epoch of all shards, from the weights of all. It mixes what they have at the end.
func (x *shards[T]) epoch(ctx context.Context, epoch int64) error {
	l := x.all
	if l.at == l.rows { // an interrupt came after the mix
		return nil
	}
	if x.rows == nil {
		parts, err := x.remoteEpoch(ctx, epoch)
		if err != nil {
			return err
		}
		return l.mixedEpoch(l.take(parts))
	}
	if x.each == nil {
		if err := x.deal(epoch); err != nil {
			return err
		}
	}
	for slices.Contains(x.done, false) {
		if err := x.visit(ctx, epoch); err != nil {
			return err
		}
		if x.due() {
			l.mark()
		}
	}
	return l.mixedEpoch(x.mix())
}

// mixedEpoch ends an epoch that is mixed. clean tells whether no row would change the weights that it began with.
func (l *learner[T]) mixedEpoch(clean bool) error {
	if l.at = l.rows; clean {
		l.streak = l.rows
		return l.finish()
	}
	return l.checkUpdates()
}

// deal makes the shards of an epoch.
func (x *shards[T]) deal(epoch int64) error {
	l := x.all
	dealt, err := mixing.Deal(l.rows, &l.opt.Options, epoch)
	if err != nil {
		return err
	}
	x.each, x.done = make([]*learner[T], len(dealt)), make([]bool, len(dealt))
	for s, runs := range dealt {
		if x.each[s], err = newShard(x.rows.Shard(runs), l.opt, s, l.w); err != nil {
			return err
		}
		x.each[s].member = x
	}
	return nil
}

// newShard returns the learner of a shard in an epoch that begins with the weights w.
func newShard[T kernel.Float](rows block.Source[T], opt Options, shard int, w []T) (*learner[T], error) {
	opt.Shards, opt.Workers = 1, 1
	opt.MaxUpdates, opt.L2, opt.EarlyStop, opt.Pocket, opt.Init = 0, 0, 0, "", nil // which are of all shards
	opt.Checkpoint, opt.Progress = nil, nil
	l, err := newLearner(context.Background(), rows, nil, opt)
	if err == nil {
		l.stream = mixing.Stream(shard, 0)
		copy(l.w, w)
	}
	return l, err
}

// pass makes the rest of an epoch of a shard.
func (l *learner[T]) pass(ctx context.Context, epoch int64) error {
	visit, err := l.order()
	if err != nil {
		return err
	}
	if err = l.goOn(ctx); err == nil {
		err = visit(ctx, epoch)
	}
	if err != errStop {
		return err
	}
	return nil
}

// part returns what the shard has made of the epoch so far.
func (l *learner[T]) part() mixing.Part[T] {
	p := mixing.Part[T]{Weights: l.w, Visits: l.visits, Updates: l.updates, Clean: l.converged}
	if l.mean != nil {
		l.mean.end(l.w)
		p.Sum = l.mean.sum
	}
	return p
}

// visit has the shards visit their rows, as many at once as there are workers. It ends early if a checkpoint is due.
func (x *shards[T]) visit(ctx context.Context, epoch int64) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(x.all.opt.Workers)
	for s, shard := range x.each {
		if x.done[s] {
			continue
		}
		g.Go(func() error {
			err := shard.pass(ctx, epoch)
			x.done[s] = err == nil
			if err == errPause {
				return nil
			}
			return err
		})
	}
	return g.Wait()
}

// mix ends an epoch with what its shards have made of it. It tells whether no row would change the weights that they
// began with.
func (x *shards[T]) mix() (clean bool) {
	l := x.all
	if x.each == nil {
		return false
	}
	parts := make([]mixing.Part[T], len(x.each))
	for s, shard := range x.each {
		parts[s] = shard.part()
	}
	clean = l.take(parts)
	x.each = nil
	x.visits.Store(0)
	x.updates.Store(0)
	return clean
}

// take mixes parts in the weights. It tells whether no row would change the weights that they began with.
func (l *learner[T]) take(parts []mixing.Part[T]) (clean bool) {
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
	l.mixed += mixing.Mix(l.w, parts, l.opt.Mix)
	return clean
}

// visited returns how many visits the shards have made of the epoch that goes on.
func (x *shards[T]) visited() (visits int64) {
	if x != nil {
		for _, shard := range x.each {
			visits += shard.visits
		}
	}
	return visits
}

// due tells whether a checkpoint is due.
func (x *shards[T]) due() bool { return x.all.opt.Checkpoint.Due(x.all.epoch) }

// mayReport takes the counts of a shard, and reports the progress of all if the last report was some time ago.
func (x *shards[T]) mayReport(shard *learner[T]) {
	x.visits.Add(shard.visits - shard.told.visits)
	x.updates.Add(shard.updates - shard.told.updates)
	shard.told.visits, shard.told.updates = shard.visits, shard.updates
	if !x.reports.TryLock() {
		return
	}
	defer x.reports.Unlock()
	if time.Since(x.all.reported) > reportEvery {
		x.all.report(nil)
	}
}

// state walks the shards of an epoch that goes on.
func (x *shards[T]) state(w *checkpoint.Walk) {
	l := x.all
	w.Float(&l.mixed)
	within := x.each != nil
	if w.Bool(&within); !within {
		x.each = nil
		return
	}
	if w.Reading() {
		if x.rows == nil {
			w.Fail(errors.New("its shards are not on a cluster"))
			return
		}
		if err := x.deal(l.epoch); err != nil {
			w.Fail(err)
			return
		}
	}
	for s, shard := range x.each {
		w.Bool(&x.done[s])
		shard.state(w)
	}
}

// Pass makes an epoch of one shard, from the weights w of all shards, each vector with the stride of a block. rows are
// those of the shard, numbered from 0: see mixing.Rows. The result depends on the arguments alone, but not on
// opt.Workers. Errors are those of Train.
func Pass[T kernel.Float](ctx context.Context, rows block.Source[T], opt Options, epoch int64, shard int, w []T) (part mixing.Part[T], err error) {
	if opt, err = opt.withDefaults(false); err != nil {
		return part, err
	}
	if rows, err = block.Check(ctx, rows, opt.Workers); err != nil {
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
