package transform

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A Profile counts the values of the columns of a binding.
type Profile struct {
	bound        *Binding
	pool         column.Pool
	types        map[string]plan.Word
	rows         int64
	noLabel      int64
	file         string // of the first batch
	severalFiles bool   // the batches are of several files
	columns      []columnProfile
	labels       *Labels // classes in the order of appearance, and the number of rows of each; nil unless Whole
	counts       []int64
}

// NewProfile returns the profile of no rows. The binding has each column that may become a feature; columns of text are one-hot
// inputs in it, unless the option categorical says otherwise. Columns that the option features names, without a pattern, are not
// left out.
func NewProfile(bound *Binding, p column.Pool, types map[string]plan.Word, categorical string,
	features []string) *Profile {
	all, named, _ := parseCodings(categorical) // checked before
	f := &Profile{bound: bound, pool: p, types: types, columns: make([]columnProfile, len(bound.Plan.Inputs))}
	for k := range bound.Plan.Inputs {
		in := &bound.Plan.Inputs[k] // not learned
		t := bound.Columns[bound.Features[k]].Type
		_, dated := column.PerDay(t)
		coded := all.kind != "" || slices.ContainsFunc(named, func(n namedCoding) bool {
			ok, err := path.Match(slashless(n.pattern), slashless(in.Name))
			return n.pattern == in.Name || ok && err == nil
		})
		f.columns[k] = columnProfile{Counts: plan.Counts{Input: in, Type: column.Describe(t),
			Word: types[in.Name], IsNamed: slices.Contains(features, in.Name), IsCategorical: coded, HasTexts: in.Categorical(),
			HasDates: dated, HasIntegers: t != nil && arrow.IsInteger(t.ID())}}
		if column.IsClock(t) {
			f.columns[k].Layout = schema.ClockLayout
		}
		f.columns[k].Begin()
	}
	return f
}

// mostTexts is the largest number of different texts of a column that a profile counts.
const mostTexts = 1 << 17

// A columnProfile counts the values of a column.
type columnProfile struct {
	plan.Counts
	texts    hashes  // of the different values, at most mostTexts, with the results of plan.Counts.AddText
	numbered bool    // there is a number
	above    float64 // the first number less the number of its row
	first    string  // the first number, if its float64 may lack digits
	unread   string  // the reason why the first value that is no category is none
}

// Numeric returns true if each column has numbers, and no option names the type of a column.
func (f *Profile) Numeric() bool {
	for _, word := range f.types {
		if word != plan.Ignore {
			return false
		}
	}
	return !slices.ContainsFunc(f.columns, func(c columnProfile) bool { return c.HasDates || c.HasTexts })
}

// Plain returns true if no value and no label is missing so far, and each column of numbers varies and doesn't count the rows.
func (f *Profile) Plain() bool {
	return f.noLabel == 0 && !slices.ContainsFunc(f.columns, func(c columnProfile) bool {
		return c.Rows > 0 && (c.Missing > 0 || c.Min == c.Max || c.HasIntegers && c.CountsRows)
	})
}

func (f *Profile) Add(ctx context.Context, bt *column.Batch) error {
	kept, err := f.bound.Kept(ctx, f.pool, bt)
	if err != nil || kept.Rows == nil {
		return cmp.Or(err, f.add(ctx, bt, batchRows{batch: bt}))
	}
	part, err := kept.Of(bt)
	if err != nil {
		return err
	}
	defer part.Release()
	return f.add(ctx, part, batchRows{bt, kept.Rows})
}

// batchRows are rows of a batch, by their numbers in the input.
type batchRows struct {
	batch *column.Batch
	rows  []int32 // in the batch; nil: all
}

// row returns the number of row i in the input.
func (p batchRows) row(i int) int64 {
	if p.rows != nil {
		i = int(p.rows[i])
	}
	return p.batch.First + int64(i)
}

// add counts the values of a batch. at are its rows.
func (f *Profile) add(ctx context.Context, bt *column.Batch, at batchRows) error {
	if f.rows == 0 {
		f.file = bt.File
	}
	f.severalFiles = f.severalFiles || bt.File != f.file
	f.rows += bt.Rows
	if f.bound.Label >= 0 {
		f.noLabel += int64(len(column.Missing(bt.Label(f.bound.Label), 0, int(bt.Rows))))
	}
	if f.labels != nil && f.bound.Label >= 0 {
		if err := f.countClasses(bt, at); err != nil {
			return err
		}
	}
	return f.pool.Each(ctx, len(f.columns), func(k int) error {
		if kind := f.bound.Plan.Inputs[k].Kind; kind == schema.CrossColumn || kind == schema.NumberedColumn {
			return nil
		}
		return column.Recovered(func() error { return f.columns[k].add(bt.Columns[f.bound.Features[k]], at, f.labels != nil) })
	})
}

// Whole makes the profile count the different numbers of columns, and the classes.
func (f *Profile) Whole() {
	f.labels = NewLabels(nil)
}

// LacksTypes tells the profile that the command has no option type.
func (f *Profile) LacksTypes() {
	for k := range f.columns {
		f.columns[k].LacksTypes = true
	}
}

// Semicolons tells the profile that the fields of a text file are apart by semicolons.
func (f *Profile) Semicolons() {
	for k := range f.columns {
		f.columns[k].Semicolons = true
	}
}

// countClasses counts the classes of a batch. at are its rows.
func (f *Profile) countClasses(bt *column.Batch, at batchRows) error {
	a, lo := bt.Label(f.bound.Label), 0
	for _, gap := range append(column.Missing(a, 0, a.Len()), a.Len()) {
		numbers := make([]float32, gap-lo)
		if row, what := encodeValid(f.labels, a, lo, numbers); what != "" {
			row = int(at.row(row) - bt.First)
			return Unfit(at.batch.RowError(bt.First, row, f.bound.Columns[f.bound.Label].Name, what))
		}
		f.counts = append(f.counts, make([]int64, len(f.labels.Classes)-len(f.counts))...)
		for _, n := range numbers {
			f.counts[int(n)]++
		}
		lo = gap + 1
	}
	return nil
}

// Classes returns the classes in sorted order, the number of rows of each, the number of all rows, and of rows without a label.
func (f *Profile) Classes() (classes []schema.Class, counts []int64, rows, unlabelled int64) {
	if f.labels != nil {
		classes = slices.SortedFunc(slices.Values(f.labels.Classes), schema.Class.Compare)
	}
	for _, c := range classes {
		counts = append(counts, f.counts[f.labels.Numbers[c]])
	}
	return classes, counts, f.rows, f.noLabel
}

// ClassNote returns a note about the classes of the label, or "".
func (f *Profile) ClassNote(classes []schema.Class) string {
	if f.bound.Label < 0 {
		return ""
	}
	return noteOfClasses(f.bound.Columns[f.bound.Label].Name, classes, f.bound.Plan.NullWords)
}

// see records a number or a date among the different values of a column.
func (c *columnProfile) see(text func() string, bits uint64) {
	if c.HasMore {
		return
	}
	if _, again := c.texts.number(bits); !again && c.room() {
		c.texts.add(bits, 0)
		c.count(text())
	}
}

// room returns true if there is room for one more different value.
func (c *columnProfile) room() bool {
	c.HasMore = c.HasMore || c.texts.len() == mostTexts
	return !c.HasMore
}

// count counts a value that differs from the values before.
func (c *columnProfile) count(text string) {
	if c.Distinct++; len(c.Examples) < 3 {
		c.Examples = append(c.Examples, strings.Clone(text))
	}
}

// add counts the values of an array; of lists, only the missing ones. at are its rows. It counts different numbers and dates
// only if distinct is true.
func (c *columnProfile) add(a arrow.Array, at batchRows, distinct bool) error {
	c.Rows += int64(a.Len())
	missing := column.Missing(a, 0, a.Len())
	c.Missing += int64(len(missing))
	if c.Input.Kind == schema.ListColumn {
		return nil
	}
	if c.HasTexts {
		return c.addTexts(a, at)
	}
	values, err := column.Numbers(a)
	if err != nil {
		return err
	}
	perDay, dated := column.PerDay(a.DataType())
	for i, v := range values {
		if len(missing) > 0 && column.IsMissing(a, i) {
			continue
		}
		if dated {
			v /= perDay // files may have other units
			c.Range.Add(v)
		} else {
			c.addNumber(v, at.row(i))
		}
		if distinct {
			c.see(func() string { return a.ValueStr(i) }, math.Float64bits(v))
		}
	}
	if !c.Varies && c.Min == c.Max && math.Abs(c.Min) >= 1<<53 {
		c.compare(a)
	}
	return nil
}

// compare finds out whether values of an array differ that are the same float64.
func (c *columnProfile) compare(a arrow.Array) {
	for i := range a.Len() {
		if column.IsMissing(a, i) {
			continue
		}
		if text := a.ValueStr(i); c.first == "" {
			c.first = strings.Clone(text)
		} else if c.Varies = text != c.first; c.Varies {
			return
		}
	}
}

// addNumber counts a number, and records by how much it is above the number of its row. Beyond 2^53, float64 can't tell.
func (c *columnProfile) addNumber(v float64, row int64) {
	if v < c.Min || v > c.Max {
		c.Min, c.Max = min(c.Min, v), max(c.Max, v)
	}
	if !c.CountsRows {
		return
	}
	above := v - float64(row)
	if !c.numbered {
		c.numbered, c.above = true, above
	}
	c.CountsRows = above == c.above && math.Abs(above) < 1<<53
}

// addTexts adds an array of texts, numbers or booleans that are used as texts. at are its rows.
func (c *columnProfile) addTexts(a arrow.Array, at batchRows) error {
	if d, is := a.(*array.Dictionary); is {
		if _, words := d.Dictionary().(*array.String); words && d.Len() > 4*d.Dictionary().Len() {
			rows, first := make([]int64, d.Dictionary().Len()), make([]int, d.Dictionary().Len())
			for i := range d.Len() {
				if d.IsNull(i) {
					continue
				}
				k := d.GetValueIndex(i)
				if rows[k]++; rows[k] == 1 {
					first[k] = i
				}
			}
			for k, n := range rows {
				if n > 0 {
					c.addText(d.Dictionary(), k, n, at, first[k])
				}
			}
			return nil
		}
	}
	for i := range a.Len() {
		if !column.IsMissing(a, i) {
			c.addText(a, i, 1, at, i)
		}
	}
	return nil
}

// addText adds n rows with text i of an array. first is the first of these rows among at.
func (c *columnProfile) addText(a arrow.Array, i int, n int64, at batchRows, first int) {
	id := a.DataType().ID()
	if value := column.Texts(a); value != nil && c.AddBytes(value(i), id == arrow.BINARY || id == arrow.LARGE_BINARY) {
		return
	}
	text, what := textOf(a, i)
	if what != "" {
		if c.unread == "" {
			c.unread = what
		}
		return
	}
	var bits uint64
	if !c.HasMore { // otherwise there are too many texts to tell apart
		bits = maphash.String(textSeed, text)
		if odd, again := c.texts.number(bits); again {
			if odd > 0 {
				c.OddTexts[odd-1].Rows += n
			}
			return
		}
	}
	odd := c.AddText(text, at.row(first))
	if c.room() {
		c.texts.add(bits, int32(odd))
		c.count(text)
	}
	if odd == 0 {
		return
	}
	o := &c.OddTexts[odd-1]
	if o.Rows += n - 1; o.Rows == n && at.batch.Line != nil && c.BeginsFit(odd-1) {
		o.File, o.Line = at.batch.File, at.batch.Line(at.row(first)-at.batch.First)
	}
}

// Plan returns how the columns become features. nulls is the treatment of missing values that the options ask for; "" lets the
// profile decide.
func (f *Profile) Plan(nulls schema.Nulls) (*plan.Decisions, error) {
	if f.rows > 0 && f.noLabel == f.rows {
		return nil, column.Mark(message.Errorf("column %q has no value: choose another column with --label",
			f.bound.Columns[f.bound.Label].Name), column.ErrColumn)
	}
	var columns []*plan.Counts
	for k := range f.columns {
		if !f.severalFiles {
			f.columns[k].WithoutFiles()
		}
		if c := &f.columns[k]; c.unread != "" && c.Distinct == 0 {
			return nil, column.Mark(fmt.Errorf("column %q: %s", c.Input.Name, c.unread), column.ErrColumn)
		}
		if f.bound.Plan.Inputs[k].Kind != schema.CrossColumn {
			columns = append(columns, &f.columns[k].Counts)
		}
	}
	p, err := plan.Make(columns, f.types, nulls)
	if err == nil {
		p.Unlabelled = f.noLabel > 0
		p.NoteTypes(slices.Clone(f.bound.leftOut.of[""]))
	}
	return p, err
}
