package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/train/learner"
)

// ErrNoPath is the error of a path with a learner that has no paths.
var ErrNoPath = errors.New("a path needs logistic, or svm with squared_hinge, and two classes")

// FollowPath trains weights for up to CV.Path falling penalties l1; see optimize.Task.Path. It judges each penalty by
// cross-validation: it follows a path with the same penalties over the rows outside each fold, and takes the mean loss
// in the fold. The penalties of a fold are proportional to the number of rows, because losses are sums over rows. It
// chooses the point with the least loss, or the best point by CV.Score, or with CV.OneStandardError the point Within. The
// learner gets the penalty of that point.
func (s *Session) FollowPath(ctx context.Context) error {
	l := s.configured(s.Learner)
	p, err := s.followPath(ctx, l)
	if err == nil {
		s.Path, s.Learner = p, p.CrossValidation.Best()
	}
	return err
}

func (s *Session) followPath(ctx context.Context, l Learner) (*Path, error) {
	err := s.checkTraining(l)
	if err == nil && l.PathFollower() == nil {
		err = ErrNoPath
	}
	if err != nil {
		return nil, err
	}
	spec, cv, n := s.Rows.Spec(), s.CV, s.CV.Path
	if len(spec.Classes) > 2 {
		return nil, message.Errorf("column %q: a path takes two classes: keep the rows of two, or use --grid with l1",
			spec.Label)
	}
	c, err := s.newCrossState(ctx, []Learner{l}, cmp.Or(cv.Folds, defaultFolds), "")
	if err != nil {
		return nil, err
	}
	c.opt.State, c.opt.Note = s.State, s.Note
	if c.part, err = c.openPart(ctx, n); err != nil {
		return nil, err
	}
	defer s.save(ctx)
	state, err := c.followFolds(ctx, l, n)
	if err != nil {
		return nil, err
	}
	return c.path(l, state)
}

// path returns the path of the minima, and chooses its point.
func (c *crossState) path(l Learner, state *pathState) (*Path, error) {
	verdicts := state.scores
	if c.Score == "" {
		c.Score, verdicts = ByLoss, state.losses
	}
	for i, minimum := range state.minima {
		c.Points = append(c.Points, Point{Learner: withL1(l, minimum.L1), verdict: verdicts[i]})
	}
	if err := c.chooseByScore(); err != nil {
		return nil, err
	}
	p := &Path{CrossValidation: c.CrossValidation}
	p.Score, p.OneStandardError = c.cv.Score, c.cv.OneStandardError
	p.Folds, p.Passes = c.Folds, state.minima[len(state.minima)-1].Passes
	for i, minimum := range state.minima {
		p.Weights = append(p.Weights, minimum.W)
		loss, deviation := state.losses[i].mean()
		p.Points = append(p.Points, model.PathPoint{L1: minimum.L1, NonzeroWeights: minimum.Nonzero(c.src.Spec().Width()),
			Objective: minimum.Objective, Gap: minimum.Gap, Loss: loss, StdError: deviation})
		if c.cv.Score != "" {
			p.Points[i].Score, p.Points[i].ScoreError = c.Points[i].Score, c.Points[i].StdError
		}
	}
	p.ChosenPoint = c.ChosenPoint
	if c.TopScorePoint != nil {
		p.ChosenPoint = *c.TopScorePoint
	}
	p.PointWithinError = c.strongestPoint(p.ChosenPoint)
	return p, nil
}

// withL1 returns the learner l with a penalty of a path.
func withL1(l Learner, l1 float64) Learner {
	l.Settings, l.VariedOptions = l.Settings.Copy(), map[string]string{"l1": humanize.Real(l1)}
	*l.Option("l1").Field(l.Settings).(*float64) = l1
	return l
}

// A pathState is the state of a path after the path of all rows, and after each fold.
type pathState struct {
	folds  int // number of judged folds
	minima []*learner.PathMinimum
	losses []verdict // losses of each minimum
	scores []verdict // scores of each minimum; without folds if no penalty is chosen by a score
}

func (s *pathState) state(w *checkpoint.Walk) {
	w.Count(&s.folds)
	checkpoint.List(w, &s.minima, func(minimum **learner.PathMinimum) {
		if *minimum == nil {
			*minimum = new(learner.PathMinimum)
		}
		one := *minimum
		for _, v := range []*float64{&one.L1, &one.Loss, &one.Objective, &one.Gap} {
			w.Float(v)
		}
		w.Int(&one.Passes)
		checkpoint.Slice(w, &one.W)
	})
	checkpoint.List(w, &s.losses, func(v *verdict) { v.state(w) })
	checkpoint.List(w, &s.scores, func(v *verdict) { v.state(w) })
	if len(s.losses) != len(s.minima) || len(s.scores) != len(s.minima) {
		w.Fail(errors.New("its minima and losses don't belong together"))
	}
}

// followFolds follows the path over all rows, and judges its minima on each fold. It skips the work that a checkpoint
// has.
func (c *crossState) followFolds(ctx context.Context, l Learner, n int) (*pathState, error) {
	s := new(pathState)
	watched := func(done int, detail string) Learner {
		return l.WithWorkers(l.Workers(), c.opt.watch(Stage{Name: "following the path", Detail: detail, Done: int64(done),
			Total: int64(c.Folds + 1)}, l))
	}
	loaded, err := c.part.Load(s.state)
	if err == nil && !loaded {
		all := watched(0, "over all rows")
		s.minima, err = all.PathFollower().Path(ctx, block.AssumeValid(c.withClassWeights(c.src)), all.Settings, 1, n, nil)
		s.losses, s.scores = make([]verdict, len(s.minima)), make([]verdict, len(s.minima))
	}
	if err != nil {
		return nil, err
	}
	c.part.Mark(1, 0, s.state)
	left := func(fold int) bool { return fold >= s.folds }
	return s, c.eachFold(ctx, left, func(ctx context.Context, from block.Source, number int) error {
		err := c.judgePath(ctx, from, number, watched(number+1, fmt.Sprintf("fold %d of %d", number+1, c.Folds)), s)
		if err == nil {
			s.folds++
			c.part.Mark(int64(1+s.folds), 0, s.state)
		}
		return err
	})
}

// judgePath follows the path over the rows outside a fold, and adds the losses and the scores in the fold to s.
func (c *crossState) judgePath(ctx context.Context, all block.Source, number int, l Learner, s *pathState) error {
	parts, err := splitRows(ctx, all, c.deal.learnedRows[number], c.deal.judgedRows[number], &c.opt.Options)
	if err != nil {
		return err
	}
	defer parts.Close()
	share := float64(parts.KeptRows.Rows()) / float64(all.Rows())
	var penalties []float64
	for _, s := range s.minima {
		penalties = append(penalties, s.L1*share)
	}
	few, err := l.PathFollower().Path(ctx, block.AssumeValid(c.withClassWeights(parts.KeptRows)), l.Settings, share, len(s.minima),
		penalties)
	if err != nil {
		return err
	}
	var weights [][]float64
	for _, s := range few {
		weights = append(weights, s.W)
	}
	held := c.withClassWeights(parts.HeldRows)
	losses, err := l.PathFollower().SumLosses(ctx, held, l.Settings, weights)
	if err != nil {
		return err
	}
	total := 0.0
	err = block.ReduceChunks(ctx, held, c.workers, func(chunk block.Chunk) (sum float64) {
		for r := range chunk.Len() {
			sum += chunk.Weight(r)
		}
		return sum
	}, func(sum float64) { total += sum })
	for i, loss := range losses {
		s.losses[i] = append(s.losses[i], foldValue{loss, total})
	}
	if err != nil || c.Score == "" {
		return err
	}
	return c.judgeMinima(ctx, l, weights, held, s.scores)
}

// judgeMinima scores the weights of a path on the rows of a fold, and adds the scores to judged.
func (c *crossState) judgeMinima(ctx context.Context, l Learner, weights [][]float64, held block.Source, judged []verdict) error {
	spec := held.Spec()
	for i, w := range weights {
		vector := make([]float32, len(w))
		for k, v := range w {
			vector[k] = float32(v)
		}
		m := model.New(spec, vector)
		m.Algorithm, m.Options.Loss = l.Name, l.Text("loss")
		_, p, err := scoreModel(ctx, c.Score, m, held, c.workers, nil)
		if err != nil {
			return err
		}
		judged[i] = append(judged[i], p)
	}
	return nil
}
