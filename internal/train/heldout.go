package train

import (
	"cmp"
	"context"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/passes"
	"halfspace/train/learner"
)

// mostScores is the largest number of scores of an evaluation of held-out rows that keeps every score, and
// mostRoundedScores the largest number of classes whose scores are kept as histograms.
const (
	mostScores        = 1 << 22
	mostRoundedScores = 64
)

// newHeldOut returns an evaluation without rows, for models of the classes and features of m. rows is the number of rows to come.
func newHeldOut(m *model.Model, rows int64, workers int) (*HeldOutEvaluation, error) {
	e, err := NewEvaluation(m, workers)
	if err != nil {
		return nil, err
	}
	h := &HeldOutEvaluation{Evaluation: e, HasRoundedScores: rows*int64(e.spec.Vectors()) > mostScores}
	if !h.HasRoundedScores {
		return h, nil
	}
	e.Scores.Bin()
	if e.ClassScores == nil {
		return h, nil
	}
	if e.ClassScores.Bin(); len(m.Classes) > mostRoundedScores {
		e.ClassScores = nil
	}
	return h, nil
}

// addAll adds rows with their scores by m. Their numbers begin with first.
func (h *HeldOutEvaluation) addAll(ctx context.Context, m *model.Model, rows block.Source, first int64, workers int) error {
	h.spec = m.Spec()
	err := eachScored(ctx, m, rows, workers, func(scores [][]float32, b *block.Block) {
		moved := *b
		moved.First += first
		h.add(scores, &moved)
	})
	return cmp.Or(err, ctx.Err())
}

// renumber replaces the numbers of the worst rows from first on: row first+i is held-out row i of parts.
func (h *HeldOutEvaluation) renumber(first int64, parts *Parts) {
	for i := range h.WorstRows {
		if w := &h.WorstRows[i]; w.Row >= first {
			w.Row = parts.Row(w.Row - first)
		}
	}
}

// NumberWorstRows replaces the numbers of the worst rows among the held-out rows of parts by their numbers among all
// rows. Run does so unless Options.Validation has the rows.
func (h *HeldOutEvaluation) NumberWorstRows(parts *Parts) { h.renumber(0, parts) }

// judgeHeldOut evaluates a model on the rows of a hold-out. parts is nil, or the hold-out of a share of all.
func (j *job) judgeHeldOut(ctx context.Context, m *model.Model, parts *Parts) (*HeldOutEvaluation, error) {
	h, err := newHeldOut(m, j.validation.Rows(), j.Workers())
	if err != nil {
		return nil, err
	}
	j.opt.stage(Stage{Name: "judging the held-out rows"})
	err = h.addAll(ctx, m, j.validation, 0, j.Workers())
	if err == nil && parts != nil {
		h.renumber(0, parts)
	}
	if err == nil && passes.InProcess(j.validation) {
		h.LearningCurve, err = j.learningCurve(ctx, m, j.validation)
	}
	return h, err
}

// learningShares are the shares of the rows of a learning curve, beside all rows.
var learningShares = []float64{1. / 16, 1. / 8, 1. / 4, 1. / 2}

// learningCurve returns the errors of models of shares of the rows, and of m, the model of all rows, on the held-out
// rows. A share that can't be learned from is left out.
func (j *job) learningCurve(ctx context.Context, m *model.Model, held block.Source) (points []LearningPoint, err error) {
	counts, err := learner.ClassCounts(ctx, j.src, j.Workers())
	if err != nil {
		return nil, err
	}
	own := j.opt.foldSession()
	judge := func(m *model.Model, rows int64) error {
		t, err := CountErrors(ctx, m, held, j.Workers())
		points = append(points, LearningPoint{rows, t})
		return err
	}
	for i, share := range learningShares {
		j.opt.stage(Stage{Name: "following the learning curve", Done: int64(i), Total: int64(len(learningShares))})
		has := Stratified(j.Settings.RunOptions().Seed, share, counts)
		kept, _, _, err := pickRows(ctx, j.src, has, has.Others, false)
		if err == nil && kept.Rows() > 0 {
			err = j.learnShare(ctx, &own, kept, judge)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		_ = err // the share has too few rows
	}
	return points, judge(m, j.src.Rows())
}

// learnShare learns from a share of the rows, and calls judge with the model.
func (j *job) learnShare(ctx context.Context, opt *Session, kept *pickedRows, judge func(*model.Model, int64) error) error {
	parts := new(Parts)
	defer parts.Close()
	src, err := parts.store(ctx, kept, &opt.Options)
	if err != nil {
		return err
	}
	part := &job{Learner: j.WithWorkers(j.Workers(), nil), opt: opt, src: src, validation: j.validation,
		heldBytes: j.heldBytes + block.MemoryBytes(src, src.Spec().Weighted)}
	f, err := part.learn(ctx, ctx)
	if err != nil {
		return err
	}
	return judge(f.Model, src.Rows())
}

// A pool adds up the held-out rows of the folds.
type pool struct {
	*HeldOutEvaluation
	of             *CrossValidation // has the number of folds, and their split
	rows           block.Source     // rows of all folds
	workers        int
	scoreThreshold float64 // threshold of the score
	folds          int     // number of folds so far
}

// firstUnnumbered is above the number of each row. The rows of a fold have numbers from firstUnnumbered on until they
// are renumbered.
const firstUnnumbered = 1 << 62

// hasAllFolds tells whether all folds are in the pool.
func (p *pool) hasAllFolds() bool { return p != nil && p.folds == p.of.Folds }

// add adds the rows of the next fold, which m didn't learn from. j is the training of m.
func (p *pool) add(ctx context.Context, j *job, m *model.Model, parts *Parts) (err error) {
	if p.HeldOutEvaluation == nil {
		if p.HeldOutEvaluation, err = newHeldOut(m, p.rows.Rows(), p.workers); err != nil {
			return err
		}
		p.Folds, p.Split, p.threshold = p.of.Folds, p.of.Split, p.scoreThreshold
		if passes.InProcess(p.rows) {
			if p.LearningCurve, err = j.learningCurve(ctx, m, parts.HeldRows); err != nil {
				return err
			}
		}
	}
	if err = p.addAll(ctx, m, parts.HeldRows, firstUnnumbered, p.workers); err != nil {
		return err
	}
	p.renumber(firstUnnumbered, parts)
	for i := range p.WorstRows {
		p.WorstRows[i].Features = nil // each fold has features of its own
	}
	p.folds++
	return nil
}
