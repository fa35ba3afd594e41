package cli

import (
	"strings"
	"testing"

	"halfspace/schema"
	"halfspace/separability"
)

// TestUndecided: without a verdict, the report says why and what to type next.
func TestUndecided(t *testing.T) {
	spec := &schema.Spec{Features: []string{"a"}, Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}}
	for _, standardized := range []bool{false, true} {
		o := new(checkOptions)
		o.Data.Standardize = standardized
		out := newCheckReport(o, spec, 3, &separability.Result{Verdict: separability.Undecided, Reason: "1,000 passes found no plane"}).sheet().String()
		if !strings.HasPrefix(out, "undecided") || !strings.Contains(out, "1,000 passes found no plane") || !strings.Contains(out, "\n  next ") ||
			strings.Contains(out, " --standardize") == standardized || !strings.Contains(out, " --exclude") || !strings.Contains(out, "train --algo pocket") {
			t.Errorf("standardized %t: no next step in\n%s", standardized, out)
		}
	}
}
