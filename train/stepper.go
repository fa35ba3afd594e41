package train

import (
	"halfspace/block"
	"halfspace/kernel"
	"halfspace/schema"
)

// A Stepper learns from one row after another. Between two rows its weights are a model.
type Stepper[T kernel.Float] interface {
	// Step scores row r of b, then learns from it, and tells whether the weights changed. y is the label of the row: -1 or
	// +1, or a class number if there are several vectors of weights. Step writes the scores from before the change to
	// scores: one for each vector.
	Step(scores []T, b *block.Block[T], r int, y T) (updated bool)

	// Weights returns the vectors of weights, each of kernel.Stride elements. They change with the next step.
	Weights() []T
}

// NewStepper returns a stepper of the learner for rows of a spec, which begins with zeros. The learner has Stepper32 and
// Stepper64.
func NewStepper[T kernel.Float](l *Learner, spec *schema.Spec, s Settings) (Stepper[T], error) {
	if made, ok := any(l.Stepper32).(func(*schema.Spec, Settings) (Stepper[T], error)); ok {
		return made(spec, s)
	}
	return any(l.Stepper64).(func(*schema.Spec, Settings) (Stepper[T], error))(spec, s)
}
