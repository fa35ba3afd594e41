package predict

import (
	"fmt"

	"halfspace/internal/stats"
	"halfspace/schema"
)

// set writes the features of row, which f makes, to dst.
func set(spec *schema.Spec, f *stats.Maker, dst []float32, row []float64) error {
	if len(row) != spec.Width() {
		return fmt.Errorf("the row has %d numbers, and the model has %d features", len(row), spec.Width())
	}
	i := stats.Set(f, dst, row)
	if i < 0 {
		return nil
	}
	name, v := spec.FeatureName(i), row[i]
	switch p := spec.Preprocessing; {
	case v-v == 0 || p != nil && (p.Nulls == schema.NullsZero || p.Nulls == schema.NullsMean):
		return fmt.Errorf("column %q: %v is too large for the model, which computes in float32: correct the value", name, v)
	case p != nil && p.Nulls == schema.NullsDrop:
		return fmt.Errorf("column %q: %v: %w, and the training left such rows out: fill the value in", name, v, ErrMissing)
	}
	return fmt.Errorf("column %q: %v: %w: fill the value in, or train a model that fills in 0 or the mean", name, v, ErrMissing)
}
