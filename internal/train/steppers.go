package train

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// onlineStepper returns the stepper that learns from rows of a spec one after another.
func onlineStepper(spec *schema.Spec, l Learner) (learner.Stepper, error) {
	if isPerceptron(l) || len(spec.Classes) < 2 {
		if err := learner.TwoClasses(spec); err != nil {
			return nil, err
		}
		return &perceptronStepper{eta: float32(l.Settings.Shared().Eta),
			w: block.Alloc[float32](kernel.Stride(spec.Cols()))}, nil
	}
	if !l.IsOnline() {
		return nil, fmt.Errorf("%s doesn't learn from rows one by one: use perceptron, %s", l.Name, strings.Join(Names(HasStepper), ", "))
	}
	settings, err := l.CheckedSettings(l.Settings)
	if err != nil {
		return nil, err
	}
	if len(spec.Classes) == 2 || l.Classes(l.Settings).TogetherByDefault {
		return l.Learner.Stepper(spec, settings)
	}
	two := *spec
	two.Classes, two.Positive = spec.Classes[:2], 0
	all := &versusStepper{stride: kernel.Stride(spec.Cols())}
	for range spec.Classes {
		one, err := l.Learner.Stepper(&two, settings)
		if err != nil {
			return nil, err
		}
		all.steppers = append(all.steppers, one)
	}
	return all, nil
}

// isPerceptron tells whether a learner is the perceptron, which has a stepper of its own.
func isPerceptron(l Learner) bool { return l.Learner == perceptron.Learner }

// A perceptronStepper is the learner.Stepper of the perceptron.
type perceptronStepper struct {
	w   []float32
	eta float32
}

func (s *perceptronStepper) Begin(w []float32, _ map[string][]float64) { copy(s.w, w) }
func (s *perceptronStepper) State() map[string][]float64               { return nil }
func (s *perceptronStepper) Weights() []float32                        { return s.w }

func (s *perceptronStepper) Step(scores []float32, b *block.Block, r int, y float32) (updated bool) {
	v := b.Dot(r, s.w)
	if scores[0] = v; y < 0 && v >= 0 || y > 0 && v <= 0 {
		b.Axpy(s.w, s.eta*y, r)
		return true
	}
	return false
}

// A versusStepper is a learner.Stepper with one stepper for each class versus the rest.
type versusStepper struct {
	steppers []learner.Stepper
	stride   int
}

func (s *versusStepper) Begin(w []float32, state map[string][]float64) {
	for c, one := range s.steppers {
		own := map[string][]float64{}
		for name, v := range state {
			n := len(v) / len(s.steppers)
			own[name] = v[c*n:][:n]
		}
		one.Begin(w[c*s.stride:][:s.stride], own)
	}
}

func (s *versusStepper) State() map[string][]float64 {
	all := map[string][]float64{}
	for _, one := range s.steppers {
		for name, v := range one.State() {
			all[name] = append(all[name], v...)
		}
	}
	return all
}

func (s *versusStepper) Weights() []float32 {
	var w []float32
	for _, one := range s.steppers {
		w = append(w, one.Weights()...)
	}
	return w
}

func (s *versusStepper) Step(scores []float32, b *block.Block, r int, y float32) (updated bool) {
	for c, one := range s.steppers {
		label := float32(-1)
		if int(y) == c {
			label = 1
		}
		updated = one.Step(scores[c:c+1], b, r, label) || updated
	}
	return updated
}

// HasStepper tells whether Options.Online accepts a learner beside the perceptron.
func HasStepper(l *learner.Learner) bool { return l.IsOnline() }

// describeOnline writes to a model how l learned it online.
func describeOnline(l Learner, m *model.Model) {
	j := job{Learner: l, opt: &Session{}}
	m.Algorithm, m.Options = l.Name, j.modelOptions()
	m.Options.Order, m.Options.Epochs, m.Options.Seed = string(learner.Cyclic), 1, nil
	if len(m.Classes) > 2 {
		if m.Options.Multiclass = model.OneVersusRest; l.Classes(l.Settings).TogetherByDefault {
			m.Options.Multiclass = model.Joint
		}
	}
}

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

// differenceText returns a text with the first feature that differs.
func differenceText(model, rows *schema.Spec) string {
	for i := range min(model.Width(), rows.Width()) {
		if own, other := model.FeatureName(i), rows.FeatureName(i); own != other {
			return fmt.Sprintf("the feature %q where the rows have %q: use the same features in the same order", own, other)
		}
	}
	return fmt.Sprintf("%d features, and the rows have %d: use the same", model.Width(), rows.Width())
}
