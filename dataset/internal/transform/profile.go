package transform

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

// A Type is the use of a column that the option type names; "" lets the profile decide.
type Type string

const (
	asNumber   Type = "number"
	asBoolean  Type = "boolean"
	asDate     Type = "date"
	asCategory Type = "category"
	asText     Type = "text" // a category if the texts are few, otherwise hashed
	asIgnored  Type = "ignore"
	asHash     Type = "hash:" // and the number of bits
)

// ParseTypes parses the option type: COLUMN=TYPE items.
func ParseTypes(items []string) (map[string]Type, error) {
	types := map[string]Type{}
	for _, item := range items {
		i := strings.LastIndexByte(item, '=')
		t := Type(item[i+1:])
		_, hash := parseCoding(string(t))
		if hash = hash && strings.HasPrefix(string(t), string(asHash)); i < 1 || !hash && !slices.Contains([]Type{asNumber, asBoolean, asDate, asCategory, asText, asIgnored}, t) {
			return nil, fmt.Errorf("use COLUMN=TYPE, with the type number, boolean, date, category, text, hash:BITS or ignore, in place of %q", item)
		}
		types[item[:i]] = t
	}
	return types, nil
}

// A Profile counts the values of the columns of a selection, and decides how each column becomes features.
type Profile struct {
	sel      *Selection
	pool     column.Pool
	types    map[string]Type
	chosen   func(column string) bool // an option says how the column becomes features
	features []string                 // the option features
	rows     int64
	noLabel  int64
	columns  []columnProfile
	labels   *Labels // classes in the order of appearance, and the number of rows of each; nil unless Whole
	counts   []int64
}

// NewProfile returns the profile of no rows. The selection has each column that may become a feature; columns of text are one-hot
// inputs in it, unless the option categorical says otherwise. Columns that the option features names, without a pattern, are not
// left out.
func NewProfile(sel *Selection, p column.Pool, types map[string]Type, categorical string, features []string) *Profile {
	all, named, _ := parseCodings(categorical) // checked before
	chosen := func(name string) bool {
		return all.kind != "" || slices.ContainsFunc(named, func(n namedCoding) bool {
			ok, err := path.Match(slashless(n.pattern), slashless(name))
			return n.pattern == name || ok && err == nil
		})
	}
	f := &Profile{sel: sel, pool: p, types: types, chosen: chosen, features: features, columns: make([]columnProfile, len(sel.Inputs))}
	for k := range f.columns {
		f.columns[k].begin(sel, k)
	}
	return f
}

// mostTexts is the largest number of different texts of a column that a profile counts.
const mostTexts = 1 << 17

// mostOneHot is the largest number of different texts that become one-hot features by default.
const mostOneHot = 64

// A columnProfile counts the values of a column.
type columnProfile struct {
	text            bool                // the column's values are texts, or used as texts
	rows, missing   int64               // number of values
	texts           map[uint64]struct{} // hashes of the different texts; at most mostTexts
	full            bool                // there are more texts
	written         map[schema.Derivation]bool
	layouts         []dates // of each layout in which all texts so far are dates
	padded          bool    // some number has a leading zero
	dates           dates   // of a column of dates
	least, greatest float64 // of numbers
	ascends         bool    // each number is greater than the number before
	whole           bool    // the type is an integer type
	last            float64
	examples        []string
}

// dates are the range of dates in a layout, and the months, weekdays and hours among them: a bit for each.
type dates struct {
	layout                  string
	first, last             float64 // in days since 1970-01-01
	months, weekdays, hours uint32
}

var textSeed = maphash.MakeSeed()

func (c *columnProfile) begin(sel *Selection, k int) {
	in, t := sel.Inputs[k], sel.Columns[sel.Features[k]].Type
	c.text = in.Categorical()
	c.texts, c.written = map[uint64]struct{}{}, map[schema.Derivation]bool{schema.Plain: true, schema.Comma: true, schema.Boolean: true}
	for _, layout := range slices.Concat([]string{""}, schema.Layouts) {
		c.layouts = append(c.layouts, dates{layout: layout, first: math.Inf(1), last: math.Inf(-1)})
	}
	c.least, c.greatest, c.ascends, c.last = math.Inf(1), math.Inf(-1), true, math.Inf(-1)
	c.whole = t != nil && arrow.IsInteger(t.ID())
	c.dates = c.layouts[0]
}

// TypedCodings returns the value of the option categorical that makes every column of text, and each column that types make a category
// or a text, a column of categories.
func TypedCodings(categorical string, types map[string]Type) string {
	var items []string
	if all, _, err := parseCodings(categorical); err == nil && all.kind == "" {
		items = append(items, "onehot")
	}
	if categorical != "" {
		items = append(items, categorical)
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		t := types[name]
		switch {
		case t == asCategory || t == asText:
			t = "onehot"
		case !strings.HasPrefix(string(t), string(asHash)):
			continue
		}
		var item strings.Builder
		w := csv.NewWriter(&item)
		_ = w.Write([]string{name + "=" + string(t)}) // a Builder has no errors
		w.Flush()
		items = append(items, strings.TrimSpace(item.String()))
	}
	return strings.Join(items, ",")
}

// Numeric returns true if each column has numbers.
func (f *Profile) Numeric() bool {
	for k := range f.columns {
		in, c := f.sel.Inputs[k], f.sel.Columns[f.sel.Features[k]]
		if _, dated := daysIn(c.Type); dated || in.Categorical() || f.types[in.Name] != "" {
			return false
		}
	}
	return true
}

// Plain returns true if no value and no label is missing so far, and each column of numbers varies and doesn't count the rows.
func (f *Profile) Plain() bool {
	if f.noLabel > 0 {
		return false
	}
	for k := range f.columns {
		if c := &f.columns[k]; c.rows > 0 && (c.missing > 0 || c.least == c.greatest || c.whole && c.ascends) {
			return false
		}
	}
	return true
}

func (f *Profile) Add(ctx context.Context, bt *column.Batch) error {
	kept, err := f.sel.Kept(ctx, f.pool, bt)
	if err != nil || kept.Rows == nil {
		return cmp.Or(err, f.add(ctx, bt))
	}
	part, err := kept.Of(bt)
	if err != nil {
		return err
	}
	defer part.Release()
	return f.add(ctx, part)
}

func (f *Profile) add(ctx context.Context, bt *column.Batch) error {
	f.rows += bt.Rows
	if f.sel.Label >= 0 {
		f.noLabel += int64(len(column.Missing(bt.Label(f.sel.Label), 0, int(bt.Rows))))
	}
	if f.labels != nil && f.sel.Label >= 0 {
		if err := f.countClasses(bt); err != nil {
			return err
		}
	}
	return f.pool.Each(ctx, len(f.columns), func(k int) error {
		if kind := f.sel.Inputs[k].Kind; kind == schema.ListColumn || kind == schema.CrossColumn || kind == schema.NumberedColumn {
			return nil
		}
		return column.Recovered(func() error { return f.columns[k].add(bt.Columns[f.sel.Features[k]], f.labels != nil) })
	})
}

// Whole makes the profile count the different numbers of columns, and the classes.
func (f *Profile) Whole() {
	f.labels = NewLabels(nil)
}

func (f *Profile) countClasses(bt *column.Batch) error {
	a, lo := bt.Label(f.sel.Label), 0
	for _, gap := range append(column.Missing(a, 0, a.Len()), a.Len()) {
		numbers := make([]float32, gap-lo)
		if row, what := encodeValid(f.labels, a, lo, numbers); what != "" {
			return Unfit(column.ErrorIn(bt.File, "column %q, %s: %s", f.sel.Columns[f.sel.Label].Name, bt.Row(bt.First, row), what))
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

// see records a value of a column among its different values. again is true if the value is among them already.
func (c *columnProfile) see(text func() string, bits uint64) (again bool) {
	if c.full {
		return false
	}
	if _, again = c.texts[bits]; again {
		return true
	}
	if len(c.texts) == mostTexts {
		c.full = true
		return false
	}
	if c.texts[bits] = struct{}{}; len(c.examples) < 3 {
		c.examples = append(c.examples, text())
	}
	return false
}

// add adds values. It counts different numbers and dates only if distinct is true.
func (c *columnProfile) add(a arrow.Array, distinct bool) error {
	c.rows += int64(a.Len())
	missing := column.Missing(a, 0, a.Len())
	c.missing += int64(len(missing))
	if c.text {
		return c.addTexts(a)
	}
	values, err := column.Numbers(a)
	if err != nil {
		return err
	}
	perDay, dated := daysIn(a.DataType())
	for i, v := range values {
		if len(missing) > 0 && column.IsMissing(a, i) {
			continue
		}
		if dated {
			c.dates.add(v / perDay)
		} else {
			c.least, c.greatest = min(c.least, v), max(c.greatest, v)
			c.ascends, c.last = c.ascends && v > c.last, v
		}
		if distinct {
			c.see(func() string { return a.ValueStr(i) }, math.Float64bits(v))
		}
	}
	return nil
}

// addTexts adds an array of texts, numbers or booleans that are used as texts.
func (c *columnProfile) addTexts(a arrow.Array) error {
	if d, is := a.(*array.Dictionary); is {
		if _, words := d.Dictionary().(*array.String); words && d.Len() > 4*d.Dictionary().Len() {
			seen := make([]bool, d.Dictionary().Len())
			for i := range d.Len() {
				if at := d.GetValueIndex(i); d.IsValid(i) && !seen[at] {
					seen[at] = true
					c.addText(d.Dictionary(), at)
				}
			}
			return nil
		}
	}
	for i := range a.Len() {
		if !column.IsMissing(a, i) {
			c.addText(a, i)
		}
	}
	return nil
}

func (c *columnProfile) addText(a arrow.Array, i int) {
	text, what := textOf(a, i)
	if what != "" || c.see(func() string { return strings.Clone(text) }, maphash.String(textSeed, text)) || meansMissing(text) {
		return
	}
	for derive, ok := range c.written {
		if ok {
			_, c.written[derive] = (&schema.Column{Derive: derive}).Number(text)
		}
	}
	trimmed := strings.TrimSpace(text)
	c.padded = c.padded || len(trimmed) > 1 && trimmed[0] == '0' && unicode.IsDigit(rune(trimmed[1]))
	keep := c.layouts[:0]
	for _, d := range c.layouts {
		if t, ok := schema.ParseTime(text, d.layout); ok {
			d.add(schema.DaysOf(t))
			keep = append(keep, d)
		}
	}
	c.layouts = keep
}

// add adds a date or time, in days since 1970-01-01.
func (d *dates) add(days float64) {
	month, weekday, hour := schema.DateParts(days)
	d.first, d.last = min(d.first, days), max(d.last, days)
	d.months, d.weekdays, d.hours = d.months|1<<month, d.weekdays|1<<weekday, d.hours|1<<hour
}

func (d *dates) inputs(name string) []schema.Column {
	all := []schema.Column{{Derive: schema.Days, Origin: math.Floor(d.first)}}
	for _, part := range []struct {
		seen     uint32
		sin, cos schema.Derivation
	}{{d.months, schema.MonthSin, schema.MonthCos}, {d.weekdays, schema.WeekdaySin, schema.WeekdayCos}, {d.hours, schema.HourSin, schema.HourCos}} {
		if part.seen&(part.seen-1) != 0 {
			all = append(all, schema.Column{Derive: part.sin}, schema.Column{Derive: part.cos})
		}
	}
	for i := range all {
		all[i].Name, all[i].Kind, all[i].Layout = name, schema.NumberColumn, d.layout
	}
	return all
}

// A Plan says how columns become features.
type Plan struct {
	Inputs     []schema.Column // nil: the options that the profile started from say so already
	Nulls      schema.Nulls
	Unlabelled bool
	Notes      []string
	Columns    []Prepared
}

// Prepared describes a column, and the features that it becomes.
type Prepared struct {
	Name     string   `json:"name"`
	Type     string   `json:"type"`
	Missing  int64    `json:"missing"`
	Distinct int      `json:"distinct"`        // number of different values; of numbers and dates only with Whole
	More     bool     `json:"more"`            // there are more different values than Distinct
	Range    string   `json:"range,omitempty"` // of numbers and dates: "least to greatest"
	Examples []string `json:"examples"`
	Becomes  string   `json:"becomes"`
	LeftOut  bool     `json:"left_out"`

	text bool // the values are texts
}

// Plan returns how the columns become features. nulls is the treatment of missing values that the options ask for; "" lets the
// profile decide.
func (f *Profile) Plan(nulls schema.Nulls) (*Plan, error) {
	p := &Plan{Nulls: nulls, Unlabelled: f.noLabel > 0}
	if f.rows > 0 && f.noLabel == f.rows {
		return nil, column.Mark(fmt.Errorf("column %q has no value: choose another column with --label", f.sel.Columns[f.sel.Label].Name), column.ErrColumn)
	}
	plain, gaps := true, false
	var bad []error
	for _, name := range slices.Sorted(maps.Keys(f.types)) {
		if f.types[name] != asIgnored && !slices.ContainsFunc(f.sel.Inputs, func(in schema.Column) bool { return in.Name == name }) {
			bad = append(bad, column.Mark(fmt.Errorf("column %q of --type is no feature: leave it out of --type, or change the name", name), column.ErrColumn))
		}
	}
	for k := range f.columns {
		in := f.sel.Inputs[k]
		if in.Kind == schema.CrossColumn {
			continue
		}
		inputs, becomes, err := f.decide(k)
		if err != nil {
			bad = append(bad, err)
		}
		c := &f.columns[k]
		if c.text && len(inputs) > 0 && inputs[0].Derive.Dated() {
			c.dates = c.layouts[0]
		}
		marks := c.missing > 0 && len(inputs) > 0 && nulls == "" && (c.text || 100*c.missing >= c.rows)
		if marks {
			inputs = append(inputs, schema.Column{Name: in.Name, Kind: schema.NumberColumn, Derive: schema.Missing})
		}
		plain = plain && len(inputs) == 1 && inputs[0].Kind == in.Kind && !inputs[0].Categorical() && inputs[0].Derive == ""
		gaps = gaps || c.missing > 0 && len(inputs) > 0
		p.Inputs = append(p.Inputs, inputs...)
		col := Prepared{Name: in.Name, Type: column.Describe(f.sel.Columns[f.sel.Features[k]].Type), text: c.text, Missing: c.missing, Distinct: len(c.texts), More: c.full,
			Range: c.span(), Examples: c.examples, Becomes: becomes, LeftOut: len(inputs) == 0}
		if marks {
			col.Becomes += ", missing values marked"
		}
		p.Columns = append(p.Columns, col)
	}
	if len(bad) > 0 {
		return nil, column.JoinErrors(bad...)
	}
	if len(p.Inputs) == 0 {
		if slices.ContainsFunc(f.columns, func(c columnProfile) bool { return c.missing > 0 }) || !slices.ContainsFunc(p.Columns, func(c Prepared) bool { return c.Becomes == oneValue && !c.text }) {
			return nil, f.nothing(p)
		}
		p.Columns, plain = nil, true // a program that asks for numbers gets these
	}
	if nulls == "" && (!plain || gaps) {
		p.Nulls = schema.NullsMean
	}
	if plain && !gaps {
		p.Inputs = nil
	}
	p.Notes = f.notes(p, nulls)
	return p, nil
}

// oneValue describes a column that is left out.
const oneValue = "left out: one value"

// span returns the least and the greatest value of numbers or dates, or "".
func (c *columnProfile) span() string {
	days := func(d float64) string { return time.Unix(int64(math.Floor(d))*86400, 0).UTC().Format(time.DateOnly) }
	switch {
	case c.dates.first <= c.dates.last:
		return days(c.dates.first) + " to " + days(c.dates.last)
	case !c.text && c.least <= c.greatest:
		return fmt.Sprintf("%.6g to %.6g", c.least, c.greatest)
	}
	return ""
}

// decide returns the features that a column becomes, and a few words for them.
func (f *Profile) decide(k int) (inputs []schema.Column, becomes string, err error) {
	in, c := f.sel.Inputs[k], &f.columns[k]
	values, t := c.rows-c.missing, f.types[in.Name]
	in.Means, in.Center, in.Scale = nil, nil, nil
	named := slices.Contains(f.features, in.Name)
	whole := c.missing == 0 && values > 1 && t == "" && !named
	_, dated := daysIn(f.sel.Columns[f.sel.Features[k]].Type)
	switch {
	case t == asIgnored:
		return nil, "left out: --type says so", nil
	case in.Kind == schema.ListColumn || in.Kind == schema.NumberedColumn:
		return []schema.Column{in}, "numbers", nil
	case values == 0 && !named:
		return nil, "left out: no value", nil
	case c.text:
		return f.decideText(in, c, t, named)
	case dated && (t == "" || t == asDate):
		if c.dates.first == c.dates.last && whole {
			return nil, oneValue, nil
		}
		inputs = c.dates.inputs(in.Name)
		return inputs, "date: " + parts(inputs), nil
	case t == asDate:
		return nil, "", f.unfit(in.Name, "dates", "has numbers")
	case c.least == c.greatest && whole:
		return nil, oneValue, nil
	case c.whole && c.ascends && whole && values >= leastSuspects:
		return nil, "left out: it counts the rows", nil
	}
	return []schema.Column{in}, "number", nil
}

// decideText is decide for a column of text, or whose values are used as text.
func (f *Profile) decideText(in schema.Column, c *columnProfile, t Type, named bool) (inputs []schema.Column, becomes string, err error) {
	values, texts := c.rows-c.missing, "has the texts "+strings.Join(quoteAll(c.examples), ", ")
	derived := func(d schema.Derivation) []schema.Column {
		return []schema.Column{{Name: in.Name, Kind: schema.NumberColumn, Derive: d}}
	}
	number := t == "" && !c.padded || t == asNumber
	switch {
	case t == asCategory || strings.HasPrefix(string(t), string(asHash)) || f.chosen(in.Name) && t == "":
		return []schema.Column{in}, nameCoding(in), nil
	case t == "" && len(c.texts) == 1 && c.missing == 0 && values > 1 && !named:
		return nil, oneValue, nil
	case (t == "" || t == asBoolean) && c.written[schema.Boolean] && len(c.texts) > 1:
		return derived(schema.Boolean), "yes or no: 1 or 0", nil
	case number && c.written[schema.Plain]:
		return derived(schema.Plain), "number", nil
	case number && c.written[schema.Comma]:
		return derived(schema.Comma), "number with a decimal comma", nil
	case (t == "" || t == asDate) && len(c.layouts) > 0:
		inputs = c.layouts[0].inputs(in.Name)
		return inputs, "date: " + parts(inputs), nil
	case t == asBoolean:
		return nil, "", f.unfit(in.Name, "yes or no", texts)
	case t == asNumber:
		return nil, "", f.unfit(in.Name, "numbers", texts)
	case t == asDate:
		return nil, "", f.unfit(in.Name, "dates of one form", texts)
	case t == "" && !named && values >= leastSuspects && (c.full || 10*int64(len(c.texts)) >= 9*values):
		return nil, "left out: nearly all texts differ", nil
	case len(c.texts) > mostOneHot:
		// With more than MaxAllBuckets bits, only buckets of the training rows are features. So wide hashes cost nothing, and few
		// texts share a bucket.
		in.Kind, in.HashBits = schema.HashColumn, schema.MaxAllBuckets+1
		for in.HashBits < schema.MaxHashBits && 1<<in.HashBits < 16*len(c.texts) {
			in.HashBits++
		}
	}
	return []schema.Column{in}, nameCoding(in), nil
}

func nameCoding(c schema.Column) string {
	if c.Hashed() {
		return fmt.Sprintf("hashed to 2^%d", c.HashBits)
	}
	return "category"
}

func parts(inputs []schema.Column) string {
	var words []string
	for _, c := range inputs {
		if word, _ := strings.CutSuffix(string(c.Derive), " sin"); !strings.HasSuffix(word, "cos") {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

func quoteAll(texts []string) (all []string) {
	for _, t := range texts {
		all = append(all, fmt.Sprintf("%.40q", t))
	}
	return all
}

func (f *Profile) unfit(name, wanted, has string) error {
	return column.Mark(fmt.Errorf("column %q is to be %s by --type, and %s: choose another type", name, wanted, has), column.ErrColumn)
}

func (f *Profile) nothing(p *Plan) error {
	var all []string
	for _, c := range p.Columns {
		all = append(all, fmt.Sprintf("%s (%s)", c.Name, strings.TrimPrefix(c.Becomes, "left out: ")))
	}
	return column.Mark(fmt.Errorf("no feature is left, all columns are left out: %s: use --type COLUMN=category or number for a column that is to be one",
		strings.Join(all[:min(len(all), 20)], ", ")), column.ErrColumn)
}

// notes returns at most three lines: about the features of columns, the treatment of missing values, and the columns left out.
func (f *Profile) notes(p *Plan, nulls schema.Nulls) (lines []string) {
	var made, means, marks, out []string
	for _, c := range p.Columns {
		becomes, _ := strings.CutSuffix(c.Becomes, ", missing values marked")
		switch {
		case c.LeftOut:
			out = append(out, fmt.Sprintf("%q (%s)", c.Name, strings.TrimPrefix(becomes, "left out: ")))
		case f.chosen(c.Name) && f.types[c.Name] == "" && c.text: // an option says so
		case becomes != "numbers" && (becomes != "number" || c.text):
			made = append(made, fmt.Sprintf("%q (%s)", c.Name, becomes))
		}
		switch {
		case c.Missing == 0 || c.LeftOut:
		case strings.HasPrefix(becomes, "category") || strings.HasPrefix(becomes, "hashed"):
			marks = append(marks, fmt.Sprintf("%q (%d)", c.Name, c.Missing))
		default:
			means = append(means, fmt.Sprintf("%q (%d)", c.Name, c.Missing))
		}
	}
	if len(made) > 0 {
		lines = append(lines, "prepared "+some(made))
	}
	var missing []string
	if len(means) > 0 {
		missing = append(missing, "the mean in "+some(means)+", with a mark if they are 1 % or more")
	}
	if len(marks) > 0 {
		missing = append(missing, "a category in "+some(marks))
	}
	if len(missing) > 0 && nulls == "" {
		lines = append(lines, "missing values are "+strings.Join(missing, ", and "))
	}
	if len(out) > 0 {
		lines = append(lines, "left out "+some(out)+": use --type COLUMN=number, category or text to keep one")
	}
	return lines
}
