package model

import (
	"math"
	"slices"

	"halfspace/internal/moments"
)

// Significance says of weights with standard errors, in their order, how far from 0 they are. The bias is the last one.
type Significance struct {
	Z         []float64    `json:"z"`             // weights in standard errors
	PValues   []float64    `json:"p_values"`      // chance of a z as far from 0, where the true weight is 0, by the normal distribution
	Intervals [][2]float64 `json:"confidence_95"` // of 95 %
}

// Significance returns that of the weights, nil of a model without standard errors.
func (m *Model) Significance() *Significance {
	if m.StdErrors == nil {
		return nil
	}
	s := new(Significance)
	for i, w := range slices.Concat(m.Weights[0], m.Bias) {
		e := m.StdErrors[i]
		if e == 0 { // the column was left out
			s.Z, s.PValues, s.Intervals = append(s.Z, 0), append(s.PValues, 1), append(s.Intervals, [2]float64{})
			continue
		}
		s.Z, s.PValues = append(s.Z, w/e), append(s.PValues, math.Erfc(math.Abs(w/e)/math.Sqrt2))
		s.Intervals = append(s.Intervals, [2]float64{w - moments.Quantile975*e, w + moments.Quantile975*e})
	}
	return s
}
