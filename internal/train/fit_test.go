package train_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/pocket"
	"halfspace/train/ftrl"
	"halfspace/train/kernelperceptron"
	"halfspace/train/lda"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/passiveaggressive"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
	"halfspace/train/winnow"
)

func rowsOf[L block.Label](t *testing.T, x [][]float64, y []L) *block.Data {
	t.Helper()
	data := require.Value(block.FromRows(x, y, block.RowOptions{}))(t)
	return data
}

// TestErrors: options that are out of range, that the learner doesn't use or that exclude each other are errors, which say what to do.
func TestErrors(t *testing.T) {
	x, y := testproblems.Circle(60)
	data := rowsOf(t, x, y)
	for want, c := range map[string]struct {
		l   train.Learner
		opt train.Options
	}{
		"Order has no effect with Solver auto: leave it out":   {l: logistic.New(logistic.Options{Order: learner.Shuffle})},
		"Eta has no effect with Solver newton: leave it out":   {l: logistic.New(logistic.Options{Eta: 0.5, Solver: logistic.Newton})},
		"Gamma has no effect with Kernel linear: leave it out": {l: kernelperceptron.Dual(kernelperceptron.Options{Kernel: gram.Kernel{Gamma: 2}})},
		"L2 is -1: use a penalty above 0":                      {l: svm.New(svm.Options{L2: -1})},
		"L1 is -1: use a penalty of 0 or more":                 {l: logistic.New(logistic.Options{L1: -1})},
		"Solver lbfgs with L1, which takes newton alone": {l: logistic.New(logistic.Options{L1: 1,
			Solver: logistic.LBFGS})},
		"Loss hinge with L1, which takes squared_hinge alone": {l: svm.New(svm.Options{L1: 1, Loss: svm.Hinge})},
		"Nonnegative needs a penalty":                         {l: logistic.New(logistic.Options{NonNegative: true, NoPenalty: true})},
		"VoterBytes is 5: use 1 or more with the form voted":  {l: perceptron.New(perceptron.Options{VoterBytes: 5})},
		"VoterBytes is -5: use 1 or more with the form voted": {l: perceptron.New(perceptron.Options{VoterBytes: -5, Form: learner.Voted})},
		"Eta is 2: use a learning rate above 0 and up to 1":   {l: perceptron.New(perceptron.Options{Eta: 2})},
		`Loss is "cubic": use squared_hinge or hinge`:         {l: svm.New(svm.Options{Loss: "cubic"})},
		"HoldOut is 1.5: use a share of the rows": {l: svm.New(svm.Options{}),
			opt: train.Options{HoldOut: 1.5}},
		"Classes with Algo winnow, which multiplies weights": {l: winnow.New(winnow.Options{}),
			opt: train.Options{Weights: train.Weights{Balanced: true}}},
		"Multiclass joint with Loss squared_hinge": {l: svm.New(svm.Options{}),
			opt: train.Options{Multiclass: model.Joint}},
		`no class "maybe": name some of`: {l: svm.New(svm.Options{}), opt: train.Options{Weights: train.Weights{Classes: map[string]float64{"maybe": 2}}}},
		"HoldOut with Folds or Grid": {l: svm.New(svm.Options{}),
			opt: train.Options{HoldOut: 0.2, CV: train.CV{Folds: 2}}},
		"Folds is 99, but no class has more than": {l: svm.New(svm.Options{}),
			opt: train.Options{CV: train.CV{Folds: 99}}},
		"Folds is 1: use 2 or more": {l: svm.New(svm.Options{}),
			opt: train.Options{CV: train.CV{Folds: 1}}},
		`svm has no option "eta": use epochs, l1, nonnegative, l2 or loss`: {l: svm.New(svm.Options{}), opt: train.Options{CV: train.CV{Grid: []train.Axis{{Option: "eta", Values: []any{"1"}}}}}},
		`Grid has no values of "l2"`: {l: svm.New(svm.Options{}),
			opt: train.Options{CV: train.CV{Grid: []train.Axis{{Option: "l2"}}}}},
		"leaves none to learn from or to judge on":             {l: svm.New(svm.Options{}), opt: train.Options{HoldOut: 1e-9}},
		"neither 0 nor 1: winnow learns from Boolean features": {l: winnow.New(winnow.Options{})},
	} {
		f, err := train.Run(t.Context(), data, c.l, c.opt)
		if err == nil || f != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error %v, want %s", f, err, want)
		}
	}
	if _, err := train.LearnerNamed("logistc"); err == nil || !strings.Contains(err.Error(), "did you mean logistic?") {
		t.Errorf("error %v", err)
	}
}

// TestZeroOptions: the zero value of every learner's options is a training, and its model says which defaults it had.
func TestZeroOptions(t *testing.T) {
	var x [][]float64
	var y []int
	for i := range 40 {
		x, y = append(x, []float64{float64(i % 2), float64(i / 2 % 2), 1}), append(y, i%2)
	}
	data := rowsOf(t, x, y)
	for _, about := range train.Learners {
		l := require.Value(train.LearnerNamed(about.Name))(t)
		f, err := train.Run(t.Context(), data, l, train.Options{})
		if err != nil {
			t.Errorf("%s: %v", about.Name, err)
			continue
		}
		if f.Model.Algorithm != about.Name || f.Model.Check() != nil || *f.Model.Training.Errors != 0 || f.OwnResult == nil || f.Profile.Counts[0] != 20 {
			t.Errorf("%s: %+v, %v", about.Name, f.Model.Training, f.Model.Check())
		}
		if about.Option("epochs") != nil && f.Model.Options.Epochs < 100 {
			t.Errorf("%s: options %+v", about.Name, f.Model.Options)
		}
	}
	for _, l := range []train.Learner{perceptron.New(perceptron.Options{}), perceptron.New(perceptron.Options{Pocket: pocket.Exact}), perceptron.New(perceptron.Options{Form: learner.Averaged}),
		perceptron.New(perceptron.Options{Form: learner.Voted}), winnow.New(winnow.Options{}), kernelperceptron.Dual(kernelperceptron.Options{}), logistic.New(logistic.Options{}), lda.New(lda.Options{}), svm.New(svm.Options{}),
		passiveaggressive.New(passiveaggressive.Options{}), ftrl.New(ftrl.Options{}), ftrl.AdaGrad(ftrl.AdaGradOptions{})} {
		named := require.Value(train.LearnerNamed(l.Name))(t)
		zero, want := bytesOf(t, data, l), bytesOf(t, data, named)
		if !bytes.Equal(zero, want) {
			t.Errorf("%s: zero values give the model\n%s\nand not that of the command\n%s", l.Name, zero, want)
		}
	}
	none, err := train.Run(t.Context(), data, logistic.New(logistic.Options{NoPenalty: true, Solver: logistic.SGD}).WithRun(learner.Run{ZeroSeed: true}), train.Options{HoldOut: 0.5})
	if !errors.Is(err, logistic.ErrSeparable) && (err != nil || *none.Model.Options.L2 != 0 || *none.Model.Options.Seed != 0) {
		t.Errorf("no penalty and seed 0: %+v, error %v", none, err)
	}
	zero, err := train.Run(t.Context(), data, svm.New(svm.Options{}), train.Options{})
	if err != nil || *zero.Model.Options.L2 != 1 || zero.Model.Options.Loss != "squared_hinge" {
		t.Errorf("%+v, error %v", zero, err)
	}
}

// bytesOf returns the file of the model that a learner learns.
func bytesOf(t *testing.T, data block.Source, l train.Learner) []byte {
	t.Helper()
	f := require.Value(train.Run(t.Context(), data, l, train.Options{HoldOut: 0.25}))(t) // the hold-out shows the seed
	return fileOf(t, f.Model)
}

// TestEvaluate: the evaluation of rows has the errors and the figures of their definition.
func TestEvaluate(t *testing.T) {
	data := rowsOf(t, [][]float64{{0}, {1}, {2}, {3}}, []int{0, 1, 0, 1})
	f := require.Value(train.Run(t.Context(), data, logistic.New(logistic.Options{L2: 1}), train.Options{}))(t)
	e, err := train.Evaluate(t.Context(), f.Model, data, 1)
	if err != nil || e.Confusion.Errors() != *f.Model.Training.Errors || e.Scores.AUC() != 0.75 || math.Abs(e.LogLoss()-*f.Model.Training.Loss/4) > 1e-7 {
		t.Errorf("%+v, AUC %v, log loss %v, %v in training; error %v", e, e.Scores.AUC(), e.LogLoss(), *f.Model.Training.Loss/4, err)
	}
}

// TestLearnersDescribed: every description has what help and documents are made of, and each name once.
func TestLearnersDescribed(t *testing.T) {
	var names []string
	for _, l := range train.Learners {
		if slices.Contains(names, l.Name) {
			t.Errorf("%s is there twice", l.Name)
		}
		names = append(names, l.Name)
		if l.Objective == "" || l.WhenToUse == "" || l.Algorithm == nil {
			t.Errorf("%s: the description lacks something: %+v", l.Name, l)
		}
		s := l.New()
		if err := l.CheckSettings(s); err != nil {
			t.Errorf("%s: its defaults can't be: %v", l.Name, err)
		}
		for i := range l.Options {
			o := &l.Options[i]
			if o.Name == "" || o.Help == "" || len(o.Words) == 0 && (o.Value == "" || o.IsAllowed != nil && o.AllowedNumbers == "") {
				t.Errorf("%s: the option %+v lacks something", l.Name, o)
			}
			if o.Condition != nil && l.Option(o.Condition.Option) == nil {
				t.Errorf("%s: %s depends on %s, which the learner hasn't", l.Name, o.Name, o.Condition.Option)
			}
			text := o.Text(s)
			if again := s.Copy(); !o.ZeroMeansChosen && (o.Set(again, text) != nil || o.Text(again) != text) {
				t.Errorf("%s: %s is %s, and %s when that is typed", l.Name, o.Name, text, o.Text(again))
			}
		}
	}
}
