package schema

import (
	"math"
	"testing"
	"time"
)

// TestNumber: texts of numbers, truths, dates and times give the numbers that they stand for, and other texts none.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		derive       Derivation
		text, layout string
		want         float64 // NaN: none
	}{
		{Plain, "1,234.5", "", 1234.5}, {Plain, "$3.50", "", 3.5}, {Plain, "-$1,000", "", -1000}, {Plain, "5 %", "", 5}, {Plain, " 7 ", "", 7}, {Plain, "1e3", "", 1000},
		{Plain, "12 €", "", 12}, {Plain, "1,23", "", math.NaN()}, {Plain, "1,2345", "", math.NaN()}, {Plain, "inf", "", math.NaN()}, {Plain, "nan", "", math.NaN()},
		{Plain, "", "", math.NaN()}, {Plain, "--3", "", math.NaN()}, {Plain, "1.2.3", "", math.NaN()}, {Plain, ".5", "", 0.5}, {Plain, "+5", "", 5}, {Plain, "a1", "", math.NaN()},
		{Comma, "1.234,5", "", 1234.5}, {Comma, "3,50 €", "", 3.5}, {Comma, "1.23", "", math.NaN()}, {Comma, "0,25", "", 0.25}, {Comma, "-7,5", "", -7.5},
		{Boolean, "Yes", "", 1}, {Boolean, "f", "", 0}, {Boolean, "maybe", "", math.NaN()},
		{Days, "1970-01-02", "", 1}, {Days, "1970-01-02T12:00:00Z", "", 1.5}, {Days, "1970-01-02 06:00", "", 1.25}, {Days, "1970-02", "", 31}, {Days, "02.01.1970", "2.1.2006", 1},
		{Days, "1/2/1970", "1/2/2006", 1}, {Days, "Jan 2, 1970 3:00 PM", "Jan 2, 2006", 1.625}, {Days, "06:00", "15:04", 0.25}, {Days, "1970-13-01", "", math.NaN()},
		{Days, "1969-12-31 18:00:00-06:00", "", 0},
	} {
		column := Column{Name: "x", Kind: NumberColumn, Derive: c.derive, Layout: c.layout}
		got, ok := column.Number(c.text)
		if ok != (c.want == c.want) || ok && got != c.want {
			t.Errorf("%s %q: %v, %t, want %v", c.derive, c.text, got, ok, c.want)
		}
	}
}

// TestCycles: months, weekdays and hours are angles, as package time and package math have them.
func TestCycles(t *testing.T) {
	for hours := -100_000; hours < 400_000; hours += 37 {
		at := time.Unix(int64(hours)*3600, 0).UTC()
		for derive, want := range map[Derivation]float64{
			MonthSin: math.Sin(2 * math.Pi * float64(at.Month()-1) / 12), MonthCos: math.Cos(2 * math.Pi * float64(at.Month()-1) / 12),
			WeekdaySin: math.Sin(2 * math.Pi * float64(at.Weekday()) / 7), WeekdayCos: math.Cos(2 * math.Pi * float64(at.Weekday()) / 7),
			HourSin: math.Sin(2 * math.Pi * float64(at.Hour()) / 24), HourCos: math.Cos(2 * math.Pi * float64(at.Hour()) / 24),
		} {
			got := (&Column{Derive: derive}).AtDays(float64(hours) / 24)
			if math.Abs(got-want) > 1e-12 {
				t.Fatalf("%s of %v is %v, want %v", derive, at, got, want)
			}
		}
	}
}
