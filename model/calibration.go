package model

import (
	"errors"
	"fmt"
	"math"
)

// What Calibration.Method says.
const (
	Platt    = "platt"    // p = 1/(1 + e^(a s + b))
	Isotonic = "isotonic" // p is linear between the scores of a list
)

// Calibration says how scores become probabilities, of a model whose scores aren't logarithms of odds. It was learned from
// held-out folds. It changes no prediction. Of two classes it is for the positive class. Of more, each class has its own,
// and its probabilities are divided by their sum.
type Calibration struct {
	Method  string    `json:"method"`
	Folds   int       `json:"folds"`
	Classes []Mapping `json:"classes"` // one of two classes, else one for each
}

// Mapping makes a probability of the score of a class. Platt has A and B, isotonic has Scores and Probabilities.
type Mapping struct {
	A             float64   `json:"a,omitempty"`
	B             float64   `json:"b,omitempty"`
	Scores        []float64 `json:"scores,omitempty"`        // ascending
	Probabilities []float64 `json:"probabilities,omitempty"` // at the scores, ascending; outside of the scores that of the nearest
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
