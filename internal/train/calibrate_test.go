package train_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/train"
	"halfspace/metrics"
	"halfspace/predict"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
)

// inseparableRows returns rows of a number of classes that no plane separates. The sample weights are 1, 2 and 3.
func inseparableRows(t *testing.T, rows, classes int) *block.Data {
	t.Helper()
	var x [][]float64
	var y []int
	var w []float64
	state := uint32(7)
	random := func(n int) int {
		state = state*1664525 + 1013904223
		return int(state>>16) % n
	}
	for range rows {
		class := random(classes)
		x, y, w = append(x, []float64{float64(class + random(3)), float64(random(5)), float64(random(100)) / 50}), append(y, class), append(w, float64(1+random(3)))
	}
	data := require.Value(block.FromRows(x, y, block.RowOptions{Weights: w}))(t)
	return data
}

// TestCalibrate: the calibration is that of the scores of each fold by a model of the others, in the order of the folds.
// Learn writes it to the model.
func TestCalibrate(t *testing.T) {
	for _, classes := range []int{2, 3} {
		data := inseparableRows(t, 400, classes)
		trainer := svm.New(svm.Options{L2: 1}).WithRun(learner.Run{Workers: 1, Seed: 5})
		rows := make([]metrics.Rows, data.Spec().Vectors())
		eachFold(t, data, trainer, 5, func(m *model.Model, held *block.Data) {
			scorer := require.Value(predict.NewScorer(m, 1))(t)
			for b := range held.Blocks(t.Context()) {
				scores, bad := scorer.Scores(t.Context(), b)
				if bad != nil {
					t.Fatal(bad)
				}
				for k := range rows {
					rows[k].Scores, rows[k].Weights = append(rows[k].Scores, scores[k]...), append(rows[k].Weights, b.W...)
					for _, y := range b.Y {
						rows[k].Positive = append(rows[k].Positive, classes == 2 && y > 0 || classes > 2 && int(y) == k)
					}
				}
			}
		})
		for _, method := range []string{model.Platt, model.Isotonic} {
			want := &model.Calibration{Method: method, Folds: 5}
			for k := range rows {
				var m model.Mapping
				if method == model.Platt {
					m.A, m.B = metrics.Platt(&rows[k])
				} else {
					m.Scores, m.Probabilities = metrics.Isotonic(&rows[k])
				}
				want.Classes = append(want.Classes, m)
			}
			f := require.Value(train.Run(t.Context(), data, trainer, train.Options{Output: train.Output{Calibrate: method}}))(t)
			if !reflect.DeepEqual(f.Model.Calibration, want) || !f.Model.HasProbabilities() || *f.Model.Options.Seed != 5 {
				t.Errorf("%d classes, %s: %+v, want %+v", classes, method, f.Model.Calibration, want)
			}
		}
	}
}

// eachFold learns from the rows of all folds but one, and hands the model and the rows of that fold to a function, for each fold.
func eachFold(t *testing.T, data *block.Data, l train.Learner, folds int, held func(m *model.Model, rows *block.Data)) {
	t.Helper()
	for fold := range folds {
		has := train.Fold(l.Settings.RunOptions().Seed, folds, countsOf(t, data), fold)
		f := require.Value(train.Run(t.Context(), rowsOfClasses(t, data, has.Others()), l, train.Options{}))(t)
		held(f.Model, rowsOfClasses(t, data, has()))
	}
}

// rowsOfClasses returns the rows that a function takes.
func rowsOfClasses(t *testing.T, data *block.Data, has func(class int) bool) *block.Data {
	t.Helper()
	b := block.NewFor(data.Spec(), 0, int(data.Rows()))
	n := 0
	for from, err := range data.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for r, y := range from.Y {
			if has(learner.ClassOf(y, data.Spec())) {
				copy(b.X[n*b.Stride:(n+1)*b.Stride], from.X[r*b.Stride:])
				b.Y[n], b.W[n] = y, from.W[r]
				n++
			}
		}
	}
	return block.NewData(data.Spec(), []*block.Block{b.Slice(0, n)})
}

// TestCalibrateValidated: rows to validate on change no calibration. They are predicted by it.
func TestCalibrateValidated(t *testing.T) {
	data, held := inseparableRows(t, 400, 3), inseparableRows(t, 60, 3)
	l, opt := svm.New(svm.Options{L2: 1}), train.Options{Output: train.Output{Calibrate: model.Platt}}
	alone := require.Value(train.Run(t.Context(), data, l, opt))(t)
	f := require.Value(train.Run(t.Context(), data, l, train.Options{Output: opt.Output, Validation: held}))(t)
	if f.Validation == nil || f.Model.Training.Validation.Rows != 60 || !reflect.DeepEqual(f.Model.Calibration, alone.Model.Calibration) || !reflect.DeepEqual(f.Model.Weights, alone.Model.Weights) {
		t.Errorf("validation %+v, calibration %+v, without it %+v", f.Model.Training.Validation, f.Model.Calibration, alone.Model.Calibration)
	}
}

// TestCalibrateErrors: what can't be calibrated is told before any training.
func TestCalibrateErrors(t *testing.T) {
	data := inseparableRows(t, 40, 2)
	other := require.Value(train.Run(t.Context(), data, perceptron.New(perceptron.Options{}), train.Options{}))(t)
	for want, c := range map[string]struct {
		l    train.Learner
		opt  train.Options
		rows *block.Data
	}{
		"use platt or isotonic":    {svm.New(svm.Options{}), train.Options{Output: train.Output{Calibrate: "sigmoid"}}, data},
		"probabilities of its own": {logistic.New(logistic.Options{}), train.Options{Output: train.Output{Calibrate: model.Platt}}, data},
		"with HoldOut 0.2": {svm.New(svm.Options{}),
			train.Options{Output: train.Output{Calibrate: model.Platt}, HoldOut: 0.2}, data},
		"Calibrate with Init": {perceptron.New(perceptron.Options{}),
			train.Options{Output: train.Output{Calibrate: model.Platt}, Init: other.Model}, data},
		"no class has more than":       {svm.New(svm.Options{}), train.Options{Output: train.Output{Calibrate: model.Platt}}, inseparableRows(t, 6, 2)},
		"more than half of the memory": {svm.New(svm.Options{}), train.Options{Output: train.Output{Calibrate: model.Platt}, Memory: 1200}, data},
		"of the memory (":              {svm.New(svm.Options{}), train.Options{Output: train.Output{Calibrate: model.Isotonic}, Memory: 4000}, data}, // enough for platt
	} {
		if _, err := train.Run(t.Context(), c.rows, c.l, c.opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if _, err := train.Run(t.Context(), data, perceptron.New(perceptron.Options{}), train.Options{Validation: data,
		Output: train.Output{Calibrate: model.Platt}}); err == nil || !strings.Contains(err.Error(), "chooses its weights "+
		"by the hold-out rows") {
		t.Errorf("rows that choose weights: error %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := train.Run(ctx, data, svm.New(svm.Options{}), train.Options{Output: train.Output{Calibrate: model.Platt}}); err == nil {
		t.Error("a calibration that was cancelled has no error")
	}
}
