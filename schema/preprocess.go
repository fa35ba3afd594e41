package schema

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
)

// Preprocessing says how the columns of the data become features, if that takes more than reading a number from each.
type Preprocessing struct {
	Nulls      Nulls    `json:"nulls"`
	NullValues []string `json:"null_values,omitzero"` // texts that were nulls in CSV files of the training; nil: the usual ones
	Columns    []Column `json:"columns"`              // in the order of their features
}

// Nulls says how features without a finite number are treated: nulls, NaN and infinities.
type Nulls string

const (
	NullsError Nulls = "error" // they are errors, the default
	NullsDrop  Nulls = "drop"  // their rows aren't kept
	NullsZero  Nulls = "zero"  // they are zeros
	NullsMean  Nulls = "mean"  // they are the mean of the feature's numbers in training
)

// AllNulls lists every value, the default first.
var AllNulls = []Nulls{NullsError, NullsDrop, NullsZero, NullsMean}

// A Column of the data becomes one or several adjacent features.
type Column struct {
	Name     string `json:"name"`
	Kind     Kind   `json:"kind"`
	Unit     string `json:"unit,omitempty"`     // what a number of a date or time counts
	Elements int    `json:"elements,omitempty"` // of each list, or features of a numbered column
	First    int    `json:"first,omitempty"`    // number of a numbered column's first feature

	Categories []string `json:"categories,omitempty"` // of a one-hot column, in ascending order
	Values     string   `json:"values,omitempty"`     // type of the categories: "number", "boolean", or "" for text
	Of         []Part   `json:"of,omitempty"`         // the columns of a cross
	HashBits   int      `json:"hash_bits,omitempty"`  // of a hashed one or a cross, which becomes 1<<HashBits features, or those of Buckets
	Buckets    []int    `json:"buckets,omitempty"`    // of a hashed one with more than MaxAllBuckets bits: those of the training, in ascending order

	Dictionary *Dictionary `json:"dictionary,omitempty"` // of a hashed one or a cross: texts of its features, if they were asked for

	Means []float64 `json:"means,omitempty"` // of each feature, with NullsMean

	// Center and Scale have an element for each feature if numbers are standardized. (x - Center) / Scale is computed
	// in float64, then narrowed.
	Center []float64 `json:"center,omitempty"`
	Scale  []float64 `json:"scale,omitempty"`
}

// A Part is one of the columns of a cross.
type Part struct {
	Name   string `json:"name"`
	Values string `json:"values,omitempty"` // as in Column
}

// Kind says how a column becomes features.
type Kind string

const (
	NumberColumn Kind = "number" // the number itself; 0 and 1 for false and true
	ListColumn   Kind = "list"   // a feature for each element of a list of numbers
	OneHotColumn Kind = "onehot" // a feature for each category of text: 1 for the text's own category
	HashColumn   Kind = "hash"   // a feature for each bucket of HashBucket: 1 for the text's own bucket
	CrossColumn  Kind = "cross"  // the same for the texts of several columns, which Cross joins

	NumberedColumn Kind = "numbered" // a feature for each of Elements indices of svmlight, from First on
)

// MaxCategories is the most categories of a one-hot column in dense rows. In sparse rows only MaxNamed bounds them.
const MaxCategories = 1000

// MaxHashBits is the most bits of a hashed column. With up to MaxAllBuckets bits each bucket is a feature, with more each
// bucket that the training rows have.
const (
	MaxHashBits   = 24
	MaxAllBuckets = 16
)

// HashBucket returns the bucket, of 1<<bits, of a text: the lowest bits of the XXH3-64, without a seed, of its UTF-8
// bytes.
func HashBucket(text string, bits int) int { return int(xxh3.HashString(text) & (1<<bits - 1)) }

// CrossBucket is HashBucket for the bytes of Cross.
func CrossBucket(text []byte, bits int) int { return int(xxh3.Hash(text) & (1<<bits - 1)) }

// CrossMark is between the texts of a cross. UTF-8 has no such byte.
const CrossMark = 0xff

// Cross returns the text that a cross has for texts of its columns: one after the other, with CrossMark between.
func Cross(texts ...string) string { return strings.Join(texts, string([]byte{CrossMark})) }

// number tells whether the column's features are its numbers.
func (c *Column) number() bool { return c.Kind == NumberColumn || c.Kind == ListColumn }

// Categorical tells whether the column's features are its categories.
func (c *Column) Categorical() bool { return c.Kind == OneHotColumn || c.Hashed() }

// Hashed tells whether the column's features are buckets.
func (c *Column) Hashed() bool { return c.Kind == HashColumn || c.Kind == CrossColumn }

// Learned tells whether the categories of the training rows make the column's features.
func (c *Column) Learned() bool {
	return c.Kind == OneHotColumn || c.Hashed() && c.HashBits > MaxAllBuckets
}

// Feature returns which of the column's features a category is, or -1 if the training hadn't it.
func (c *Column) Feature(text string) int {
	n, found := 0, true
	switch {
	case c.Kind == OneHotColumn:
		n, found = slices.BinarySearch(c.Categories, text)
	case c.Learned():
		n, found = slices.BinarySearch(c.Buckets, HashBucket(text, c.HashBits))
	default:
		n = HashBucket(text, c.HashBits)
	}
	if !found {
		return -1
	}
	return n
}

// Width returns the number of features that the column becomes.
func (c *Column) Width() int {
	switch c.Kind {
	case ListColumn, NumberedColumn:
		return c.Elements
	case OneHotColumn:
		return len(c.Categories)
	case HashColumn, CrossColumn:
		if c.HashBits > MaxAllBuckets {
			return len(c.Buckets)
		}
		return 1 << c.HashBits
	}
	return 1
}

// Names returns the names of the column's features. Those of a column x are x, x[0], x=category, x#hash:BITS[0], or x1 where they are
// numbered. The cross of x and y has the name x*y.
func (c *Column) Names() []string {
	names := make([]string, c.Width())
	for i := range names {
		names[i] = c.FeatureName(i)
	}
	return names
}

// FeatureName returns the name of the column's feature i, from 0.
func (c *Column) FeatureName(i int) string {
	switch c.Kind {
	case NumberedColumn:
		return c.Name + strconv.Itoa(c.First+i)
	case ListColumn:
		return fmt.Sprintf("%s[%d]", c.Name, i)
	case OneHotColumn:
		return c.Name + "=" + c.Categories[i]
	case HashColumn, CrossColumn:
		if c.HashBits > MaxAllBuckets {
			i = c.Buckets[i]
		}
		return fmt.Sprintf("%s#hash:%d[%d]", c.Name, c.HashBits, i)
	}
	return c.Name
}

// NameBytes returns the most bytes that the names of the column's features have in a Spec.
func (c *Column) NameBytes() int64 {
	if c.Width() > MaxNamed {
		return 0
	}
	bytes := int64(c.Width()) * int64(len(c.Name)+len("#hash:24[16777215]"))
	for _, text := range c.Categories {
		bytes += int64(len(text))
	}
	return bytes
}

// Width returns the number of features that all columns become.
func (p *Preprocessing) Width() int {
	n := 0
	for i := range p.Columns {
		n += p.Columns[i].Width()
	}
	return n
}

// FeatureName returns the name of feature i, from 0, of those that all columns become.
func (p *Preprocessing) FeatureName(i int) string {
	c, i := p.columnOf(i)
	return c.FeatureName(i)
}

// columnOf returns the column that becomes feature i, and which of its features that is.
func (p *Preprocessing) columnOf(i int) (*Column, int) {
	at := 0
	for ; i >= p.Columns[at].Width(); at++ {
		i -= p.Columns[at].Width()
	}
	return &p.Columns[at], i
}

// Columns returns the columns of the data that the features are made from.
func (s *Spec) Columns() []Column {
	if s.Preprocessing != nil {
		return s.Preprocessing.Columns
	}
	columns := make([]Column, len(s.Features))
	for i, name := range s.Features {
		columns[i] = Column{Name: name, Kind: NumberColumn}
	}
	return columns
}

// Check returns an error if the columns can't become the features of those names, or features at all if there are no names.
func (p *Preprocessing) Check(features []string) error {
	named := len(features) > 0
	if !slices.Contains(AllNulls, p.Nulls) {
		return fmt.Errorf("nulls is %q", p.Nulls)
	}
	for _, text := range p.NullValues {
		if !utf8.ValidString(text) {
			return fmt.Errorf("the null value %q is not valid UTF-8 text", text)
		}
	}
	standardized := p.Standardized()
	seen := map[string]bool{}
	for i := range p.Columns {
		c := &p.Columns[i]
		if seen[c.Name] {
			return fmt.Errorf("column %q is there twice", c.Name)
		}
		seen[c.Name] = true
		if err := c.check(); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		if err := c.checkNumbers(p.Nulls, standardized); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		n := c.Width()
		if n > MaxNumbered && !named {
			return fmt.Errorf("column %q: %d features, and a row has at most %d", c.Name, n, MaxNumbered)
		}
		for k := 0; k < n && named; k++ {
			if k == len(features) || c.FeatureName(k) != features[k] { // name by name: all of them may take gigabytes
				return fmt.Errorf("column %q: it becomes other features than the model has", c.Name)
			}
		}
		features = features[min(n, len(features)):]
	}
	if len(features) > 0 {
		return fmt.Errorf("no column becomes the feature %q", features[0])
	}
	return nil
}

func (c *Column) check() error {
	if !utf8.ValidString(c.Name) || !utf8.ValidString(c.Unit) {
		return errors.New("its name or unit is not valid UTF-8 text")
	}
	has := map[string]bool{"unit": c.Unit != "", "elements": c.Elements != 0, "categories": len(c.Categories) != 0,
		"hash_bits": c.HashBits != 0, "of": len(c.Of) != 0}
	needs := map[Kind][]string{NumberColumn: nil, ListColumn: {"elements"}, NumberedColumn: {"elements"}, OneHotColumn: {"categories"}, HashColumn: {"hash_bits"},
		CrossColumn: {"hash_bits", "of"}}
	need, known := needs[c.Kind]
	if !known {
		return fmt.Errorf("unknown kind %q", c.Kind)
	}
	for _, key := range slices.Sorted(maps.Keys(has)) {
		if has[key] != slices.Contains(need, key) && !(key == "unit" && c.Kind == NumberColumn) {
			return fmt.Errorf("of the kind %q, but %q is there: %t", c.Kind, key, has[key])
		}
	}
	if text := c.Kind != OneHotColumn && c.Kind != HashColumn; c.Values != "" && (text || c.Values != Number.String() && c.Values != Bool.String()) {
		return fmt.Errorf("of the kind %q, but its values are %q", c.Kind, c.Values)
	}
	if c.Elements < 0 || c.HashBits < 0 || c.HashBits > MaxHashBits || len(c.Categories) > MaxNamed {
		return fmt.Errorf("%d elements, %d bits of hash or %d categories are out of range", c.Elements, c.HashBits, len(c.Categories))
	}
	if c.First < 0 || c.First > MaxNumbered || c.First > 0 && c.Kind != NumberedColumn {
		return fmt.Errorf("of the kind %q, but its first feature has the number %d", c.Kind, c.First)
	}
	if err := cmp.Or(c.checkBuckets(), c.checkParts(), c.checkDictionary()); err != nil {
		return err
	}
	for i, text := range c.Categories {
		if !utf8.ValidString(text) {
			return fmt.Errorf("category %q is not valid UTF-8 text", text)
		}
		if what := CheckText(text, "category"); what != "" {
			return errors.New(what)
		}
		if i > 0 && text <= c.Categories[i-1] {
			return fmt.Errorf("category %q is not in ascending order", text)
		}
	}
	return nil
}

// checkParts returns an error if a cross isn't one of several columns.
func (c *Column) checkParts() error {
	if len(c.Of) == 1 {
		return fmt.Errorf("a cross of %q alone", c.Of[0].Name)
	}
	for _, p := range c.Of {
		if !utf8.ValidString(p.Name) || p.Values != "" && p.Values != Number.String() && p.Values != Bool.String() {
			return fmt.Errorf("a cross of %q with values %q", p.Name, p.Values)
		}
	}
	return nil
}

// checkBuckets returns an error unless the column has the buckets that it needs, in ascending order.
func (c *Column) checkBuckets() error {
	if want := c.Hashed() && c.Learned(); want != (len(c.Buckets) > 0) {
		return fmt.Errorf("of the kind %q with %d bits, but \"buckets\" is there: %t", c.Kind, c.HashBits, !want)
	}
	last := -1
	for _, b := range c.Buckets {
		if b <= last || b >= 1<<c.HashBits {
			return fmt.Errorf("bucket %d after %d: they ascend, and are less than %d", b, last, 1<<c.HashBits)
		}
		last = b
	}
	return nil
}

// checkNumbers returns an error unless each feature has a number exactly where it needs one.
func (c *Column) checkNumbers(nulls Nulls, standardized bool) error {
	for _, numbers := range []struct {
		name   string
		values []float64
		wanted bool
	}{{"means", c.Means, nulls == NullsMean}, {"centers", c.Center, standardized}, {"scales", c.Scale, standardized}} {
		want := 0
		if numbers.wanted && c.number() {
			want = c.Width()
		}
		if len(numbers.values) != want {
			return fmt.Errorf("%d %s, not %d", len(numbers.values), numbers.name, want)
		}
		for _, v := range numbers.values {
			if math.IsNaN(v) || math.IsInf(v, 0) || numbers.name == "scales" && v <= 0 {
				return fmt.Errorf("%v is among its %s", v, numbers.name)
			}
		}
	}
	return nil
}

// Categorical tells whether some feature is a category.
func (p *Preprocessing) Categorical() bool {
	return p != nil && slices.ContainsFunc(p.Columns, func(c Column) bool { return c.Categorical() })
}

// Standardized tells whether numbers are standardized.
func (p *Preprocessing) Standardized() bool {
	return slices.ContainsFunc(p.Columns, func(c Column) bool { return len(c.Center) > 0 })
}
