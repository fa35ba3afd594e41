// Package exchange writes models for other programs, and reads theirs: WriteC and WriteGo write source files without any dependency,
// WriteLIBLINEAR and ReadLIBLINEAR are for LIBLINEAR's text models, and WriteONNX is for runtimes of ONNX.
//
// The input of what they write is a number for each of the model's features, in the order of model.Model.FeatureName, as it is in the data.
// A column of numbers is one feature. A category is 1 where a row has it, else 0. Standardization is part of the written weights.
// WriteONNXColumns writes a file that takes the columns of the data instead.
package exchange

import (
	"errors"
	"fmt"

	"halfspace/internal/features"
	"halfspace/model"
)

// A linear is a model's scores as functions of features that aren't standardized: score k is weights[k].x + bias[k]. Of two classes there is
// one, of more one for each class.
type linear struct {
	weights [][]float64
	bias    []float64
	missing []float64 // what takes the place of a missing value of each feature; nil: nothing does
	center  []float64 // what standardization takes from each feature; nil: nothing
}

// newLinear returns the scores of a model. Standardization is folded into them in float64: (x - c)/s w = x w/s - c w/s.
func newLinear(m *model.Model) (*linear, error) {
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("the model can't be used: %w", err)
	}
	switch {
	case m.Expansion != nil:
		return nil, errors.New("the model has support vectors in place of weights, and only weights can be written: train a linear learner, such as averaged or svm")
	case m.Voters != nil:
		return nil, errors.New("the model is the vote of many vectors of weights, and only one can be written: train averaged, which learns the mean of the same vectors")
	}
	maker := features.New(m.Spec())
	l := &linear{weights: make([][]float64, len(m.Weights)), bias: make([]float64, len(m.Weights)), missing: maker.Missing()}
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

// checkFinite returns an error if a number got too large where standardization was folded in.
func (l *linear) checkFinite(m *model.Model) error {
	for k, row := range l.weights {
		for i, w := range row {
			if w-w != 0 {
				return fmt.Errorf("feature %q: its weight for values that aren't standardized is %v: leave the column out of the training, since it hardly varies", m.FeatureName(i), w)
			}
		}
		if b := l.bias[k]; b-b != 0 {
			return fmt.Errorf("the bias for values that aren't standardized is %v: leave columns out of the training that hardly vary", b)
		}
	}
	return nil
}

// sides returns the numbers of the class of a score that isn't above 0 and of the positive one, of two classes.
func sides(m *model.Model) (other, positive int) {
	for k, c := range m.Classes {
		if c == m.Positive {
			positive = k
		}
	}
	return 1 - positive, positive
}

// about says in a sentence what the model predicts. The sentence is for a comment: texts of the model are quoted, since they may have
// line ends.
func about(m *model.Model) string {
	return fmt.Sprintf("It predicts %q by a linear model (%q) of %d features.", m.Label, m.Algorithm, m.Width())
}
