package train

import (
	"math"
	"testing"
)

// TestSideBySide: the points of a grid keep within the workers and the memory.
func TestSideBySide(t *testing.T) {
	o := crossState{learners: make([]Learner, 10)}
	const rows, bytes = 1000, 200_000
	for _, c := range []struct {
		memory  int64
		workers int
		want    int
	}{{1 << 40, 4, 4}, {1 << 40, 64, 10}, {bytes + 3*rows*mostNoteBytes, 4, 3}, {bytes + rows*mostNoteBytes/2, 4, 1}, {bytes / 2, 4, 1}, {0, 2, 2}} {
		o.opt.Memory, o.workers = c.memory, c.workers
		if got := o.parallelLearners(rows, bytes); got != c.want {
			t.Errorf("%d workers with %d bytes learn %d at a time, want %d", c.workers, c.memory, got, c.want)
		}
	}
}

// TestVerdict: folds without a value count neither in the mean nor in its standard error, which takes two values.
func TestVerdict(t *testing.T) {
	none := foldValue{}
	for _, c := range []struct {
		folds     verdict
		mean, off float64
	}{
		{verdict{{0.5, 1}, {1, 1}}, 0.75, 0.25},
		{verdict{none, {0.5, 1}, none, {1, 1}, none}, 0.75, 0.25},
		{verdict{{1, 2}, {3, 3}, {3, 1}}, 7.0 / 6, math.Sqrt((2*4.0/9 + 3*1.0/36 + 121.0/36) / 6 / 2)},
		{verdict{none, {0.5, 1}}, 0.5, math.NaN()},
		{verdict{none, none}, math.NaN(), math.NaN()},
	} {
		mean, off := c.folds.mean()
		if !(math.Abs(mean-c.mean) < 1e-15 || mean != mean && c.mean != c.mean) || !(math.Abs(off-c.off) < 1e-15 || off != off && c.off != c.off) {
			t.Errorf("%v: %v +- %v, want %v +- %v", c.folds, mean, off, c.mean, c.off)
		}
	}
}
