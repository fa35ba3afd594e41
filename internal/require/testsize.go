package require

import "os"

// Small tells whether tests try only a few small problems, as in make test. HALFSPACE_TEST=full asks for all problems,
// as in make check.
func Small() bool { return os.Getenv("HALFSPACE_TEST") != "full" }
