package optimize

import (
	"context"

	"halfspace/kernel/f64"
)

// Coordinate descent, which Elastic and Path take for more columns than a Hessian may have.
var (
	ByColumns     = (*Task).columns
	PathByColumns = (*Task).columnsPath
)

// A CombineResult is the dual search about a call of combine.
type CombineResult struct {
	Before, After float64   // dual objectives
	A, Weights    []float64 // dual variables after the call, and their upper bounds
	// Bias is the bias of the whole move that combine keeps, and Want the bias that belongs to its dual variables.
	Bias, Want float64
}

// Combine sweeps over the rows, and calls combine after each sweep.
func (t *Task) Combine(ctx context.Context, sweeps int) ([]CombineResult, error) {
	s := newDual(t)
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	var all []CombineResult
	for range sweeps {
		if _, err := s.sweep(ctx); err != nil {
			return nil, err
		}
		before := s.value(s.variables)
		s.combine()
		one := CombineResult{Before: before, After: s.value(s.variables), A: append([]float64(nil), s.a...), Weights: s.weights}
		if s.softness > 0 {
			one.Bias, one.Want = s.lastMove.w[s.features], s.softness*f64.Dot(s.y, s.lastMove.a)
		}
		all = append(all, one)
		s.includeAllRows()
	}
	return all, nil
}
