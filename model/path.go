package model

import "fmt"

// Path is the penalties l1 that a training chose from, the greatest first.
type Path struct {
	Folds  int         `json:"folds"`
	Chosen int         `json:"chosen"` // the point with the least loss, the first of equals
	Within int         `json:"within"` // the first point whose loss is at most a standard error above that of the chosen one
	Passes int64       `json:"passes"` // over all rows, for all points
	Points []PathPoint `json:"points"`
}

// PathPoint is the weights of one penalty.
type PathPoint struct {
	L1        float64 `json:"l1"`
	Nonzero   int     `json:"nonzero"` // weights that aren't 0, without the bias
	Objective float64 `json:"objective"`
	Gap       float64 `json:"duality_gap"`
	Loss      float64 `json:"cv_loss"`      // mean over rows, each judged by weights of the other folds
	StdError  float64 `json:"cv_std_error"` // of Loss
}

// Unproven returns how many points aren't proven to be within a millionth of their optimum.
func (p *Path) Unproven() (n int) {
	for _, point := range p.Points {
		if !(point.Gap <= 1e-6*point.Objective) {
			n++
		}
	}
	return n
}

// Choose sets Chosen and Within from the losses of the points.
func (p *Path) Choose() {
	p.Chosen, p.Within = 0, 0
	for i, point := range p.Points {
		if point.Loss < p.Points[p.Chosen].Loss {
			p.Chosen = i
		}
	}
	best := p.Points[p.Chosen]
	for p.Points[p.Within].Loss > best.Loss+best.StdError {
		p.Within++
	}
}

func (p *Path) check() error {
	if n := len(p.Points); p.Chosen < 0 || p.Chosen >= n || p.Within < 0 || p.Within >= n {
		return fmt.Errorf("path has %d points, and chooses number %d and %d", n, p.Chosen, p.Within)
	}
	return nil
}
