// Package where chooses rows by a condition, as SQL's WHERE does.
package where

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"halfspace/schema"
)

// A Condition is a condition on the values of some columns in a row.
type Condition struct {
	columns []string
	forms   []*schema.Column // for each column; see SetForm
	root    *node
}

// A node is a comparison, or nodes that are joined by and, or by or. There is no node for not: the parser negates the
// comparisons below it. A row for which a condition is unknown is no more chosen than a row for which it is false, and
// without not the two need not be told apart.
type node struct {
	all   bool    // and joins the parts; otherwise or does
	parts []*node // nil: a comparison
	comparison
}

// A comparison is true for a value whose order against the literal is among some orders.
type comparison struct {
	column int // number in Condition.columns
	holds  orders
	value  literal
	like   *regexp.Regexp // nil unless the comparison is like
	null   bool           // the comparison is with null; then it has no literal
	bare   bool           // the condition has the name of the column alone
}

// Columns returns the names of the columns in the condition, each once.
func (c *Condition) Columns() []string {
	if c == nil {
		return nil
	}
	return c.columns
}

// each calls f with each comparison until f returns false.
func (n *node) each(f func(*comparison) bool) bool {
	if n.parts == nil {
		return f(&n.comparison)
	}
	return !slices.ContainsFunc(n.parts, func(part *node) bool { return !part.each(f) })
}

// help ends the errors of a condition.
const help = `: write conditions such as "amount < 1000 and country in ('de', 'fr')"`

// Parse parses a condition; nil stands for "".
func Parse(text string) (*Condition, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	words, err := wordsOf(text)
	if err != nil {
		return nil, err
	}
	p := parser{words: words}
	root, err := p.or(0)
	if err == nil && len(p.words) > 0 {
		err = fmt.Errorf("%s stands where and, or, or the end is wanted%s", p.words[0], help)
	}
	if err != nil {
		return nil, err
	}
	return &Condition{columns: p.columns, forms: make([]*schema.Column, len(p.columns)), root: root}, nil
}

// word matches a word of a condition.
var word = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|<=|>=|<>|!=|==|[=<>(),]|` +
		`[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[\p{L}_][\p{L}\p{N}_.]*)`)
})

func wordsOf(text string) (words []string, err error) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		next := word().FindString(text)
		if next == "" {
			if text[0] == '\'' || text[0] == '"' {
				return nil, fmt.Errorf("a quote is not closed: %.40s", text)
			}
			return nil, fmt.Errorf("%.20q is not understood%s", text, help)
		}
		words, text = append(words, next), text[len(next):]
	}
	return words, nil
}

// A parser parses by recursive descent.
type parser struct {
	words   []string // that were not parsed yet
	columns []string // the names of columns so far
}

// mostNested is the largest depth of parentheses and nots.
const mostNested = 100

// take removes the next word if it is one of the given words, in any case, and returns it in lower case; otherwise "".
func (p *parser) take(any ...string) string {
	if len(p.words) > 0 {
		if w := strings.ToLower(p.words[0]); slices.Contains(any, w) {
			p.words = p.words[1:]
			return w
		}
	}
	return ""
}

// next returns the next word for an error.
func (p *parser) next() string {
	if len(p.words) == 0 {
		return "the end"
	}
	return p.words[0]
}

// number returns the number of a column among the columns of the condition.
func (p *parser) number(name string) int {
	if k := slices.Index(p.columns, name); k >= 0 {
		return k
	}
	p.columns = append(p.columns, name)
	return len(p.columns) - 1
}

func (p *parser) or(depth int) (*node, error) { return p.chain("or", p.and, depth) }

func (p *parser) and(depth int) (*node, error) { return p.chain("and", p.not, depth) }

// chain parses one part, or several that are joined by op.
func (p *parser) chain(op string, part func(int) (*node, error), depth int) (*node, error) {
	first, err := part(depth)
	parts := []*node{first}
	for err == nil && p.take(op) != "" {
		var other *node
		other, err = part(depth)
		parts = append(parts, other)
	}
	if len(parts) == 1 || err != nil {
		return first, err
	}
	return &node{all: op == "and", parts: parts}, nil
}

func (p *parser) not(depth int) (*node, error) {
	if depth > mostNested {
		return nil, fmt.Errorf("more than %d parentheses or nots within each other", mostNested)
	}
	if p.take("not") != "" {
		n, err := p.not(depth + 1)
		if err == nil {
			n.negate()
		}
		return n, err
	}
	if p.take("(") != "" {
		n, err := p.or(depth + 1)
		if err == nil && p.take(")") == "" {
			err = fmt.Errorf("%s stands where ) is wanted", p.next())
		}
		return n, err
	}
	return p.comparison()
}

// negate makes the node true where it was false.
func (n *node) negate() {
	if n.parts == nil {
		n.holds = n.opposite()
		return
	}
	n.all = !n.all
	for _, part := range n.parts {
		part.negate()
	}
}

// opposite returns the orders for which the negation of a comparison is true. A comparison with a literal is unknown
// for a missing value, and so is its negation.
func (c *comparison) opposite() orders {
	if c.null {
		return c.holds ^ (anyValue | missing)
	}
	return c.holds ^ anyValue
}

// operators are the orders for which a comparison by each operator is true.
var operators = map[string]orders{"=": equal, "==": equal, "<>": below | above, "!=": below | above,
	"<": below, "<=": below | equal, ">": above, ">=": above | equal}

// turned are the operators after the operands changed places: 3 < x is x > 3.
var turned = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<="}

// operator returns the next word if it is an operator, otherwise "".
func (p *parser) operator() string { return p.take("=", "==", "<>", "!=", "<", "<=", ">", ">=") }

// comparison parses a comparison of a column with literals, or a column of booleans.
func (p *parser) comparison() (*node, error) {
	if value, ok, err := p.literal(); err != nil {
		return nil, err
	} else if ok {
		op := p.operator()
		k, err := p.column()
		if err == nil && op == "" {
			err = fmt.Errorf("%s stands without a comparison%s", value, help)
		}
		if other := turned[op]; other != "" {
			op = other
		}
		return &node{comparison: comparison{column: k, holds: operators[op], value: value}}, err
	}
	name := p.next()
	k, err := p.column()
	if err != nil {
		return nil, err
	}
	if p.take("is") != "" {
		holds := missing
		if p.take("not") != "" {
			holds = anyValue
		}
		if p.take("null") == "" {
			return nil, fmt.Errorf("%s stands where null is wanted", p.next())
		}
		return &node{comparison: comparison{column: k, holds: holds, null: true}}, nil
	}
	if op := p.operator(); op != "" {
		value, err := p.wanted()
		return &node{comparison: comparison{column: k, holds: operators[op], value: value}}, err
	}
	if next := strings.ToLower(p.next()); len(p.words) == 0 || next == "and" || next == "or" || next == ")" {
		yes := literal{kind: schema.Bool, text: "true"}
		return &node{comparison: comparison{column: k, holds: equal, value: yes, bare: true}}, nil
	}
	not := p.take("not") != ""
	n, err := p.set(k, name)
	if err == nil && not {
		n.negate()
	}
	return n, err
}

// set parses the words behind the name of column k: in and a list, between and two literals, or like and a pattern.
func (p *parser) set(k int, name string) (*node, error) {
	switch p.take("in", "between", "like") {
	case "in":
		return p.list(k)
	case "between":
		return p.between(k)
	case "like":
		value, err := p.wanted()
		if err == nil && value.kind != schema.String {
			err = fmt.Errorf("%s stands where a text in single quotes is wanted, as in: like 'a%%'", value)
		}
		if err != nil {
			return nil, err
		}
		pattern := strings.NewReplacer("%", ".*", "_", ".").Replace(regexp.QuoteMeta(value.text))
		like, err := regexp.Compile("(?s)^" + pattern + "$")
		return &node{comparison: comparison{column: k, holds: equal, value: value, like: like}}, err
	}
	return nil, fmt.Errorf("%s stands behind %s, where =, <>, <, <=, >, >=, in, between, like or is is wanted%s",
		p.next(), name, help)
}

func (p *parser) between(k int) (*node, error) {
	low, err := p.wanted()
	if err == nil && p.take("and") == "" {
		err = fmt.Errorf("%s stands where and is wanted, as in: between 1 and 5", p.next())
	}
	if err != nil {
		return nil, err
	}
	high, err := p.wanted()
	return &node{all: true, parts: []*node{{comparison: comparison{column: k, holds: equal | above, value: low}},
		{comparison: comparison{column: k, holds: below | equal, value: high}}}}, err
}

func (p *parser) list(k int) (*node, error) {
	if p.take("(") == "" {
		return nil, fmt.Errorf("%s stands where ( is wanted, as in: in ('a', 'b')", p.next())
	}
	var all node
	for {
		value, err := p.wanted()
		if err != nil {
			return nil, err
		}
		all.parts = append(all.parts, &node{comparison: comparison{column: k, holds: equal, value: value}})
		if p.take(",") != "" {
			continue
		}
		if p.take(")") == "" {
			return nil, fmt.Errorf("%s stands where , or ) is wanted", p.next())
		}
		return &all, nil
	}
}

// literal takes the next word if it is a literal. Otherwise ok is false.
func (p *parser) literal() (l literal, ok bool, err error) {
	if len(p.words) == 0 {
		return literal{}, false, nil
	}
	w := p.words[0]
	kind, text := schema.Number, w
	switch lower := strings.ToLower(w); {
	case w[0] == '\'':
		kind, text = schema.String, strings.ReplaceAll(w[1:len(w)-1], "''", "'")
	case lower == "true" || lower == "false":
		kind, text = schema.Bool, lower
	case !strings.ContainsAny(w[:1], "+-.0123456789"):
		return literal{}, false, nil
	}
	p.words = p.words[1:]
	l, err = newLiteral(kind, text)
	return l, true, err
}

// wanted returns the literal that must come next.
func (p *parser) wanted() (literal, error) {
	l, ok, err := p.literal()
	if err == nil && !ok {
		err = fmt.Errorf("%s stands where a number, true, false, or a text in single quotes is wanted", p.next())
	}
	return l, err
}

// keywords can't be names of columns without double quotes.
var keywords = []string{"and", "or", "not", "in", "between", "like", "is", "null", "true", "false"}

// column returns the number of the column whose name must come next.
func (p *parser) column() (int, error) {
	w := p.next()
	switch {
	case len(p.words) == 0, strings.ContainsAny(w[:1], "=<>!(),'"), slices.Contains(keywords, strings.ToLower(w)):
		return 0, fmt.Errorf("%s stands where the name of a column is wanted%s", w, help)
	case w[0] == '"':
		w = strings.ReplaceAll(w[1:len(w)-1], `""`, `"`)
	}
	p.words = p.words[1:]
	return p.number(w), nil
}

// inCondition returns the name of a column as a condition has it: in double quotes if necessary.
func inCondition(name string) string {
	first := strings.TrimLeft(name, `+-.0123456789'"<>!=(),`)
	if name != "" && first == name && word().FindString(name) == name && !slices.Contains(keywords, strings.ToLower(name)) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
