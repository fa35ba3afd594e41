// Package predict applies a model to rows. A Scorer scores blocks of rows, and a Predictor predicts one row at a time.
package predict

import (
	"slices"

	"halfspace/internal/block"
)

// Class returns the number of the class that a score predicts, for two classes. It returns positive, the number of the
// +1 class, if the score is above 0, and the other class otherwise, also for NaN.
func Class(score float32, positive int) int {
	if score > 0 {
		return positive
	}
	return 1 - positive
}

// LabelClass returns the number of the class that a label of a block stands for. vectors is the number of score
// vectors. With one vector, labels are -1 and +1. With more vectors they are class numbers.
func LabelClass(y float32, vectors, positive int) int {
	if vectors == 1 {
		return Class(y, positive)
	}
	return int(y)
}

// PredictedClass returns the number of the class that the scores of row r predict. With one vector of scores it is
// Class. With one vector for each class it is the class with the greatest score, the first of equal ones.
func PredictedClass(scores [][]float32, r, positive int) int {
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

// PredictedClassAbove is PredictedClass, but with one vector of scores, a score above threshold predicts the class
// positive. The threshold of a model is model.Model.ScoreThreshold.
func PredictedClassAbove(scores [][]float32, r, positive int, threshold float64) int {
	switch {
	case len(scores) > 1:
		return PredictedClass(scores, r, positive)
	case float64(scores[0][r]) > threshold:
		return positive
	}
	return 1 - positive
}

// PredictedClasses returns PredictedClassAbove for each row of the scores.
func PredictedClasses(scores [][]float32, positive int, threshold float64) []int {
	return AppendPredictedClasses(nil, scores, positive, threshold)
}

// AppendPredictedClasses appends PredictedClassAbove of each row of the scores to classes.
func AppendPredictedClasses(classes []int, scores [][]float32, positive int, threshold float64) []int {
	from, rows := len(classes), len(scores[0])
	classes = slices.Grow(classes, rows)[:from+rows]
	if len(scores) > 1 {
		for r := range rows {
			classes[from+r] = PredictedClass(scores, r, positive)
		}
		return classes
	}
	of, added := [2]int{1 - positive, positive}, classes[from:]
	for r, s := range scores[0] {
		above := 0 // no branch, which a CPU can't predict
		if float64(s) > threshold {
			above = 1
		}
		added[r] = of[above]
	}
	return classes
}

// ValidScores tells for each row of a block whether its score is valid. It is invalid if a feature is NaN: a missing
// value in a row that the training would have dropped.
func ValidScores(b *block.Block, scores []float32) []bool {
	valid := make([]bool, len(scores))
	for r, s := range scores {
		// A NaN feature makes the score NaN. An overflow does so too, but the prediction stays valid.
		valid[r] = s == s || !slices.ContainsFunc(values(b, r), func(x float32) bool { return x != x })
	}
	return valid
}

// values returns the values of a row; for a sparse row the stored values.
func values(b *block.Block, r int) []float32 {
	if b.Sparse != nil {
		_, values := b.Sparse.Row(r)
		return values
	}
	return b.X[r*b.Stride : (r+1)*b.Stride]
}
