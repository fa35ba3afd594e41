package stats

import (
	"slices"

	"halfspace/schema"
)

// A Maker makes features as a schema.Preprocessing specifies.
type Maker struct {
	means         []float64 // values that replace missing values; nil: a missing value is an error
	center, scale []float64 // nil: features aren't standardized
}

// NewMaker returns the Maker for the features of a spec.
func NewMaker(spec *schema.Spec) *Maker {
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

// Set writes the features of row to dst. It returns the number of the first feature that is missing, or that float32
// can't hold; otherwise -1. row has the length of the spec's rows, and dst has room for as many elements.
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

// Missing returns, for each feature, the value that replaces a missing value. It returns nil if missing values aren't
// replaced.
func (m *Maker) Missing() []float64 { return m.means }

// Scale returns c and s of (x - c)/s, the standardized feature i. They are 0 and 1 if the feature isn't standardized.
func (m *Maker) Scale(i int) (center, scale float64) {
	if m.center == nil {
		return 0, 1
	}
	return m.center[i], m.scale[i]
}

// SameScale tells whether two makers standardize features in the same way, or both don't.
func (m *Maker) SameScale(n *Maker) bool {
	return slices.Equal(m.center, n.center) && slices.Equal(m.scale, n.scale)
}
