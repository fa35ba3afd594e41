// Package learntest holds helpers of learners' tests.
package learntest

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"halfspace/block"
	"halfspace/internal/cache"
	"halfspace/internal/require"
)

// Cached returns the rows in a temporary cache file, which is closed when the test ends.
func Cached(t testing.TB, rows block.Source) *cache.File {
	t.Helper()
	f := require.Value(cache.Temporary(t.Context(), rows, nil))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

// Fixture decodes a file of JSON, such as testdata/sklearn_svm.json.
func Fixture(t testing.TB, path string, to any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Near fails unless each element of got is within tol of want's, relative to it, or to a thousandth of the largest.
func Near(t testing.TB, name string, got, want []float64, tol float64) {
	t.Helper()
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d elements, want %d", name, len(got), len(want))
	}
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= tol*max(math.Abs(v), largest/1000)) {
			t.Errorf("%s: element %d is %v, want %v", name, i, got[i], v)
		}
	}
}
