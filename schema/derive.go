package schema

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A Derivation is the way in which a column's value becomes the number of a feature. Several features may derive from one column.
type Derivation string

const (
	Missing Derivation = "missing" // 1 if the value is missing, else 0

	Plain   Derivation = "plain" // a number with a decimal point, such as 1234.5, 1,234.5, $3.50 or 5 %; see ParseWritten
	Comma   Derivation = "comma" // a number with a decimal comma, such as 1234,5 or 1.234,5 €
	Boolean Derivation = "yes"   // 1 for yes, true, y, t or on; 0 for no, false, n, f or off

	Days       Derivation = "days"        // days of a date or time since Origin
	MonthSin   Derivation = "month sin"   // sine of the month's angle; January is 0, a year is a full circle
	MonthCos   Derivation = "month cos"   // its cosine
	WeekdaySin Derivation = "weekday sin" // sine of the day's angle; Sunday is 0, a week is a full circle
	WeekdayCos Derivation = "weekday cos"
	HourSin    Derivation = "hour sin" // sine of the hour's angle; midnight is 0, a day is a full circle
	HourCos    Derivation = "hour cos"
)

// Derivations lists every Derivation.
var Derivations = []Derivation{Missing, Plain, Comma, Boolean, Days, MonthSin, MonthCos, WeekdaySin, WeekdayCos, HourSin, HourCos}

// Dated returns true if the number derives from a date or time.
func (d Derivation) Dated() bool {
	return d == Days || strings.HasSuffix(string(d), "sin") || strings.HasSuffix(string(d), "cos")
}

// Written returns true if the number derives from text that isn't a date.
func (d Derivation) Written() bool { return d == Plain || d == Comma || d == Boolean }

// checkDerive returns an error if Derive, Layout or Origin is invalid.
func (c *Column) checkDerive() error {
	switch {
	case c.Derive != "" && !slices.Contains(Derivations, c.Derive):
		return fmt.Errorf("unknown derivation %q", c.Derive)
	case c.Derive != "" && c.Kind != NumberColumn:
		return fmt.Errorf("of the kind %q, but derived", c.Kind)
	case c.Derive != "" && c.Unit != "":
		return errors.New("derived, but with a unit")
	case c.Layout != "" && !c.Derive.Dated() || c.Origin != 0 && c.Derive != Days:
		return errors.New("a layout or an origin, but no date")
	case math.IsNaN(c.Origin) || math.IsInf(c.Origin, 0):
		return fmt.Errorf("its origin is %v", c.Origin)
	}
	return nil
}

// Number returns the number that derives from a text, or false if the text stands for none.
func (c *Column) Number(text string) (float64, bool) {
	switch c.Derive {
	case Plain:
		w, ok := ParseWritten(text, '.')
		return w.Value, ok
	case Comma:
		w, ok := ParseWritten(text, ',')
		return w.Value, ok
	case Boolean:
		return writtenTruth(text)
	}
	t, ok := ParseTime(text, c.Layout)
	if !ok {
		return 0, false
	}
	return c.AtDays(DaysOf(t)), true
}

// IsClock returns true if the number derives from a time of day without a date.
func (c *Column) IsClock() bool { return strings.HasPrefix(c.Layout, ClockLayout[:2]) }

// ClockLayout is the layout of times of day that columns have by their type.
const ClockLayout = "15:04:05"

// DaysOf returns the days from 1970-01-01 to a time.
func DaysOf(t time.Time) float64 {
	if t.Nanosecond()%1000 == 0 { // rounded once, as a timestamp in microseconds is
		return float64(t.UnixMicro()) / 86400e6
	}
	return float64(t.Unix())/86400 + float64(t.Nanosecond())/86400e9
}

// DayOf returns the day of a time, in days since 1970-01-01, and the nanoseconds since midnight.
func DayOf(t time.Time) (day, nanos int64) {
	seconds := t.Unix()
	if day = seconds / 86400; seconds%86400 < 0 {
		day--
	}
	return day, (seconds-day*86400)*1e9 + int64(t.Nanosecond())
}

// AtDays returns the number that derives from a date or time, given in days since 1970-01-01.
func (c *Column) AtDays(days float64) float64 {
	month, weekday, hour := DateParts(days)
	switch c.Derive {
	case MonthSin, MonthCos:
		return turn(2*month, c.Derive == MonthCos)
	case WeekdaySin:
		return week[weekday][0]
	case WeekdayCos:
		return week[weekday][1]
	case HourSin, HourCos:
		return turn(hour, c.Derive == HourCos)
	}
	return days - c.Origin
}

// OriginDay returns the date from which Days are counted.
func (c *Column) OriginDay() string {
	return time.Unix(int64(c.Origin)*86400, 0).UTC().Format(time.DateOnly)
}

// DateParts returns the month, from 0, the day of the week, from Sunday, and the hour of a time in days since 1970-01-01. It rounds
// hours up that end within a billionth of an hour, since days are not exact.
func DateParts(days float64) (month, weekday, hour int) {
	whole := math.Floor(days)
	hour = int(math.Floor((days-whole)*24 + 1e-9))
	if hour == 24 {
		whole, hour = whole+1, 0
	}
	at := time.Unix(int64(whole)*86400, 0).UTC()
	return int(at.Month()) - 1, int(at.Weekday()), hour
}

// The sines of circles are constants, since the last digit of math.Sin differs between architectures.
var (
	quarter = [7]float64{0, 0.25881904510252074, 0.5, 0.7071067811865476, 0.8660254037844386, 0.9659258262890683, 1} // of 24ths of a circle
	week    = [7][2]float64{{0, 1}, {0.7818314824680298, 0.6234898018587336}, {0.9749279121818236, -0.2225209339563144},
		{0.4338837391175581, -0.9009688679024191},
		{-0.4338837391175581, -0.9009688679024191}, {-0.9749279121818236, -0.2225209339563144}, {-0.7818314824680298, 0.6234898018587336}}
)

// turn returns the sine or the cosine of n 24ths of a circle.
func turn(n int, cosine bool) float64 {
	if cosine {
		n += 6
	}
	switch n %= 24; {
	case n <= 6:
		return quarter[n]
	case n <= 12:
		return quarter[12-n]
	case n <= 18:
		return -quarter[n-12]
	}
	return -quarter[24-n]
}

// writtenTruth returns the number of a word for yes or no. 1 and 0 are such words too: a file may have 1 where another has true.
func writtenTruth(text string) (float64, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "yes", "true", "y", "t", "on", "1":
		return 1, true
	case "no", "false", "n", "f", "off", "0":
		return 0, true
	}
	return 0, false
}
