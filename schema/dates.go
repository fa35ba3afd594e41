package schema

import (
	"strconv"
	"strings"
	"time"
)

// Layouts lists the layouts of dates and times written as text, besides the default: year, month, day, with or without
// a time. A time may follow each layout of a day. Years of two digits are 1969 to 2068.
var Layouts = []string{"2006/1/2", "2006.1.2", "2.1.2006", "1/2/2006", "2/1/2006", "2-1-2006", "1-2-2006",
	"2 Jan 2006", "2-Jan-2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006",
	"Mon, 2 Jan 2006 15:04:05 MST", "Mon Jan _2 15:04:05 2006", "20060102", "15:04:05", "15:04",
	"1/2/06", "2/1/06", "06/1/2", "02-01-06", "01-02-06", "06-01-02", "02.01.06", "2-Jan-06", "2 Jan 06",
	"Mon Jan _2 15:04:05 MST 2006"}

// DateOrder returns the order of day, month and year in a layout of numbers: DMY, MDY or YMD. It is "" for other
// layouts, such as those with the names of months.
func DateOrder(layout string) string {
	if layout == "" {
		return "YMD"
	}
	for order, layouts := range map[string]string{
		"YMD": "2006/1/2 2006.1.2 20060102 06/1/2 06-01-02",
		"DMY": "2.1.2006 2/1/2006 2-1-2006 2/1/06 02-01-06 02.01.06",
		"MDY": "1/2/2006 1-2-2006 1/2/06 01-02-06",
	} {
		for _, one := range strings.Fields(layouts) {
			if one == layout {
				return order
			}
		}
	}
	return ""
}

// ShortYear returns true if years have two digits in a layout.
func ShortYear(layout string) bool {
	return strings.Contains(layout, "06") && !strings.Contains(layout, "2006")
}

// clocks are the times that may follow a day.
var clocks = []string{"15:04:05", "15:04", "15:04:05Z07:00", "15:04:05 Z07:00", "15:04:05Z0700", "15:04Z07:00",
	"15:04:05Z07", "3:04:05 PM", "3:04 PM", "15:04:05 MST", "15:04 MST", "15:04 Z07:00", "15:04Z0700", "3:04:05 PM MST", "3:04 PM MST"}

// ParseTime returns the date or time that a text is in a layout of Layouts, or in the default layout if layout is "".
// A text without a time zone is in UTC. A time zone is an offset such as -0700 or -07, Z, or a name of RFC 822: UT, GMT,
// EST, EDT, CST, CDT, MST, MDT, PST, PDT, and UTC. A text with another name is none.
func ParseTime(text, layout string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if layout == "" {
		layout = "2006-1-2"
		if len(text) == len("2006-01") {
			layout = "2006-01"
		}
	}
	if strings.Contains(layout, "15") {
		t, ok := parseZoned(layout, text)
		if ok && t.Year() == 0 {
			t = t.AddDate(1970, 0, 0)
		}
		return t, ok
	}
	if at := endOfDay(text, strings.Count(layout, " ")); at >= 0 {
		return parseClock(text[:at], layout, text[at+1:])
	}
	t, err := time.Parse(layout, text)
	return t, err == nil
}

// endOfDay returns the index of the blank, or of the T, behind a day that has a number of blanks, or -1 if the text
// ends there.
func endOfDay(text string, blanks int) int {
	for i, r := range text {
		if r == 'T' && i > 0 && text[i-1] >= '0' && text[i-1] <= '9' {
			return i
		}
		if r == ' ' {
			if blanks--; blanks < 0 {
				return i
			}
		}
	}
	return -1
}

// parseClock returns the time that a day and a time of this day are.
func parseClock(day, layout, clock string) (time.Time, bool) {
	for _, c := range clocks {
		if t, ok := parseZoned(layout+" "+c, day+" "+clock); ok {
			return t, true
		}
	}
	return time.Time{}, false
}

// parseZoned is time.Parse for a layout that may have a time zone by its name, MST. Package time would take a name that
// the computer's zone doesn't know for UTC.
func parseZoned(layout, text string) (time.Time, bool) {
	if !strings.Contains(layout, "MST") {
		t, err := time.Parse(layout, text)
		return t, err == nil
	}
	form, words := strings.Fields(layout), strings.Fields(text)
	if len(form) != len(words) {
		return time.Time{}, false
	}
	behind, found := time.Duration(0), false
	for i, f := range form {
		if f == "MST" {
			behind, found = zoneOffset(words[i])
			form[i], words[i] = "", ""
		}
	}
	t, err := time.Parse(strings.Join(form, " "), strings.Join(words, " "))
	return t.Add(-behind), found && err == nil
}

// zones are the names of time zones of RFC 822, and UTC, with their offsets in hours.
var zones = map[string]int{"UTC": 0, "UT": 0, "GMT": 0, "Z": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7,
	"MDT": -6, "PST": -8, "PDT": -7}

// zoneOffset returns the offset of a time zone from UTC: of a name, of GMT and hours, or of +hhmm, +hh:mm and +hh.
func zoneOffset(zone string) (offset time.Duration, ok bool) {
	if hours, known := zones[zone]; known {
		return time.Duration(hours) * time.Hour, true
	}
	rest, greenwich := strings.CutPrefix(zone, "GMT")
	if len(rest) < 2 || rest[0] != '+' && rest[0] != '-' {
		return 0, false
	}
	digits := strings.Replace(rest[1:], ":", "", 1)
	if len(digits) <= 2 {
		digits += "00"
	}
	v, err := strconv.ParseUint(digits, 10, 16)
	if err != nil || len(digits) < 4 && !greenwich || len(digits) > 4 || v/100 > 14 || v%100 > 59 {
		return 0, false
	}
	if offset = time.Duration(v/100)*time.Hour + time.Duration(v%100)*time.Minute; rest[0] == '-' {
		offset = -offset
	}
	return offset, true
}
