package model

import (
	"fmt"
	"math"
)

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
	GreatestIsBest   bool   `json:"-"`                            // the greatest score is the best
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

// Choose sets ChosenPoint and PointWithinError from the losses of the points, or from their scores if the path has a
// score. It chooses a point without a score only if no point has one.
func (p *Path) Choose() {
	p.ChosenPoint, p.PointWithinError = 0, 0
	best, deviation := p.cost(0)
	for i := range p.Points {
		if cost, off := p.cost(i); cost < best {
			p.ChosenPoint, best, deviation = i, cost, off
		}
	}
	for p.PointWithinError < p.ChosenPoint {
		if cost, _ := p.cost(p.PointWithinError); cost <= best+deviation {
			break
		}
		p.PointWithinError++
	}
}

// cost returns the figure that is least at the best point, and the figure's standard error.
func (p *Path) cost(i int) (cost, deviation float64) {
	point := &p.Points[i]
	switch {
	case p.Score == "":
		return point.Loss, point.StdError
	case point.Score == nil:
		return math.Inf(1), 0
	}
	cost = *point.Score
	if p.GreatestIsBest {
		cost = -cost
	}
	if point.ScoreError != nil {
		deviation = *point.ScoreError
	}
	return cost, deviation
}

func (p *Path) check() error {
	if n := len(p.Points); p.ChosenPoint < 0 || p.ChosenPoint >= n || p.PointWithinError < 0 || p.PointWithinError >= n {
		return fmt.Errorf("path has %d points, and chooses number %d and %d", n, p.ChosenPoint, p.PointWithinError)
	}
	return nil
}
