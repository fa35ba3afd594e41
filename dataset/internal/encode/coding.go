package encode

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// A Coding says how a column of categories becomes features. The zero value is for columns of another kind.
type Coding struct {
	kind   schema.Kind
	bits   int
	named  bool   // the column may hold numbers or booleans too
	values string // see schema.Column; what a dictionary has is taken for that
}

// codingOf returns the coding of a column of another file, or of a model.
func codingOf(c schema.Column) Coding {
	return Coding{c.Kind, c.HashBits, c.Categorical(), c.Values}
}

// valuesOf returns the kind of a column's categories, for the field Values of schema.Column.
func (c Coding) valuesOf(t arrow.DataType, kind schema.ClassKind) string {
	switch {
	case t.ID() == arrow.DICTIONARY:
		return c.values
	case kind == schema.String:
		return ""
	}
	return kind.String()
}

// A namedCoding is the coding of the columns that a name or a pattern stands for.
type namedCoding struct {
	pattern string
	coding  Coding
}

// parseCodings reads Options.Categorical: the coding of all columns of text, and those of columns that are named.
func parseCodings(text string) (all Coding, named []namedCoding, err error) {
	if text == "" {
		return all, nil, nil
	}
	items, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil {
		return all, nil, errCoding
	}
	for _, item := range items {
		i := strings.LastIndexByte(item, '=')
		c, ok := parseCoding(item[i+1:])
		switch {
		case !ok && i < 0 && !strings.Contains(item, "hash") && !strings.Contains(item, "hot"):
			return all, nil, fmt.Errorf("%w: %s=onehot if that is a column", errCoding, item)
		case !ok || i < 0 && all.kind != "":
			return all, nil, errCoding
		case i < 0:
			all = c
		default:
			c.named = true
			named = append(named, namedCoding{item[:i], c})
		}
	}
	return all, named, nil
}

var errCoding = fmt.Errorf("use onehot or hash:BITS, with BITS from 1 to %d, for all columns of text, or COLUMN=onehot,COLUMN=hash:BITS for named columns",
	schema.MaxHashBits)

func parseCoding(text string) (Coding, bool) {
	if text == "onehot" {
		return Coding{kind: schema.OneHotColumn}, true
	}
	digits, hash := strings.CutPrefix(text, "hash:")
	bits, err := strconv.Atoi(digits)
	return Coding{kind: schema.HashColumn, bits: bits}, hash && err == nil && bits >= 1 && bits <= schema.MaxHashBits
}

// LearnsCategories tells whether features depend on the categories of the rows, with that value of the option categorical.
func LearnsCategories(text string) bool {
	all, named, err := parseCodings(text)
	learned := func(c Coding) bool { return (&schema.Column{Kind: c.kind, HashBits: c.bits}).Learned() }
	return err == nil && (learned(all) || slices.ContainsFunc(named, func(n namedCoding) bool { return learned(n.coding) }))
}

// CheckCategorical returns an error if text is no value of the option categorical.
func CheckCategorical(text string) error {
	_, _, err := parseCodings(text)
	return err
}

// Name sets the codings of the columns that Categorical names. A pattern passes over columns that can't have a coding.
// The others can't: they are the label and the weight, or -1.
func (c *chooser) Name(named []namedCoding, others ...int) error {
	for _, n := range named {
		matches, err := c.matches("--categorical", n.pattern)
		if err != nil {
			return err
		}
		for _, i := range matches {
			_, ok := frame.ClassKind(c.cols[i].Type)
			switch other := slices.Index(others, i); {
			case ok && other < 0:
				c.codings[i] = n.coding
				c.cols[i].Advice = "" // it is to be text
			case c.isPattern(n.pattern):
			case other >= 0:
				return c.errorf("column %q is the %s: leave it out of --categorical", n.pattern, [...]string{"label", "weight of rows"}[other])
			default:
				return c.errorf("column %q is %s, but categories are text, numbers or booleans: leave it out of --categorical", n.pattern, c.cols[i].Desc)
			}
		}
	}
	return nil
}

// checkNamed returns an error if a named column isn't a feature.
func (c *chooser) checkNamed(named []namedCoding, features []int) error {
	for _, n := range named {
		if c.isPattern(n.pattern) {
			continue
		}
		i, err := c.lookUp(n.pattern)
		if err != nil {
			return err
		}
		if !slices.Contains(features, i) {
			return c.errorf("column %q is not a feature: add it to --features, or leave it out of --exclude or --categorical", n.pattern)
		}
	}
	return nil
}
