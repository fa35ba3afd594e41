package train

import (
	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/model"
	"halfspace/predict"
	"halfspace/train/learner"
)

// A Session is a training and the results of the steps before it. Run makes each step that the options ask for and that
// has no result yet; a program that reports each step calls the methods one after another.
type Session struct {
	Options
	Rows    block.Source
	Learner Learner // CrossValidate and FollowPath set it to the best learner

	Profile         *DataProfile       // of the rows; nil: another pass over the rows makes it
	CrossValidation *CrossValidation   // result of CrossValidate
	Path            *Path              // result of FollowPath
	Calibration     *model.Calibration // result of Calibrate
	ChosenThreshold *float64           // result of ChooseThreshold
	HeldOut         *HeldOutEvaluation // result of PoolFolds; nil without it, or without Output.HeldOut
	State           *checkpoint.Run    // saves the state, in place of Options.Checkpoint; Run neither opens nor finishes it
}

// foldSession returns the options for a training on a part of the rows.
func (s *Session) foldSession() Session {
	o := s.Options
	o.HoldOut, o.Validation, o.CV, o.Output, o.Checkpoint = 0, nil, CV{}, Output{}, Checkpoint{}
	o.Watch = Watch{Stage: o.Stage}
	return Session{Options: o}
}

// Outcome is the result of a training: the complete model, and its figures.
type Outcome struct {
	Model     *model.Model
	Result    *learner.Result
	OwnResult any          // the learner's own result, such as *logistic.Result; nil for classes learned one versus the rest
	Profile   *DataProfile // of the rows
	// Visits is the sum over all classes. Result.Visits is the largest number of one class, if each class has its own
	// training.
	Visits     int64
	Validation *ErrorCount // errors on validation rows; nil without validation rows
	// ValidationCounts is the number of validation rows of each class, in the order of Model.Classes.
	ValidationCounts []int64
	CrossValidation  *CrossValidation   // nil without one
	HeldOut          *HeldOutEvaluation // only with Output.HeldOut, with validation rows or a cross-validation
	Online           *OnlineCounts      // only with Options.Online
	// UpdateBound is the most updates of a perceptron from Options.Init; see learner.UpdateBoundFrom. It is nil without
	// Init, and if no theorem gives a bound.
	UpdateBound *float64
}

// Predictor returns a predictor of the model, which goroutines may share.
func (t *Outcome) Predictor() (*predict.Predictor, error) { return predict.New(t.Model) }

// OnlineCounts is the counts of a training with Options.Online.
type OnlineCounts struct {
	Rows, Mistakes, Updates int64
	ProgressiveCounts       []ProgressiveCounts // after 1, 2, 4, 8... rows, and at the end
}

// ProgressiveCounts is the counts after a number of rows.
type ProgressiveCounts struct {
	Rows     int64 `json:"rows"`
	Mistakes int64 `json:"mistakes"` // wrong predictions; each prediction is made before the row is learned from
	Updates  int64 `json:"updates"`

	// LogLoss is the mean log loss over the rows, each predicted before it was learned from. It is nil for learners
	// without probabilities.
	LogLoss *float64 `json:"log_loss,omitempty"`
}
