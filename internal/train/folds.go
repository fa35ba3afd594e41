package train

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/humanize"
	"halfspace/internal/model"
	"halfspace/train/learner"
)

// crossState is the state of a cross-validation.
type crossState struct {
	*CrossValidation
	cv           CV
	src          block.Source
	refit        block.Refit // learns the features of src again; nil: they don't depend on rows
	learners     []Learner
	opt          Session
	seed         uint64
	workers      int
	classWeights []float64
	deal         *deal
	pool         *pool            // pools the held-out rows; nil: not asked for
	oneAtATime   bool             // one training at a time
	part         *checkpoint.Part // saves the results; nil: not saved
	mu           sync.Mutex       // held while the stage is reported, and while a point is changed
}

// newCrossState checks the rows and deals them into folds. Only without a purpose, which its errors name, the state has
// weights of classes.
func (s *Session) newCrossState(ctx context.Context, learners []Learner, folds int, purpose string) (*crossState, error) {
	l := learners[0]
	src, err := checkSource(ctx, s.Rows, l)
	if err != nil {
		return nil, err
	}
	c := &crossState{CrossValidation: &CrossValidation{Folds: folds, Split: s.Split.name(), Score: s.CV.Score},
		cv: s.CV, src: withoutRefit(src), refit: refitOf(src),
		learners: learners, opt: s.foldSession(), seed: l.Settings.RunOptions().Seed, workers: l.Workers()}
	if c.deal, err = newDeal(ctx, c.src, folds, c.seed, c.workers, &s.Options); err != nil && purpose != "" {
		err = fmt.Errorf("%s: %w", purpose, err)
	}
	if err != nil || purpose != "" {
		return c, err
	}
	c.classWeights, err = weightsOf(ctx, &s.Weights, c.src, c.workers)
	return c, err
}

// newPool returns a pool without rows.
func (c *crossState) newPool() *pool {
	return &pool{of: c.CrossValidation, rows: c.src, workers: c.workers}
}

// eachFold calls judge for each fold that is left, one after another. If the source can learn its features again, it
// does so for each fold from the rows outside the fold.
func (c *crossState) eachFold(ctx context.Context, left func(fold int) bool,
	judge func(ctx context.Context, from block.Source, number int) error) error {
	var choices []func(class int) bool
	for f := range c.Folds {
		choices = append(choices, c.deal.learnedRows[f]())
	}
	var again []func(context.Context) (block.Source, error)
	if c.refit != nil && left(c.Folds-1) {
		var err error
		if again, err = c.refit(ctx, choices); err != nil {
			return err
		}
	}
	for f := range c.Folds {
		if !left(f) {
			continue
		}
		from, err := c.src, error(nil)
		if again != nil {
			from, err = again[f](ctx)
		}
		if err == nil {
			err = judge(ctx, from, f)
		}
		if err != nil && ctx.Err() != nil {
			return &learner.UnfinishedError{Position: fmt.Sprintf("the cross-validation was at fold %d of %d", f+1,
				c.Folds), Err: ctx.Err()}
		}
		if err != nil {
			return fmt.Errorf("fold %d of %d: %w", f+1, c.Folds, err)
		}
	}
	return nil
}

// trainFold trains on the rows outside a fold, and calls use with the training, its model and both parts of the rows. stage
// names the work.
func (c *crossState) trainFold(ctx context.Context, all block.Source, number int, l Learner, stage string,
	use func(j *job, m *model.Model, parts *Parts) error) error {
	show := c.opt.watch(Stage{Name: stage, Detail: fmt.Sprintf("fold %d of %d", number+1, c.Folds), Done: int64(number),
		Total: int64(c.Folds)}, l)
	parts, err := splitRows(ctx, all, c.deal.learnedRows[number], c.deal.judgedRows[number], &c.opt.Options)
	if err != nil {
		return err
	}
	defer parts.Close()
	j := &job{Learner: l.WithWorkers(c.workers, show), opt: &c.opt, src: parts.KeptRows,
		heldBytes: 2 * block.MemoryBytes(all, all.Spec().Weighted || c.opt.Weights.hasClassWeights())}
	f, err := j.learn(ctx, ctx)
	if err != nil {
		return err
	}
	return cmp.Or(use(j, f.Model, parts), ctx.Err())
}

// judgePoint trains, and computes the errors and the score on the held-out rows, with the weights of their classes.
func (c *crossState) judgePoint(ctx context.Context, p *Point, j *job, parts *Parts) (t ErrorCount, value foldValue, err error) {
	begin, score := time.Now(), c.Score
	f, err := j.learn(ctx, ctx)
	if err == nil && c.cv.SkipSlowLearners {
		err = checkSpeed(f.Model, c.src.Rows())
	}
	if err != nil {
		return t, value, err
	}
	var merit *foldMerit
	if p.Figures != nil {
		merit = &foldMerit{ranks: newRanking(f.Model)}
	}
	if p.NoScoreReason != "" {
		score = ""
	}
	t, value, err = scoreModel(ctx, score, f.Model, c.withClassWeights(parts.HeldRows), j.Workers(), merit)
	if err == nil && merit != nil {
		merit.addTo(p.Figures, f.Result.Seconds)
		p.Figures.TotalSeconds += time.Since(begin).Seconds()
	}
	if err == nil && c.pool != nil && c.pool.folds == len(p.FoldAccuracy) { // a resumed cross-validation skips folds
		err = c.pool.add(ctx, j, f.Model, parts)
	}
	return t, value, err
}

// withClassWeights returns rows with the weights of their classes.
func (c *crossState) withClassWeights(rows block.Source) block.Source {
	if c.classWeights != nil {
		return learner.WithClassWeights(rows, c.classWeights)
	}
	return rows
}

// watchFold reports that a learner begins with a fold. It returns the Progress function for the training.
func (c *crossState) watchFold(l Learner, fold int) func(learner.Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opt.watch(c.stage(fold, cmp.Or(l.VariedText(), l.Name)), l)
}

// stage returns the stage of a fold, with the number of trainings done and a text for the present work.
func (c *crossState) stage(fold int, what string) Stage {
	s := Stage{Name: "cross-validating", Detail: fmt.Sprintf("fold %d of %d, %s", fold+1, c.Folds, what),
		Total: int64(c.Folds * len(c.learners)), Best: c.bestSoFar()}
	for i := range c.Points {
		if s.Done += int64(len(c.Points[i].FoldAccuracy)); c.Points[i].failure != nil { // a failed point trains on no further fold
			s.Done += int64(c.Folds - len(c.Points[i].FoldAccuracy))
		}
	}
	return s
}

// bestSoFar returns the best mean score of a point over its judged folds, or "" if no fold is judged.
func (c *crossState) bestSoFar() string {
	best, text := 0.0, ""
	for i := range c.Points {
		p := &c.Points[i]
		mean, _ := p.verdict.mean()
		cost := mean
		if GreatestIsBest(c.Score) {
			cost = -mean
		}
		if p.failure != nil || cost != cost || text != "" && cost >= best {
			continue
		}
		if best, text = cost, c.Score+" "+humanize.Real(mean); c.Score == ByErrors || c.Score == ByWeight {
			text = humanize.Percent(mean) + " wrong"
		}
		if len(c.Points) > 1 {
			text += " with " + cmp.Or(p.Learner.VariedText(), p.Learner.Name)
		}
	}
	return text
}

// judgementPart is the number of the checkpoint part for the results of a cross-validation or a path. Parts of classes
// have the numbers 0 and above.
const judgementPart = -1

// openPart tells the checkpoint, if there is one, which rows and options a cross-validation or a path has. points is
// the number of points of the path. openPart returns the checkpoint's part.
func (c *crossState) openPart(ctx context.Context, points int) (*checkpoint.Part, error) {
	run := c.opt.State
	if run == nil {
		return nil, nil
	}
	h := sha256.New()
	for _, l := range c.learners {
		fmt.Fprintln(h, (&job{Learner: l, opt: &c.opt}).facts(), c.Folds, points, c.Score)
	}
	if err := run.CheckFact("the sum of the options that are judged", fmt.Sprintf("%x", h.Sum(nil))); err != nil {
		return nil, err
	}
	if _, err := sameRows(ctx, run, c.src, c.workers, nil); err != nil {
		return nil, err
	}
	return run.Part(judgementPart), nil
}

// state saves or restores the results of the judged folds. The caller holds c.mu.
func (c *crossState) state(w *checkpoint.Walk) {
	points := len(c.Points)
	if w.Count(&points); points != len(c.Points) {
		w.Fail(errors.New("it has other points"))
		return
	}
	for i := range c.Points {
		p := &c.Points[i]
		w.Int(&p.sum.Rows)
		w.Int(&p.sum.Errors)
		w.Float(&p.sum.ErrorWeight)
		p.verdict.state(w)
		if checkpoint.Slice(w, &p.FoldAccuracy); len(p.FoldAccuracy) > c.Folds || len(p.verdict) != len(p.FoldAccuracy) {
			w.Fail(errors.New("it has more folds, or scores of other ones"))
		}
		failure := ""
		if p.failure != nil {
			failure = p.failure.Error()
		}
		if w.Text(&failure); w.IsReading() && failure != "" {
			p.failure = errors.New(failure)
		}
	}
}
