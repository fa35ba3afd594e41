package train

import (
	"context"
	"errors"
	"fmt"

	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/memory"
	"halfspace/internal/model"
	"halfspace/metrics"
	"halfspace/schema"
	"halfspace/train/learner"
)

// calibrationFolds is the number of folds whose scores a calibration is learned from.
const calibrationFolds = 5

// Calibrate learns how the scores of the learner become probabilities, by the method Output.Calibrate. It deals the rows
// into five folds, as CrossValidate does, and scores each fold by a model of the other folds. The scores of all folds
// together give the calibration of a model that learns from all rows. Sample weights count. Weights of classes don't
// count: they change the training, and not how often a class occurs. Calibrate returns an error if the scores are
// already logarithms of odds.
func (s *Session) Calibrate(ctx context.Context) error {
	method := s.Output.Calibrate
	r, err := s.scoreFolds(ctx, method, "the calibration")
	if err == nil {
		s.Calibration, err = r.calibration(method)
	}
	return err
}

// scoreFolds deals the rows into five folds and scores each fold by a model of the other folds. method is the method of
// a calibration, which takes memory, or "". purpose is the use of the scores, for errors.
func (s *Session) scoreFolds(ctx context.Context, method, purpose string) (*foldScores, error) {
	l := s.configured(s.Learner)
	if err := s.checkTraining(l); err != nil {
		return nil, err
	}
	c, err := s.newCrossState(ctx, []Learner{l}, calibrationFolds, purpose)
	if err != nil {
		return nil, err
	}
	r, err := newFoldScores(c.src.Rows(), c.src.Spec(), method, purpose, memory.Limit(s.Memory))
	if err != nil {
		return nil, err
	}
	defer s.save(ctx) // saves the folds that were judged before
	err = c.eachFold(ctx, func(int) bool { return true }, func(ctx context.Context, from block.Source, number int) error {
		return c.trainFold(ctx, from, number, l, "calibrating", func(_ *job, m *model.Model, parts *Parts) error {
			return eachScoredBlock(ctx, m, parts.HeldRows.Blocks(ctx), c.workers, r.add)
		})
	})
	if unfinished := (*learner.UnfinishedError)(nil); errors.As(err, &unfinished) {
		unfinished.Position = purpose + " was not complete"
	}
	return r, err
}

// foldScores is rows with scores by models that didn't learn from them.
type foldScores struct {
	purpose string      // use of the scores, for errors
	scores  [][]float32 // one vector for two classes, otherwise one for each class
	labels  []float32
	weights []float64 // nil: all are 1
}

// newFoldScores returns memory for the scores of the given number of rows. It returns an error if the scores and the
// work on them take more than half of the limit. It counts scores, labels, sample weights, for each row whether it is
// positive, the memory of the isotonic regression, and without a method the memory to sort scores. It doesn't count the
// steps of the isotonic result, which are few.
func newFoldScores(rows int64, spec *schema.Spec, method, purpose string, limit int64) (*foldScores, error) {
	r := &foldScores{purpose: purpose, scores: make([][]float32, spec.Vectors())}
	each := 4*int64(len(r.scores)+1) + 1
	if spec.Weighted {
		each += 8
	}
	if method == "" { // memory to sort the scores
		each += 4
	}
	if method == model.Isotonic {
		each += metrics.IsotonicBytes
	}
	if bytes := rows * each; bytes > limit/2 {
		return nil, fmt.Errorf("the scores of %s for %s take %s, more than half of the memory (%s): give more memory, or leave it out",
			humanize.Plural(rows, "row"), purpose, humanize.Size(bytes), humanize.Size(limit))
	}
	for k := range r.scores {
		r.scores[k] = make([]float32, 0, rows)
	}
	if r.labels = make([]float32, 0, rows); spec.Weighted {
		r.weights = make([]float64, 0, rows)
	}
	return r, nil
}

// add adds the rows of a block with their scores. It returns an error if a score isn't finite.
func (r *foldScores) add(scores [][]float32, b *block.Block) error {
	for k, s := range scores {
		for _, v := range s {
			if v-v != 0 {
				return fmt.Errorf("%s: the score of a row is not finite: scale the features down", r.purpose)
			}
		}
		r.scores[k] = append(r.scores[k], s...)
	}
	r.labels = append(r.labels, b.Y...)
	r.weights = append(r.weights, b.W...)
	return nil
}

// calibration learns the calibration of each vector of scores.
func (r *foldScores) calibration(method string) (*model.Calibration, error) {
	c := &model.Calibration{Method: method, Folds: calibrationFolds}
	rows := &metrics.Rows{Positive: make([]bool, len(r.labels)), Weights: r.weights}
	for k, s := range r.scores {
		rows.Scores = s
		for i, y := range r.labels {
			rows.Positive[i] = len(r.scores) == 1 && y > 0 || len(r.scores) > 1 && int(y) == k
		}
		var m model.Mapping
		if method == model.Platt {
			m.A, m.B = metrics.Platt(rows)
		} else if m.Scores, m.Probabilities = metrics.Isotonic(rows); m.Scores == nil {
			return nil, errors.New("the calibration: all rows have the weight 0: give some another weight")
		}
		c.Classes = append(c.Classes, m)
	}
	return c, nil
}
