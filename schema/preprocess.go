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

// Preprocessing describes how the columns of the data become features, if a feature isn't simply the number in a
// column.
type Preprocessing struct {
	Nulls      Nulls    `json:"nulls"`
	NullValues []string `json:"null_values,omitzero"` // texts that were nulls in CSV files of the training; nil: the default
	Columns    []Column `json:"columns"`              // in the order of their features
}

// Nulls is the treatment of features without a finite number: nulls, NaN and infinities.
type Nulls string

const (
	NullsError Nulls = "error" // an error, the default
	NullsDrop  Nulls = "drop"  // their rows are left out
	NullsZero  Nulls = "zero"  // replaced by 0
	NullsMean  Nulls = "mean"  // replaced by the mean of the feature's numbers in training
)

// AllNulls lists every value, the default first.
var AllNulls = []Nulls{NullsError, NullsDrop, NullsZero, NullsMean}

// A Column is a column of the data, which becomes one or several adjacent features.
type Column struct {
	Name     string `json:"name"`
	Kind     Kind   `json:"kind"`
	Unit     string `json:"unit,omitempty"`     // the unit that the number of a date or time counts
	Elements int    `json:"elements,omitempty"` // length of each list, or number of features of a numbered column
	First    int    `json:"first,omitempty"`    // index of a numbered column's first feature

	Categories []string `json:"categories,omitempty"` // of a one-hot column, in ascending order
	Values     string   `json:"values,omitempty"`     // type of the categories: "number", "boolean", or "" for text
	Of         []Part   `json:"of,omitempty"`         // the columns of a cross
	HashBits   int      `json:"hash_bits,omitempty"`  // of a hashed column or a cross; see Width
	Buckets    []int    `json:"buckets,omitempty"`    // with more than MaxAllBuckets bits: buckets of the training rows, ascending

	Derive Derivation `json:"derive,omitempty"` // of a number that is computed from the column's value; "": the number itself
	// of a date written as text, as package time has it; "": year, month, day, with or without a time
	Layout string  `json:"layout,omitempty"`
	Origin float64 `json:"origin,omitempty"` // of Days: the day from which days are counted, in days since 1970-01-01

	Dictionary *Dictionary `json:"dictionary,omitempty"` // texts of hashed features, if the training recorded them
	Words      *Words      `json:"words,omitempty"`      // of a column of the kind WordsColumn

	Means []float64 `json:"means,omitempty"` // for each feature, with NullsMean

	// Center and Scale have an element for each feature if numbers are standardized. A feature is (x - Center) /
	// Scale, computed in float64, then rounded to float32.
	Center []float64 `json:"center,omitempty"`
	Scale  []float64 `json:"scale,omitempty"`
}

// A Part is one of the columns of a cross.
type Part struct {
	Name   string `json:"name"`
	Values string `json:"values,omitempty"` // as in Column
}

// Kind is the way in which a column becomes features.
type Kind string

const (
	NumberColumn Kind = "number" // the number itself; 0 for false and 1 for true
	ListColumn   Kind = "list"   // a feature for each element of a list of numbers
	OneHotColumn Kind = "onehot" // a feature for each category: 1 for the category of the text, 0 for the others
	HashColumn   Kind = "hash"   // a feature for each bucket of HashBucket: 1 for the bucket of the text, 0 for the others
	CrossColumn  Kind = "cross"  // like HashColumn, for the texts of several columns, which Cross joins

	NumberedColumn Kind = "numbered" // a feature for each of Elements svmlight indices, starting at First
)

// MaxCategories is the largest number of categories of a one-hot column in dense rows. In sparse rows, only MaxNamed
// limits it.
const MaxCategories = 1000

// MaxHashBits is the largest number of bits of a hashed column. With up to MaxAllBuckets bits, each bucket is a
// feature. With more bits, each bucket that occurs in the training rows is a feature.
const (
	MaxHashBits   = 24
	MaxAllBuckets = 16
)

// HashBucket returns the bucket of a text, from 0 to 1<<bits - 1: the lowest bits of the XXH3-64, without a seed, of
// the text's UTF-8 bytes.
func HashBucket(text string, bits int) int { return int(xxh3.HashString(text) & (1<<bits - 1)) }

// CrossBucket is HashBucket for the bytes that Cross returns.
func CrossBucket(text []byte, bits int) int { return int(xxh3.Hash(text) & (1<<bits - 1)) }

// CrossMark separates the texts of a cross. UTF-8 text never has this byte.
const CrossMark = 0xff

// Cross returns the text of a cross: the texts of its columns, with CrossMark between them.
func Cross(texts ...string) string { return strings.Join(texts, string([]byte{CrossMark})) }

// number returns true if the column's features are the numbers in the column.
func (c *Column) number() bool {
	return c.Kind == NumberColumn && c.Derive != Missing || c.Kind == ListColumn
}

// ExceedsBooleans returns true if standardized numbers of the training were certainly others than 0 and 1: numbers between 0
// and 1 with the mean m have a variance of at most m(1-m), or n/(n-1) of it.
func (c *Column) ExceedsBooleans() bool {
	if c.Kind != NumberColumn || len(c.Center) != 1 || len(c.Scale) != 1 || c.Scale[0] == 1 {
		return false
	}
	return c.Scale[0]*c.Scale[0] > 2*c.Center[0]*(1-c.Center[0])
}

// Categorical returns true if the column's features are categories, hash buckets or words.
func (c *Column) Categorical() bool { return c.Kind == OneHotColumn || c.Hashed() || c.Words != nil }

// Hashed returns true if the column's features are hash buckets.
func (c *Column) Hashed() bool { return c.Kind == HashColumn || c.Kind == CrossColumn }

// Learned returns true if the column's features depend on the categories in the training rows.
func (c *Column) Learned() bool {
	return c.Kind == OneHotColumn || c.Hashed() && c.HashBits > MaxAllBuckets || c.Words != nil && !c.Words.AllBuckets
}

// Feature returns the number of the category's feature within the column, or -1 if the training rows had no such
// category or bucket.
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

// Width returns the number of features that the column becomes. A hashed column or a cross becomes 1<<HashBits features;
// above MaxAllBuckets bits it becomes one feature for each of Buckets.
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
	case WordsColumn:
		return c.Words.Width()
	}
	return 1
}

// Names returns the names of the column's features. The features of a column x have the names x, x[0], x=category or
// x#hash:BITS[0], or x1 for a numbered column. The cross of x and y has the name x*y.
func (c *Column) Names() []string {
	if c.Kind == NumberedColumn {
		return numberedNames(c.Name, c.First, c.Elements)
	}
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
	case WordsColumn:
		return c.Words.featureName(c.Name, i)
	}
	if c.Derive != "" && c.Derive != Plain && c.Derive != Comma {
		return fmt.Sprintf("%s (%s)", c.Name, c.Derive)
	}
	return c.Name
}

// NameBytes returns an upper bound of the bytes that the names of the column's features take in a Spec. It is 0 if
// they are too many to be listed in a Spec.
func (c *Column) NameBytes() int64 {
	switch {
	case c.Width() > MaxNamed:
		return 0
	case c.Words != nil:
		return c.Words.nameBytes(c.Name)
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

// FeatureName returns the name of feature i, from 0, among the features of all columns.
func (p *Preprocessing) FeatureName(i int) string {
	c, i := p.columnOf(i)
	return c.FeatureName(i)
}

// columnOf returns the column of feature i, and the number of the feature within this column.
func (p *Preprocessing) columnOf(i int) (*Column, int) {
	at := 0
	for ; i >= p.Columns[at].Width(); at++ {
		i -= p.Columns[at].Width()
	}
	return &p.Columns[at], i
}

// Columns returns the columns of the data from which the features are made.
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

// Check returns an error unless the columns become the features with the given names. If features is empty, it
// returns an error unless the columns are valid and none has more than MaxNumbered features.
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
		if key := c.Name + "\x00" + string(c.Derive); seen[key] {
			return fmt.Errorf("column %q is there twice", c.Name)
		} else {
			seen[key] = true
		}
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
			if k == len(features) || c.FeatureName(k) != features[k] { // compare name by name: all names together may take gigabytes
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
	needs := map[Kind][]string{NumberColumn: nil, ListColumn: {"elements"}, NumberedColumn: {"elements"},
		OneHotColumn: {"categories"}, HashColumn: {"hash_bits"}, CrossColumn: {"hash_bits", "of"}, WordsColumn: nil}
	need, known := needs[c.Kind]
	if !known {
		return fmt.Errorf("unknown kind %q", c.Kind)
	}
	for _, key := range slices.Sorted(maps.Keys(has)) {
		if has[key] != slices.Contains(need, key) && !(key == "unit" && c.Kind == NumberColumn) {
			return fmt.Errorf("of the kind %q, but %q is there: %t", c.Kind, key, has[key])
		}
	}
	if text := c.Kind != OneHotColumn && c.Kind != HashColumn; c.Values != "" &&
		(text || c.Values != Number.String() && c.Values != Bool.String()) {
		return fmt.Errorf("of the kind %q, but its values are %q", c.Kind, c.Values)
	}
	if c.Elements < 0 || c.HashBits < 0 || c.HashBits > MaxHashBits || len(c.Categories) > MaxNamed {
		return fmt.Errorf("%d elements, %d bits of hash or %d categories are out of range", c.Elements, c.HashBits, len(c.Categories))
	}
	if err := c.checkDerive(); err != nil {
		return err
	}
	if c.First < 0 || c.First > MaxNumbered || c.First > 0 && c.Kind != NumberedColumn {
		return fmt.Errorf("of the kind %q, but its first feature has the number %d", c.Kind, c.First)
	}
	if err := cmp.Or(c.checkBuckets(), c.checkParts(), c.checkDictionary(), c.checkWords()); err != nil {
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

// checkParts returns an error if a cross has only one column, or if a column of the cross is invalid.
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

// checkBuckets returns an error unless the column has Buckets exactly if its HashBits require them, in ascending
// order.
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

// checkNumbers returns an error unless each feature has a mean, a center and a scale exactly where one is required,
// and each is valid.
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

// Categorical returns true if some column is Categorical.
func (p *Preprocessing) Categorical() bool {
	return p != nil && slices.ContainsFunc(p.Columns, func(c Column) bool { return c.Categorical() })
}

// Standardized returns true if numbers are standardized.
func (p *Preprocessing) Standardized() bool {
	return slices.ContainsFunc(p.Columns, func(c Column) bool { return len(c.Center) > 0 })
}
