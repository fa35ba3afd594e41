package humanize

import (
	"math"
	"testing"
	"time"
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

// TestDuration: a time is read at a glance, and a rate in three digits.
func TestDuration(t *testing.T) {
	for want, seconds := range map[string]float64{"0 s": 0.4, "1 s": 0.6, "59 s": 59.4, "1 min 0 s": 59.6, "59 min 59 s": 3599, "1 h 0 min": 3600, "47 h 59 min": 48*3600 - 1, "2 days 0 h": 48 * 3600, "9 days 23 h": 10*86400 - 1} {
		if got := Duration(time.Duration(seconds * 1e9)); got != want {
			t.Errorf("%v seconds are %q, want %q", seconds, got, want)
		}
	}
	for want, v := range map[string]float64{"0.123": 0.12345, "1.23": 1.234, "99.9": 99.9, "100": 99.99, "123": 123.4, "1,230": 1234, "9,990,000": 9994999, "10,000,000": 9995000, "0": 0} {
		if got := RoundedCount(v); got != want {
			t.Errorf("%v is about %q, want %q", v, got, want)
		}
	}
}
