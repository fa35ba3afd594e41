package model

import (
	"math"
	"slices"

	"halfspace/internal/stats"
)

// Significance describes how far weights with standard errors are from 0, in the order of the weights. The bias is
// last.
type Significance struct {
	Z         []float64    `json:"z"`             // weight divided by its standard error
	PValues   []float64    `json:"p_values"`      // of a z as far from 0 if the true weight is 0 (normal distribution)
	Intervals [][2]float64 `json:"confidence_95"` // 95 % confidence intervals
}

// Significance returns the significance of the weights, or nil if the model has no standard errors.
func (m *Model) Significance() *Significance {
	if m.StdErrors == nil {
		return nil
	}
	s := new(Significance)
	for i, w := range slices.Concat(m.Weights[0], m.Bias) {
		e := m.StdErrors[i]
		if e == 0 { // the feature was left out
			s.Z, s.PValues, s.Intervals = append(s.Z, 0), append(s.PValues, 1), append(s.Intervals, [2]float64{})
			continue
		}
		s.Z, s.PValues = append(s.Z, w/e), append(s.PValues, math.Erfc(math.Abs(w/e)/math.Sqrt2))
		s.Intervals = append(s.Intervals, [2]float64{w - stats.Quantile975*e, w + stats.Quantile975*e})
	}
	return s
}
