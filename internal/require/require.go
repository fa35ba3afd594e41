// Package require checks the errors of calls in tests.
package require

import (
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
