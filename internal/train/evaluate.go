package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/passes"
	"halfspace/internal/stats"
	"halfspace/metrics"
	"halfspace/predict"
	"halfspace/schema"
	"halfspace/train/learner"
)

// Evaluation adds up how well a model predicts rows, by their weights if they have weights. It keeps every score, for
// the curves. Its figures depend neither on the order of the rows nor on their blocks.
type Evaluation struct {
	Confusion   *metrics.Confusion   // by the model's classes, in their order
	Scores      metrics.Scores       // for two classes
	Calibration *metrics.Calibration // for two classes, if the model has probabilities; otherwise nil
	WorstRows   []MisclassifiedRow   // at most ten rows, the worst first, by the threshold of the model

	// ClassScores has, for more than two classes, the probabilities of each class, or the scores if the model has no
	// probabilities. It is nil for two classes. Set it to nil to keep no scores.
	ClassScores *metrics.ClassScores

	spec      *schema.Spec
	threshold float64 // threshold of the model
	odds      predict.Odds
	scorer    *predict.Scorer
	loss      metrics.Mean
	brier     metrics.Mean
	hasOdds   bool
}

// A MisclassifiedRow is a row that the model predicts wrongly. For two classes, the worst rows have the scores farthest
// from the model's threshold. For more classes, they have the least probabilities of their class, or without
// probabilities the greatest Score.
type MisclassifiedRow struct {
	Row              int64 // number of the row among the added rows, from 0 on
	Class, Predicted int
	Score            float64 // for more than two classes: score of the predicted class minus score of the row's class
	Probability      float64 // probability of the row's class; NaN if the model has no probabilities
	Features         []Value // features that aren't 0, as the model takes them; nil if another process scored the row

	badness float64 // how wrong: the greater, the worse
}

// A Value is one feature of a row, and its number.
type Value struct {
	Feature int
	Value   float64
}

// NewEvaluation returns an evaluation of a model, without any rows.
func NewEvaluation(m *model.Model, workers int) (*Evaluation, error) {
	scorer, err := predict.NewScorer(m, workers)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{Confusion: metrics.NewConfusion(len(m.Classes)), spec: m.Spec(), threshold: m.ScoreThreshold(),
		odds: predict.OddsOf(m), scorer: scorer, hasOdds: m.HasProbabilities()}
	if e.hasOdds && len(m.Classes) == 2 {
		e.Calibration = new(metrics.Calibration)
	}
	if len(m.Classes) > 2 {
		e.ClassScores = metrics.NewClassScores(len(m.Classes))
	}
	return e, nil
}

// Evaluate returns the evaluation of a model on the rows of src, which must have the columns and the classes of the
// model.
func Evaluate(ctx context.Context, m *model.Model, src block.Source, workers int) (*Evaluation, error) {
	e, err := NewEvaluation(m, workers)
	if err != nil {
		return nil, err
	}
	if src, err = block.Validate(ctx, src, workers); err == nil {
		err = checkSameSpec(src.Spec(), e.spec)
	}
	if err != nil {
		return nil, err
	}
	for b, err := range src.Blocks(ctx) {
		if err == nil {
			err = e.Add(ctx, b)
		}
		if err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Add adds the rows of a block.
func (e *Evaluation) Add(ctx context.Context, b *block.Block) error {
	if e.scorer == nil {
		return errors.New("the evaluation has no model: make it by NewEvaluation")
	}
	scores, err := e.scorer.Scores(ctx, b)
	if err == nil {
		e.add(scores, b)
	}
	return err
}

// add adds the rows of a block with their scores. It uses only the number, the labels and the weights of the block.
func (e *Evaluation) add(scores [][]float32, b *block.Block) {
	positive := e.spec.PositiveClass()
	var wrongRows []int
	for r, y := range b.Y {
		class, predicted := predict.LabelClass(y, len(scores), positive), predict.PredictedClassAbove(scores, r, positive, e.threshold)
		e.Confusion.Add(class, predicted, b.Weight(r))
		if class != predicted {
			wrongRows = append(wrongRows, r)
		}
	}
	var p [][]float32
	var losses []float64
	if e.hasOdds {
		p, losses = predict.Probabilities(scores, e.odds), predict.LogLosses(scores, b.Y, e.odds)
		e.loss.Add(losses, b.W)
		e.addProbabilities(p, b)
	}
	switch {
	case len(scores) == 1:
		e.Scores.Add(scores[0], b.Y, b.W)
	case e.ClassScores != nil && p != nil:
		e.ClassScores.Add(p, b.Y, b.W)
	case e.ClassScores != nil:
		e.ClassScores.Add(scores, b.Y, b.W)
	}
	e.addWorstRows(b, wrongRows, scores, p, losses)
}

// addProbabilities adds the probabilities of each class for the rows of a block.
func (e *Evaluation) addProbabilities(p [][]float32, b *block.Block) {
	losses, positive := make([]float64, len(b.Y)), e.spec.PositiveClass()
	for r, y := range b.Y {
		losses[r] = metrics.BrierLoss(p, r, predict.LabelClass(y, e.spec.Vectors(), positive))
		if e.Calibration != nil {
			e.Calibration.Add(float64(p[positive][r]), y > 0, b.Weight(r))
		}
	}
	e.brier.Add(losses, b.W)
}

// mostWorstRows is the largest length of WorstRows.
const mostWorstRows = 10

// addWorstRows adds the wrong rows of a block, by their numbers in it, to WorstRows. p and losses are the probabilities and
// the log losses; nil without probabilities.
func (e *Evaluation) addWorstRows(b *block.Block, wrongRows []int, scores, p [][]float32, losses []float64) {
	positive := e.spec.PositiveClass()
	for _, r := range wrongRows {
		m := MisclassifiedRow{Row: b.First + int64(r), Class: predict.LabelClass(b.Y[r], len(scores), positive),
			Predicted: predict.PredictedClassAbove(scores, r, positive, e.threshold), Probability: math.NaN()}
		if p != nil {
			m.Probability = float64(p[m.Class][r])
		}
		if len(scores) == 1 {
			m.Score = float64(scores[0][r])
			m.badness = math.Abs(m.Score - e.threshold)
		} else if m.Score = float64(scores[m.Predicted][r]) - float64(scores[m.Class][r]); losses != nil {
			m.badness = losses[r]
		} else {
			m.badness = m.Score
		}
		at, _ := slices.BinarySearchFunc(e.WorstRows, m, func(m, o MisclassifiedRow) int {
			return cmp.Or(cmp.Compare(o.badness, m.badness), cmp.Compare(m.Row, o.Row))
		})
		if at < mostWorstRows {
			m.Features = valuesOf(b, r, e.spec.Width())
			e.WorstRows = slices.Insert(e.WorstRows, at, m)
			e.WorstRows = e.WorstRows[:min(len(e.WorstRows), mostWorstRows)]
		}
	}
}

// valuesOf returns the features of a row that aren't 0. It returns nil if the block has only labels.
func valuesOf(b *block.Block, r, width int) (values []Value) {
	add := func(feature int, v float32) {
		if v != 0 && feature < width {
			values = append(values, Value{feature, float64(v)})
		}
	}
	switch {
	case b.Sparse != nil:
		for k := b.Sparse.Ptr[r]; k < b.Sparse.Ptr[r+1]; k++ {
			add(int(b.Sparse.Idx[k]), b.Sparse.Val[k])
		}
	case b.X != nil:
		for i, v := range b.X[r*b.Stride:][:width] {
			add(i, v)
		}
	}
	return values
}

// AddRemote adds rows that other processes read and score. m is the evaluation's model. AddRemote calls added after
// each piece of the rows; the first error of added ends the pass.
func (e *Evaluation) AddRemote(ctx context.Context, m *model.Model, src block.Source, added func() error) error {
	return scoreRemote(ctx, m, src, e.add, added)
}

// LogLoss returns the mean of -log p over the rows, where p is the probability of the row's class. It returns NaN if
// the model has no probabilities.
func (e *Evaluation) LogLoss() float64 { return e.loss.Value() }

// Brier returns the Brier score: the mean of metrics.BrierLoss over the rows. It returns NaN if the model has no
// probabilities.
func (e *Evaluation) Brier() float64 { return e.brier.Value() }

// checkSameSpec returns an error if the rows differ from the model in features, classes, preprocessing or scale. Names
// of features may differ.
func checkSameSpec(rows, model *schema.Spec) error {
	what := ""
	switch {
	case rows.Width() != model.Width() || rows.Bias != model.Bias:
		what = fmt.Sprintf("%d columns, the bias included, where the model has %d", rows.Cols(), model.Cols())
	case !slices.Equal(rows.Classes, model.Classes):
		what = fmt.Sprintf("the classes %s, where the model has %s", schema.ListClasses(rows.Classes), schema.ListClasses(model.Classes))
	case rows.PositiveClass() != model.PositiveClass():
		what = "another positive class than the model"
	case rows.Preprocessing != nil && rows.Preprocessing.Check(rows.Features) != nil:
		what = "preprocessing that doesn't suit their features"
	case !stats.NewMaker(rows).SameScale(stats.NewMaker(model)):
		what = "features that aren't standardized as the model's are"
	default:
		return nil
	}
	return fmt.Errorf("the rows to judge on have %s: make them with the model's Spec in block.RowOptions or dataset.Options", what)
}

// validate counts errors on validation rows, and writes them to the model. It also returns the number of rows of each
// class, in the order of the model's classes.
func validate(ctx context.Context, m *model.Model, rows block.Source, workers int) (*ErrorCount, []int64, error) {
	v := &model.Validation{Rows: rows.Rows()}
	var err error
	if v.Fingerprint, err = passes.Fingerprint(ctx, rows, workers); err != nil {
		return nil, nil, err
	}
	judges := rows
	if classes := m.Options.ClassWeight; classes != nil {
		judges = learner.WithClassWeights(judges, classes)
	}
	counts, positive := make([]int64, len(m.Classes)), m.Spec().PositiveClass()
	wrong, err := countErrors(ctx, m, judges, workers, func(scores [][]float32, b *block.Block) {
		for _, y := range b.Y {
			counts[predict.LabelClass(y, len(scores), positive)]++
		}
	})
	if err != nil {
		return nil, nil, err
	}
	v.Errors, m.Training.Validation = wrong.Errors, v
	return &wrong, counts, nil
}
