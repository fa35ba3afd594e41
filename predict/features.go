package predict

import (
	"fmt"
	"slices"

	"halfspace/kernel"
	"halfspace/schema"
)

// features make a model's features from the numbers of a row.
type features struct {
	names         []string
	nulls         schema.Nulls
	means         []float64 // replace missing values; nil: a missing value is an error
	center, scale []float64 // nil: features aren't standardized
}

func newFeatures(spec *schema.Spec) features {
	f := features{names: spec.Features, nulls: schema.NullsError}
	p := spec.Preprocessing
	if p == nil {
		return f
	}
	f.nulls = p.Nulls
	if p.Nulls == schema.NullsZero || p.Nulls == schema.NullsMean {
		f.means = make([]float64, len(f.names))
	}
	if p.Standardized() {
		f.center, f.scale = make([]float64, len(f.names)), slices.Repeat([]float64{1}, len(f.names))
	}
	at := 0
	for i := range p.Columns {
		c := &p.Columns[i]
		if p.Nulls == schema.NullsMean {
			copy(f.means[at:], c.Means)
		}
		copy(f.center[min(at, len(f.center)):], c.Center)
		copy(f.scale[min(at, len(f.scale)):], c.Scale)
		at += c.Width()
	}
	return f
}

// set writes the features of row to dst, which has room for them.
func set[T kernel.Float](f *features, dst []T, row []float64) error {
	if len(row) != len(f.names) {
		return fmt.Errorf("the row has %d numbers, and the model has %d features", len(row), len(f.names))
	}
	for i, v := range row {
		raw := v
		if v-v != 0 {
			if f.means == nil {
				return f.missing(i, v)
			}
			v = f.means[i]
		}
		if f.center != nil {
			v = (v - f.center[i]) / f.scale[i]
		}
		if dst[i] = T(v); dst[i]-dst[i] != 0 {
			return fmt.Errorf("column %q: %v is too large for the model, which computes in %T: correct the value", f.names[i], raw, dst[i])
		}
	}
	return nil
}

// missing returns the error of a missing value.
func (f *features) missing(i int, v float64) error {
	if f.nulls == schema.NullsDrop {
		return fmt.Errorf("column %q: %v: %w, and the training left such rows out: fill the value in", f.names[i], v, ErrMissing)
	}
	return fmt.Errorf("column %q: %v: %w: fill the value in, or train a model that fills in 0 or the mean", f.names[i], v, ErrMissing)
}
