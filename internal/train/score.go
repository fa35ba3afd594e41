package train

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/metrics"
	"halfspace/predict"
	"halfspace/train/learner"
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

// checkScore returns an error if cv.Score is unknown, or undefined for the learner or the number of classes.
func (cv *CV) checkScore(l Learner, classes int) error {
	if cv.Score != "" && !slices.Contains(Scores, cv.Score) {
		return message.WrongValue("score", cv.Score, humanize.OneOf(Scores))
	}
	if cv.Score == ByLogLoss && !l.HasOdds() {
		return message.Refusal("score", cv.Score, "with --algo %s, which has no probabilities: use another score, or "+
			"--algo logistic or lda", l.Name)
	}
	if lacks := whyUnscored(cv.Score, l, classes); lacks != "" {
		return fmt.Errorf("the score %s with %s, which %s: choose by another score", cv.Score, l.Name, lacks)
	}
	return nil
}

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

// choosePoint computes the figures of the points, and chooses the best point.
func (c *crossState) choosePoint(weighted bool) error {
	cv := c.CrossValidation
	for i := range cv.Points {
		p := &cv.Points[i]
		if p.failure != nil {
			p.FailureText, p.FoldAccuracy = p.failure.Error(), nil
			continue
		}
		if p.sum.Rows == 0 {
			continue
		}
		accuracy := float64(p.sum.Rows-p.sum.Errors) / float64(p.sum.Rows)
		cv.Rows = max(cv.Rows, p.sum.Rows)
		p.Errors, p.Accuracy = &p.sum.Errors, &accuracy
		if weighted {
			p.ErrorWeight = &p.sum.ErrorWeight
		}
	}
	err := c.chooseByScore()
	if err != nil && c.Points[0].Figures != nil && slices.ContainsFunc(cv.Points, func(p Point) bool { return p.Errors != nil }) {
		return nil // the caller sees that no learner has the score
	}
	return err
}

// chooseByScore computes the scores of the points that haven't failed, and chooses the best point. It returns an error
// if no point has a score.
func (c *crossState) chooseByScore() error {
	cv := c.CrossValidation
	cv.ChosenPoint = -1
	for i := range cv.Points {
		p := &cv.Points[i]
		if p.failure != nil {
			continue
		}
		mean, deviation := p.verdict.mean()
		p.Score, p.StdError = knownOrNil(mean), knownOrNil(deviation)
		if p.Score != nil && (cv.ChosenPoint < 0 || p.cost(cv.Score) < cv.Points[cv.ChosenPoint].cost(cv.Score)) {
			cv.ChosenPoint = i
		}
	}
	switch {
	case cv.ChosenPoint >= 0:
	case slices.ContainsFunc(cv.Points, func(p Point) bool { return len(p.verdict) > 0 && p.failure == nil }):
		return fmt.Errorf("the score %s is undefined in every fold: choose by another score", cv.Score)
	default:
		return cv.Points[0].failure
	}
	if c.cv.OneStandardError {
		best := cv.ChosenPoint
		cv.TopScorePoint, cv.ChosenPoint = &best, c.strongestPoint(best)
	}
	return nil
}

// FoldScores returns the score of each judged fold; NaN if the score is undefined.
func (p *Point) FoldScores() (scores []float64) {
	for _, v := range p.verdict {
		scores = append(scores, v.weightedValue/v.weight)
	}
	return scores
}

// knownOrNil returns a pointer to v for JSON, or nil (null) if v is NaN or infinite.
func knownOrNil(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// cost returns a number that is least for the best point. Sums of errors are compared without rounding, but for points of a
// path, which have none.
func (p *Point) cost(score string) float64 {
	switch {
	case score == ByErrors && p.sum.Rows > 0:
		return float64(p.sum.Errors)
	case score == ByWeight && p.sum.Rows > 0:
		return p.sum.ErrorWeight
	case GreatestIsBest(score):
		return -*p.Score
	}
	return *p.Score
}

// penalties are the options that make a model simpler as they grow, the most important first.
var penalties = []string{"l1", "l2"}

// strongestPoint returns the point with the strongest penalty among the points whose score is at most one standard
// error worse than the best point's, and whose other options are the options of the best point.
func (c *crossState) strongestPoint(best int) int {
	points := c.Points
	b, found := &points[best], best
	if b.StdError == nil {
		return best
	}
	limit := *b.StdError
	for i := range points {
		p := &points[i]
		if p.Score == nil || !(math.Abs(*p.Score-*b.Score) <= limit) || !samePenalized(p.Learner, b.Learner) {
			continue
		}
		if comparePenalties(p.Learner, points[found].Learner) > 0 {
			found = i
		}
	}
	return found
}

// samePenalized tells whether a grid set all options but penalties to the same values in a and b.
func samePenalized(a, b Learner) bool {
	for option, value := range a.VariedOptions {
		if !slices.Contains(penalties, option) && b.VariedOptions[option] != value {
			return false
		}
	}
	return true
}

// comparePenalties compares the penalties of two learners, in the order of penalties.
func comparePenalties(a, b Learner) int {
	for _, option := range penalties {
		x, _ := humanize.ParseNumber(a.Text(option)) // 0 if the learner lacks the option
		y, _ := humanize.ParseNumber(b.Text(option))
		if way := cmp.Compare(x, y); way != 0 {
			return way
		}
	}
	return 0
}

// checkOneStandardError returns an error if cv.OneStandardError is set and neither a path nor the grid varies a
// penalty.
func (cv *CV) checkOneStandardError() error {
	varies := func(a Axis) bool { return slices.Contains(penalties, a.Option) }
	if cv.OneStandardError && cv.Path == 0 && !slices.ContainsFunc(cv.Grid, varies) {
		return message.Refusal("one-standard-error", "", "takes the strongest penalty: add --path, or a --grid of %s",
			humanize.OneOf(penalties))
	}
	return nil
}

// withClassWeights returns rows with the weights of their classes.
func (c *crossState) withClassWeights(rows block.Source) block.Source {
	if c.classWeights != nil {
		return learner.WithClassWeights(rows, c.classWeights)
	}
	return rows
}
