package train

import (
	"io"
	"strings"
	"testing"

	"halfspace/cmd/internal/console"
	"halfspace/internal/train"
	"halfspace/schema"
	"halfspace/train/learner"
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
		noteNeverPredicted(a, &trainOptions{learner: train.Learner{Learner: new(learner.Learner)}}, c.never, c.counts)
		if stderr.String() != want {
			t.Errorf("%q, want %q", stderr.String(), want)
		}
	}
}

// TestAlikeNote: classes that differ by case or blanks alone are named.
func TestAlikeNote(t *testing.T) {
	for want, texts := range map[string][]string{
		"": {"a", "b", "a b", "ab"},
		"note: column \"y\": classes \"No\" and \"no \" differ by case or blanks alone: if they are one class, write them alike\n":                      {"No", "maybe", "no "},
		"note: column \"y\": classes \"a  b\" and \"A b\", and 2 more pairs, differ by case or blanks alone: if they are one class, write them alike\n": {"a  b", "A b", "a B", "c", "C"},
	} {
		spec := &schema.Spec{Label: "y"}
		for _, text := range texts {
			spec.Classes = append(spec.Classes, schema.StringClass(text))
		}
		var stderr strings.Builder
		o := &trainOptions{}
		o.multiclass = autoName
		noteClasses(console.New(t.Context(), io.Discard, &stderr), o, spec)
		if stderr.String() != want {
			t.Errorf("%q, want %q", stderr.String(), want)
		}
	}
}
