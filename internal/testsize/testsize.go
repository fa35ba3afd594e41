// Package testsize says how large the problems of tests are.
package testsize

import "os"

// Small tells whether tests try few and small problems, as make test does. HALFSPACE_TEST=full asks for all of them, as make
// check does.
func Small() bool { return os.Getenv("HALFSPACE_TEST") != "full" }
