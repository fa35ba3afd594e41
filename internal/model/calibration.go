package model

import (
	"errors"
	"fmt"
	"math"
)

// The values of Calibration.Method.
const (
	Platt    = "platt"    // p = 1/(1 + e^(a s + b))
	Isotonic = "isotonic" // p is linear between the scores of a list
)

// Calibration turns scores into probabilities, for a model whose scores aren't logarithms of odds. It was learned from
// held-out folds, and changes no prediction. With two classes it gives the probability of the positive class. With
// more, each class has its own mapping, and the probabilities of a row are divided by their sum.
type Calibration struct {
	Method  string    `json:"method"`
	Folds   int       `json:"folds"`
	Classes []Mapping `json:"classes"` // with two classes one mapping, otherwise one for each class
}

// Mapping maps the score of a class to a probability. Platt uses A and B; isotonic uses Scores and Probabilities.
type Mapping struct {
	A      float64   `json:"a,omitempty"`
	B      float64   `json:"b,omitempty"`
	Scores []float64 `json:"scores,omitempty"` // ascending
	// Probabilities are the probabilities at Scores, ascending. Beyond the scores, the probability of the nearest score
	// holds.
	Probabilities []float64 `json:"probabilities,omitempty"`
}

func (m *Model) checkCalibration() error {
	c := m.Calibration
	switch {
	case c == nil:
		return nil
	case c.Method != Platt && c.Method != Isotonic:
		return fmt.Errorf("calibration is of the method %q, not %s or %s", c.Method, Platt, Isotonic)
	case m.LogOdds():
		return fmt.Errorf("calibration of %s, whose scores are logarithms of odds", m.Algorithm)
	case len(c.Classes) != m.vectors():
		return fmt.Errorf("calibration of %d scores, and a row has %d", len(c.Classes), m.vectors())
	}
	for _, p := range c.Classes {
		if err := p.check(c.Method); err != nil {
			return err
		}
	}
	return nil
}

func (p *Mapping) check(method string) error {
	if !allFinite([]float64{p.A, p.B}) || !allFinite(p.Scores) {
		return errors.New("calibration holds a number that isn't finite")
	}
	if method == Platt {
		if len(p.Scores) > 0 || len(p.Probabilities) > 0 {
			return errors.New("calibration by platt has scores or probabilities")
		}
		return nil
	}
	if len(p.Scores) == 0 || len(p.Scores) != len(p.Probabilities) {
		return fmt.Errorf("calibration has %d scores and %d probabilities", len(p.Scores), len(p.Probabilities))
	}
	for i, v := range p.Probabilities {
		if !(v >= 0 && v <= 1) || math.Signbit(v) {
			return fmt.Errorf("calibration has the probability %v", v)
		}
		if i > 0 && (!(p.Scores[i-1] < p.Scores[i]) || v < p.Probabilities[i-1]) {
			return errors.New("scores or probabilities of the calibration don't ascend")
		}
	}
	return nil
}
