package transform

import (
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A Coding describes how a column of categories becomes features. The zero value is for other columns.
type Coding struct {
	kind   schema.Kind
	bits   int
	named  bool   // an option names the column, which may then have numbers or booleans too
	values string // see schema.Column; for an Arrow dictionary, the type its values are assumed to have
	words  *schema.Words
}

// codingOf returns the coding that a column has in another file or in a model.
func codingOf(c schema.Column) Coding {
	return Coding{c.Kind, c.HashBits, c.Categorical(), c.Values, c.Words}
}

// valuesOf returns the type of a column's categories, in the form of the field Values of schema.Column.
func (c Coding) valuesOf(t arrow.DataType, kind schema.ClassKind) string {
	switch {
	case c.words != nil:
		return ""
	case t.ID() == arrow.DICTIONARY:
		return c.values
	case kind == schema.String:
		return ""
	}
	return kind.String()
}

// A namedCoding is the coding of the columns that match a name or a pattern.
type namedCoding struct {
	pattern string
	coding  Coding
}

// Coded returns the names and patterns of the columns that the option categorical names.
func Coded(categorical string) (names []string) {
	_, named, _ := parseCodings(categorical) // checked before
	for _, n := range named {
		names = append(names, n.pattern)
	}
	return names
}

// parseCodings parses Options.Categorical. It returns the coding of all text columns, and the codings of named
// columns.
func parseCodings(text string) (all Coding, named []namedCoding, err error) {
	if text == "" {
		return all, nil, nil
	}
	items, err := csv.NewReader(strings.NewReader(text)).Read()
	if err != nil {
		return all, nil, errCoding
	}
	for _, item := range items {
		i := plan.IndexOfType(item)
		c, ok := parseCoding(item[i+1:])
		switch {
		case !ok && i < 0 && !strings.Contains(item, "hash") && !strings.Contains(item, "hot") && !strings.HasPrefix(item, "words"):
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

var errCoding = fmt.Errorf("use onehot or hash:BITS, with BITS from 1 to %d, for all columns of text, or "+
	"COLUMN=onehot,COLUMN=hash:BITS for named columns", schema.MaxHashBits)

// TypedCodings returns the value of the option categorical that makes every column of text, and each column that
// types make a category or a text, a column of categories.
func TypedCodings(categorical string, types map[string]plan.Word) string {
	var items []string
	if all, _, err := parseCodings(categorical); err == nil && all.kind == "" {
		items = append(items, "onehot")
	}
	if categorical != "" {
		items = append(items, categorical)
	}
	for _, name := range slices.Sorted(maps.Keys(types)) {
		word := types[name]
		switch {
		case word == plan.Category || word == plan.Text:
			word = "onehot"
		case !word.Hash() && word.Words() == nil:
			continue
		}
		var item strings.Builder
		w := csv.NewWriter(&item)
		_ = w.Write([]string{name + "=" + string(word)}) // a Builder has no errors
		w.Flush()
		items = append(items, strings.TrimSpace(item.String()))
	}
	return strings.Join(items, ",")
}

// defaultCrossBits is the number of hash bits of a cross without "=hash:BITS".
const defaultCrossBits = 20

// A cross is one item of Options.Cross.
type cross struct {
	text  string
	names []string
	bits  int
}

// parseCross parses one item of Options.Cross: names of columns, then "=hash:BITS" or nothing.
func parseCross(text string) (cross, error) {
	c := cross{text, nil, defaultCrossBits}
	names := text
	if i := strings.LastIndexByte(text, '='); i >= 0 {
		if coding, ok := parseCoding(text[i+1:]); ok && coding.kind == schema.HashColumn {
			names, c.bits = text[:i], coding.bits
		} else if strings.HasPrefix(text[i+1:], "hash:") {
			names = ""
		}
	}
	var err error
	if c.names, err = csv.NewReader(strings.NewReader(names)).Read(); err != nil || len(c.names) < 2 || slices.Contains(c.names, "") {
		return c, fmt.Errorf("use COLUMN,COLUMN or COLUMN,COLUMN=hash:BITS, with BITS from 1 to %d", schema.MaxHashBits)
	}
	return c, nil
}

// CheckCross returns an error if text is no valid value of the option cross.
func CheckCross(text string) error {
	_, err := parseCross(text)
	return err
}

func parseCoding(text string) (Coding, bool) {
	if text == "onehot" {
		return Coding{kind: schema.OneHotColumn}, true
	}
	if of := plan.Word(text).Words(); of != nil {
		return Coding{kind: schema.WordsColumn, words: of}, true
	}
	digits, hash := strings.CutPrefix(text, "hash:")
	bits, err := strconv.Atoi(digits)
	return Coding{kind: schema.HashColumn, bits: bits}, hash && err == nil && bits >= 1 && bits <= schema.MaxHashBits
}

// LearnsCategories returns true if features depend on the categories in the rows. text is the value of the option
// categorical, crosses are the values of the option cross.
func LearnsCategories(text string, crosses []string) bool {
	all, named, err := parseCodings(text)
	for _, text := range crosses {
		c, _ := parseCross(text)
		named = append(named, namedCoding{coding: Coding{kind: schema.CrossColumn, bits: c.bits}})
	}
	learned := func(c Coding) bool { return (&schema.Column{Kind: c.kind, HashBits: c.bits, Words: c.words}).Learned() }
	return err == nil && (learned(all) || slices.ContainsFunc(named, func(n namedCoding) bool { return learned(n.coding) }))
}

// CheckCategorical returns an error if text is no valid value of the option categorical.
func CheckCategorical(text string) error {
	_, _, err := parseCodings(text)
	return err
}

// setCodings sets the codings of the columns that Categorical names. A pattern skips columns that can't have a coding, and
// the columns in others, which are the numbers of the label and the weight, or -1. To name one of these columns
// without a pattern is an error.
func (s *fileColumns) setCodings(codings []Coding, named []namedCoding, others ...int) error {
	for _, n := range named {
		matches, err := s.matches(message.Option("categorical"), n.pattern)
		if err != nil {
			return err
		}
		for _, i := range matches {
			_, ok := column.ClassKind(s.cols[i].Type)
			switch other := slices.Index(others, i); {
			case ok && other < 0:
				codings[i] = n.coding
				s.cols[i].Advice = "" // the column is meant to be text
			case s.isPattern(n.pattern):
			case other >= 0:
				return s.errorf("column %q is the %s: leave it out of --categorical or --type", n.pattern,
					[...]string{"label", "weight of rows"}[other])
			default:
				return s.errorf("column %q is %s, but categories are text, numbers or booleans: leave it out of "+
					"--categorical", n.pattern, s.cols[i].Desc)
			}
		}
	}
	return nil
}

// checkNamed returns an error if a column that Categorical names without a pattern isn't a feature.
func (s *fileColumns) checkNamed(named []namedCoding, features []int) error {
	for _, n := range named {
		if s.isPattern(n.pattern) {
			continue
		}
		i, err := s.lookUp(n.pattern)
		if err != nil {
			return err
		}
		if !slices.Contains(features, i) {
			return s.errorf("column %q is not a feature: add it to --features, or leave it out of --exclude or --categorical", n.pattern)
		}
	}
	return nil
}
