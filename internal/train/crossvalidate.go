package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"halfspace/internal/block"
	"halfspace/internal/memory"
	"halfspace/internal/message"
	"halfspace/internal/model"
)

// CrossValidate is documented in package halfspace/train.
func CrossValidate(ctx context.Context, src block.Source, l Learner, opt Options) (*CrossValidation, error) {
	return (&Session{Options: opt, Rows: src, Learner: l}).crossValidate(ctx)
}

// CrossValidate judges the learner as the function CrossValidate does. The best learner then learns.
func (s *Session) CrossValidate(ctx context.Context) error {
	judged, err := s.crossValidate(ctx)
	if err == nil {
		s.CrossValidation, s.Learner = judged, judged.Best()
	}
	return err
}

func (s *Session) crossValidate(ctx context.Context) (*CrossValidation, error) {
	learners, err := s.configured(s.Learner).Grid(s.CV.Grid)
	if err == nil {
		err = s.CV.checkOneStandardError()
	}
	if err != nil {
		return nil, err
	}
	judged, err := s.judgeLearners(ctx, learners, false)
	if err != nil {
		return nil, err
	}
	return judged, nil
}

// Compare is documented in package halfspace/train. It returns figures of merit; a learner without any fold has no errors.
// A learner that lacks the score is judged by the other figures. ChosenPoint is -1 if all learners lack the score.
func Compare(ctx context.Context, src block.Source, opt Options, learners ...Learner) (*CrossValidation, error) {
	s := &Session{Options: opt, Rows: src}
	learners = slices.Clone(learners)
	for i, l := range learners {
		learners[i] = s.configured(l)
	}
	return s.judgeLearners(ctx, learners, true)
}

// PoolFolds evaluates the learner on the rows of each fold by a model of the other folds, unless CrossValidate did so
// already, and sets s.HeldOut. Sample weights count, weights of classes don't.
func (s *Session) PoolFolds(ctx context.Context) error {
	if s.HeldOut != nil {
		return nil
	}
	quiet := *s
	quiet.Note = nil // newDeal noted the classes before
	l := s.configured(s.Learner)
	c, err := quiet.newCrossState(ctx, []Learner{l}, cmp.Or(s.CV.Folds, defaultFolds), "the figures of held-out rows")
	if err != nil {
		return err
	}
	p := c.newPool()
	if s.ChosenThreshold != nil {
		p.scoreThreshold = *s.ChosenThreshold
	} else if t := s.Output.Threshold; !t.NeedsRows() && t.By != "" {
		p.scoreThreshold = t.Value
	}
	err = c.eachFold(ctx, func(int) bool { return true }, func(ctx context.Context, from block.Source, number int) error {
		return c.trainFold(ctx, from, number, l, "judging the held-out rows",
			func(j *job, m *model.Model, parts *Parts) error { return p.add(ctx, j, m, parts) })
	})
	if err == nil {
		s.HeldOut = p.HeldOutEvaluation
	}
	return err
}

// judgeLearners judges every learner on each fold in turn. Each learner learns from the other folds.
func (s *Session) judgeLearners(ctx context.Context, learners []Learner, figures bool) (*CrossValidation, error) {
	if len(learners) == 0 {
		return nil, errors.New("there are no learners to compare: give one or more")
	}
	_, err := block.SpecOf(s.Rows)
	for _, l := range learners {
		err = cmp.Or(err, l.Check())
	}
	if err != nil {
		return nil, err
	}
	spec, cv := s.Rows.Spec(), &s.CV
	if err := cv.checkScore(learners[0], len(spec.Classes)); err != nil && (!figures || !slices.Contains(Scores, cv.Score)) {
		return nil, err
	}
	for _, l := range learners {
		of := s.foldSession()
		if err := of.check(l, spec); err != nil {
			return nil, err
		}
	}
	c, err := s.newCrossState(ctx, learners, cmp.Or(cv.Folds, defaultFolds), "")
	if err != nil {
		return nil, err
	}
	weighted := spec.Weighted || s.Weights.hasClassWeights()
	if c.Score == "" && weighted {
		c.Score = ByWeight
	}
	c.Score, c.oneAtATime = cmp.Or(c.Score, ByErrors), figures
	c.addPoints(learners, figures)
	if !figures && s.Output.HeldOut && len(learners) == 1 && s.Output.Threshold.By == "" {
		c.pool = c.newPool()
	}
	if !figures {
		c.opt.State, c.opt.Note = s.State, s.Note
	}
	if c.part, err = c.openPart(ctx, len(learners)); err == nil {
		_, err = c.part.Load(c.state)
	}
	if err != nil {
		return nil, err
	}
	defer c.opt.save(ctx)
	err = c.eachFold(ctx, c.hasUnjudged, c.judgeFold)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	if err == nil && c.pool.hasAllFolds() {
		s.HeldOut = c.pool.HeldOutEvaluation
	}
	return c.CrossValidation, cmp.Or(err, c.choosePoint(weighted))
}

// addPoints makes the points of the learners.
func (c *crossState) addPoints(learners []Learner, figures bool) {
	c.Points = make([]Point, len(learners))
	for i, l := range learners {
		p := &c.Points[i]
		if p.Learner, p.Options = l, l.VariedOptions; l.VariedOptions == nil {
			p.Options = map[string]string{}
		}
		if figures {
			p.Figures, p.NoScoreReason = new(FoldScore), whyUnscored(c.Score, l, len(c.src.Spec().Classes))
		}
		c.oneAtATime = c.oneAtATime || l.InMemory
	}
}

// hasUnjudged tells whether any point that hasn't failed lacks a result of the fold.
func (c *crossState) hasUnjudged(fold int) bool {
	return slices.ContainsFunc(c.Points, func(p Point) bool { return p.failure == nil && len(p.FoldAccuracy) <= fold })
}

// judgeFold trains every learner on the rows outside a fold, and counts the errors in the fold. It trains several
// learners at the same time if the rows are in memory.
func (c *crossState) judgeFold(ctx context.Context, all block.Source, number int) error {
	c.opt.stage(c.stage(number, "dealing the rows"))
	parts, err := splitRows(ctx, all, c.deal.learnedRows[number], c.deal.judgedRows[number], &c.opt.Options, c.learners...)
	if err != nil {
		return err
	}
	defer parts.Close()
	// bytes of the rows, and of their two parts
	side, bytes := 1, 2*block.MemoryBytes(all, all.Spec().Weighted || c.opt.Weights.hasClassWeights())
	if _, inMemory := all.(*block.Data); inMemory && !c.oneAtATime {
		side = c.parallelLearners(all.Rows(), bytes)
	}
	if number == 0 && c.cv.Budget > 0 {
		if err := c.keepToBudget(ctx, parts); err != nil {
			return err
		}
	}
	own := c.opt.foldSession()
	var g errgroup.Group
	g.SetLimit(side)
	for i, l := range c.learners {
		p := &c.Points[i]
		if p.failure != nil || len(p.FoldAccuracy) > number {
			continue
		}
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			progress := c.watchFold(l, number)
			if side > 1 { // several at a time: one line reports how many are done
				progress = nil
			}
			j := &job{Learner: l.WithWorkers(max(1, c.workers/side), progress), opt: &own, src: parts.KeptRows,
				parallelTrainings: side, heldBytes: bytes}
			t, value, err := c.judgeWithinBudget(ctx, p, j, parts)
			if err != nil && ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				err = fmt.Errorf("fold %d of %d: %s%w", number+1, c.Folds, optionsPrefix(l), err)
			}
			c.addResult(p, t, value, err)
			return ctx.Err()
		})
	}
	return g.Wait()
}

// addResult adds the errors and the score of a learner on a fold to the learner's point, or the reason why it failed.
func (c *crossState) addResult(p *Point, t ErrorCount, value foldValue, failure error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.failure = failure; failure == nil {
		p.sum.Rows += t.Rows
		p.sum.Errors += t.Errors
		p.sum.ErrorWeight += t.ErrorWeight
		p.verdict = append(p.verdict, value)
		p.FoldAccuracy = append(p.FoldAccuracy, float64(t.Rows-t.Errors)/float64(t.Rows))
	}
	// trained counts trainings, also from before a resume. Each counts as an epoch for checkpoints.
	trained := int64(0)
	for i := range c.Points {
		if trained += int64(len(c.Points[i].FoldAccuracy)); c.Points[i].failure != nil {
			trained++
		}
	}
	c.part.Mark(trained, 0, c.state)
}

// optionsPrefix returns the varied options and a colon, as the beginning of an error.
func optionsPrefix(l Learner) (text string) {
	for _, o := range l.Options {
		if value, ok := l.VariedOptions[o.Name]; ok {
			if text != "" {
				text += ", "
			}
			text += message.Option(o.Name) + " " + value
		}
	}
	if text != "" {
		text += ": "
	}
	return text
}

// mostNoteBytes is the largest number of bytes that a learner keeps for each row beside the row: nine numbers of 64
// bits, a weight and a label. The hinge of svm with many columns needs them.
const mostNoteBytes = 10 * 8

// parallelLearners returns the number of learners that train at the same time: as many as there are workers, or fewer
// if the memory doesn't hold the bytes that they keep for each row. The rows are in memory; bytes is the memory of the
// rows and their parts.
func (c *crossState) parallelLearners(rows, bytes int64) int {
	room := memory.Limit(c.opt.Memory)
	if c.opt.Memory > 0 { // otherwise the limit doesn't include these bytes
		room -= bytes
	}
	return int(max(1, min(int64(c.workers), int64(len(c.learners)), room/(rows*mostNoteBytes))))
}
