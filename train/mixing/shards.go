package mixing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/humanize"
	"halfspace/internal/memory"
	"halfspace/internal/parallel"
	"halfspace/train/learner"
)

// A Member learns from the rows of one shard in one epoch.
type Member interface {
	// Pass makes the remaining visits of the epoch. Once Shards.Due tells that a checkpoint is due, Pass returns
	// ErrPause between two visits. It makes some visits before it pauses, because beginning may take longer than the
	// time between two checkpoints, and each call must make progress.
	Pass(ctx context.Context, epoch int64) error

	// Part returns the result of the shard in the epoch so far.
	Part() Part

	// Visits returns the number of visits of the shard in the epoch so far.
	Visits() int64

	// State saves or restores the state of the shard between two visits.
	State(w *checkpoint.Walk)
}

// ErrPause ends the visits of a shard until the states of all shards are saved.
var ErrPause = errors.New("paused")

// Shards are the shards of a training. Between two epochs there are no members.
type Shards struct {
	opt     learner.Options
	count   int64                                                           // number of rows
	rows    *dealable                                                       // nil if the rows are on a cluster
	begin   func(rows block.Source, shard int) (Member, error)              // makes a member from the mixed weights
	cluster func(context.Context, int64, [][]int64) (parts []Part, _ error) // makes the passes of an epoch over the dealt runs

	each []Member // members of the present epoch; nil between two epochs
	done []bool   // members that have finished the epoch

	visits, updates atomic.Int64 // in the present epoch, as counted by Tell
	reports         sync.Mutex
}

// NewShards returns the shards of the rows of src, which must come from block.Validate. At the start of an epoch, begin
// makes the member of each shard, with the mixed weights. If the rows are on a cluster, NewShards uses the function
// cluster in place of begin: it makes the passes of an epoch on the cluster. dealt has the runs of each shard, and
// cluster returns the parts of the shards in the order of dealt. NewShards returns an error if there are too few rows,
// or if src is neither on a cluster, nor a *block.Data, nor a block.Seekable.
func NewShards(src block.Source, opt learner.Options, begin func(rows block.Source, shard int) (Member, error),
	cluster func(ctx context.Context, epoch int64, dealt [][]int64) ([]Part, error)) (x *Shards, err error) {
	x = &Shards{opt: opt, count: src.Rows(), begin: begin, cluster: cluster}
	if remote, _ := block.RemoteOf(src); remote == nil {
		if x.rows, err = newDealable(src); err != nil {
			return nil, err
		}
	}
	_, err = Deal(x.count, &opt, 0) // returns an error if there are too many shards
	return x, err
}

// CheckMemory returns an error if the weights of all shards don't fit in the memory beside the rows. each is the number
// of bytes of a shard.
func CheckMemory(task *learner.Task, each int64) error {
	shards := task.Settings.Shared().Shards
	if shards < 2 {
		return nil
	}
	limit, beside := memory.Limit(task.Memory), max(1, task.Beside)
	if _, ok := task.Rows.(*block.Data); ok && task.Memory > 0 { // otherwise the limit is the free memory beside the rows
		limit -= task.Held
	}
	if float64(shards)*float64(each)*float64(beside) <= float64(limit) {
		return nil
	}
	text := ""
	if beside > 1 {
		text = fmt.Sprintf(", %d trainings go on at a time", beside)
	}
	return fmt.Errorf("the weights of %s take %s of memory each%s, and %s is left: use fewer with --shards, or give more with --memory",
		humanize.Plural(shards, "shard"), humanize.Size(each), text, humanize.Size(max(0, limit)))
}

// Epoch makes an epoch of all shards, and returns their parts in the order of the shards. It calls mark when a
// checkpoint is due. After an error, the next call continues where this call ended; a cluster begins the epoch again.
func (x *Shards) Epoch(ctx context.Context, epoch int64, mark func()) ([]Part, error) {
	if x.rows == nil {
		dealt, err := Deal(x.count, &x.opt, epoch)
		if err != nil {
			return nil, err
		}
		return x.cluster(ctx, epoch, dealt)
	}
	if x.each == nil {
		if err := x.deal(epoch); err != nil {
			return nil, err
		}
	}
	for slices.Contains(x.done, false) {
		if err := x.visit(ctx, epoch); err != nil {
			return nil, err
		}
		if x.Due(epoch) {
			mark()
		}
	}
	return x.Take(), nil
}

// deal makes the members of an epoch.
func (x *Shards) deal(epoch int64) error {
	dealt, err := Deal(x.count, &x.opt, epoch)
	if err != nil {
		return err
	}
	each := make([]Member, len(dealt))
	for s, runs := range dealt {
		if each[s], err = x.begin(x.rows.Shard(runs), s); err != nil {
			return err
		}
	}
	x.each, x.done = each, make([]bool, len(dealt))
	return nil
}

// visit lets the members visit their rows, as many members at once as there are workers. It ends early if a checkpoint
// is due.
func (x *Shards) visit(ctx context.Context, epoch int64) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 1)
	err := parallel.For(ctx, x.opt.Workers, len(x.each), func(_, s int) {
		if x.done[s] {
			return
		}
		err := x.each[s].Pass(ctx, epoch)
		if x.done[s] = err == nil; err == nil || err == ErrPause {
			return
		}
		select {
		case failed <- err:
			stop()
		default: // another member failed before
		}
	})
	select {
	case err := <-failed:
		return err
	default:
		return err
	}
}

// Take returns the parts of the epoch so far, and ends the epoch. It returns nil between two epochs.
func (x *Shards) Take() (parts []Part) {
	for _, member := range x.each {
		parts = append(parts, member.Part())
	}
	x.each = nil
	x.visits.Store(0)
	x.updates.Store(0)
	return parts
}

// Due tells whether a checkpoint is due in the given epoch. Members may call it concurrently.
func (x *Shards) Due(epoch int64) bool { return x.opt.Checkpoint.Due(epoch) }

// Visited returns the number of visits of all members in the present epoch.
func (x *Shards) Visited() (visits int64) {
	for _, member := range x.each {
		visits += member.Visits()
	}
	return visits
}

// Tell adds visits and updates of a member to the counts. Then it calls report, unless another member is in report.
// Members may call Tell concurrently.
func (x *Shards) Tell(visits, updates int64, report func()) {
	x.visits.Add(visits)
	x.updates.Add(updates)
	if x.reports.TryLock() {
		defer x.reports.Unlock()
		report()
	}
}

// Told returns the visits and updates that Tell counted in the present epoch.
func (x *Shards) Told() (visits, updates int64) {
	return x.visits.Load(), x.updates.Load()
}

// State saves or restores the members of the present epoch.
func (x *Shards) State(w *checkpoint.Walk, epoch int64) {
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
		if err := x.deal(epoch); err != nil {
			w.Fail(err)
			return
		}
	}
	for s, member := range x.each {
		w.Bool(&x.done[s])
		member.State(w)
	}
}
