package training

import (
	"io"
	"strings"
	"testing"

	"halfspace/fit"
	"halfspace/internal/cli/console"
	"halfspace/schema"
	"halfspace/train"
)

// TestNeverPredictedNote: several classes are told in one sentence, and weights are advised only where classes have unequal rows.
func TestNeverPredictedNote(t *testing.T) {
	classes := []schema.Class{schema.IntClass(3), schema.IntClass(5)}
	for want, c := range map[string]struct {
		never  []schema.Class
		counts []int64
	}{
		"": {nil, []int64{1, 9, 9}},
		"note: class 3 is never predicted on the training rows: try --class-weight balanced\n":               {classes[:1], []int64{1, 9, 9}},
		"note: classes 3 and 1 more are never predicted on the training rows\n":                              {classes, []int64{8, 9, 9}},
		"note: classes 3 and 1 more are never predicted on the training rows: try --class-weight balanced\n": {classes, []int64{8, 9, 90}},
	} {
		var stderr strings.Builder
		a := console.New(t.Context(), io.Discard, &stderr)
		noteNeverPredicted(a, &trainOptions{learner: fit.Learner{Learner: new(train.Learner)}}, c.never, c.counts)
		if stderr.String() != want {
			t.Errorf("%q, want %q", stderr.String(), want)
		}
	}
}
