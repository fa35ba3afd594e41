package transform

import (
	"fmt"
	"math"
	"strconv"

	"halfspace/dataset/internal/column"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// extremes are the smallest and the largest value of a column, the next ones, and how often the extreme ones occur.
type extremes struct {
	rows, lowRows, highRows      int
	low, nextLow, nextHigh, high float64
}

// add counts a value.
func (e *extremes) add(v float64) {
	if e.rows++; e.rows == 1 {
		e.low, e.nextLow, e.nextHigh, e.high = v, math.Inf(1), math.Inf(-1), v
	}
	switch {
	case v < e.low:
		e.nextLow, e.low, e.lowRows = e.low, v, 1
	case v == e.low:
		e.lowRows++
	case v < e.nextLow:
		e.nextLow = v
	}
	switch {
	case v > e.high:
		e.nextHigh, e.high, e.highRows = e.high, v, 1
	case v == e.high:
		e.highRows++
	case v > e.nextHigh:
		e.nextHigh = v
	}
}

// sentinelRows is the most rows that are examined: to read 16,384 rows of 28 columns takes 2 % of their load.
const sentinelRows = block.ChunkRows

// leastSentinels is the least number of rows with a sentinel.
const leastSentinels = 3

// sentinel returns an extreme value that seems to stand for a missing value, the number of its rows, and the range of the
// others: it is such a code, recurs, and is farther from the other values than these are from each other.
func (e *extremes) sentinel() (v float64, rows int, lo, hi float64, ok bool) {
	switch {
	case e.lowIsCode() && e.lowRows >= leastSentinels && e.nextLow < e.high && e.nextLow-e.low > e.high-e.nextLow:
		return e.low, e.lowRows, e.nextLow, e.high, true
	case isCode(e.high) && e.highRows >= leastSentinels && e.nextHigh > e.low && e.high-e.nextHigh > e.nextHigh-e.low:
		return e.high, e.highRows, e.low, e.nextHigh, true
	}
	return 0, 0, 0, 0, false
}

// lowIsCode returns true if the smallest value is a code, or a negative integer in at least one row of 100.
func (e *extremes) lowIsCode() bool {
	return isCode(e.low) || e.low < 0 && e.low == math.Trunc(e.low) && 100*e.lowRows >= e.rows
}

// isCode returns true for numbers that people write where they have no value: in nines, such as -9, -999 and 9999, where a
// positive one has at least three digits; in eights; and the least numbers of 16 and 32 bits.
func isCode(v float64) bool {
	if v == math.MinInt16 || v == math.MinInt32 || v == -888 || v == -8888 || v == 8888 {
		return true
	}
	for n, most := 9.0, 1e10; n < most; n = 10*n + 9 {
		if v == -n || v == n && n > 99 {
			return true
		}
	}
	return false
}

// sentinels finds values that seem to stand for missing values in columns of numbers, from the first rows of the input.
type sentinels struct {
	columns []extremes // of each feature column; nil before the first rows
	rows    int        // number of examined rows
	isText  bool       // the files are text
}

// add examines the first n rows of a batch.
func (s *sentinels) add(bound *Binding, bt *column.Batch, n int) {
	if s.columns == nil {
		s.columns, s.isText = make([]extremes, len(bound.Plan.Inputs)), bt.Line != nil
	}
	n = min(n, sentinelRows-s.rows)
	s.rows += n
	values := make([]float64, n)
	for k, i := range bound.Features {
		if c := &bound.Plan.Inputs[k]; c.Kind != schema.NumberColumn || c.Derive != "" || c.Unit != "" {
			continue
		}
		view, err := column.NewView64(bt.Columns[i])
		if err != nil || bt.Columns[i].Len() < n {
			continue
		}
		read, _ := view.Read(0, n, values)
		for row, v := range read {
			if !bt.Columns[i].IsNull(row) && !math.IsNaN(v) {
				s.columns[k].add(v)
			}
		}
	}
}

// warn passes a warning about each value that seems to stand for a missing value, about at most three columns.
func (s *sentinels) warn(bound *Binding, warn func(string)) {
	const most = 3
	columns := 0
	for k := range s.columns {
		v, rows, lo, hi, ok := s.columns[k].sentinel()
		if !ok {
			continue
		}
		word := strconv.FormatFloat(v, 'f', -1, 64)
		if columns++; columns <= most {
			warn(fmt.Sprintf("column %q: %s of the first %s values are %s, and the others are %.4g to %.4g: %s", bound.Plan.Inputs[k].Name,
				humanize.Count(int64(rows)), humanize.Count(int64(s.columns[k].rows)), word, lo, hi, s.advice(bound, v)))
		}
	}
	if columns > most {
		warn(fmt.Sprintf("such values are in %s", humanize.Plural(int64(columns-most), "more column")))
	}
}

// advice returns the remedy if v stands for a missing value. The option is for all columns, so advice names another column
// in whose range v lies, as v may be a number there.
func (s *sentinels) advice(bound *Binding, v float64) string {
	word := strconv.FormatFloat(v, 'f', -1, 64)
	if !s.isText {
		return fmt.Sprintf("if %s stands for no value, write null in its place", word)
	}
	text := message.Sprintf("if %s stands for no value, use --null-values %s,NA: the option replaces the default texts", word, word)
	for k := range s.columns {
		c := &s.columns[k]
		if code, _, _, _, ok := c.sentinel(); c.rows > 0 && c.low <= v && v <= c.high && !(ok && code == v) {
			return fmt.Sprintf("%s, for all columns, and column %q has values from %.4g to %.4g", text,
				bound.Plan.Inputs[k].Name, c.low, c.high)
		}
	}
	return text
}
