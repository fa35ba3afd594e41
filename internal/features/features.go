// Package features makes the features of a model from the numbers of a row.
package features

import (
	"slices"

	"halfspace/schema"
)

// A Maker makes features as a preprocessing says.
type Maker struct {
	means         []float64 // replace missing values; nil: a missing value is wrong
	center, scale []float64 // nil: features aren't standardized
}

// New returns what makes the features of a spec.
func New(spec *schema.Spec) *Maker {
	m := new(Maker)
	p, n := spec.Preprocessing, spec.Width()
	if p == nil {
		return m
	}
	if p.Nulls == schema.NullsZero || p.Nulls == schema.NullsMean {
		m.means = make([]float64, n)
	}
	if p.Standardized() {
		m.center, m.scale = make([]float64, n), slices.Repeat([]float64{1}, n)
	}
	at := 0
	for i := range p.Columns {
		c := &p.Columns[i]
		if p.Nulls == schema.NullsMean {
			copy(m.means[at:], c.Means)
		}
		copy(m.center[min(at, len(m.center)):], c.Center)
		copy(m.scale[min(at, len(m.scale)):], c.Scale)
		at += c.Width()
	}
	return m
}

// Set writes the features of row to dst. It returns the number of the first one that is missing, or that float32 can't hold, or -1.
// The rows of the spec have the length of row, and dst has room for them.
func Set[F float32 | float64](m *Maker, dst []float32, row []F) (wrong int) {
	for i, x := range row {
		v := float64(x)
		if v-v != 0 {
			if m.means == nil {
				return i
			}
			v = m.means[i]
		}
		if m.center != nil {
			v = (v - m.center[i]) / m.scale[i]
		}
		if dst[i] = float32(v); dst[i]-dst[i] != 0 {
			return i
		}
	}
	return -1
}

// Missing returns what takes the place of a missing value of each feature, or nil if nothing does.
func (m *Maker) Missing() []float64 { return m.means }

// Scale returns c and s of (x - c)/s, which feature i becomes: 0 and 1 if it isn't standardized.
func (m *Maker) Scale(i int) (center, scale float64) {
	if m.center == nil {
		return 0, 1
	}
	return m.center[i], m.scale[i]
}

// SameScale tells whether two makers standardize features alike, or neither does.
func (m *Maker) SameScale(n *Maker) bool {
	return slices.Equal(m.center, n.center) && slices.Equal(m.scale, n.scale)
}
