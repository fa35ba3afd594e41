package block

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// Preprocessing says how the columns of the data become features, where that takes more than reading a number from each.
type Preprocessing struct {
	Nulls   Nulls    `json:"nulls"`
	Columns []Column `json:"columns"` // in the order of their features
}

// Nulls says what becomes of features without a finite number: nulls, NaN and infinities.
type Nulls string

const (
	NullsError Nulls = "error" // they are errors, the default
	NullsDrop  Nulls = "drop"  // their rows aren't kept
	NullsZero  Nulls = "zero"  // they are zeros
	NullsMean  Nulls = "mean"  // they are the mean of the feature's numbers in training
)

// AllNulls lists every value, the default first.
var AllNulls = []Nulls{NullsError, NullsDrop, NullsZero, NullsMean}

// A Column of the data becomes one or several features, which stand next to each other.
type Column struct {
	Name     string `json:"name"`
	Kind     Kind   `json:"kind"`
	Unit     string `json:"unit,omitempty"`     // what the number of a date or a time counts
	Elements int    `json:"elements,omitempty"` // of each list

	Means []float64 `json:"means,omitempty"` // of each feature, with NullsMean

	// Of each feature, where features are standardized: (x - Center) / Scale is computed in float64, then narrowed.
	Center []float64 `json:"center,omitempty"`
	Scale  []float64 `json:"scale,omitempty"`
}

// Kind is the way in which a column becomes features.
type Kind string

const (
	NumberColumn Kind = "number" // the number itself; 0 and 1 for false and true
	ListColumn   Kind = "list"   // a feature for each element of a list of numbers
)

// Width returns the number of features that the column becomes.
func (c *Column) Width() int {
	if c.Kind == ListColumn {
		return c.Elements
	}
	return 1
}

// Names returns the names of those features.
func (c *Column) Names() []string {
	names := make([]string, c.Width())
	for i := range names {
		switch c.Kind {
		case ListColumn:
			names[i] = fmt.Sprintf("%s[%d]", c.Name, i)
		default:
			names[i] = c.Name
		}
	}
	return names
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

// Check returns an error that says why the features of those names can't be made, if they can't.
func (p *Preprocessing) Check(features []string) error {
	if !slices.Contains(AllNulls, p.Nulls) {
		return fmt.Errorf("nulls is %q", p.Nulls)
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
		if n > len(features) || !slices.Equal(c.Names(), features[:n]) {
			return fmt.Errorf("column %q: it becomes other features than the model has", c.Name)
		}
		features = features[n:]
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
	switch c.Kind {
	case NumberColumn:
		if c.Elements != 0 {
			return fmt.Errorf("%d elements of a number", c.Elements)
		}
	case ListColumn:
		if c.Elements < 1 || c.Unit != "" {
			return fmt.Errorf("a list of %d elements, unit %q", c.Elements, c.Unit)
		}
	default:
		return fmt.Errorf("unknown kind %q", c.Kind)
	}
	return nil
}

// checkNumbers makes sure that there is a number for each feature where there must be one, and none elsewhere.
func (c *Column) checkNumbers(nulls Nulls, standardized bool) error {
	for _, numbers := range []struct {
		name   string
		values []float64
		wanted bool
	}{{"means", c.Means, nulls == NullsMean}, {"centers", c.Center, standardized}, {"scales", c.Scale, standardized}} {
		want := 0
		if numbers.wanted {
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

// Standardized tells whether features that are numbers are.
func (p *Preprocessing) Standardized() bool {
	return slices.ContainsFunc(p.Columns, func(c Column) bool { return len(c.Center) > 0 })
}
