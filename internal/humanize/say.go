// Package humanize converts numbers, names of files or suggestions to text for people, or their text to numbers.
package humanize

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Count writes an integer with commas between thousands.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String()
}

// Plural writes a count and a noun, with a plural s if the count isn't 1.
func Plural(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + thing + "s"
}

// Size writes a number of bytes in binary units.
func Size(bytes int64) string {
	v, units := float64(bytes), []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	for v >= 1024 && len(units) > 1 {
		v, units = v/1024, units[1:]
	}
	if units[0] == "bytes" {
		return Plural(bytes, "byte")
	}
	return fmt.Sprintf("%.4g %s", v, units[0])
}

// Real writes a number with six significant digits.
func Real(v float64) string {
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// Exact writes a number with the fewest digits from which it can be parsed back exactly.
func Exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ThreeDigits writes a number with three significant digits.
func ThreeDigits(v float64) string {
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// NumberOrUnknown writes a number followed by of, or "not known" if v is nil.
func NumberOrUnknown(v *float64, of string) string {
	if v == nil {
		return "not known"
	}
	return Real(*v) + of
}

// Bound writes the integer part of a bound on updates.
func Bound(v float64) string {
	if v < 1<<53 {
		return Count(int64(v))
	}
	return Real(v)
}

// Fixed writes a number with that many decimals, or "-" if it is NaN.
func Fixed(v float64, decimals int) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// Percent writes a share as a percentage, with enough digits that a share below 1 doesn't read 100 %. It writes "-" for
// NaN.
func Percent(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	for digits := 2; ; digits++ {
		if s := strconv.FormatFloat(100*v, 'f', digits, 64); v == 1 || digits == 9 || !strings.HasPrefix(s, "100") {
			return s + " %"
		}
	}
}

// Seconds writes a time in seconds with three decimals.
func Seconds(s float64) string { return fmt.Sprintf("%.3f s", s) }

// Duration writes a time: in minutes and seconds below an hour, in hours and minutes below two days, and otherwise in
// days and hours.
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	case d < 2*day:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%d days %d h", d/day, d%day/time.Hour)
}

// RoundedCount writes a number of 0 or more, rounded to three significant digits.
func RoundedCount(v float64) string {
	if v < 100 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-2)
	return Count(int64(math.Round(v/unit) * unit))
}

// Passes writes a number of passes over the rows.
func Passes(n int64) string {
	if n == 1 {
		return "1 pass"
	}
	return Count(n) + " passes"
}

// OneOf returns "a", "a or b", or "a, b or c".
func OneOf(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Files returns the name of a set of files in messages.
func Files(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%s and %d more", paths[0], len(paths)-1)
}

// Columns returns the names of up to four columns, and the number of further columns.
func Columns(names []string) string {
	const most = 4
	switch more := len(names) - most; {
	case more > 0:
		return fmt.Sprintf("columns %s and %d more", strings.Join(names[:most], ", "), more)
	case len(names) > 1:
		return "columns " + strings.Join(names, ", ")
	}
	return "column " + names[0]
}
