package online

import (
	"context"
	"errors"
	"slices"
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

	shards *Shards // nil if there is one shard
	shard  *shard  // nil unless the training is one of a shard
}

// Train trains l, whose algorithm must be a RuleMaker, on all rows of src with the settings s. The result doesn't depend
// on the workers. Errors: options out of range, no rows, weights that overflow, errors of src, and ctx's error.
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

// Learn is the training of l, whose algorithm must be a RuleMaker. It makes up to Epochs epochs in the order Order.
//
// With more than one shard, each shard has its own rule in an epoch. All rules begin with the same weights and vectors.
// After the epoch, their weights and vectors are mixed.
func Learn(ctx context.Context, l *learner.Learner, task *learner.Task) (*learner.TaskResult, error) {
	t := &Training{Learner: l}
	if err := t.begin(ctx, task); err != nil {
		return nil, err
	}
	r, err := t.train(ctx)
	if r == nil {
		return nil, err
	}
	if rule, is := t.Rule.(Owner); is {
		return rule.OwnResult(r), err
	}
	return &learner.TaskResult{Result: r, OwnResult: r}, err
}

// New returns a training on the rows of src, which must come from block.Validate, for Run. The caller sets the rule.
func New(src block.Source, opt learner.Options) *Training {
	return &Training{Src: src, Opt: opt, Rows: src.Rows(), startTime: time.Now()}
}

// begin checks the shared options and the rows, and makes the rule and the shards.
func (t *Training) begin(ctx context.Context, task *learner.Task) (err error) {
	own := *task
	own.Settings = task.Settings.Copy()
	if t.Src, err = t.Learner.Begin(ctx, own.Rows, own.Settings); err != nil {
		return err
	}
	t.Task, t.Opt = &own, own.Settings.Shared()
	if err := t.makeRule(ctx); err != nil || t.Opt.Shards < 2 {
		return err
	}
	return t.makeShards()
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

// train makes the remaining epochs and returns the result. If ctx ends the training after one update or more, it
// returns the weights so far together with the error.
func (t *Training) train(ctx context.Context) (*learner.Result, error) {
	err := t.Run(ctx)
	if err == nil {
		err = t.each(ctx, Judge.AfterTraining)
	}
	if err == nil {
		r := t.ResultSoFar()
		if err = t.evaluate(ctx, r); err == nil {
			return r, nil
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

func (t *Training) evaluate(ctx context.Context, r *learner.Result) error {
	if rule, is := t.Rule.(Evaluator); is {
		return rule.Evaluate(ctx, r)
	}
	return t.Learner.Evaluate(ctx, t.Src, t.Opt.Workers, t.Task.Settings, r)
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
		epoch = func(ctx context.Context) error { return t.visitAll(ctx, pass, t.Epoch) }
	}
	for err := t.resume(ctx); ; err = nil {
		if err != nil || t.Epoch >= t.Opt.Epochs {
			return err
		}
		if err = epoch(ctx); err == nil {
			err = t.each(ctx, Judge.AfterEpoch)
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
}

func (t *Training) newPass() (*Pass, error) {
	number := 0
	if t.shard != nil {
		number = t.shard.number
	}
	prepare := func(*Pass) {}
	if rule, is := t.Rule.(Preparer); is {
		prepare = rule.Prepare
	}
	return NewPass(t.Src, t.Opt, number, prepare)
}

// resume makes up for the work between the last panel and the next one, which an interrupt may have left out. If that
// work was done, resume changes nothing. It returns ErrStop if no panel follows.
func (t *Training) resume(ctx context.Context) error {
	if t.epochsDone {
		return ErrStop
	}
	if t.Updates > 0 {
		if err := t.each(ctx, Judge.Resume); err != nil {
			return err
		}
	}
	return t.checkEnd(ctx)
}

// visitAll makes the remaining visits of an epoch. It returns ErrStop if the training has converged.
func (t *Training) visitAll(ctx context.Context, pass *Pass, epoch int64) error {
	for p, err := range pass.Panels(ctx, epoch, t.visitsInEpoch) {
		if err == nil {
			err = t.visit(ctx, p)
		}
		if err != nil {
			return err
		}
	}
	if t.Updates == t.updatesBefore && !t.RuleCountsUpdates &&
		(t.Opt.Order == learner.Shuffle || t.Streak == nil && t.Opt.Order != learner.Random) {
		t.Converged = true
		return ErrStop
	}
	return nil
}

// visit visits the rows of a panel, up to the visit after which the log is full.
func (t *Training) visit(ctx context.Context, p *Panel) (err error) {
	if t.Opt.Checkpoint.Due(t.Epoch) {
		t.mark()
	}
	if t.shard.mustPause(t.Visits) {
		return errPause
	}
	log := t.log
	if left := t.Opt.MaxUpdates - t.Updates; t.Opt.MaxUpdates > 0 && left < int64(len(log)) {
		log = log[:left]
	}
	updates := 0
	p.Visits, updates, err = t.Rule.Visit(ctx, p, log)
	t.Visits += int64(p.Visits)
	t.visitsInEpoch += int64(p.Visits)
	t.Updates += int64(updates)
	if t.Streak != nil {
		t.Streak.run += int64(p.Visits)
	}
	t.mayReport()
	if err != nil {
		return err
	}
	if updates > 0 && !t.RuleCountsUpdates {
		if t.Streak != nil {
			t.Streak.run = int64(p.Visits) - int64(log[updates-1]) - 1
		}
		if err := t.each(ctx, Judge.AfterUpdates); err != nil {
			return err
		}
	}
	return t.checkEnd(ctx)
}

// checkEnd returns ErrStop if the training has made Opt.MaxUpdates updates, or has converged by a streak. Random draws
// may leave out rows, so AnyUpdates must then find no update to make.
func (t *Training) checkEnd(ctx context.Context) error {
	if t.Updates > 0 && t.Opt.MaxUpdates > 0 && t.Updates >= t.Opt.MaxUpdates {
		return ErrStop
	}
	if t.Opt.Order == learner.Shuffle || t.VisitsToConverge() > 0 {
		return nil
	}
	if t.Opt.Order == learner.Random {
		anyUpdates, err := t.Streak.AnyUpdates(ctx)
		if err != nil {
			return err
		}
		if anyUpdates {
			t.Streak.Reset()
			return nil
		}
	}
	// Visits beyond the streak don't count, so that the figures don't depend on the number of rows of a panel.
	beyond := -t.VisitsToConverge()
	t.Visits -= beyond
	if t.Streak.Unvisited != nil {
		t.Streak.Unvisited(beyond)
	}
	t.Streak.run = t.Rows
	t.Converged = true
	return ErrStop
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
