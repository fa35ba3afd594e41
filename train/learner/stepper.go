package learner

import (
	"halfspace/block"
	"halfspace/model"
)

// A Stepper learns from one row after another. Between two rows its weights are a model.
type Stepper interface {
	// Step scores row r of b, then learns from it, and tells whether the weights changed. y is the label of the row: -1
	// or +1, or a class number if there are several vectors of weights. Step writes the scores of the row before the
	// change to scores: one score for each vector.
	Step(scores []float32, b *block.Block, r int, y float32) (updated bool)

	// Begin sets the vectors of weights before the first step, each of kernel.Stride elements. state is the result of
	// State of another stepper, or nil if there is none.
	Begin(w []float32, state map[string][]float64)

	// State returns the numbers that a stepper needs beside the weights in order to go on: for each name, one number
	// for each column of each vector. It returns nil if the stepper needs nothing but the weights.
	State() map[string][]float64

	// Weights returns the vectors of weights, each of kernel.Stride elements. The next step changes them.
	Weights() []float32
}

// A Start is the weights that a training begins with, and the state of the training that made them.
type Start struct {
	Weights []float32 // vectors of kernel.Stride elements
	State   map[string][]float64
}

// StartOf returns the weights and the state of a model as a Start: the vector of one class, or all vectors if class is
// -1.
func StartOf(m *model.Model, class int) *Start {
	w := model.Vector(m)
	if class >= 0 {
		stride := len(w) / len(m.Weights)
		w = w[class*stride:][:stride]
	}
	return &Start{w, m.State.Numbers(class, len(m.Weights))}
}
