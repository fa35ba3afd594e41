package train_test

import (
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/metrics"
	"halfspace/predict"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
)

// TestChooseThreshold: the threshold is the best one for the scores of each fold by a model of the others.
// The model has the threshold, and its errors are those of its predictions.
func TestChooseThreshold(t *testing.T) {
	data := inseparableRows(t, 400, 2)
	trainer := svm.New(svm.Options{}).WithRun(learner.Run{Workers: 1, Seed: 5})
	var scores metrics.Scores
	eachFold(t, data, trainer, 5, func(m *model.Model, held *block.Data) {
		scorer := require.Value(predict.NewScorer(m, 1))(t)
		for b := range held.Blocks(t.Context()) {
			s := require.Value(scorer.Scores(t.Context(), b))(t)
			scores.Add(s[0], b.Y, b.W)
		}
	})
	f1, _ := scores.BestF1()
	cost, _ := scores.LeastCost(3, 1)
	if f1 == 0 || cost == 0 || f1 == cost {
		t.Fatalf("the rows choose the thresholds %v and %v, which tell nothing", f1, cost)
	}
	for text, want := range map[string]float64{"f1": f1, "cost=3:1": cost, "0.25": 0.25, "p=0.25": 0, "0": 0} {
		threshold := require.Value(predict.ParseThreshold(text))(t)
		opt := train.Options{Output: train.Output{Threshold: threshold}}
		if threshold.By == predict.ByProbability {
			opt.Output.Calibrate = model.Platt
		}
		f := require.Value(train.Run(t.Context(), data, trainer, opt))(t)
		wrong := require.Value(train.CountErrors(t.Context(), f.Model, data, 1))(t)
		at, by := f.Model.ScoreThreshold(), f.Model.Options.ThresholdBy
		if threshold.By == predict.ByProbability {
			want = require.Value(predict.OddsOf(f.Model).ScoreAt(0.25))(t)
		}
		if at != want || *f.Model.Training.Errors != wrong.Errors || threshold.By == predict.ByScore == (by == text) {
			t.Errorf("%s: threshold %v by %q, want %v; %d errors, want %d", text, at, by, want, *f.Model.Training.Errors, wrong.Errors)
		}
	}
}

// TestThresholdErrors: a threshold that the model can't have, or that the folds can't choose, is an error before any training.
func TestThresholdErrors(t *testing.T) {
	two, three := inseparableRows(t, 100, 2), inseparableRows(t, 100, 3)
	f1 := predict.Threshold{By: predict.ByF1}
	for want, c := range map[string]struct {
		data *block.Data
		l    train.Learner
		opt  train.Options
	}{
		"a threshold of 3 classes": {three, svm.New(svm.Options{}), train.Options{Output: train.Output{Threshold: f1}}},
		"p=0.3 with Algo svm": {two, svm.New(svm.Options{}),
			train.Options{Output: train.Output{Threshold: predict.Threshold{By: predict.ByProbability, Value: 0.3}}}},
		`is chosen by "luck"`: {two, svm.New(svm.Options{}),
			train.Options{Output: train.Output{Threshold: predict.Threshold{By: "luck"}}}},
		"with HoldOut and Algo": {two, perceptron.New(perceptron.Options{}),
			train.Options{Output: train.Output{Threshold: f1}, HoldOut: 0.2}},
		"Threshold f1 with Init": {two, perceptron.New(perceptron.Options{}),
			train.Options{Output: train.Output{Threshold: f1}, Init: new(model.Model)}},
	} {
		if f, err := train.Run(t.Context(), c.data, c.l, c.opt); f != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if err := (&train.Session{Rows: two, Learner: svm.New(svm.Options{})}).ChooseThreshold(t.Context()); err == nil {
		t.Error("a number is chosen")
	}
}
