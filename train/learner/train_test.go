package learner_test

import (
	"errors"
	"testing"

	"halfspace/internal/block"
	"halfspace/schema"
	"halfspace/train/learner"
)

func TestTwoClasses(t *testing.T) {
	ints := func(n int) (classes []schema.Class) {
		for i := range n {
			classes = append(classes, schema.IntClass(int64(i)))
		}
		return classes
	}
	for want, classes := range map[string][]schema.Class{
		"": ints(2),
		`column "y": "a" is the only class, training takes two: add rows of another class`:                                       {schema.StringClass("a")},
		`column "y": 3 classes (0, 1, 2), training takes two: choose another column with Label, or keep the rows of two classes`: ints(3),
		`column "y": 60 classes (0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 50 more), training takes two: it looks like a quantity; ` +
			`halfspace classifies: name a column of classes with Label`: ints(60),
	} {
		got := ""
		if err := learner.TwoClasses(&schema.Spec{Label: "y", Classes: classes}); err != nil {
			if !errors.Is(err, learner.ErrTwoClasses) {
				t.Errorf("%v is another error than ErrTwoClasses", err)
			}
			got = err.Error()
		}
		if got != want {
			t.Errorf("%d classes: %q, want %q", len(classes), got, want)
		}
	}
	if err := learner.TwoClasses(&schema.Spec{}); !errors.Is(err, block.ErrNoLabels) {
		t.Errorf("no classes: %v", err)
	}
}
