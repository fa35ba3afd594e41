package transform

import (
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// suspects finds columns that number the rows or contain times, from the first rows of the input. A model that uses
// these columns fits the training rows and fails on new rows.
type suspects struct {
	sentinels
	columns []suspect // of each feature column
	room    int       // number of rows that are still to be examined
}

// A suspect is the information about one column from the first rows.
type suspect struct {
	values  []float64
	texts   map[uint64]struct{} // hashes of the texts of a column of categories; nil for other columns
	rows    int                 // number of rows with a text
	dated   bool                // the column has dates, by its type or its text
	whole   bool                // the column's type is an integer type
	tried   bool                // the first few values were examined
	cleared bool                // it is an ordinary column
}

// SuspectRows is the most rows that are examined, and suspectValues the most values, but fewSuspects rows always are.
const (
	SuspectRows   = 4 * block.ChunkRows
	suspectValues = 1 << 20
	fewSuspects   = 128
	leastSuspects = 20 // no column is reported on fewer rows
)

func newSuspects(bound *Binding) *suspects {
	s := &suspects{}
	s.room = min(SuspectRows, max(fewSuspects, suspectValues/max(1, len(bound.Plan.Inputs))))
	return s
}

func (s *suspects) begin(bound *Binding) {
	s.columns = make([]suspect, len(bound.Plan.Inputs))
	for k, c := range bound.Plan.Inputs {
		col := bound.Columns[bound.Features[k]]
		dated := c.Derive == "" && strings.HasSuffix(c.Unit, "since 1970") || c.Derive == "" && col.Content == column.Dates
		if c.Categorical() && c.Words == nil && column.Textual(col.Type) && !bound.Fixed {
			s.columns[k] = suspect{dated: dated, texts: map[uint64]struct{}{}}
			continue
		}
		s.columns[k] = suspect{dated: dated, whole: arrow.IsInteger(col.Type.ID()), cleared: bound.Fixed || dated ||
			c.Derive != "" || c.Kind != schema.NumberColumn || c.Unit != ""}
	}
}

// AddChosen examines the next rows of the input: if an option chooses rows, the kept rows alone.
func (s *suspects) AddChosen(bound *Binding, bt *column.Batch, kept Cut) error {
	if bt.Unchosen == 0 || s.room == 0 {
		s.Add(bound, bt)
		return nil
	}
	part, err := kept.Of(bt)
	if err == nil {
		defer part.Release()
		s.Add(bound, part)
	}
	return err
}

// Add examines the next rows of the input. The result doesn't depend on how the rows are cut into batches.
func (s *suspects) Add(bound *Binding, bt *column.Batch) {
	n := min(s.room, int(bt.Rows))
	if s.room -= n; n == 0 || bt.Pairs != nil {
		return
	}
	if s.columns == nil { // not for pairs, which can have a million columns
		s.begin(bound)
	}
	if !bound.Fixed {
		s.sentinels.add(bound, bt, n)
	}
	for k, i := range bound.Features {
		if c := &s.columns[k]; !c.cleared {
			c.Add(bt.Columns[i], n)
		}
	}
}

// Add examines the first n values of an array.
func (c *suspect) Add(a arrow.Array, n int) {
	if c.texts != nil {
		c.addTexts(a, n)
		return
	}
	view, err := column.NewView64(a)
	if err != nil || a.Len() < n {
		c.cleared = true
		return
	}
	values, _ := view.Read(0, n, make([]float64, n))
	for i, v := range values {
		switch {
		case a.IsNull(i):
		case v != math.Trunc(v) || math.IsInf(v, 0): // also if v is NaN
			c.cleared, c.values = true, nil
			return
		default:
			c.values = append(c.values, v)
		}
	}
	if !c.tried && len(c.values) >= fewSuspects {
		few := suspect{values: c.values[:fewSuspects]}
		c.tried, c.cleared = true, !few.inTime() && !distinct(few.values)
	}
	if c.cleared {
		c.values = nil
	}
}

// isID returns true if whole numbers seem to number the rows, which means that one of these holds:
//
//   - They ascend from row to row.
//   - Their type is an integer type, all differ, and random numbers of the same range would repeat.
//   - Their type is an integer type, all differ, and there are many numbers with random last digits. People choose the
//     last digit of a price.
func (c *suspect) isID() bool {
	n := len(c.values)
	if n < leastSuspects {
		return false
	}
	if ascends(c.values) {
		return true
	}
	if !c.whole || !distinct(c.values) {
		return false
	}
	const many = 500
	spread := slices.Max(c.values) - slices.Min(c.values)
	if spread < float64(n)*float64(n)/9 { // otherwise, random numbers all differ by chance in 1 case of 100, e^(-9/2)
		return true
	}
	var digits [10]int
	for _, v := range c.values {
		digits[lastDigit(v)]++
	}
	return n >= many && 4*slices.Max(digits[:]) < n
}

// lastDigit returns the last digit of a whole number.
func lastDigit(v float64) int {
	if v = math.Abs(v); v < 1<<53 {
		return int(int64(v) % 10)
	}
	return int(math.Mod(v, 10)) // many times slower
}

func ascends(values []float64) bool {
	for i := 1; i < len(values); i++ {
		if !(values[i] > values[i-1]) {
			return false
		}
	}
	return true
}

// distinct returns true if all values differ. It compares a few values first: in most columns, two of them are equal.
func distinct(values []float64) bool {
	for n := min(len(values), 32); ; n = min(len(values), 32*n) {
		sorted := slices.Clone(values[:n])
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) < n {
			return false
		}
		if n == len(values) {
			return true
		}
	}
}

// isTime returns true if all values are times, and some differ.
func (c *suspect) isTime() bool {
	return len(c.values) >= leastSuspects && slices.Min(c.values) < slices.Max(c.values) && c.inTime()
}

// inTime returns true if all values are times in Unix seconds, milliseconds, microseconds or nanoseconds, from 2000
// to 2100, or dates written as yyyymmdd. There must be at least one value.
func (c *suspect) inTime() bool {
	lo, hi := slices.Min(c.values), slices.Max(c.values)
	for _, unit := range []float64{1, 1e3, 1e6, 1e9} {
		const from, to = 946684800, 4102444800
		if lo >= from*unit && hi < to*unit {
			return true
		}
	}
	return lo >= 19000101 && hi <= 21001231 && !slices.ContainsFunc(c.values, func(v float64) bool {
		month, day := int64(v)/100%100, int64(v)%100
		return month < 1 || month > 12 || day < 1 || day > 31
	})
}

// addTexts adds the first n texts of an array. It stops and clears the suspicion if more than half of the rows so
// far, which must be at least fewSuspects, repeat a text.
func (c *suspect) addTexts(a arrow.Array, n int) {
	if a.Len() < n {
		c.cleared = true
		return
	}
	for i := range n {
		if a.IsNull(i) {
			continue
		}
		if c.rows++; c.rows >= fewSuspects && 2*len(c.texts) < c.rows {
			c.cleared, c.texts = true, map[uint64]struct{}{}
			return
		}
		c.texts[maphash.String(textSeed, a.ValueStr(i))] = struct{}{} // a text may take megabytes
	}
}

// isName returns true if the texts seem to name the rows: at least nine of ten differ from all texts before.
func (c *suspect) isName() bool {
	return !c.cleared && c.rows >= leastSuspects && 10*len(c.texts) >= 9*c.rows
}

// Warn passes warnings about suspicious columns to warn.
func (s *suspects) Warn(bound *Binding, warn func(string)) {
	s.sentinels.warn(bound, warn)
	var ids, names, times []string
	for k, c := range s.columns {
		switch name := bound.Plan.Inputs[k].Name; {
		case c.dated || c.texts == nil && !c.cleared && c.isTime():
			times = append(times, name)
		case c.texts != nil:
			if c.isName() {
				names = append(names, name)
			}
		case !c.cleared && c.isID():
			ids = append(ids, name)
		}
	}
	for _, of := range []struct {
		names []string
		like  string
	}{{ids, "an id: whole numbers that all differ"}, {names, "an id: nearly all texts differ"},
		{times, "a time: new rows will have later ones"}} {
		var quoted []string
		for _, name := range of.names {
			quoted = append(quoted, strconv.Quote(name))
		}
		looks := "look"
		if len(quoted) == 1 {
			looks = "looks"
		}
		if len(quoted) > 0 {
			warn(message.Sprintf("%s %s like %s (use --exclude %s)", humanize.Columns(quoted), looks, of.like,
				column.InShell(of.names)))
		}
	}
}
