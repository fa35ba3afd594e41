package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/memory"
	"halfspace/internal/message"
	"halfspace/train/learner"
)

// CV says how to cross-validate.
type CV struct {
	Folds int    // number of folds; 5. Each is judged by a model of the other folds
	Grid  []Axis // options to vary; every combination of their values is judged
	Path  int    // number of falling penalties l1 to judge, in place of a grid; see Session.FollowPath
	// Score is the name of the score to choose by, one of Scores. "" stands for ByWeight if rows or classes have
	// weights, and for ByErrors otherwise.
	Score string

	// SkipSlowLearners makes Compare leave out a learner whose first model is too slow; see TooSlowError.
	SkipSlowLearners bool

	// Budget is the time that Compare may take for all trainings and for judging their models; 0 is any time. Compare
	// times each learner on a part of the rows, and leaves out those that would take too long; see OverBudgetError. It
	// also stops a learner that takes more than three times its estimate, and more than an equal share of the budget. So
	// it takes five times the budget at most. Figures of the learners that are judged don't depend on the budget.
	Budget time.Duration

	// OneStandardError chooses the point with the strongest penalty l1, and of equal l1 the strongest l2, whose score
	// is at most one standard error worse than the best score (Breiman et al. 1984). The point must have the other
	// options of the best point.
	OneStandardError bool
}

// isSet tells whether Run cross-validates.
func (cv *CV) isSet() bool { return cv.Folds != 0 || len(cv.Grid) > 0 || cv.Path > 0 }

// defaultFolds is the default of CV.Folds.
const defaultFolds = 5

// CrossValidation is the result of a cross-validation: how well trainings predict rows that they didn't learn from.
// Each fold is held out once.
type CrossValidation struct {
	Folds         int     `json:"folds"`
	Rows          int64   `json:"rows"`            // number of judged rows
	Split         string  `json:"split,omitempty"` // "groups" or "time" if rows aren't dealt one by one; see Options.Split
	Score         string  `json:"score"`           // score that the points were chosen by; see CV.Score
	ChosenPoint   int     `json:"chosen"`          // number of the point with the best score, the first of equal ones
	TopScorePoint *int    `json:"best,omitempty"`  // the point with the best score, with CV.OneStandardError, which may choose another
	Points        []Point `json:"points"`
}

// Point is the result of a learner with one combination of options.
type Point struct {
	Options map[string]string `json:"options"` // options that the grid varied
	// Errors is the number of wrong rows, each judged when its fold was held out. It is null if the point failed.
	Errors *int64 `json:"errors"`
	// ErrorWeight is the sum of the weights of wrong rows, if rows or classes have weights.
	ErrorWeight  *float64  `json:"error_weight,omitempty"`
	Accuracy     *float64  `json:"accuracy"`
	Score        *float64  `json:"score"`     // mean over the folds, by the weight of their rows
	StdError     *float64  `json:"std_error"` // standard error of Score; null if fewer than two folds have a score
	FoldAccuracy []float64 `json:"fold_accuracy"`
	FailureText  string    `json:"failed,omitempty"` // why training failed on a fold

	Learner       Learner    `json:"-"`
	Figures       *FoldScore `json:"-"` // figures of Compare; otherwise nil
	NoScoreReason string     `json:"-"` // of Compare: why the learner has no such score; "": it has
	failure       error
	timed         timing        // last timing on a part of the rows
	estimate      time.Duration // of the time of all folds; 0 if the learner wasn't timed
	sum           ErrorCount
	verdict       verdict
}

// Failure returns the error of a point that failed, or nil.
func (p *Point) Failure() error { return p.failure }

// Best returns the learner of the chosen point, or the zero Learner if there are no points.
func (cv *CrossValidation) Best() Learner {
	if len(cv.Points) == 0 {
		return Learner{}
	}
	return cv.Points[cv.ChosenPoint].Learner
}

// CrossValidate judges a learner by cross-validation. It deals the rows into folds by the seed: at random, so that each
// fold has its share of every class, or as Options.Split says. It predicts each fold by a model of the other folds. With
// a grid it judges every combination of options. It leaves out a combination that fails on a fold, and returns an error
// if all combinations fail.
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

// Compare judges several learners on the same folds, by the seed of the first learner. It trains one learner after
// another, so that their times can be compared. It returns figures of merit. If ctx ends the comparison, Compare
// returns the figures of the folds so far with ctx's error; a learner without any fold then has no errors. A learner
// that lacks the score is judged by the other figures. ChosenPoint is -1 if all learners lack the score.
func Compare(ctx context.Context, src block.Source, opt Options, learners ...Learner) (*CrossValidation, error) {
	s := &Session{Options: opt, Rows: src}
	learners = slices.Clone(learners)
	for i, l := range learners {
		learners[i] = s.configured(l)
	}
	return s.judgeLearners(ctx, learners, true)
}

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
		c.pool = &pool{c: c}
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

// judgeFold trains every learner on the rows outside a fold, and counts the errors in the fold. It trains several
// learners at the same time if the rows are in memory.
func (c *crossState) judgeFold(ctx context.Context, all block.Source, number int) error {
	c.opt.stage(c.stage(number, "dealing the rows"))
	parts, err := split(ctx, all, c.deal.learnedRows[number], c.deal.judgedRows[number], &c.opt.Options, c.learners...)
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

// errFolds is the error of rows that can't be dealt into the number of folds.
var errFolds = errors.New("too few rows for the folds")

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
