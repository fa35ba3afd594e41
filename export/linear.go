// Package export converts models for other programs.
//
// WriteC and WriteGo write source files without dependencies. WriteLIBLINEAR writes LIBLINEAR's text models. WriteONNX
// writes files for ONNX runtimes.
//
// The input of a written model is a number for each feature of the model, in the order of model.Model.FeatureName, as
// it is in the data. A column of numbers is one feature. The feature of a category is 1 if the row has the category,
// otherwise 0. Standardization is included in the written weights. WriteONNXColumns writes a file whose inputs are
// the columns of the data instead.
package export

import (
	"errors"
	"fmt"
	"slices"

	"halfspace/internal/model"
	"halfspace/internal/stats"
)

// linearScores are the scores of a model as functions of features that aren't standardized: score k is weights[k].x +
// bias[k]. For two classes there is one score, for more classes a score for each class.
type linearScores struct {
	weights      [][]float64
	bias         []float64
	replacements []float64 // replaces a missing value of each feature; nil: missing values aren't replaced
	center       []float64 // the number that standardization subtracts from each feature; nil: none
}

// newLinear returns the scores of a model. Standardization is included in them, computed in float64: (x - c)/s w = x
// w/s - c w/s.
func newLinear(m *model.Model) (*linearScores, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("the model can't be used: %w", err)
	}
	switch {
	case m.Expansion != nil:
		return nil, errors.New("the model has support vectors in place of weights, and only weights can be written: " +
			"train a linear learner, such as averaged or svm")
	case m.Voters != nil:
		return nil, errors.New("the model is the vote of many vectors of weights, and only one can be written: train " +
			"averaged, which learns the mean of the same vectors")
	}
	maker := stats.NewMaker(m.Spec())
	l := &linearScores{weights: make([][]float64, len(m.Weights)), bias: make([]float64, len(m.Weights)), replacements: maker.Missing()}
	for k, from := range m.Weights {
		row := make([]float64, len(from))
		sum := 0.0
		for i, w := range from {
			center, scale := maker.Scale(i)
			if center != 0 && l.center == nil {
				l.center = make([]float64, len(from))
			}
			if center != 0 {
				l.center[i] = center
			}
			row[i] = w / scale
			sum += float64(center * row[i])
		}
		if l.weights[k] = row; m.FitBias {
			l.bias[k] = m.Bias[k]
		}
		l.bias[k] -= sum
	}
	return l, l.checkFinite(m)
}

// checkFinite returns an error if a weight or bias became too large when standardization was included.
func (l *linearScores) checkFinite(m *model.Model) error {
	for k, row := range l.weights {
		for i, w := range row {
			if w-w != 0 {
				return fmt.Errorf("feature %q: its weight for values that aren't standardized is %v: leave the "+
					"column out of the training, since it hardly varies", m.FeatureName(i), w)
			}
		}
		if b := l.bias[k]; b-b != 0 {
			return fmt.Errorf("the bias for values that aren't standardized is %v: leave columns out of the training that hardly vary", b)
		}
	}
	return nil
}

// sides returns the numbers of the two classes: other is the class of a score of at most 0, positive is the class of
// a greater score.
func sides(m *model.Model) (other, positive int) {
	positive = slices.Index(m.Classes, m.Positive)
	return 1 - positive, positive
}

// modelSentence returns a sentence about the predictions of the model, for a comment. Texts of the model are quoted,
// because they may contain line ends.
func modelSentence(m *model.Model) string {
	return fmt.Sprintf("It predicts %q by a linear model (%q) of %d features.", m.Label, m.Algorithm, m.Width())
}
