package train

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"halfspace/internal/humanize"
)

const (
	leastTimedRows = 100 // a learner isn't timed on fewer rows
	mostOverrun    = 3   // a learner is stopped if the folds so far take more than this times their estimate
)

// timedShares are the shares of the rows on which a learner is timed, as divisors. It is timed on the next share only if
// the time on the share before doesn't show that it is fast.
var timedShares = []int64{16, 4}

// OverBudgetError is the failure of a learner that a comparison leaves out because it takes too long; see CV.Budget.
// Which learners take too long depends on the computer. The figures of the other learners don't.
type OverBudgetError struct {
	Budget time.Duration // of all learners
	// Estimate is the estimated time of the learner's trainings on all folds, and of judging its models. It is 0 if the
	// learner was stopped before there was an estimate.
	Estimate time.Duration
	Spent    time.Duration // time after which the learner was stopped; 0 if it wasn't stopped
	Rows     int64         // number of rows that the learner was learning from when it was stopped
}

func (e *OverBudgetError) Error() string {
	if e.Spent > 0 {
		return fmt.Sprintf("stopped after %s s on %s, of a budget of %s s for all learners",
			humanize.ThreeDigits(e.Spent.Seconds()), humanize.Plural(e.Rows, "row"), humanize.Real(e.Budget.Seconds()))
	}
	return fmt.Sprintf("would take about %s s, of a budget of %s s for all learners",
		humanize.ThreeDigits(e.Estimate.Seconds()), humanize.Real(e.Budget.Seconds()))
}

// equalShare returns the time that each learner would have if all had the same.
func (c *crossState) equalShare() time.Duration {
	return c.cv.Budget / time.Duration(len(c.learners))
}

// keepToBudget estimates the time of each learner on a part of the rows of the first fold, and leaves out the slowest
// learners, until the others take no more than the rest of the budget. It stops a learner that takes more than half its
// equal share on the part. So it takes no longer than the budget itself.
func (c *crossState) keepToBudget(ctx context.Context, fold *Parts) error {
	start := time.Now()
	for _, divisor := range timedShares {
		if fold.KeptRows.Rows()/divisor < leastTimedRows {
			continue
		}
		if err := c.timeLearners(ctx, fold, divisor); err != nil {
			return err
		}
	}
	var order []*Point
	for i := range c.Points {
		order = append(order, &c.Points[i])
	}
	slices.SortStableFunc(order, func(a, b *Point) int { return cmp.Compare(a.estimate, b.estimate) })
	left := c.cv.Budget - time.Since(start)
	for _, p := range order {
		if left -= p.estimate; p.failure == nil && left < 0 && p.estimate > c.equalShare() {
			p.failure = &OverBudgetError{Budget: c.cv.Budget, Estimate: p.estimate}
		}
	}
	return nil
}

// timeLearners times each learner that isn't known to be fast on every divisor-th row of each class.
func (c *crossState) timeLearners(ctx context.Context, fold *Parts, divisor int64) error {
	parts, err := splitRows(ctx, fold.KeptRows, everyRow(divisor, 0), everyRow(divisor, 1), &c.opt.Options, c.learners...)
	if err != nil {
		return err
	}
	defer parts.Close()
	for i, l := range c.learners {
		p := &c.Points[i]
		if p.failure != nil || p.timed.rows > 0 && p.estimate <= c.equalShare() {
			continue
		}
		c.opt.stage(c.stage(0, "timing "+l.Name))
		limited, cancel := context.WithTimeout(ctx, c.equalShare()/2)
		t, err := c.timeLearner(limited, l, parts)
		stopped := limited.Err() != nil
		cancel()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && stopped:
			p.failure = &OverBudgetError{Budget: c.cv.Budget, Spent: t.time, Rows: t.rows}
		case err == nil: // a learner that fails on a part may succeed on all rows
			p.extrapolate(t, fold.KeptRows.Rows(), c.Folds)
		}
	}
	return nil
}

// timeLearner returns the time of a training on the rows to learn from, and of judging its model on the share of the
// rows that a fold has.
func (c *crossState) timeLearner(ctx context.Context, l Learner, parts *Parts) (timing, error) {
	start, own := time.Now(), c.opt.foldSession()
	own.Stage = nil
	j := &job{Learner: l.WithWorkers(c.workers, nil), opt: &own, src: parts.KeptRows}
	f, err := j.learn(ctx, ctx)
	trained := time.Since(start)
	if err == nil {
		_, _, err = scoreModel(ctx, "", f.Model, c.withClassWeights(parts.HeldRows), j.Workers(),
			&foldMerit{ranks: newRanking(f.Model)})
	}
	judged := time.Since(start) - trained
	return timing{parts.KeptRows.Rows(), trained + judged/time.Duration(c.Folds-1)}, err
}

// everyRow returns a Chooser that chooses every divisor-th row of each class, from the given one on.
func everyRow(divisor, first int64) Chooser {
	return func() func(class int) bool {
		counts := map[int]int64{}
		return func(class int) bool {
			n := counts[class]
			counts[class]++
			return n%divisor == first
		}
	}
}

// extrapolate estimates the time of the learner on all folds from its time t on a part of the rows of a fold. The time
// grows with the rows, and from the second timing on it may have a constant, such as the time to factorise a matrix.
func (p *Point) extrapolate(t timing, rows int64, folds int) {
	last, slope := p.timed, float64(t.time)/float64(t.rows)
	if last.rows > 0 && t.rows > last.rows {
		slope = max(0, float64(t.time-last.time)/float64(t.rows-last.rows))
	}
	p.timed = t
	p.estimate = time.Duration(folds) * (t.time + time.Duration(slope*float64(rows-t.rows)))
}

// judgeWithinBudget is judgePoint. With a budget, it stops a learner that takes far longer than its estimate.
func (c *crossState) judgeWithinBudget(ctx context.Context, p *Point, j *job, parts *Parts) (ErrorCount, foldValue, error) {
	if c.cv.Budget == 0 {
		return c.judgePoint(ctx, p, j, parts)
	}
	start, before := time.Now(), time.Duration(p.Figures.TotalSeconds*float64(time.Second))
	folds := time.Duration(len(p.FoldAccuracy) + 1)
	limited, cancel := context.WithTimeout(ctx, max(mostOverrun*p.estimate*folds/time.Duration(c.Folds), c.equalShare())-before)
	defer cancel()
	t, value, err := c.judgePoint(limited, p, j, parts)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = &OverBudgetError{Budget: c.cv.Budget, Spent: before + time.Since(start), Rows: parts.KeptRows.Rows()}
	}
	return t, value, err
}
