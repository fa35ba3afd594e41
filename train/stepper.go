package train

import (
	"halfspace/block"
	"halfspace/model"
)

// A Stepper learns from one row after another. Between two rows its weights are a model.
type Stepper interface {
	// Step scores row r of b, then learns from it, and tells whether the weights changed. y is the label of the row: -1 or
	// +1, or a class number if there are several vectors of weights. Step writes the scores from before the change to
	// scores: one for each vector.
	Step(scores []float32, b *block.Block, r int, y float32) (updated bool)

	// Begin sets the vectors of weights before the first step, each of kernel.Stride elements. state is what State of
	// another stepper returned; nil: nothing is known.
	Begin(w []float32, state map[string][]float64)

	// State returns what a stepper needs beside the weights to go on: a number for each column of each vector. It is nil
	// of steppers that need nothing.
	State() map[string][]float64

	// Weights returns the vectors of weights, each of kernel.Stride elements. They change with the next step.
	Weights() []float32
}

// A Start is weights that a training begins with, and the state of the training that they come from.
type Start struct {
	Weights []float32 // vectors of kernel.Stride elements
	State   map[string][]float64
}

// StartOf returns the weights of a model as a start: the vector of a class, or all vectors if class is -1.
func StartOf(m *model.Model, class int) *Start {
	w := model.Vector(m)
	if class >= 0 {
		stride := len(w) / len(m.Weights)
		w = w[class*stride:][:stride]
	}
	return &Start{w, m.State.Numbers(class, len(m.Weights))}
}
