package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/internal/decimal"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/metrics"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/train"
)

// What a cross-validation can choose by, and CV.Score says.
const (
	ByErrors  = "errors"   // share of the rows that are wrong
	ByWeight  = "weighted" // the same by the weights of rows and classes
	ByLogLoss = "log_loss" // mean of -log p; see Evaluation.LogLoss
	ByAUC     = "auc"      // mean of the areas under the ROC curves of the folds
	ByF1      = "f1"       // mean of the folds' F1 of the positive class, or of the means over more than two classes
)

// Scores lists what a cross-validation can choose by. All but ByErrors are by the weights of rows and classes.
var Scores = []string{ByErrors, ByWeight, ByLogLoss, ByAUC, ByF1}

// checkScore returns an error if rows of so many classes and a learner have no such score.
func (cv *CV) checkScore(l Learner, classes int) error {
	switch {
	case cv.Score == "":
		return nil
	case !slices.Contains(Scores, cv.Score):
		return fmt.Errorf("the score is %q: use %s", cv.Score, say.OneOf(Scores))
	case cv.Score == ByLogLoss && !l.HasOdds():
		return fmt.Errorf("the score %s with %s, which has no probabilities: choose by another score, or learn logistic or lda", cv.Score, l.Name)
	case cv.Score == ByAUC && classes > 2:
		return fmt.Errorf("the score %s of %d classes, and there is one of two: choose by another score", cv.Score, classes)
	}
	return nil
}

// greatest tells whether the greatest value of a score is the best.
func greatest(score string) bool { return score == ByAUC || score == ByF1 }

// A verdict is the values of a score in each fold.
type verdict []part

// A part is the value of a score in a fold times its weight, and the weight. A weight of 0 is a fold without a value.
type part struct{ loss, weight float64 }

// mean returns the mean value, and its standard error: the deviation of the values of K folds, over the root of K-1. Folds
// without a value don't count. The mean of none is NaN, and so is the standard error of fewer than two.
func (v verdict) mean() (mean, deviation float64) {
	loss, weight, square, folds := 0.0, 0.0, 0.0, 0
	for _, p := range v {
		if p.weight > 0 {
			loss, weight, folds = loss+p.loss, weight+p.weight, folds+1
		}
	}
	mean = loss / weight
	for _, p := range v {
		if p.weight > 0 {
			off := p.loss/p.weight - mean
			square += float64(float64(off*off) * p.weight)
		}
	}
	if folds < 2 {
		return mean, math.NaN()
	}
	return mean, math.Sqrt(square / weight / float64(folds-1))
}

// scoreModel returns the score of a model on the rows of a fold, and what it has wrong of them. judges have the weights of classes.
// Scores of rows are kept for ByAUC alone, and by merit, which may be nil.
func scoreModel[T kernel.Float](ctx context.Context, score string, m *model.Model, judges block.Source[T], workers int, merit *meritOf[T]) (t Tally, p part, err error) {
	var loss metrics.Mean
	var kept metrics.Scores[T]
	confusion, odds, positive := metrics.NewConfusion(len(m.Classes)), predict.OddsOf(m), judges.Spec().PositiveClass()
	t, err = count(ctx, m, judges, workers, func(scores [][]T, b *block.Block[T]) {
		merit.add(scores, b)
		switch score {
		case ByLogLoss:
			loss.Add(predict.LogLosses(scores, b.Y, odds), b.W)
		case ByAUC:
			kept.Add(scores[0], b.Y, b.W)
		case ByF1:
			for r, y := range b.Y {
				confusion.Add(predict.Labelled(y, len(scores), positive), predict.Predicted(scores, r, positive), b.Weight(r))
			}
		}
	})
	if err != nil {
		return t, part{}, err
	}
	value, weight := 0.0, 1.0
	switch score {
	case ByErrors:
		return t, part{float64(t.Errors), float64(t.Rows)}, nil
	case ByWeight:
		return t, part{t.Weight, t.Total}, nil
	case ByLogLoss:
		value, weight = loss.Value(), loss.Weight()
	case ByAUC:
		value = kept.AUC()
	default:
		value = f1Of(confusion, positive, len(m.Classes))
	}
	if value != value { // no rows of a class, or no weight
		return t, part{}, ctx.Err()
	}
	return t, part{float64(value * weight), weight}, ctx.Err()
}

func f1Of(c *metrics.Confusion, positive, classes int) float64 {
	if classes > 2 {
		return c.MacroF1()
	}
	return c.F1(positive)
}

// Merit is figures of merit over the folds of a comparison.
type Merit struct {
	AUC     []float64 // area under the ROC curve of each fold; NaN of more than two classes
	LogLoss metrics.Mean
	Seconds float64 // of all trainings
}

// MeanAUC returns the mean of the folds' areas.
func (m *Merit) MeanAUC() float64 {
	mean := 0.0
	for _, x := range m.AUC {
		mean += x / float64(len(m.AUC))
	}
	return mean
}

// A meritOf takes the figures of a model on a fold from the scores of its rows.
type meritOf[T kernel.Float] struct {
	model  *model.Model
	scored metrics.Scores[T]
	losses []float64
}

// add adds the scores of the rows of a block. Of nil it does nothing.
func (m *meritOf[T]) add(scores [][]T, b *block.Block[T]) {
	if m == nil {
		return
	}
	if len(scores) == 1 {
		m.scored.Add(scores[0], b.Y, nil)
	}
	if m.model.HasProbabilities() {
		m.losses = append(m.losses, predict.LogLosses(scores, b.Y, predict.OddsOf(m.model))...)
	}
}

// addTo adds the figures to those of other folds. The model was learned in so many seconds.
func (m *meritOf[T]) addTo(f *Merit, seconds float64) {
	f.AUC, f.Seconds = append(f.AUC, m.scored.AUC()), f.Seconds+seconds
	f.LogLoss.Add(m.losses, nil)
}

// choose writes the figures of the points, and chooses the best one.
func (c *crossing[T]) choose(weighted bool) error {
	cv := c.CrossValidation
	cv.Chosen = -1
	for i := range cv.Points {
		p := &cv.Points[i]
		if p.failure != nil {
			p.Failed, p.FoldAccuracy = p.failure.Error(), nil
			continue
		}
		if p.sum.Rows == 0 {
			continue
		}
		accuracy := float64(p.sum.Rows-p.sum.Errors) / float64(p.sum.Rows)
		p.Errors, p.Accuracy = &p.sum.Errors, &accuracy
		if weighted {
			p.ErrorWeight = &p.sum.Weight
		}
		mean, deviation := p.verdict.mean()
		p.Score, p.StdError = known(mean), known(deviation)
		if p.Score != nil && (cv.Chosen < 0 || p.cost(cv.Score) < cv.Points[cv.Chosen].cost(cv.Score)) {
			cv.Chosen = i
		}
	}
	if cv.Chosen < 0 {
		for i := range cv.Points {
			if p := &cv.Points[i]; p.failure == nil && p.sum.Rows > 0 {
				return fmt.Errorf("the score %s is undefined in every fold: choose by another score", cv.Score)
			}
		}
		return cv.Points[0].failure
	}
	if c.cv.OneStandardError {
		best := cv.Chosen
		cv.TopScore, cv.Chosen = &best, c.strongest(best)
	}
	return nil
}

// known returns a number for JSON, nil (null) for NaN and infinities.
func known(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

// cost returns what the best point has the least of. Sums of errors are compared as they are, without a rounding.
func (p *Point) cost(score string) float64 {
	switch score {
	case ByErrors:
		return float64(p.sum.Errors)
	case ByWeight:
		return p.sum.Weight
	case ByLogLoss:
		return *p.Score
	}
	return -*p.Score
}

// penalties are the options that make a model simpler as they grow. The first one counts first.
var penalties = []string{"l1", "l2"}

// strongest returns the point with the strongest penalty whose score is at most a standard error worse than that of the best
// point, and whose other options are those of the best point.
func (c *crossing[T]) strongest(best int) int {
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

// samePenalized tells whether a grid set all options but penalties to the same values.
func samePenalized(a, b Learner) bool {
	for option, value := range a.Varied {
		if !slices.Contains(penalties, option) && b.Varied[option] != value {
			return false
		}
	}
	return true
}

// comparePenalties compares the penalties of two learners.
func comparePenalties(a, b Learner) int {
	for _, option := range penalties {
		x, _ := decimal.Parse(a.Text(option)) // without the option, 0
		y, _ := decimal.Parse(b.Text(option))
		if way := cmp.Compare(x, y); way != 0 {
			return way
		}
	}
	return 0
}

// checkOneStandardError returns an error unless a grid varies a penalty.
func (cv *CV) checkOneStandardError() error {
	varies := func(a Axis) bool { return slices.Contains(penalties, a.Option) }
	if cv.OneStandardError && !slices.ContainsFunc(cv.Grid, varies) {
		return fmt.Errorf("one standard error takes the strongest penalty, and the grid varies none: vary %s, or leave it out", say.OneOf(penalties))
	}
	return nil
}

// judgeStages adds the scores of the weights of a path on the rows of a fold to judged.
func (c *crossing[T]) judgeStages(ctx context.Context, l Learner, weights [][]float64, held block.Source[T], judged []verdict) error {
	spec := held.Spec()
	for i, w := range weights {
		vector := make([]T, len(w))
		for k, v := range w {
			vector[k] = T(v)
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

// weighted returns rows with the weights of their classes.
func (c *crossing[T]) weighted(rows block.Source[T]) block.Source[T] {
	if c.classWeights != nil {
		return train.WithClassWeights(rows, c.classWeights)
	}
	return rows
}
