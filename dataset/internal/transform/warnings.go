package transform

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// losses records the losses of rounding in a column, and the range of the column's values.
type losses struct {
	merged  atomic.Bool
	of      bitset       // for a numbered column, the features with a merged value; nil: they aren't told apart
	beyond  atomic.Int64 // number of rows with an index that is no feature
	wide    atomic.Bool  // the range is so large against the numbers that the last digits don't matter
	mu      sync.Mutex
	rounded bool
	lo, hi  float64 // smallest and largest value
}

// A bitset is a set of numbers of features.
type bitset []atomic.Uint64

// newLosses returns the losses of the feature columns of a binding. A numbered column whose features a Spec names has
// losses for each feature.
func newLosses(bound *Binding) []losses {
	all := make([]losses, len(bound.Features))
	for k := range bound.Plan.Inputs {
		if c := &bound.Plan.Inputs[k]; isNumbered(*c) && c.Elements <= schema.MaxNamed {
			all[k].of = make(bitset, c.Elements/64+1)
		}
	}
	return all
}

// merge records that feature k, a feature of the column, has a merged value.
func (l *losses) merge(k int) {
	if l.merged.Store(true); l.of != nil {
		l.of[k/64].Or(1 << (k % 64))
	}
}

// wideEnough is the smallest range of a wide column, in units of the last digit of its greatest number.
const wideEnough = 1 << 12

// addValues adds values of a column to its range, after some of them were rounded. Once a column is wide, it stays
// wide.
func addValues(l *losses, values []float32) {
	if l.wide.Load() || len(values) == 0 {
		return
	}
	lo, hi := values[0], values[0]
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.rounded {
		l.rounded, l.lo, l.hi = true, float64(lo), float64(hi)
	}
	l.lo, l.hi = min(l.lo, float64(lo)), max(l.hi, float64(hi))
	if l.hi-l.lo >= wideEnough*0x1p-24*max(-l.lo, l.hi) {
		l.wide.Store(true)
	}
}

// matter returns true if the losses may matter to a learner: whole numbers changed, or the lost digits are large
// against the column's range.
func (l *losses) matter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.merged.Load() || l.rounded && !l.wide.Load()
}

// leftOut lists the columns that were left out because they can't be features, with their types, grouped by the content
// of their text.
type leftOut struct {
	of    map[column.Content][]string
	texts bool // some column could be used as categories
}

// advice gives, for each content of text, the reason why it can't be a feature, and the remedy.
var advice = map[column.Content]string{
	column.Dates:  "dates written as text (to use them, write numbers, such as the days since a date, or the month)",
	column.Commas: "numbers with commas (write them with a decimal point alone, such as 1234.5)",
}

func (l *leftOut) add(c column.Column) {
	if l.of == nil {
		l.of = map[column.Content][]string{}
	}
	l.of[c.Content] = append(l.of[c.Content], fmt.Sprintf("%q (%s)", c.Name, c.Desc))
	l.texts = l.texts || column.Textual(c.Type) && c.Content == ""
}

func (l *leftOut) notes() (lines []string) {
	for _, content := range slices.Sorted(maps.Keys(l.of)) {
		why := advice[content]
		if content == "" {
			why = "a feature is " + column.FeatureTypes
			if l.texts {
				why += message.Sprintf(" (use --categorical onehot or hash:BITS for text)")
			}
		}
		lines = append(lines, humanize.Columns(l.of[content])+": left out, "+why)
	}
	return lines
}

// Warn passes warnings to warn: about features that aren't standardized, columns that aren't features by default,
// dropped rows, unknown categories and indices, and features that float32 or float64 rounds too coarsely.
func (b *Builder) Warn(warn func(string)) {
	if warn == nil {
		return
	}
	for _, note := range b.bound.Plan.Notes {
		warn(note)
	}
	b.warnLimits(warn)
	for _, note := range b.bound.leftOut.notes() {
		warn(note)
	}
	unchosen := b.unchosen.Load()
	if unchosen > 0 {
		looked := b.Input
		if b.bound.Plan.End > 0 { // the batch of the last row of --limit may have more rows
			looked = min(looked, b.bound.Plan.End)
		}
		warn(message.Sprintf("%s of %s rows chosen by --where, --sample and --limit",
			humanize.Count(b.Input-unchosen), humanize.Count(looked)))
	}
	if n := b.Input - b.Rows - unchosen; n > 0 {
		what := "a feature or the label"
		switch {
		case b.bound.Plan.Nulls != schema.NullsDrop:
			what = "the label"
		case b.bound.Weight >= 0:
			what = "a feature, the label or the weight"
		}
		warn(fmt.Sprintf("%d of %d rows left out: %s is null, NaN or infinite there", n, b.Input, what))
	}
	if b.bound.classNote != "" {
		warn(b.bound.classNote)
	}
	b.warnTexts(warn)
	for k := range b.losses {
		if n := b.losses[k].beyond.Load(); n > 0 {
			warn(fmt.Sprintf("column %q: %d of %d rows have indices that the training rows didn't have; they "+
				"are ignored", b.bound.Plan.Inputs[k].Name, n, b.Rows))
		}
	}
	if b.bound.Fixed {
		return // the training reported the rest
	}
	names := b.blurred()
	switch {
	case len(names) == 0:
	case !b.bound.Plan.Standardize:
		warn(message.Sprintf("%s: float32 can't hold every value exactly, they are rounded (use --standardize, which "+
			"subtracts the mean before it rounds)", humanize.Columns(names)))
	default:
		warn(humanize.Columns(names) + ": float64 can't hold every value exactly, they are rounded")
	}
	b.odd.Warn(b.bound, warn)
}

// warnLimits passes warnings about features and texts that are too many.
func (b *Builder) warnLimits(warn func(string)) {
	if b.bound.wide {
		warn(fmt.Sprintf("the %d features are not standardized: no value would stay 0, and rows of so many values "+
			"take too much memory", b.bound.Width()))
	}
	if len(b.bound.full) > 0 {
		warn(fmt.Sprintf("%s: the texts take more than the %d MiB that a model keeps: some are left out",
			humanize.Columns(b.bound.full), schema.MaxNames>>20))
	}
}

// blurred returns the quoted names of the columns whose losses may matter to a learner, and the names of the features
// of a numbered column.
func (b *Builder) blurred() (names []string) {
	for k, i := range b.bound.Features {
		switch l := &b.losses[k]; {
		case !l.matter():
		case l.of == nil:
			names = append(names, strconv.Quote(b.bound.Columns[i].Name))
		default:
			for f := range b.bound.Plan.Inputs[k].Elements {
				if l.of[f/64].Load()>>(f%64)&1 > 0 {
					names = append(names, strconv.Quote(b.bound.Plan.Inputs[k].FeatureName(f)))
				}
			}
		}
	}
	return names
}

// warnTexts passes warnings about unknown categories, about infinite dates, and about texts that are no numbers or dates.
func (b *Builder) warnTexts(warn func(string)) {
	var unknown, infinite []columnRows
	for k, c := range b.texts {
		if c != nil && c.unknown.Load() > 0 {
			unknown = append(unknown, columnRows{name: b.bound.Plan.Inputs[k].Name, rows: c.unknown.Load()})
		}
	}
	warnOf(warn, unknown, b.Rows, "have a category that the training had not", ", it counts as none")
	for i := range b.bound.infinite {
		if b.bound.infinite[i].Swap(false) {
			infinite = append(infinite, columnRows{name: b.bound.Columns[i].Name})
		}
	}
	warnOf(warn, infinite, 0, "infinite dates count as missing", "")
	warnOf(warn, b.booleans(), 0, "true is read as 1 and false as 0, and the training had other numbers", "")
	told := map[string]bool{} // several features derive from a column of dates
	strange, marked := map[string][]columnRows{}, []columnRows(nil)
	for k := range b.bound.strange {
		c := &b.bound.Plan.Inputs[k]
		if of, place := b.bound.strange[k].takeAll(); of.Rows > 0 && b.bound.Fixed && !told[c.Name] {
			told[c.Name] = true
			strange[nameInput(*c)] = append(strange[nameInput(*c)], columnRows{c.Name, of.Rows, of.Text + ", " + place})
		}
		if of, place := b.bound.marked[k].takeAll(); of.Rows > 0 {
			marked = append(marked, columnRows{c.Name, of.Rows, of.Text + ", " + place + ", " + of.ReadingWords()})
		}
	}
	for _, what := range slices.Sorted(maps.Keys(strange)) {
		warnOf(warn, strange[what], b.Input, "have a text that is not "+what, ", it counts as missing")
	}
	warnOf(warn, marked, b.Input, "have a number with marks", "")
}

// booleans returns the columns of booleans from which a model takes numbers that aren't only 0 and 1; nil at later calls.
func (b *Builder) booleans() (columns []columnRows) {
	if !b.bound.Fixed || b.bound.booleansTold.Swap(true) {
		return nil
	}
	for k := range b.bound.Plan.Inputs {
		c := &b.bound.Plan.Inputs[k]
		if c.Derive == "" && c.ExceedsBooleans() && b.bound.Columns[b.bound.Features[k]].HasBooleans() {
			columns = append(columns, columnRows{name: c.Name})
		}
	}
	return columns
}

// columnRows is the name of a column, and the number of its rows that a note is about; 0: the note has no number. example is the
// first of their texts, and its place; "": the note has none.
type columnRows struct {
	name    string
	rows    int64
	example string
}

// warnOf warns of columns that have something in some of all rows: what, an example in parentheses, and the consequence.
func warnOf(warn func(string), columns []columnRows, all int64, what, consequence string) {
	var each []string
	for _, c := range columns {
		text := strconv.Quote(c.name)
		switch {
		case c.rows > 0 && len(columns) > 1 && c.example != "":
			text += fmt.Sprintf(" (%d, %s)", c.rows, c.example)
		case c.rows > 0 && len(columns) > 1:
			text += fmt.Sprintf(" (%d)", c.rows)
		case c.example != "":
			what += " (" + c.example + ")"
		}
		each = append(each, text)
	}
	what += consequence
	switch {
	case len(columns) == 0:
	case len(columns) > 1 && columns[0].rows > 0:
		warn(fmt.Sprintf("columns %s: some of %d rows %s", column.Listed(each, "column"), all, what))
	case len(columns) > 1:
		warn(fmt.Sprintf("columns %s: %s", column.Listed(each, "column"), what))
	case columns[0].rows > 0:
		warn(fmt.Sprintf("column %s: %d of %d rows %s", each[0], columns[0].rows, all, what))
	default:
		warn(fmt.Sprintf("column %s: %s", each[0], what))
	}
}

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
