// Package require checks the results of calls in tests.
package require

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"
)

// NoError ends the test if err isn't nil.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Value returns the value of a call whose error ends the test:
//
//	text := require.Value(os.ReadFile(path))(t)
func Value[V any](v V, err error) func(testing.TB) V {
	return func(t testing.TB) V {
		t.Helper()
		NoError(t, err)
		return v
	}
}

// OpenFile returns the file of a call, which is closed when the test ends:
//
//	f := require.OpenFile(os.Open(path))(t)
func OpenFile[F io.Closer](f F, err error) func(testing.TB) F {
	return func(t testing.TB) F {
		t.Helper()
		NoError(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
}

// Error reports err if it is nil or doesn't contain the text want, or, with want "", if it isn't nil. The test goes on.
func Error(t testing.TB, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

// ErrorOf returns the error of a call.
func ErrorOf[T any](_ T, err error) error { return err }

// Small tells whether tests try only a few small problems, as in make test. HALFSPACE_TEST=full asks for all problems,
// as in make check.
func Small() bool { return os.Getenv("HALFSPACE_TEST") != "full" }

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

// NearNumbers fails unless each element of got is within tol of want's, relative to it, or to a thousandth of the
// largest.
func NearNumbers(t testing.TB, name string, got, want []float64, tol float64) {
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
