package train

import (
	"fmt"
	"strings"

	"halfspace/internal/block"
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
