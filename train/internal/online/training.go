package online

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/train/learner"
)

// ErrStop ends the epochs: the training has finished.
var ErrStop = errors.New("finished")

// A Rule says which rows update the weights, and how. It keeps the weights.
type Rule interface {
	// Visit visits the rows of a panel in turn, and updates the weights. It writes the positions of the rows that
	// updated the weights to log. It ends after the last row, or when log is full. See Pass.Epoch for at. An error
	// doesn't undo the visits and updates before it.
	Visit(ctx context.Context, p *Panel, at int, log []uint32) (visits, updates int, err error)

	Weights() []float32 // the vectors of weights, each of kernel.Stride elements
	State(w *checkpoint.Walk)
}

// A Mixer is a Rule whose weights are mixed with the weights of other shards.
type Mixer interface {
	Rule

	// Begin sets the weights of a shard when its epoch begins. vectors are the result of Vectors of the rule of all
	// shards.
	Begin(w []float32, vectors [][]float64)
	Vectors() [][]float64           // vectors beside the weights that the shards mix
	MixShards(shards []ShardResult) // mixes the results of the shards; shards may be empty
	ShardBytes() int64              // memory of a shard
}

// Hooks are functions that few rules need. The RuleMaker of a rule sets them; a nil function does nothing.
type Hooks struct {
	Prepare        func(*Pass)                         // sets the functions of a Pass
	Resume         func(context.Context) error         // makes up for work after an update that an interrupt left out
	AfterUpdates   func(context.Context) error         // is called after a panel with updates
	AfterEpoch     func(context.Context) error         // is called after an epoch; an interrupt may repeat the call
	AfterLastEpoch func(context.Context) error         // is called after the last epoch
	AnyUpdates     func(context.Context) (bool, error) // tells whether any row would update the weights
	Unvisited      func(visits int64)                  // tells that the last visits, which made no update, do not count
	BestErrors     func() int64                        // see learner.Progress
	Sum            func() func() [sha256.Size]byte     // returns the hash of the numbers in place of the weights; see learner.Progress

	CompleteResult  func(*learner.Result)                        // sets the figures of the rule in a result
	AfterEvaluation func(context.Context, *learner.Result) error // completes a result that is evaluated
	OwnResult       func(*learner.Result) any                    // see learner.TaskResult
	AddToModel      func(*model.Model)                           // see learner.TaskResult
}

func callHook(ctx context.Context, f func(context.Context) error) error {
	if f == nil {
		return nil
	}
	return f(ctx)
}

// A Training is the state of a training between two panels, or the state of a shard in an epoch.
type Training struct {
	Learner *learner.Learner
	Task    *learner.Task
	Opt     learner.Options // Settings of the task with their defaults; of a shard, without the options of all shards
	Src     block.Source
	Rows    int64
	Rule    Rule

	// The RuleMaker may set these fields.
	Hooks
	ConvergesByStreak bool // converges after as many consecutive visits without an update as there are rows; see converge
	OneUpdatePerPanel bool // a panel ends after an update
	ReportsLastSum    bool // reports the weights at the end of the last epoch too
	RuleCountsUpdates bool // the rule itself counts updates and tells by ErrStop that it has converged; it needs no log

	Measure *learner.Measure // describes the last epoch; see learner.Progress

	Visits       int64
	Updates      int64
	MixedUpdates float64 // see learner.Result
	Converged    bool
	Epoch        int64 // number of finished epochs

	streak        int64 // visits since the last update
	visitsInEpoch int64 // visits in the present epoch
	updatesBefore int64 // updates before the present epoch
	epochsDone    bool  // no epoch follows
	log           []uint32

	shards                *Shards // nil if there is one shard
	parent                *Training
	isShard               bool
	shardNumber           int   // number of the shard
	visitsAtBegin         int64 // visits of a shard when its pass began or resumed
	startTime, lastReport time.Time
	reportCalls           int // calls of mayReport

	// Counts of the present epoch for reports: of a shard those that its training has, and the sums of the shards.
	reportedCounts            struct{ visits, updates int64 }
	shardVisits, shardUpdates atomic.Int64
	reports                   sync.Mutex
}

// New returns a training on the rows of src, which must come from block.Validate, for Run. The caller sets the rule.
func New(src block.Source, opt learner.Options) *Training {
	return &Training{Src: src, Opt: opt, Rows: src.Rows(), startTime: time.Now()}
}

// IsShard tells whether the training is a shard of another training. parent is nil on a cluster.
func (t *Training) IsShard() bool { return t.isShard }

// VisitsToConverge returns the number of visits without an update after which the training converges.
func (t *Training) VisitsToConverge() int64 { return t.Rows - t.streak }

// run makes the remaining epochs. It returns ErrStop if the training ends before the last epoch.
func (t *Training) run(ctx context.Context) error {
	t.report(nil)
	defer t.report(nil)
	epoch := t.shardsEpoch
	if t.shards == nil {
		pass, err := t.newPass()
		if err != nil {
			return err
		}
		epoch = func(ctx context.Context) error { return t.epoch(ctx, pass, t.Epoch) }
	}
	if err := t.resume(ctx); err != nil {
		return err
	}
	for t.Epoch < t.Opt.Epochs {
		err := epoch(ctx)
		if err == nil {
			err = callHook(ctx, t.AfterEpoch)
		}
		if err == nil || err == ErrStop && t.ReportsLastSum {
			t.report(t.sum())
		}
		if err != nil {
			return err
		}
		t.Epoch++
		t.visitsInEpoch, t.updatesBefore = 0, t.Updates
		if t.Opt.Checkpoint.Due(t.Epoch) {
			t.mark()
		}
	}
	return nil
}

func (t *Training) sum() func() [sha256.Size]byte {
	if t.Sum != nil {
		return t.Sum()
	}
	return learner.SumOf(t.Rule.Weights())
}

func (t *Training) newPass() (*Pass, error) { return NewPass(t.Src, t.Opt, t.shardNumber, t.Prepare) }

// epoch makes the remaining visits of an epoch. It returns ErrStop if the training has converged.
func (t *Training) epoch(ctx context.Context, pass *Pass, epoch int64) error {
	err := pass.Epoch(ctx, epoch, t.visitsInEpoch, func(p *Panel, at int) (int, error) { return t.visit(ctx, p, at) })
	if err == nil && t.Updates == t.updatesBefore && !t.RuleCountsUpdates && (t.Opt.Order == learner.Shuffle ||
		!t.ConvergesByStreak && t.Opt.Order != learner.Random) {
		t.Converged, err = true, ErrStop
	}
	return err
}

// resume makes up for the work between the last panel and the next one, which an interrupt may have left out. If that
// work was done, resume changes nothing. It returns ErrStop if no panel follows.
func (t *Training) resume(ctx context.Context) error {
	if t.epochsDone {
		return ErrStop
	}
	if t.Updates > 0 {
		if err := callHook(ctx, t.Resume); err != nil {
			return err
		}
	}
	return t.checkEnd(ctx)
}

// visit visits the rows of a panel. It returns the number of visits, which is less than the number of rows if the log
// became full.
func (t *Training) visit(ctx context.Context, p *Panel, at int) (visits int, err error) {
	if t.Opt.Checkpoint.Due(t.Epoch) {
		t.mark()
	}
	if t.parent != nil && t.Visits > t.visitsAtBegin && t.parent.Opt.Checkpoint.Due(t.parent.Epoch) {
		return 0, errPause
	}
	log := t.log
	if left := t.Opt.MaxUpdates - t.Updates; t.Opt.MaxUpdates > 0 && left < int64(len(log)) {
		log = log[:left]
	}
	visits, updates, err := t.Rule.Visit(ctx, p, at, log)
	t.Visits += int64(visits)
	t.visitsInEpoch += int64(visits)
	t.Updates += int64(updates)
	t.streak += int64(visits)
	t.mayReport()
	if err != nil {
		return 0, err
	}
	if updates > 0 && !t.RuleCountsUpdates {
		t.streak = int64(visits) - int64(log[updates-1]) - 1
		if err := callHook(ctx, t.AfterUpdates); err != nil {
			return 0, err
		}
	}
	return visits, t.checkEnd(ctx)
}

// checkEnd returns ErrStop if the training has made Opt.MaxUpdates updates, or has converged by a streak. Random draws
// may leave out rows, so AnyUpdates must then find no update to make.
func (t *Training) checkEnd(ctx context.Context) error {
	if t.Updates > 0 && t.Opt.MaxUpdates > 0 && t.Updates >= t.Opt.MaxUpdates {
		return ErrStop
	}
	if !t.ConvergesByStreak || t.Opt.Order == learner.Shuffle || t.streak < t.Rows {
		return nil
	}
	if t.Opt.Order == learner.Random {
		anyUpdates, err := t.AnyUpdates(ctx)
		if err != nil {
			return err
		}
		if anyUpdates {
			t.streak = 0
			return nil
		}
	}
	// Visits beyond the streak don't count, so that the figures don't depend on the number of rows of a panel.
	beyond := t.streak - t.Rows
	t.Visits -= beyond
	if t.Unvisited != nil {
		t.Unvisited(beyond)
	}
	t.streak = t.Rows
	t.Converged = true
	return ErrStop
}

// ResetStreak counts visits without an update from 0.
func (t *Training) ResetStreak() { t.streak = 0 }

// mark gives the state of the training to the checkpoint.
func (t *Training) mark() {
	visits := t.Visits
	if t.shards != nil {
		visits += t.shards.visits()
	}
	t.Opt.Checkpoint.Mark(t.Epoch, visits, t.state)
}

// state saves or restores the state of the training: between two panels, or in the work that follows a panel.
func (t *Training) state(w *checkpoint.Walk) {
	learner.State(w, &t.startTime, &t.Visits, &t.Updates, &t.Epoch, &t.streak, &t.visitsInEpoch, &t.updatesBefore,
		&t.MixedUpdates, &t.Converged, &t.epochsDone)
	if t.visitsInEpoch < 0 || t.visitsInEpoch > t.Rows || t.streak < 0 {
		w.Fail(errors.New("it is at no row"))
	}
	t.Rule.State(w)
	if t.shards != nil {
		t.shards.State(w, t.Epoch)
	}
}

// reportInterval is the least time between two reports in an epoch. callsPerReport is the number of calls of mayReport
// between two reads of the clock.
const (
	reportInterval = 100 * time.Millisecond
	callsPerReport = 16
)

// mayReport reports the progress if the last report is older than reportInterval. It checks that in one of 16 calls.
func (t *Training) mayReport() {
	if t.reportCalls++; t.reportCalls%callsPerReport != 0 {
		return
	}
	all := t
	if t.isShard {
		if all = t.parent; all == nil {
			return
		}
		all.shardVisits.Add(t.Visits - t.reportedCounts.visits)
		all.shardUpdates.Add(t.Updates - t.reportedCounts.updates)
		t.reportedCounts.visits, t.reportedCounts.updates = t.Visits, t.Updates
		if !all.reports.TryLock() { // another shard reports
			return
		}
		defer all.reports.Unlock()
	}
	if time.Since(all.lastReport) > reportInterval {
		all.report(nil)
	}
}

func (t *Training) report(sum func() [sha256.Size]byte) {
	if t.Opt.Progress == nil {
		return
	}
	t.lastReport = time.Now()
	visits, updates, best := t.Visits+t.shardVisits.Load(), t.Updates+t.shardUpdates.Load(), int64(-1)
	if t.BestErrors != nil {
		best = t.BestErrors()
	}
	p := learner.Progress{Epoch: visits / t.Rows, Epochs: t.Opt.Epochs, Visits: visits, Rows: t.Rows, Updates: updates,
		BestErrors: best, Elapsed: t.Elapsed(), Sum: sum}
	if sum != nil {
		p.Measure = t.Measure
	}
	t.Opt.Progress(p)
}

// Elapsed returns the time of the training, the time before a checkpoint included.
func (t *Training) Elapsed() time.Duration { return time.Since(t.startTime) }

// Unpad returns vectors of weights without the padding at their ends.
func (t *Training) Unpad(w []float32) (out []float32) { return Unpad(w, t.Src.Spec().Cols()) }

// Unpad returns vectors of weights without the padding at their ends. Each result vector has cols elements.
func Unpad(w []float32, cols int) (out []float32) {
	for v := range slices.Chunk(w, kernel.Stride(cols)) {
		out = append(out, v[:cols]...)
	}
	return out
}

// Rival returns the class other than own with the greatest score, the first of equal ones.
func Rival(scores []float32, own int) (rival int) {
	if own == 0 {
		rival = 1
	}
	for c, s := range scores {
		if c != own && s > scores[rival] {
			rival = c
		}
	}
	return rival
}

// ResultSoFar returns the result without the figures that need another pass over the rows.
func (t *Training) ResultSoFar() *learner.Result {
	r := &learner.Result{Weights: t.Unpad(t.Rule.Weights()), Epochs: (t.Visits + t.Rows - 1) / t.Rows, Visits: t.Visits, Updates: t.Updates,
		MixedUpdates: t.MixedUpdates, Converged: t.Converged, Seconds: t.Elapsed().Seconds()}
	if t.CompleteResult != nil {
		t.CompleteResult(r)
	}
	return r
}

// Run makes the epochs that follow the state of the checkpoint.
func (t *Training) Run(ctx context.Context) error {
	if _, err := t.Opt.Checkpoint.Load(t.state); err != nil {
		return err
	}
	err := t.run(ctx)
	switch {
	case err == nil || err == ErrStop:
		t.epochsDone, err = true, nil
		t.mark() // no weights change after it
	case ctx.Err() != nil:
		t.mark()
	}
	return err
}

// train makes the remaining epochs and returns the result. If ctx ends the training after one update or more, it
// returns the weights so far together with the error.
func (t *Training) train(ctx context.Context) (*learner.Result, error) {
	err := t.Run(ctx)
	if err == nil {
		if err = callHook(ctx, t.AfterLastEpoch); err == nil {
			r := t.ResultSoFar()
			if err = t.Learner.Evaluate(ctx, t.Src, t.Opt.Workers, t.Task.Settings, r); err == nil && t.AfterEvaluation != nil {
				err = t.AfterEvaluation(ctx, r)
			}
			if err == nil {
				return r, nil
			}
		}
	}
	if t.shards != nil {
		t.mixShards(t.shards.TakeResults())
	}
	if ctx.Err() == nil || t.Updates == 0 {
		return nil, err
	}
	r := t.ResultSoFar()
	r.Interrupted = true
	return r, err
}
