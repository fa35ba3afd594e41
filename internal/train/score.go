package train

import (
	"context"
	"fmt"
	"math"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/humanize"
	"halfspace/internal/model"
	"halfspace/metrics"
	"halfspace/predict"
)

// The scores by which a cross-validation can choose; see CV.Score.
const (
	ByErrors  = "errors"   // share of wrong rows
	ByWeight  = "weighted" // share of the weight of wrong rows, by the weights of rows and classes
	ByLogLoss = "log_loss" // mean of -log p; see Evaluation.LogLoss
	// ByAUC is the mean of the areas under the ROC curves of the folds. For more than two classes, the area is
	// metrics.ClassScores.MacroAUC.
	ByAUC = "auc"
	ByAP  = "average_precision" // mean of the average precisions of the folds, for two classes
	// ByF1 is the mean of the folds' F1 of the positive class. For more than two classes, it is the mean of the folds'
	// macro F1.
	ByF1               = "f1"
	ByMacroF1          = "f1_macro"          // mean of the folds' metrics.Confusion.MacroF1
	ByWeightedF1       = "f1_weighted"       // mean of the folds' metrics.Confusion.WeightedF1
	ByBalancedAccuracy = "balanced_accuracy" // mean of the folds' metrics.Confusion.BalancedAccuracy
	// ByLoss is the mean of the loss that a path minimises. It is the score of a path without CV.Score, and no CV.Score.
	ByLoss = "loss"
)

// Scores lists every score by which a cross-validation can choose. All scores but ByErrors use the weights of rows and
// classes.
var Scores = []string{ByErrors, ByWeight, ByLogLoss, ByAUC, ByAP, ByF1, ByMacroF1, ByWeightedF1, ByBalancedAccuracy}

// whyUnscored returns the reason why a learner has no such score on rows of the given number of classes, or "" if it
// has the score.
func whyUnscored(score string, l Learner, classes int) string {
	switch {
	case score == ByLogLoss && !l.HasOdds():
		return "has no probabilities"
	case score == ByAP && classes > 2:
		return fmt.Sprintf("has %d classes, where the score is one of two", classes)
	}
	return ""
}

// GreatestIsBest tells whether the greatest value of a score is the best value.
func GreatestIsBest(score string) bool {
	return score != ByErrors && score != ByWeight && score != ByLogLoss && score != ByLoss
}

// A verdict is the values of a score in the folds.
type verdict []foldValue

// A foldValue is the value of a score in a fold times the fold's weight, and that weight. A weight of 0 means that the
// fold has no value.
type foldValue struct{ weightedValue, weight float64 }

// mean returns the mean value over the folds, and its standard error: the deviation of the values of K folds divided by
// the square root of K-1. Folds without a value don't count. The mean of no folds is NaN; the standard error of fewer
// than two folds is NaN.
func (v verdict) mean() (mean, deviation float64) {
	loss, weight, square, folds := 0.0, 0.0, 0.0, 0
	for _, p := range v {
		if p.weight > 0 {
			loss, weight, folds = loss+p.weightedValue, weight+p.weight, folds+1
		}
	}
	mean = loss / weight
	for _, p := range v {
		if p.weight > 0 {
			off := p.weightedValue/p.weight - mean
			square += float64(float64(off*off) * p.weight)
		}
	}
	if folds < 2 {
		return mean, math.NaN()
	}
	return mean, math.Sqrt(square / weight / float64(folds-1))
}

// scoreModel returns the score of a model on the rows of a fold, and the errors on the rows. If score is "", the part
// has the weight 0. judges are the rows with the weights of classes. Scores of rows are kept only for ByAUC and ByAP,
// and by merit, which may be nil.
func scoreModel(ctx context.Context, score string, m *model.Model, judges block.Source, workers int,
	merit *foldMerit) (t ErrorCount, p foldValue, err error) {
	var loss metrics.Mean
	ranks := newRanking(m)
	confusion, odds, positive := metrics.NewConfusion(len(m.Classes)), predict.OddsOf(m), judges.Spec().PositiveClass()
	t, err = countErrors(ctx, m, judges, workers, func(scores [][]float32, b *block.Block) {
		merit.add(scores, b)
		switch score {
		case "", ByErrors, ByWeight:
		case ByLogLoss:
			loss.Add(predict.LogLosses(scores, b.Y, odds), b.W)
		case ByAUC, ByAP:
			ranks.add(scores, b)
		default:
			for r, y := range b.Y {
				class := predict.LabelClass(y, len(scores), positive)
				confusion.Add(class, predict.PredictedClass(scores, r, positive), b.Weight(r))
			}
		}
	})
	if err != nil {
		return t, foldValue{}, err
	}
	value, weight := math.NaN(), 1.0
	switch score {
	case ByErrors:
		return t, foldValue{float64(t.Errors), float64(t.Rows)}, nil
	case ByWeight:
		return t, foldValue{t.ErrorWeight, t.TotalWeight}, nil
	case ByLogLoss:
		value, weight = loss.Value(), loss.Weight()
	case ByAUC:
		value = ranks.auc()
	case ByAP:
		value = ranks.twoClasses.AveragePrecision()
	case ByF1:
		value = f1Of(confusion, positive, len(m.Classes))
	case ByMacroF1:
		value = confusion.MacroF1()
	case ByWeightedF1:
		value = confusion.WeightedF1()
	case ByBalancedAccuracy:
		value = confusion.BalancedAccuracy()
	}
	if value != value { // no score, no rows of a class, or no weight
		return t, foldValue{}, ctx.Err()
	}
	return t, foldValue{float64(value * weight), weight}, ctx.Err()
}

func f1Of(c *metrics.Confusion, positive, classes int) float64 {
	if classes > 2 {
		return c.MacroF1()
	}
	return c.F1(positive)
}

// A ranking keeps the scores of rows for areas under ROC curves. For more than two classes it keeps probabilities if
// the model has probabilities.
type ranking struct {
	twoClasses  metrics.Scores
	moreClasses *metrics.ClassScores // nil for two classes
	odds        *predict.Odds        // nil without probabilities
}

func newRanking(m *model.Model) *ranking {
	r := new(ranking)
	if len(m.Classes) > 2 {
		r.moreClasses = metrics.NewClassScores(len(m.Classes))
	}
	if odds := predict.OddsOf(m); m.HasProbabilities() {
		r.odds = &odds
	}
	return r
}

func (r *ranking) add(scores [][]float32, b *block.Block) {
	switch {
	case r.moreClasses == nil:
		r.twoClasses.Add(scores[0], b.Y, b.W)
	case r.odds != nil:
		r.moreClasses.Add(predict.Probabilities(scores, *r.odds), b.Y, b.W)
	default:
		r.moreClasses.Add(scores, b.Y, b.W)
	}
}

// auc returns the area under the ROC curve. For more than two classes it is the mean of the areas of each class versus
// the rest.
func (r *ranking) auc() float64 {
	if r.moreClasses == nil {
		return r.twoClasses.AUC()
	}
	return r.moreClasses.MacroAUC()
}

// FoldScore is the figures of merit over the folds of a comparison, by the weights of rows and classes.
type FoldScore struct {
	AUC          []float64 // area under the ROC curve in each fold; for more than two classes metrics.ClassScores.MacroAUC
	LogLoss      metrics.Mean
	Seconds      float64 // seconds of all trainings
	TotalSeconds float64 // seconds of all trainings and of judging their models
}

// MeanAUC returns the mean of the folds' areas.
func (m *FoldScore) MeanAUC() float64 {
	mean := 0.0
	for _, x := range m.AUC {
		mean += x / float64(len(m.AUC))
	}
	return mean
}

// A foldMerit computes the figures of a model on a fold from the scores of its rows.
type foldMerit struct {
	ranks           *ranking
	losses, weights []float64 // weights is nil if the rows have no weights
}

// add adds the scores of the rows of a block. It does nothing if m is nil.
func (m *foldMerit) add(scores [][]float32, b *block.Block) {
	if m == nil {
		return
	}
	m.ranks.add(scores, b)
	if m.ranks.odds != nil {
		m.losses, m.weights = append(m.losses, predict.LogLosses(scores, b.Y, *m.ranks.odds)...), append(m.weights, b.W...)
	}
}

// addTo adds the figures to f. seconds is the time of the model's training.
func (m *foldMerit) addTo(f *FoldScore, seconds float64) {
	f.AUC, f.Seconds = append(f.AUC, m.ranks.auc()), f.Seconds+seconds
	f.LogLoss.Add(m.losses, m.weights)
}

// TooSlowError is the failure of a learner that a comparison leaves out because its models take too long to predict;
// see CV.SkipSlowLearners.
type TooSlowError struct {
	Vectors         int     // vectors that the model multiplies with each row
	Multiplications float64 // multiplications to predict all rows once
}

func (e *TooSlowError) Error() string {
	return fmt.Sprintf("its model takes %s multiplications to predict all rows, %s times those of a linear model",
		humanize.ThreeDigits(e.Multiplications), humanize.Count(int64(e.Vectors)))
}

// A model is too slow if it takes more than mostMultiplications multiplications, about ten seconds of a processor, and
// more than mostVectors times the multiplications of a linear model. Neither limit depends on the computer.
const (
	mostMultiplications = 1e10
	mostVectors         = 500
)

// checkSpeed returns a *TooSlowError if a model is too slow to predict the given number of rows.
func checkSpeed(m *model.Model, rows int64) error {
	vectors := 1
	if v := m.Voters; v != nil {
		vectors = len(v.Counts)
	} else if e := m.Expansion; e != nil {
		vectors = len(e.Rows)
	}
	if work := float64(vectors) * float64(rows) * float64(m.Width()); vectors > mostVectors && work > mostMultiplications {
		return &TooSlowError{vectors, work}
	}
	return nil
}

// state saves or restores the values of a verdict.
func (v *verdict) state(w *checkpoint.Walk) {
	checkpoint.List(w, (*[]foldValue)(v), func(p *foldValue) {
		w.Float(&p.weightedValue)
		w.Float(&p.weight)
	})
}
