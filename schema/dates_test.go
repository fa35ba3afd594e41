package schema

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestParseTime: dates in their layouts, with times and time zones, and texts that are none.
func TestParseTime(t *testing.T) {
	const mail, date = "Mon, 2 Jan 2006 15:04:05 MST", "Mon Jan _2 15:04:05 MST 2006"
	for _, c := range []struct{ text, layout, want string }{
		{"2014-06-16 10:00:00+00", "", "2014-06-16T10:00:00Z"}, {"2014-06-16 10:00:00.5-07", "", "2014-06-16T17:00:00.5Z"},
		{"2014-06-16", "", "2014-06-16T00:00:00Z"}, {"6/16/14", "1/2/06", "2014-06-16T00:00:00Z"},
		{"16/6/14 9:30 PM", "2/1/06", "2014-06-16T21:30:00Z"},
		{"14/6/16", "06/1/2", "2014-06-16T00:00:00Z"}, {"16-06-14", "02-01-06", "2014-06-16T00:00:00Z"},
		{"16.06.14 07:08", "02.01.06", "2014-06-16T07:08:00Z"},
		{"1/1/68", "1/2/06", "2068-01-01T00:00:00Z"}, {"1/1/69", "1/2/06", "1969-01-01T00:00:00Z"},
		{"1/1/00", "1/2/06", "2000-01-01T00:00:00Z"}, {"1/1/99", "1/2/06", "1999-01-01T00:00:00Z"},
		{"01-Jan-15", "2-Jan-06", "2015-01-01T00:00:00Z"}, {"1 Jan 99 12:00", "2 Jan 06", "1999-01-01T12:00:00Z"},
		{"1.2.10", "02.01.06", ""}, {"1-2-10", "02-01-06", ""}, {"6/16/2014", "1/2/06", ""}, {"6/16/4", "1/2/06", ""},
		{"6/16/14", "1/2/2006", ""}, {"13/16/14", "1/2/06", ""},
		{"Mon, 16 Jun 2014 12:00:00 GMT", mail, "2014-06-16T12:00:00Z"},
		{"Mon, 16 Jun 2014 12:00:00 EST", mail, "2014-06-16T17:00:00Z"},
		{"Mon, 16 Jun 2014 12:00:00 EDT", mail, "2014-06-16T16:00:00Z"},
		{"Mon, 16 Jun 2014 12:00:00 PST", mail, "2014-06-16T20:00:00Z"},
		{"Mon, 16 Jun 2014 12:00:00 CET", mail, ""}, {"Mon, 16 Jun 2014 12:00:00 XYZ", mail, ""},
		{"Mon, 16 Jun 2014 12:00:00", mail, ""}, {"Mon, 16 Jun 2014 12:00:00 A", mail, ""},
		{"Mon, 16 Jun 2014 12:00:00 -0700", mail, "2014-06-16T19:00:00Z"},
		{"Mon, 16 Jun 2014 12:00:00 +05:30", mail, "2014-06-16T06:30:00Z"},
		{"Mon, 16 Jun 2014 12:00:00 +03", mail, "2014-06-16T09:00:00Z"},
		{"Mon, 16 Jun 2014 12:00:00 GMT+2", mail, "2014-06-16T10:00:00Z"},
		{"Mon, 16 Jun 2014 12:00:00 GMT-11", mail, "2014-06-16T23:00:00Z"}, {"Mon, 16 Jun 2014 12:00:00 +9900", mail, ""},
		{"Mon, 16 Jun 2014 12:00:00 +0260", mail, ""}, {"Mon, 16 Jun 2014 12:00:00 +7", mail, ""},
		{"Mon, 16 Jun 2014 12:00:00 GMT+", mail, ""},
		{"Mon Jun  2 12:00:00 MDT 2014", date, "2014-06-02T18:00:00Z"},
		{"Mon Jun 16 12:00:00 UTC 2014", date, "2014-06-16T12:00:00Z"}, {"Mon Jun 16 12:00:00 MEZ 2014", date, ""},
		{"2014-06-16 12:00:00 UTC", "", "2014-06-16T12:00:00Z"}, {"2014-06-16 12:00:00 CDT", "", "2014-06-16T17:00:00Z"},
		{"2014-06-16T12:00:00.5 CST", "", "2014-06-16T18:00:00.5Z"},
		{"2014-06-16 12:00:00 BST", "", ""}, {"2014-06-16 12:00:00 +0200", "", "2014-06-16T10:00:00Z"},
		{"2014-06-16 12:00:00+02:00", "", "2014-06-16T10:00:00Z"},
		{"2014-06-16 12:00 EST", "", "2014-06-16T17:00:00Z"}, {"2014-06-16 12:00 Z", "", "2014-06-16T12:00:00Z"},
		{"2014-06-16 12:00 +0200", "", "2014-06-16T10:00:00Z"}, {"2014-06-16T12:00+0200", "", "2014-06-16T10:00:00Z"},
		{"2014-06-16 9:00 PM EST", "", "2014-06-17T02:00:00Z"}, {"6/16/2014 9:00:30 AM +02:00", "1/2/2006", "2014-06-16T07:00:30Z"},
		{"2014-06-16 12:00 XYZ", "", ""}, {"2014-06-16 13:00 PM EST", "", ""},
		{"6/16/14 12:00:00 PDT", "1/2/06", "2014-06-16T19:00:00Z"},
	} {
		got, ok := ParseTime(c.text, c.layout)
		if ok != (c.want != "") || ok && got.UTC().Format(time.RFC3339Nano) != c.want {
			t.Errorf("%q in the layout %q: %v, %t, want %q", c.text, c.layout, got, ok, c.want)
		}
	}
}

// TestZone: the zone of the computer doesn't change the time that a text is.
func TestZone(t *testing.T) {
	before := time.Local
	defer func() { time.Local = before }()
	for _, zone := range []*time.Location{time.UTC, time.FixedZone("EST", 3600), time.FixedZone("CET", 3600)} {
		time.Local = zone
		for text, want := range map[string]int64{"Thu, 1 Jan 1970 00:00:00 EST": 5 * 3600,
			"Thu, 1 Jan 1970 00:00:00 CET": -1} {
			if got, ok := ParseTime(text, "Mon, 2 Jan 2006 15:04:05 MST"); ok != (want >= 0) || ok && got.Unix() != want {
				t.Errorf("%q in the zone %v: %v, %t", text, zone, got, ok)
			}
		}
	}
}

// TestLayouts: a date that is written in a layout is read in it, and its order is the order of the numbers.
func TestLayouts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, layout := range slices.Concat([]string{"2006-1-2"}, Layouts) {
		for range 200 {
			at := time.Date(1969+rng.IntN(100), time.Month(1+rng.IntN(12)), 1+rng.IntN(28), rng.IntN(24), rng.IntN(60),
				rng.IntN(60), 0, time.UTC)
			text, want := at.Format(layout), at
			switch {
			case !strings.Contains(layout, "06"):
				want = time.Date(1970, 1, 1, at.Hour(), at.Minute(), at.Second(), 0, time.UTC)
			case !strings.Contains(layout, "15"):
				want = at.Truncate(24 * time.Hour)
			}
			if !strings.Contains(layout, "05") && strings.Contains(layout, "15") {
				want = want.Truncate(time.Minute)
			}
			read := layout
			if read == "2006-1-2" {
				read = ""
			}
			if got, ok := ParseTime(text, read); !ok || !got.Equal(want) {
				t.Fatalf("%q in the layout %q: %v, %t, want %v", text, layout, got, ok, want)
			}
			order := strings.NewReplacer("2006", "Y", "06", "Y", "02", "D", "01", "M", "2", "D", "1", "M", "/", "", "-", "",
				".", "").Replace(layout)
			if strings.ContainsAny(layout, "Jn:") {
				order = ""
			}
			if got := DateOrder(read); got != order {
				t.Fatalf("the order of %q is %q, want %q", layout, got, order)
			}
		}
	}
}
