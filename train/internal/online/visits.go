package online

import (
	"context"

	"halfspace/train/learner"
)

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
