package gram

import (
	"context"
	"errors"
	"testing"

	"halfspace/internal/testproblems"
)

// TestScatterEnds: a chunk of 4,096 rows takes long with many columns. Scatter asks the context for each panel of 32
// rows, and a sum that was cut short is an error.
func TestScatterEnds(t *testing.T) {
	d := testproblems.Logistic(4096, 3)
	for _, workers := range []int{1, 3} {
		for _, asked := range []int64{0, 10, 100} {
			m, err := NewTriangle(d.Spec().Cols())
			if err != nil {
				t.Fatal(err)
			}
			if err := Scatter(testproblems.NewCountdown(t.Context(), asked), m, d, nil, workers); !errors.Is(err, context.Canceled) {
				t.Errorf("%d workers: error %v when the context ends after %d panels", workers, err, asked)
			}
		}
	}
}
