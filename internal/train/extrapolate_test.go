package train

import (
	"testing"
	"time"
)

// TestExtrapolate: one timing is taken as proportional to the rows, and two as a line, which never falls.
func TestExtrapolate(t *testing.T) {
	for _, c := range []struct {
		timings []timing
		want    time.Duration // of 2 folds of 1,600 rows
	}{
		{[]timing{{100, time.Second}}, 32 * time.Second},
		{[]timing{{100, 3 * time.Second}, {400, 6 * time.Second}}, 36 * time.Second},
		{[]timing{{100, 3 * time.Second}, {400, 3 * time.Second}}, 6 * time.Second},
		{[]timing{{100, 3 * time.Second}, {400, time.Second}}, 2 * time.Second},
	} {
		var p Point
		for _, one := range c.timings {
			p.extrapolate(one, 1600, 2)
		}
		if p.estimate != c.want {
			t.Errorf("%v: %v, want %v", c.timings, p.estimate, c.want)
		}
	}
}
