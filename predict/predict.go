// Package predict applies a model to rows: a Scorer to blocks of them, and a Predictor to one row at a time.
package predict

import (
	"slices"

	"halfspace/block"
	"halfspace/kernel"
)

// Class returns the number of the class, of two, that a score predicts: positive, the number of the +1 class, if the
// score is above 0, and the other one if it is not or is NaN.
func Class[T kernel.Float](score T, positive int) int {
	if score > 0 {
		return positive
	}
	return 1 - positive
}

// Labelled returns the number of the class that a label of a block means, given how many vectors of scores there are: with one, labels
// are -1 and +1, with more they are class numbers.
func Labelled[T kernel.Float](y T, vectors, positive int) int {
	if vectors == 1 {
		return Class(y, positive)
	}
	return int(y)
}

// Predicted returns the number of the class that the scores of row r predict: Class of its only one, or, where each class has one, the
// class with the greatest, the first of equal ones.
func Predicted[T kernel.Float](scores [][]T, r, positive int) int {
	if len(scores) == 1 {
		return Class(scores[0][r], positive)
	}
	best := 0
	for c := range scores {
		if scores[c][r] > scores[best][r] {
			best = c
		}
	}
	return best
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
