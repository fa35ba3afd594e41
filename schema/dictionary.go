package schema

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// A Dictionary records, for the features of a hashed column, texts of the training rows that hash to the feature.
type Dictionary struct {
	Features []int    `json:"features"` // for each text, the number of its feature within the column, from 0, ascending
	Texts    []string `json:"texts"`    // texts of one feature in row order; * joins the texts of a cross
}

// MaxTexts is the largest number of texts of one feature in a Dictionary. Each text has at most MaxTextBytes bytes.
const (
	MaxTexts     = 3
	MaxTextBytes = 256
)

// Texts returns the texts that the Dictionary has for the column's feature i.
func (c *Column) Texts(i int) []string {
	if c.Dictionary == nil {
		return nil
	}
	lo, _ := slices.BinarySearch(c.Dictionary.Features, i)
	hi, _ := slices.BinarySearch(c.Dictionary.Features, i+1)
	return c.Dictionary.Texts[lo:hi]
}

// Texts returns the texts of feature i in the Dictionary of its column.
func (p *Preprocessing) Texts(i int) []string {
	c, i := p.columnOf(i)
	return c.Texts(i)
}

// checkDictionary returns an error unless the texts belong to features of a hashed column, with at most MaxTexts
// texts for each feature.
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
