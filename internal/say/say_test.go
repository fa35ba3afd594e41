package say

import (
	"math"
	"testing"
)

// TestSay: shares below one never read as 100 %, thousands have commas, and undefined figures are dashes.
func TestSay(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Count(-1234567), "-1,234,567"}, {Count(999), "999"}, {Plural(1, "row"), "1 row"}, {Plural(2000, "row"), "2,000 rows"},
		{Percent(1), "100.00 %"}, {Percent(0.99999), "99.999 %"}, {Percent(math.NaN()), "-"}, {Fixed(math.NaN(), 2), "-"},
		{Size(1 << 20), "1 MiB"}, {Size(1), "1 byte"}, {Bound(12345), "12,345"}, {Seconds(1.5), "1.500 s"}, {Passes(1), "1 pass"},
		{OneOf([]string{"a"}), "a"}, {OneOf([]string{"a", "b", "c"}), "a, b or c"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
