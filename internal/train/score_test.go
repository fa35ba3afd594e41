package train_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/svm"
)

// TestScores: the score of a point is the mean over the folds of what Evaluate finds with a model of the other folds, and
// its standard error is the deviation over the root of folds - 1. The first of the best points is chosen.
func TestScores(t *testing.T) {
	const folds = 4
	for _, classes := range []int{2, 3} {
		data := inseparableRows(t, 300, classes)
		trainer := logistic.New(logistic.Options{}).WithRun(learner.Run{Seed: 3, Workers: 1})
		grid := []train.Axis{{Option: "l2", Values: []any{"0.01", "30", "3000"}}}
		points := require.Value(trainer.Grid(grid))(t)
		evaluations := make([][]*train.Evaluation, len(points))
		for i, l := range points {
			eachFold(t, data, l, folds, func(m *model.Model, held *block.Data) {
				evaluations[i] = append(evaluations[i], require.Value(train.Evaluate(t.Context(), m, held, 1))(t))
			})
		}
		for _, score := range append(train.Scores, "") {
			if score == train.ByAP && classes > 2 {
				continue
			}
			var means, deviations []float64
			for i := range points {
				mean, all, square := 0.0, 0.0, 0.0
				for _, e := range evaluations[i] {
					value, weight := scoreOf(e, score, classes)
					mean, all = mean+value*weight, all+weight
				}
				mean /= all
				for _, e := range evaluations[i] {
					value, weight := scoreOf(e, score, classes)
					square += (value - mean) * (value - mean) * weight
				}
				means, deviations = append(means, mean), append(deviations, math.Sqrt(square/all/(folds-1)))
			}
			cv := require.Value(train.CrossValidate(t.Context(), data, trainer, train.Options{CV: train.CV{Folds: folds, Grid: grid, Score: score}}))(t)
			best := 0
			for i, p := range cv.Points {
				if math.Abs(*p.Score-means[i]) > 1e-12 || math.Abs(*p.StdError-deviations[i]) > 1e-12 {
					t.Errorf("%d classes, %s, point %d: %v +- %v, want %v +- %v", classes, score, i, *p.Score, *p.StdError, means[i], deviations[i])
				}
				least := slices.Contains([]string{"", train.ByErrors, train.ByWeight, train.ByLogLoss}, score)
				if least && means[i] < means[best] || !least && means[i] > means[best] {
					best = i
				}
			}
			if cv.ChosenPoint != best || cv.Score != score && !(score == "" && cv.Score == train.ByWeight) {
				t.Errorf("%d classes, %s: point %d is chosen by %s, want %d", classes, score, cv.ChosenPoint, cv.Score, best)
			}
		}
	}
}

// scoreOf returns the score of an evaluation, and its weight in the mean over the folds.
func scoreOf(e *train.Evaluation, score string, classes int) (value, weight float64) {
	c := e.Confusion
	switch {
	case score == train.ByErrors:
		return float64(c.Errors()) / float64(c.Rows()), float64(c.Rows())
	case score == train.ByLogLoss:
		return e.LogLoss(), c.Total()
	case score == train.ByAUC && classes == 2:
		return e.Scores.AUC(), 1
	case score == train.ByAUC:
		return e.ClassScores.MacroAUC(), 1
	case score == train.ByAP:
		return e.Scores.AveragePrecision(), 1
	case score == train.ByWeightedF1:
		return c.WeightedF1(), 1
	case score == train.ByBalancedAccuracy:
		return c.BalancedAccuracy(), 1
	case score == train.ByF1 && classes == 2:
		return c.F1(1), 1
	case score == train.ByF1 || score == train.ByMacroF1:
		return c.MacroF1(), 1
	}
	return c.ErrorWeight() / c.Total(), c.Total()
}

// TestOneStandardError: the strongest penalty within a standard error of the best is chosen, among points with the other
// options of the best one.
func TestOneStandardError(t *testing.T) {
	data := inseparableRows(t, 300, 2)
	grid := []train.Axis{{Option: "l2", Values: []any{"0.1", "1", "10", "100", "10000", "10000000"}}, {Option: "loss", Values: []any{"squared_hinge", "hinge"}}}
	trainer := svm.New(svm.Options{}).WithRun(learner.Run{Seed: 3})
	plain := require.Value(train.CrossValidate(t.Context(), data, trainer, train.Options{CV: train.CV{Grid: grid, Score: train.ByAUC}}))(t)
	ruled := require.Value(train.CrossValidate(t.Context(), data, trainer, train.Options{CV: train.CV{Grid: grid, Score: train.ByAUC, OneStandardError: true}}))(t)
	best := plain.Points[plain.ChosenPoint]
	want := plain.ChosenPoint
	for i := plain.ChosenPoint; i < len(plain.Points); i += 2 { // the same loss, and more l2
		if *plain.Points[i].Score >= *best.Score-*best.StdError {
			want = i
		}
	}
	if ruled.ChosenPoint != want || *ruled.TopScorePoint != plain.ChosenPoint || plain.TopScorePoint != nil || ruled.Best().Text("loss") != plain.Best().Text("loss") {
		t.Errorf("point %d is chosen, want %d; the best is %d", ruled.ChosenPoint, want, plain.ChosenPoint)
	}
	if want == plain.ChosenPoint {
		t.Error("the rule has nothing to do here")
	}
}

// TestPathScore: a path is chosen by the score where one is given, and by the loss else, the first of equal points. Its losses stay
// the same.
func TestPathScore(t *testing.T) {
	data := inseparableRows(t, 200, 2)
	trainer := logistic.New(logistic.Options{L1: 1}).WithRun(learner.Run{Seed: 3})
	loss := require.Value(followPath(t.Context(), data, trainer, 12, train.CV{Folds: 3}, train.Options{}))(t)
	for _, score := range append(slices.Clone(train.Scores), "") {
		path := require.Value(followPath(t.Context(), data, trainer, 12, train.CV{Folds: 3, Score: score, OneStandardError: true}, train.Options{}))(t)
		if score == "" {
			for i := range path.Points {
				path.Points[i].Score, path.Points[i].ScoreError = &path.Points[i].Loss, &path.Points[i].StdError
			}
		}
		best, sign := path.Points[path.ChosenPoint], 1.0
		if !slices.Contains([]string{train.ByErrors, train.ByWeight, train.ByLogLoss, ""}, score) {
			sign = -1
		}
		for i, p := range path.Points {
			if p.Loss != loss.Points[i].Loss || sign**p.Score < sign**best.Score ||
				i < path.ChosenPoint && *p.Score == *best.Score {
				t.Errorf("%s: point %d %+v (score %v), chosen is %d (score %v)",
					score, i, p, *p.Score, path.ChosenPoint, *best.Score)
			}
			if within := sign*(*p.Score-*best.Score) <= *best.ScoreError; i < path.PointWithinError && within || i == path.PointWithinError && !within {
				t.Errorf("%s: point %d is within a standard error: %t; the path says %d", score, i, within, path.PointWithinError)
			}
		}
		if got := path.CrossValidation.Best().Settings.(*logistic.Settings).L1; got != path.Points[path.PointWithinError].L1 {
			t.Errorf("%s: l1 %v, want that of point %d", score, got, path.PointWithinError)
		}
	}
}

// TestScoreOfFewFolds: two rows of a class are in two folds at most, so that the other folds have no area under the curve. One fold
// has no standard error, and its score counts.
func TestScoreOfFewFolds(t *testing.T) {
	trainer := logistic.New(logistic.Options{L1: 0.1}).WithRun(learner.Run{Seed: 3, Workers: 1})
	for _, alone := range []bool{false, true} {
		var x [][]float64
		var y []int
		for i := range 20 {
			x, y = append(x, []float64{float64(i % 7), float64(i)}), append(y, i/18)
		}
		weights := slices.Repeat([]float64{1}, len(y))
		if alone {
			weights[19] = 0
		}
		data := require.Value(block.FromRows(x, y, block.RowOptions{Weights: weights}))(t)
		cv := train.CV{Folds: 5, Score: train.ByAUC, Grid: []train.Axis{{Option: "l1", Values: []any{"0.1", "1"}}}, OneStandardError: true}
		judged := require.Value(train.CrossValidate(t.Context(), data, trainer, train.Options{CV: cv}))(t)
		var values []float64
		eachFold(t, data, judged.Points[0].Learner, cv.Folds, func(m *model.Model, held *block.Data) {
			if auc := require.Value(train.Evaluate(t.Context(), m, held, 1))(t).Scores.AUC(); auc == auc {
				values = append(values, auc)
			}
		})
		p := judged.Points[0]
		if len(values) == 2 && (p.StdError == nil || math.Abs(*p.StdError-math.Abs(values[0]-values[1])/2) > 1e-15) || len(values) == 1 && p.StdError != nil {
			t.Errorf("the areas are %v: %v +- %v", values, p.Score, p.StdError)
		}
		if want := map[bool]int{false: 2, true: 1}[alone]; len(values) != want {
			t.Errorf("%d folds have an area, want %d", len(values), want)
		}
		path := require.Value(followPath(t.Context(), data, trainer, 3, train.CV{Folds: 5, Score: train.ByAUC}, train.Options{}))(t)
		if _, err := json.Marshal(path); err != nil || path.Points[path.ChosenPoint].Score == nil || (path.Points[path.ChosenPoint].ScoreError == nil) != alone {
			t.Errorf("%+v, error %v", path.Points, err)
		}
	}
}

func TestScoreErrors(t *testing.T) {
	two, three := inseparableRows(t, 60, 2), inseparableRows(t, 60, 3)
	grid := []train.Axis{{Option: "epochs", Values: []any{"1", "2"}}}
	for want, cv := range map[string]train.CV{"use errors, weighted, log_loss, auc, average_precision, f1, f1_macro, f1_weighted or balanced_accuracy": {Score: "accuracy"}, "which has no probabilities": {Score: train.ByLogLoss},
		"a Grid of l1 or l2": {OneStandardError: true, Grid: grid}} {
		if _, err := train.CrossValidate(t.Context(), two, svm.New(svm.Options{}), train.Options{CV: cv}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := train.CrossValidate(t.Context(), three, svm.New(svm.Options{}), train.Options{CV: train.CV{Score: train.ByAP}}); err == nil || !strings.Contains(err.Error(), "has 3 classes") {
		t.Errorf("error %v", err)
	}
}

// TestCompareScores: a learner that lacks the score is judged without it, and the scores are the figures of the table.
func TestCompareScores(t *testing.T) {
	data := inseparableRows(t, 300, 3)
	learners := []train.Learner{svm.New(svm.Options{}), logistic.New(logistic.Options{})}
	cv, err := train.Compare(t.Context(), data, train.Options{CV: train.CV{Score: train.ByLogLoss}}, learners...)
	if err != nil || cv.ChosenPoint != 1 || cv.Points[0].Score != nil || cv.Points[0].Errors == nil || cv.Points[0].NoScoreReason == "" || cv.Points[1].NoScoreReason != "" {
		t.Fatalf("%+v, error %v", cv, err)
	}
	if loss := cv.Points[1].Figures.LogLoss.Value(); math.Abs(loss-*cv.Points[1].Score) > 1e-12 {
		t.Errorf("log loss %v, score %v", loss, *cv.Points[1].Score)
	}
	if cv, err = train.Compare(t.Context(), data, train.Options{CV: train.CV{Score: train.ByLogLoss}}, learners[:1]...); err != nil || cv.ChosenPoint != -1 || cv.Points[0].Errors == nil {
		t.Errorf("%+v, error %v", cv, err)
	}
	if cv, err = train.Compare(t.Context(), data, train.Options{CV: train.CV{Score: train.ByAUC}}, learners...); err != nil || math.Abs(cv.Points[0].Figures.MeanAUC()-*cv.Points[0].Score) > 1e-12 {
		t.Errorf("%+v, error %v", cv, err)
	}
	for _, p := range cv.Points {
		mean := 0.0
		for _, v := range p.FoldScores() {
			mean += v / 5
		}
		if math.Abs(mean-*p.Score) > 1e-12 || p.Figures.TotalSeconds < p.Figures.Seconds {
			t.Errorf("folds %v, mean %v; %v seconds of %v", p.FoldScores(), *p.Score, p.Figures.Seconds, p.Figures.TotalSeconds)
		}
	}
}
