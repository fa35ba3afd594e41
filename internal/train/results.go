package train

import (
	"time"

	"halfspace/internal/model"
)

// CrossValidation is the result of a cross-validation: how well trainings predict rows that they didn't learn from.
// Each fold is held out once.
type CrossValidation struct {
	Folds         int     `json:"folds"`
	Rows          int64   `json:"rows"`            // number of judged rows
	Split         string  `json:"split,omitempty"` // "groups" or "time" if rows aren't dealt one by one; see Options.Split
	Score         string  `json:"score"`           // score that the points were chosen by; see CV.Score
	ChosenPoint   int     `json:"chosen"`          // number of the point with the best score, the first of equal ones
	TopScorePoint *int    `json:"best,omitempty"`  // the point with the best score, with CV.OneStandardError, which may choose another
	Points        []Point `json:"points"`
}

// Best returns the learner of the chosen point, or the zero Learner if there are no points.
func (cv *CrossValidation) Best() Learner {
	if len(cv.Points) == 0 {
		return Learner{}
	}
	return cv.Points[cv.ChosenPoint].Learner
}

// Point is the result of a learner with one combination of options.
type Point struct {
	Options map[string]string `json:"options"` // options that the grid varied
	// Errors is the number of wrong rows, each judged when its fold was held out. It is null if the point failed.
	Errors *int64 `json:"errors"`
	// ErrorWeight is the sum of the weights of wrong rows, if rows or classes have weights.
	ErrorWeight  *float64  `json:"error_weight,omitempty"`
	Accuracy     *float64  `json:"accuracy"`
	Score        *float64  `json:"score"`     // mean over the folds, by the weight of their rows
	StdError     *float64  `json:"std_error"` // standard error of Score; null if fewer than two folds have a score
	FoldAccuracy []float64 `json:"fold_accuracy"`
	FailureText  string    `json:"failed,omitempty"` // why training failed on a fold

	Learner       Learner    `json:"-"`
	Figures       *FoldScore `json:"-"` // figures of Compare; otherwise nil
	NoScoreReason string     `json:"-"` // of Compare: why the learner has no such score; "": it has
	failure       error
	timed         timing        // last timing on a part of the rows
	estimate      time.Duration // of the time of all folds; 0 if the learner wasn't timed
	sum           ErrorCount
	verdict       verdict
}

// Failure returns the error of a point that failed, or nil.
func (p *Point) Failure() error { return p.failure }

// FoldScores returns the score of each judged fold; NaN if the score is undefined.
func (p *Point) FoldScores() (scores []float64) {
	for _, v := range p.verdict {
		scores = append(scores, v.weightedValue/v.weight)
	}
	return scores
}

// A timing is the time of a training on a number of rows, and of judging its model.
type timing struct {
	rows int64
	time time.Duration
}

// Path is the weights for falling penalties l1, and how well they predict rows that they weren't learned from.
type Path struct {
	model.Path
	Weights [][]float64 `json:"weights"` // weights of each point, the bias last

	// CrossValidation has the points as a grid of l1 has them. Its score is ByLoss without CV.Score.
	CrossValidation *CrossValidation `json:"-"`
}

// HeldOutEvaluation is how well a learner predicts rows that its model didn't learn from: the rows of a hold-out, or
// the rows of all folds of a cross-validation, each predicted by a model of the other folds. The scores of the folds
// are pooled.
type HeldOutEvaluation struct {
	*Evaluation // its rows have the numbers of the rows to learn from, or of the rows of Options.Validation

	Folds            int    // number of folds; 0: the rows of a hold-out
	Split            string // "groups" or "time" if the folds aren't dealt row by row
	HasRoundedScores bool   // the curves come from rounded scores, since there are many
	LearningCurve    []LearningPoint
}

// A LearningPoint is the errors of a model of some rows, on the held-out rows. Of a cross-validation these are the rows
// of the first fold.
type LearningPoint struct {
	Rows          int64 // number of rows that the model learned from
	HeldOutErrors ErrorCount
}
