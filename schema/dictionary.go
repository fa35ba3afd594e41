package schema

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// A Dictionary has texts of the training rows that a hashed column has in its features.
type Dictionary struct {
	Features []int    `json:"features"` // number of each text's feature among the column's, from 0, ascending
	Texts    []string `json:"texts"`    // those of a feature in the order of the rows; of a cross with * between the texts of its columns
}

// MaxTexts is the most texts of a feature in a Dictionary. Each has at most MaxTextBytes.
const (
	MaxTexts     = 3
	MaxTextBytes = 256
)

// Texts returns the texts of the column's feature i that its Dictionary has.
func (c *Column) Texts(i int) []string {
	if c.Dictionary == nil {
		return nil
	}
	lo, _ := slices.BinarySearch(c.Dictionary.Features, i)
	hi, _ := slices.BinarySearch(c.Dictionary.Features, i+1)
	return c.Dictionary.Texts[lo:hi]
}

// Texts returns the texts of feature i that the Dictionary of its column has.
func (p *Preprocessing) Texts(i int) []string {
	c, i := p.columnOf(i)
	return c.Texts(i)
}

// checkDictionary returns an error unless the texts are of features of a hashed column, and no more than MaxTexts of each.
func (c *Column) checkDictionary() error {
	d := c.Dictionary
	switch {
	case d == nil:
		return nil
	case !c.Hashed():
		return fmt.Errorf("of the kind %q, but \"dictionary\" is there", c.Kind)
	case len(d.Features) != len(d.Texts):
		return fmt.Errorf("its dictionary has %d texts of %d features", len(d.Texts), len(d.Features))
	}
	for k, i := range d.Features {
		switch {
		case i < 0 || i >= c.Width() || k > 0 && i < d.Features[k-1]:
			return fmt.Errorf("its dictionary has feature %d out of order, of %d", i, c.Width())
		case k >= MaxTexts && i == d.Features[k-MaxTexts]:
			return fmt.Errorf("its dictionary has more than %d texts of feature %d", MaxTexts, i)
		case len(d.Texts[k]) > MaxTextBytes || !utf8.ValidString(d.Texts[k]):
			return fmt.Errorf("its dictionary has a text that is no UTF-8 or has more than %d bytes", MaxTextBytes)
		}
	}
	return nil
}
