package model

import "fmt"

// Path is the list of penalties l1 among which a training chose, the greatest first.
type Path struct {
	Folds       int `json:"folds"`
	ChosenPoint int `json:"chosen"` // number of the point with the least loss, or the best score; the first of equals
	// PointWithinError is the number of the first point whose loss or score is at most one standard error worse than the
	// chosen point's.
	PointWithinError int         `json:"within"`
	Passes           int64       `json:"passes"` // passes over all rows, for all points
	Points           []PathPoint `json:"points"`

	Score            string `json:"score,omitempty"`              // the score that chose the point; "" if the loss did
	OneStandardError bool   `json:"one_standard_error,omitempty"` // the model has the penalty of PointWithinError
}

// PathPoint describes the weights of one penalty.
type PathPoint struct {
	L1             float64 `json:"l1"`
	NonzeroWeights int     `json:"nonzero"` // number of weights that aren't 0, without the bias
	Objective      float64 `json:"objective"`
	Gap            float64 `json:"duality_gap"`
	Loss           float64 `json:"cv_loss"`      // mean over the rows, each judged by weights of the other folds
	StdError       float64 `json:"cv_std_error"` // standard error of Loss

	Score      *float64 `json:"cv_score,omitempty"`           // value of Path.Score, if that is set and defined
	ScoreError *float64 `json:"cv_score_std_error,omitempty"` // needs two or more folds
}

// UnprovenPoints returns the number of points that aren't proven to be within a millionth of their optimum.
func (p *Path) UnprovenPoints() (n int) {
	for _, point := range p.Points {
		if !(point.Gap <= 1e-6*point.Objective) {
			n++
		}
	}
	return n
}

func (p *Path) check() error {
	if n := len(p.Points); p.ChosenPoint < 0 || p.ChosenPoint >= n || p.PointWithinError < 0 || p.PointWithinError >= n {
		return fmt.Errorf("path has %d points, and chooses number %d and %d", n, p.ChosenPoint, p.PointWithinError)
	}
	return nil
}
