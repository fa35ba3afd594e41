// Package predict scores blocks of rows with a model.
package predict

import (
	"slices"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/model"
)

// A Linear scores rows with the weights of a model. It isn't safe for concurrent use.
type Linear[T kernel.Float] struct {
	weights []T
	scores  []T
}

// NewLinear returns the scorer of a model of two classes. T is the type that m.Dtype names: then a score has the bits that it had in
// training.
func NewLinear[T kernel.Float](m *model.Model) *Linear[T] {
	return &Linear[T]{weights: model.Vector[T](m)}
}

// Scores returns the score of every row of b, w.x + b. They are valid until the next call.
func (l *Linear[T]) Scores(b *block.Block[T]) []T {
	n := b.Len()
	if cap(l.scores) < n {
		l.scores = make([]T, n)
	}
	l.scores = l.scores[:n]
	b.Scores(l.weights, l.scores)
	return l.scores
}

// Class returns the number of the class, of two, that a score predicts: positive, the number of the +1 class, if the
// score is above 0, and the other one if it is not or is NaN.
func Class[T kernel.Float](score T, positive int) int {
	if score > 0 {
		return positive
	}
	return 1 - positive
}

// Valid tells of which rows of a dense block the scores mean something: of those without a NaN, which stands for a missing
// value in the rows that the training would have dropped.
func Valid[T kernel.Float](b *block.Block[T], scores []T) []bool {
	valid := make([]bool, len(scores))
	for r, s := range scores {
		// A NaN among the features makes the score one too; an overflow alone doesn't take the prediction away.
		valid[r] = s == s || !slices.ContainsFunc(b.X[r*b.Stride:(r+1)*b.Stride], func(x T) bool { return x != x })
	}
	return valid
}
