package export

import (
	"errors"
	"slices"

	"halfspace/internal/model"
)

// plattNodes are the numbers with which the log odds are computed from scores: slope*score + offset in each column.
type plattNodes struct{ slopes, offsets []float64 }

// newPlattNodes returns nil for a model without Platt calibration. For two classes, whose scores are -s and s, each
// column has half of the log odds z: softmax(-z/2, z/2) is 1/(1 + e^z), 1/(1 + e^-z). It returns an error if float32
// can't hold a number.
func newPlattNodes(m *model.Model) (*plattNodes, error) {
	c := m.Calibration
	if c == nil || c.Method != model.Platt {
		return nil, nil
	}
	n := new(plattNodes)
	for _, p := range c.Classes {
		n.slopes, n.offsets = append(n.slopes, -p.A), append(n.offsets, -p.B)
	}
	if p := c.Classes[0]; len(c.Classes) == 1 {
		n.slopes, n.offsets = []float64{-p.A / 2, -p.A / 2}, []float64{p.B / 2, -p.B / 2}
	}
	for _, v := range slices.Concat(n.slopes, n.offsets) {
		if s := float32(v); s-s != 0 {
			return nil, errors.New("the calibration has a number too large for float32, which ONNX computes in: " +
				"calibrate again with other data, or leave it out")
		}
	}
	return n, nil
}
