package fit

import "testing"

// TestSideBySide: the points of a grid keep within the workers and the memory.
func TestSideBySide(t *testing.T) {
	o := crossing[float64]{learners: make([]Learner, 10)}
	const rows, bytes = 1000, 200_000
	for _, c := range []struct {
		memory  int64
		workers int
		want    int
	}{{1 << 40, 4, 4}, {1 << 40, 64, 10}, {bytes + 3*rows*noted, 4, 3}, {bytes + rows*noted/2, 4, 1}, {bytes / 2, 4, 1}, {0, 2, 2}} {
		o.opt.Memory, o.workers = c.memory, c.workers
		if got := o.sideBySide(rows, bytes); got != c.want {
			t.Errorf("%d workers with %d bytes learn %d at a time, want %d", c.workers, c.memory, got, c.want)
		}
	}
}
