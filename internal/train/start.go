package train

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/learner"
)

// checkInit returns an error unless a training on rows of a spec can begin with the weights of m: m must have the same
// columns and classes.
func checkInit(m *model.Model, spec *schema.Spec) error {
	return checkInitRows(m, spec, "the model to begin with")
}

// checkInitRows is checkInit with a name for the model in errors.
func checkInitRows(m *model.Model, spec *schema.Spec, name string) error {
	own := m.Spec()
	switch {
	case m.Expansion != nil || len(m.Weights) != spec.Vectors():
		return fmt.Errorf("%s has %d vectors of weights, and %d classes need %d", name, len(m.Weights), len(spec.Classes), spec.Vectors())
	case m.Voters != nil:
		return message.Errorf("%s is of a voted perceptron, whose weights vote: begin with one of --algo averaged", name)
	case m.Dtype != model.Float32:
		return fmt.Errorf("%s is of %s rows, and rows are float32 now: train it again", name, m.Dtype)
	case own.Bias != spec.Bias:
		return fmt.Errorf("%s has a bias: %t, and the rows have one: %t: make them agree", name, own.Bias, spec.Bias)
	case !slices.Equal(own.Features, spec.Features):
		return fmt.Errorf("%s has %s", name, differenceText(own, spec))
	case !reflect.DeepEqual(own.Preprocessing, spec.Preprocessing):
		return fmt.Errorf("%s has other preprocessing than the rows: make their features as the model's spec says", name)
	case !slices.Equal(own.Classes, spec.Classes) || own.PositiveClass() != spec.PositiveClass():
		return fmt.Errorf("%s has the classes %s (positive: %s), and the rows have %s: use the same", name,
			schema.ListClasses(own.Classes), m.Positive, schema.ListClasses(spec.Classes))
	}
	return nil
}

// differenceText returns a text with the first feature that differs.
func differenceText(model, rows *schema.Spec) string {
	for i := range min(model.Width(), rows.Width()) {
		if own, other := model.FeatureName(i), rows.FeatureName(i); own != other {
			return fmt.Sprintf("the feature %q where the rows have %q: use the same features in the same order", own, other)
		}
	}
	return fmt.Sprintf("%d features, and the rows have %d: use the same", model.Width(), rows.Width())
}

// WeightsFor returns the weights of a model for rows of a spec: vectors as in learner.Result, one after another. It
// returns an error if the model has other features or classes.
func WeightsFor(m *model.Model, spec *schema.Spec) (w []float64, err error) {
	if m == nil || spec == nil {
		return nil, errors.New("the model or the Spec is nil")
	}
	if err := checkInitRows(m, spec, "the model"); err != nil {
		return nil, err
	}
	for k, v := range m.Weights {
		if w = append(w, v...); spec.Bias {
			w = append(w, m.Bias[k])
		}
	}
	return w, nil
}

// unpaddedStart returns the weights of a start without padding, or nil if begin is nil.
func unpaddedStart(begin *learner.Start, spec *schema.Spec) (w []float64) {
	if begin == nil {
		return nil
	}
	cols := spec.Cols()
	for v := range slices.Chunk(begin.Weights, kernel.Stride(cols)) {
		for _, x := range v[:cols] {
			w = append(w, float64(x))
		}
	}
	return w
}
