package separability

import "testing"

// TestBytes: Bytes grows with the rows up to the search's limits, and no further.
func TestBytes(t *testing.T) {
	for _, c := range []struct {
		rows int64
		cols int
		want int64
	}{
		{100, 10, 100 * 160}, {1 << 40, 1, (2048 + 2048) * 16}, {1 << 40, 1000, (8000 + 2048) * 16_000},
		{1 << 40, 1 << 18, (64 + 2*64) << 22}, {3000, 601, 3000 * 16 * 601},
	} {
		if got := Bytes(c.rows, c.cols); got != c.want {
			t.Errorf("%d rows of %d columns: %d bytes, not %d", c.rows, c.cols, got, c.want)
		}
	}
}
