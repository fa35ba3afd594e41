package plan

import (
	"math"
	"time"

	"halfspace/schema"
)

// A Range is the first and the last of some dates, and the months, weekdays and hours among them: a bit for each.
type Range struct {
	First, Last             float64 // in days since 1970-01-01
	months, weekdays, hours uint32
}

// newRange returns the range of no dates.
func newRange() Range { return Range{First: math.Inf(1), Last: math.Inf(-1)} }

// Add adds a date or time, in days since 1970-01-01.
func (r *Range) Add(days float64) {
	month, weekday, hour := schema.DateParts(days)
	r.First, r.Last = min(r.First, days), max(r.Last, days)
	r.months, r.weekdays, r.hours = r.months|1<<month, r.weekdays|1<<weekday, r.hours|1<<hour
}

// String returns the first and the last day, or, of times of the day without a date, the first and the last time.
func (r *Range) String() string {
	if 0 <= r.First && r.Last < 1 && r.First < r.Last {
		clock := func(days float64) string {
			return time.Unix(int64(math.Round(days*86400)), 0).UTC().Format("15:04:05")
		}
		return clock(r.First) + " to " + clock(r.Last)
	}
	day := func(days float64) string {
		return time.Unix(int64(math.Floor(days))*86400, 0).UTC().Format(time.DateOnly)
	}
	return day(r.First) + " to " + day(r.Last)
}

// inputs returns the features of the dates in a column: the days since the first, and the parts that vary. layout is
// the form of texts.
func (r *Range) inputs(name, layout string) []schema.Column {
	all := []schema.Column{{Derive: schema.Days, Origin: math.Floor(r.First)}}
	for _, part := range []struct {
		seen     uint32
		sin, cos schema.Derivation
	}{
		{r.months, schema.MonthSin, schema.MonthCos},
		{r.weekdays, schema.WeekdaySin, schema.WeekdayCos},
		{r.hours, schema.HourSin, schema.HourCos},
	} {
		if part.seen&(part.seen-1) != 0 {
			all = append(all, schema.Column{Derive: part.sin}, schema.Column{Derive: part.cos})
		}
	}
	for i := range all {
		all[i].Name, all[i].Kind, all[i].Layout = name, schema.NumberColumn, layout
	}
	return all
}
