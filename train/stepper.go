package train

import (
	"halfspace/block"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/schema"
)

// A Stepper learns from one row after another. Between two rows its weights are a model.
type Stepper[T kernel.Float] interface {
	// Step scores row r of b, then learns from it, and tells whether the weights changed. y is the label of the row: -1 or
	// +1, or a class number if there are several vectors of weights. Step writes the scores from before the change to
	// scores: one for each vector.
	Step(scores []T, b *block.Block[T], r int, y T) (updated bool)

	// Begin sets the vectors of weights before the first step, each of kernel.Stride elements. state is what State of
	// another stepper returned; nil: nothing is known.
	Begin(w []T, state map[string][]float64)

	// State returns what a stepper needs beside the weights to go on: a number for each column of each vector. It is nil
	// of steppers that need nothing.
	State() map[string][]float64

	// Weights returns the vectors of weights, each of kernel.Stride elements. They change with the next step.
	Weights() []T
}

// A Start is weights that a training begins with, and the state of the training that they come from.
type Start[T kernel.Float] struct {
	Weights []T // vectors of kernel.Stride elements
	State   map[string][]float64
}

// StartOf returns the weights of a model as a start: the vector of a class, or all vectors if class is -1. T is the type
// that the model's Dtype names.
func StartOf[T kernel.Float](m *model.Model, class int) *Start[T] {
	w := model.Vector[T](m)
	if class >= 0 {
		stride := len(w) / len(m.Weights)
		w = w[class*stride:][:stride]
	}
	return &Start[T]{w, m.State.Numbers(class, len(m.Weights))}
}

// NewStepper returns a stepper of the learner for rows of a spec, which begins with zeros. The learner has Stepper32 and
// Stepper64.
func NewStepper[T kernel.Float](l *Learner, spec *schema.Spec, s Settings) (Stepper[T], error) {
	if made, ok := any(l.Stepper32).(func(*schema.Spec, Settings) (Stepper[T], error)); ok {
		return made(spec, s)
	}
	return any(l.Stepper64).(func(*schema.Spec, Settings) (Stepper[T], error))(spec, s)
}
