package online

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/kernel"
	"halfspace/train/learner"
)

// A Training is the state of a training between two panels, or the state of a shard in an epoch.
type Training struct {
	Learner *learner.Learner
	Task    *learner.Task
	Opt     learner.Options // Settings of the task with their defaults; of a shard, without the options of all shards
	Src     block.Source
	Rows    int64
	Rule    Rule

	// The RuleMaker may set these fields.
	Judges            []Judge // each watches the training, in this order
	Streak            *Streak // nil: the training converges after an epoch without an update, unless rows are drawn
	OneUpdatePerPanel bool    // a panel ends after an update
	ReportsLastSum    bool    // reports the weights at the end of the last epoch too
	RuleCountsUpdates bool    // the rule itself counts updates and tells by ErrStop that it has converged; it needs no log

	Measure *learner.Measure // describes the last epoch; see learner.Progress

	Visits       int64
	Updates      int64
	MixedUpdates float64 // see learner.Result
	Converged    bool
	Epoch        int64 // number of finished epochs

	visitsInEpoch int64 // visits in the present epoch
	updatesBefore int64 // updates before the present epoch
	epochsDone    bool  // no epoch follows
	log           []uint32
	startTime     time.Time
	reports       reports

	shards *Shards     // nil if there is one shard
	shard  *shardPlace // nil unless the training is one of a shard
}

// A RuleMaker is an algorithm that learns by a rule.
type RuleMaker interface {
	learner.Algorithm

	// Rule returns the rule of a training, or of a shard. It uses the fields of t above Rule.
	Rule(ctx context.Context, t *Training) (Rule, error)
}

// A shardPlace is the place of a training among the trainings of all shards.
type shardPlace struct {
	parent        *Training // the training of all shards; nil in another process
	number        int
	visitsAtBegin int64 // visits of the shard when its pass began or resumed
}

// IsShard tells whether the training is a shard of another training.
func (t *Training) IsShard() bool { return t.shard != nil }

// mustPause tells whether the training of all shards is to be saved, and the shard has made some visits.
func (s *shardPlace) mustPause(visits int64) bool {
	return s != nil && s.parent != nil && visits > s.visitsAtBegin && s.parent.Opt.Checkpoint.Due(s.parent.Epoch)
}

// reports is the state of a training's reports.
type reports struct {
	last  time.Time
	calls int // calls of mayReport

	// Of a shard, the counts of the present epoch that its training has; of a training, the sums of its shards.
	counted                   struct{ visits, updates int64 }
	shardVisits, shardUpdates atomic.Int64
	mutex                     sync.Mutex
}

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

func (t *Training) evaluate(ctx context.Context, r *learner.Result) error {
	if rule, is := t.Rule.(Evaluator); is {
		return rule.Evaluate(ctx, r)
	}
	return t.Learner.Evaluate(ctx, t.Src, t.Opt.Workers, t.Task.Settings, r)
}

// each calls a method of each judge, up to the first error.
func (t *Training) each(ctx context.Context, method func(Judge, context.Context) error) error {
	for _, j := range t.Judges {
		if err := method(j, ctx); err != nil {
			return err
		}
	}
	return nil
}

// VisitsToConverge returns the number of visits without an update after which a streak ends the training, or 1 if there
// is no streak.
func (t *Training) VisitsToConverge() int64 {
	if t.Streak == nil {
		return 1
	}
	return t.Rows - t.Streak.run
}

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
	learner.State(w, &t.startTime, &t.Visits, &t.Updates, &t.Epoch, &t.visitsInEpoch, &t.updatesBefore, &t.MixedUpdates,
		&t.Converged, &t.epochsDone)
	if s := t.Streak; s != nil {
		if w.Int(&s.run); s.run < 0 {
			w.Fail(errNoRow)
		}
	}
	if t.visitsInEpoch < 0 || t.visitsInEpoch > t.Rows {
		w.Fail(errNoRow)
	}
	t.Rule.State(w)
	if t.shards != nil {
		t.shards.State(w, t.Epoch)
	}
}

var errNoRow = errors.New("it is at no row")

// ResultSoFar returns the result without the figures that need another pass over the rows.
func (t *Training) ResultSoFar() *learner.Result {
	r := &learner.Result{Weights: t.Unpad(t.Rule.Weights()), Epochs: (t.Visits + t.Rows - 1) / t.Rows, Visits: t.Visits, Updates: t.Updates,
		MixedUpdates: t.MixedUpdates, Converged: t.Converged, Seconds: t.Elapsed().Seconds()}
	if rule, is := t.Rule.(Completer); is {
		rule.CompleteResult(r)
	}
	return r
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
