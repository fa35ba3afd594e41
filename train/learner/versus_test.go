package learner_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"halfspace/internal/testproblems"
	"halfspace/train/learner"
)

// TestFirstError: if several classes fail, the error is that of the first class, whichever failed first.
func TestFirstError(t *testing.T) {
	d := testproblems.RandomClasses(100, 60, 5, 0)
	for range 20 {
		_, err := learner.OneVersusRest(t.Context(), d, 8, true, func(_ context.Context, class, _ int) (int, error) {
			if class == 1 {
				time.Sleep(time.Millisecond)
			}
			if class > 0 {
				return 0, errors.New("no")
			}
			return 0, nil
		})
		if err == nil || !strings.HasPrefix(err.Error(), "class 1 versus the rest: no") {
			t.Fatalf("the error is %v", err)
		}
	}
}
