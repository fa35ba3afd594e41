package gram

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"halfspace/internal/testrows"
)

// A countdown is a context that ends after it was asked so many times.
type countdown struct {
	context.Context
	left atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestScatterEnds: a run of 4,096 rows takes long with many columns. Scatter asks the context for each panel of 32 rows, and a sum that
// was cut short is an error.
func TestScatterEnds(t *testing.T) {
	d := testrows.Logistic(4096, 3)
	for _, workers := range []int{1, 3} {
		for _, asked := range []int64{0, 10, 100} {
			m, err := NewTriangle(d.Spec().Cols())
			if err != nil {
				t.Fatal(err)
			}
			ctx := &countdown{Context: t.Context()}
			ctx.left.Store(asked)
			if err := Scatter(ctx, m, d, nil, workers); !errors.Is(err, context.Canceled) {
				t.Errorf("%d workers: error %v when the context ends after %d panels", workers, err, asked)
			}
		}
	}
}
