package transform

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/schema"
)

// A truth is a value of SQL's three-valued logic. The order makes "and" the least and "or" the greatest of two values.
type truth int8

const (
	no truth = iota
	unknown
	yes
)

var joins = map[string]func(a, b truth) truth{
	"and": func(a, b truth) truth { return min(a, b) }, "or": func(a, b truth) truth { return max(a, b) },
}

// A condition chooses rows, as SQL's WHERE does.
type condition struct {
	op    string // and, or, not; =, <>, <, <=, >, >=; like; null
	parts []*condition
	name  string // column of a comparison
	place int    // its number in the selection
	value literal
	like  *regexp.Regexp
}

// A literal is a number, a boolean or a text of a condition.
type literal struct {
	kind schema.ClassKind
	text string
}

func (l literal) String() string {
	if l.kind == schema.String {
		return "'" + strings.ReplaceAll(l.text, "'", "''") + "'"
	}
	return l.text
}

// whereHelp ends the errors of a condition.
const whereHelp = `: write conditions such as "amount < 1000 and country in ('de', 'fr')"`

// parseWhere parses a condition; nil stands for "".
func parseWhere(text string) (*condition, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	words, err := whereWords(text)
	if err != nil {
		return nil, err
	}
	p := whereParser{words: words}
	c, err := p.or(0)
	if err == nil && len(p.words) > 0 {
		err = fmt.Errorf("%s stands where and, or, or the end is wanted%s", p.words[0], whereHelp)
	}
	return c, err
}

// CheckWhere returns an error if text is no condition.
func CheckWhere(text string) error {
	_, err := parseWhere(text)
	return err
}

// whereWord matches a word of a condition.
var whereWord = regexp.MustCompile(`^(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|<=|>=|<>|!=|==|[=<>(),]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[\p{L}_][\p{L}\p{N}_.]*)`)

func whereWords(text string) (words []string, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		word := whereWord.FindString(text)
		if word == "" {
			if text[0] == '\'' || text[0] == '"' {
				return nil, fmt.Errorf("a quote is not closed: %.40s", text)
			}
			return nil, fmt.Errorf("%.20q is not understood%s", text, whereHelp)
		}
		words, text = append(words, word), text[len(word):]
	}
	return words, nil
}

// A whereParser parses by recursive descent.
type whereParser struct{ words []string }

// mostNested is the largest depth of parentheses and nots.
const mostNested = 100

// take removes the next word if it is one of words, in any case, and returns it in lower case; otherwise "".
func (p *whereParser) take(words ...string) string {
	if len(p.words) > 0 {
		if w := strings.ToLower(p.words[0]); slices.Contains(words, w) {
			p.words = p.words[1:]
			return w
		}
	}
	return ""
}

// next returns the next word for an error.
func (p *whereParser) next() string {
	if len(p.words) == 0 {
		return "the end"
	}
	return p.words[0]
}

func (p *whereParser) or(depth int) (*condition, error) { return p.chain("or", p.and, depth) }

func (p *whereParser) and(depth int) (*condition, error) { return p.chain("and", p.not, depth) }

func (p *whereParser) chain(op string, part func(int) (*condition, error), depth int) (*condition, error) {
	c, err := part(depth)
	for err == nil && p.take(op) != "" {
		var other *condition
		other, err = part(depth)
		c = joined(op, c, other)
	}
	return c, err
}

func (p *whereParser) not(depth int) (*condition, error) {
	if depth > mostNested {
		return nil, fmt.Errorf("more than %d parentheses or nots within each other", mostNested)
	}
	if p.take("not") != "" {
		c, err := p.not(depth + 1)
		return negated(c), err
	}
	if p.take("(") != "" {
		c, err := p.or(depth + 1)
		if err == nil && p.take(")") == "" {
			err = fmt.Errorf("%s stands where ) is wanted", p.next())
		}
		return c, err
	}
	return p.comparison()
}

// joined returns the condition of two; a may be nil.
func joined(op string, a, b *condition) *condition {
	if a == nil {
		return b
	}
	return &condition{op: op, parts: []*condition{a, b}}
}

func negated(c *condition) *condition { return &condition{op: "not", parts: []*condition{c}} }

var turned = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}

// comparison parses a comparison of a column with literals.
func (p *whereParser) comparison() (*condition, error) {
	if value, ok := p.literal(); ok { // 3 < x is x > 3
		op := p.operator()
		name, err := p.column()
		if err == nil && op == "" {
			err = fmt.Errorf("%s stands without a comparison%s", value, whereHelp)
		}
		return &condition{op: cmp.Or(turned[op], op), name: name, value: value}, err
	}
	name, err := p.column()
	if err != nil {
		return nil, err
	}
	if p.take("is") != "" {
		not := p.take("not") != ""
		if p.take("null") == "" {
			return nil, fmt.Errorf("%s stands where null is wanted", p.next())
		}
		return negatedIf(not, &condition{op: "null", name: name}), nil
	}
	if op := p.operator(); op != "" {
		value, err := p.wanted()
		return &condition{op: op, name: name, value: value}, err
	}
	not := p.take("not") != ""
	switch p.take("in", "between", "like") {
	case "in":
		c, err := p.list(name)
		return negatedIf(not, c), err
	case "between":
		low, err := p.wanted()
		if err == nil && p.take("and") == "" {
			err = fmt.Errorf("%s stands where and is wanted, as in: between 1 and 5", p.next())
		}
		if err != nil {
			return nil, err
		}
		high, err := p.wanted()
		return negatedIf(not, &condition{op: "and", parts: []*condition{{op: ">=", name: name, value: low}, {op: "<=", name: name, value: high}}}), err
	case "like":
		value, err := p.wanted()
		if err == nil && value.kind != schema.String {
			err = fmt.Errorf("%s stands where a text in single quotes is wanted, as in: like 'a%%'", value)
		}
		pattern := strings.NewReplacer("%", ".*", "_", ".").Replace(regexp.QuoteMeta(value.text))
		like, bad := regexp.Compile("(?s)^" + pattern + "$")
		return negatedIf(not, &condition{op: "like", name: name, value: value, like: like}), cmp.Or(err, bad)
	}
	return nil, fmt.Errorf("%s stands behind %s, where =, <>, <, <=, >, >=, in, between, like or is is wanted%s", p.next(), name, whereHelp)
}

func negatedIf(not bool, c *condition) *condition {
	if not {
		return negated(c)
	}
	return c
}

func (p *whereParser) list(name string) (*condition, error) {
	if p.take("(") == "" {
		return nil, fmt.Errorf("%s stands where ( is wanted, as in: in ('a', 'b')", p.next())
	}
	var all *condition
	for {
		value, err := p.wanted()
		if err != nil {
			return nil, err
		}
		all = joined("or", all, &condition{op: "=", name: name, value: value})
		if p.take(",") != "" {
			continue
		}
		if p.take(")") == "" {
			return nil, fmt.Errorf("%s stands where , or ) is wanted", p.next())
		}
		return all, nil
	}
}

// operator returns the next word if it is a comparison, otherwise "".
func (p *whereParser) operator() string {
	op := p.take("=", "==", "<>", "!=", "<", "<=", ">", ">=")
	switch op {
	case "==":
		return "="
	case "!=":
		return "<>"
	}
	return op
}

func (p *whereParser) literal() (literal, bool) {
	if len(p.words) == 0 {
		return literal{}, false
	}
	w := p.words[0]
	l := literal{schema.Number, w}
	switch lower := strings.ToLower(w); {
	case w[0] == '\'':
		l = literal{schema.String, strings.ReplaceAll(w[1:len(w)-1], "''", "'")}
	case lower == "true" || lower == "false":
		l = literal{schema.Bool, lower}
	case !strings.ContainsAny(w[:1], "+-.0123456789"):
		return literal{}, false
	}
	p.words = p.words[1:]
	return l, true
}

// wanted returns the literal that must come next.
func (p *whereParser) wanted() (literal, error) {
	l, ok := p.literal()
	if !ok {
		return l, fmt.Errorf("%s stands where a number, true, false, or a text in single quotes is wanted", p.next())
	}
	return l, nil
}

// whereKeywords can't be names of columns without double quotes.
var whereKeywords = []string{"and", "or", "not", "in", "between", "like", "is", "null", "true", "false"}

// column returns the name of a column, which must come next.
func (p *whereParser) column() (string, error) {
	w := p.next()
	switch {
	case len(p.words) == 0 || !strings.ContainsAny(w[:1], `"`) && (slices.Contains(whereKeywords, strings.ToLower(w)) || strings.ContainsAny(w[:1], "=<>!(),'")):
		return "", fmt.Errorf("%s stands where the name of a column is wanted%s", w, whereHelp)
	case w[0] == '"':
		w = strings.ReplaceAll(w[1:len(w)-1], `""`, `"`)
	}
	p.words = p.words[1:]
	return w, nil
}

// each calls f with each comparison.
func (c *condition) each(f func(*condition) error) error {
	if c == nil {
		return nil
	}
	if len(c.parts) == 0 {
		return f(c)
	}
	for _, part := range c.parts {
		if err := part.each(f); err != nil {
			return err
		}
	}
	return nil
}

// findWhere parses the option where, and returns the number of the column of each comparison.
func (c *chooser) findWhere() (places []int, err error) {
	if c.where, err = parseWhere(c.opt.Where); err != nil {
		return nil, fmt.Errorf("where: %w", err)
	}
	err = c.where.each(func(cond *condition) error {
		i, err := c.lookUp(cond.name)
		if err != nil {
			return err
		}
		if what := cond.fits(c.cols[i].Type); what != "" {
			return c.errorf("--where: column %q: %s", cond.name, what)
		}
		c.cols[i].Advice = ""
		places = append(places, i)
		return nil
	})
	return places, err
}

// fits returns an error text unless values of the type can be compared with the condition's literal.
func (c *condition) fits(t arrow.DataType) string {
	kind, ok := column.ClassKind(t)
	_, dated := daysIn(t)
	switch {
	case c.op == "null":
		return ""
	case dated && c.value.kind == schema.String && c.op != "like":
		if _, ok := timeOf(t, c.value.text); !ok {
			return fmt.Sprintf("%s is no date or time such as '2026-01-31' or '2026-01-31 12:00:00'", c.value)
		}
		return ""
	case dated:
		return fmt.Sprintf("it is %s, and %s is no date in single quotes", column.Describe(t), c.value)
	case !ok:
		return fmt.Sprintf("it is %s, which can't be compared", column.Describe(t))
	case kind == c.value.kind:
		return ""
	case kind == schema.String:
		return fmt.Sprintf("it is text: write '%s'", c.value)
	}
	return fmt.Sprintf("it is a %s, and %s is a %s", kind, c.value, map[schema.ClassKind]string{schema.Number: "number", schema.Bool: "boolean", schema.String: "text"}[c.value.kind])
}

// timeOf returns the date or time that a text is, for a column of a type.
func timeOf(t arrow.DataType, text string) (time.Time, bool) {
	if id := t.ID(); id == arrow.TIME32 || id == arrow.TIME64 {
		at, ok := schema.ParseTime(text, "15:04:05")
		if !ok {
			at, ok = schema.ParseTime(text, "15:04")
		}
		return at, ok
	}
	return schema.ParseTime(text, "")
}

// choose returns, for each row of a batch, whether the condition is true.
func (c *condition) choose(bt *column.Batch) ([]truth, error) {
	switch c.op {
	case "and", "or":
		all, err := c.parts[0].choose(bt)
		if err != nil {
			return nil, err
		}
		other, err := c.parts[1].choose(bt)
		for i, t := range other {
			all[i] = joins[c.op](all[i], t)
		}
		return all, err
	case "not":
		all, err := c.parts[0].choose(bt)
		for i := range all {
			all[i] = yes - all[i]
		}
		return all, err
	}
	a := bt.Columns[c.place]
	all := make([]truth, a.Len())
	if c.op == "null" {
		for i := range all {
			if a.IsNull(i) {
				all[i] = yes
			}
		}
		return all, nil
	}
	if what := c.fits(a.DataType()); what != "" {
		return nil, fmt.Errorf("--where: column %q: %s", c.name, what)
	}
	compare, err := c.comparer(a)
	if err != nil {
		return nil, fmt.Errorf("--where: column %q: %w", c.name, err)
	}
	for i := range all {
		if a.IsNull(i) {
			all[i] = unknown
		} else if compare(i) {
			all[i] = yes
		}
	}
	return all, nil
}

// orders tells of each comparison whether it is true for a value whose order against the literal is -1, 0 or 1.
var orders = map[string]func(o int) bool{
	"=": func(o int) bool { return o == 0 }, "<>": func(o int) bool { return o != 0 }, "<": func(o int) bool { return o < 0 },
	"<=": func(o int) bool { return o <= 0 }, ">": func(o int) bool { return o > 0 }, ">=": func(o int) bool { return o >= 0 },
}

// comparer returns a function that tells whether the comparison is true in a row that isn't null.
func (c *condition) comparer(a arrow.Array) (func(i int) bool, error) {
	holds := orders[c.op]
	if d, is := a.(*array.Dictionary); is {
		of, err := c.comparer(d.Dictionary())
		return func(i int) bool { return of(d.GetValueIndex(i)) }, err
	}
	if perDay, dated := daysIn(a.DataType()); dated {
		at, _ := timeOf(a.DataType(), c.value.text)
		day, nanos := schema.DayOf(at)
		values, unit := column.Whole(a), int64(perDay)
		return func(i int) bool {
			v := values(i)
			d := v / unit
			if v%unit < 0 {
				d--
			}
			return holds(cmp.Or(cmp.Compare(d, day), cmp.Compare((v-d*unit)*(dayNanos/unit), nanos)))
		}, nil
	}
	switch c.value.kind {
	case schema.String:
		text := column.Texts(a)
		if c.op == "like" {
			return func(i int) bool { return c.like.MatchString(text(i)) }, nil
		}
		return func(i int) bool { return holds(strings.Compare(text(i), c.value.text)) }, nil
	case schema.Bool:
		want, b := c.value.text == "true", a.(*array.Boolean)
		one := map[bool]int{true: 1}
		return func(i int) bool { return holds(cmp.Compare(one[b.Value(i)], one[want])) }, nil
	}
	return c.numbers(a, holds)
}

// dayNanos is the number of nanoseconds of a day.
const dayNanos = int64(24 * time.Hour)

// numbers is comparer for numbers. NaN is greater than every other number.
func (c *condition) numbers(a arrow.Array, holds func(int) bool) (func(i int) bool, error) {
	if w, err := strconv.ParseInt(c.value.text, 10, 64); err == nil {
		if u, is := a.(*array.Uint64); is {
			return func(i int) bool {
				if w < 0 {
					return holds(1)
				}
				return holds(cmp.Compare(u.Value(i), uint64(w)))
			}, nil
		}
		if values := column.Whole(a); values != nil {
			return func(i int) bool { return holds(cmp.Compare(values(i), w)) }, nil
		}
	}
	want, err := humanize.ParseNumber(c.value.text)
	if err != nil {
		return nil, fmt.Errorf("%s is no number that float64 can hold", c.value)
	}
	view, err := column.NewView64(a)
	scratch := make([]float64, 1)
	return func(i int) bool {
		values, _ := view.Read(i, i+1, scratch)
		v := values[0]
		switch {
		case math.IsNaN(v):
			return holds(1)
		case math.Abs(v) >= 1<<53 && arrow.IsInteger(a.DataType().ID()): // float64 rounded it
			exact, _ := new(big.Float).SetString(a.ValueStr(i))
			return holds(exact.Cmp(big.NewFloat(want)))
		}
		return holds(cmp.Compare(v, want))
	}, err
}

// leaveOut marks, in gone, the rows of a batch that the options where, sample and limit leave out, and counts them.
func (s *Selection) leaveOut(bt *column.Batch, gone []bool) error {
	bt.Unchosen = 0
	if bt.Unread {
		for i := range gone {
			gone[i] = true
		}
	} else if s.where != nil {
		chosen, err := s.where.choose(bt)
		if err != nil {
			return err
		}
		for i, t := range chosen {
			gone[i] = t != yes
		}
	}
	for i := range gone {
		row := bt.First + int64(i)
		if gone[i] = gone[i] || s.opt.Sample > 0 && !sampled(row, s.opt.Sample) || s.limit > 0 && row >= s.limit; gone[i] {
			bt.Unchosen++
		}
	}
	return nil
}

// sampled returns true for a share of the rows, which a hash of the row's number chooses: the finalizer of SplitMix64 (Steele, Lea and
// Flood, OOPSLA 2014).
func sampled(row int64, share float64) bool {
	h := (uint64(row) + 1) * 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return float64((h^h>>31)>>11)*0x1p-53 < share
}

// SetEnd makes the selection drop the input rows from end on; 0 is no end.
func (s *Selection) SetEnd(end int64) { s.limit = end }

// End returns the number of input rows that contain the first rows that the options where and sample choose. It makes a pass over the
// batches if necessary.
func (s *Selection) End(ctx context.Context, rows int64, p column.Pool, batches iter.Seq2[*column.Batch, error]) (end int64, err error) {
	if s.where == nil && s.opt.Sample == 0 {
		return rows, nil
	}
	err = Each(ctx, batches, -1, nil, func(bt *column.Batch, first int64) error {
		if _, err := s.Kept(ctx, p, bt); err != nil {
			return err
		}
		gone := make([]bool, bt.Rows)
		if err := s.leaveOut(bt, gone); err != nil {
			return err
		}
		for i, g := range gone {
			if end = first + int64(i) + 1; g {
				continue
			}
			if rows--; rows == 0 {
				return ErrEnough
			}
		}
		return nil
	})
	return max(1, end), err
}
