package inspecting

import (
	"strings"
	"testing"
)

// TestAdviseUndecided: the advice doesn't name what was done.
func TestAdviseUndecided(t *testing.T) {
	if strings.Contains(adviseUndecided(true), "--standardize") {
		t.Error("advises what was done")
	}
}
