package schema

import (
	"slices"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// TestDictionary: a column gives the texts of each feature, and texts that no training keeps are errors.
func TestDictionary(t *testing.T) {
	city := func() *Column {
		return &Column{Name: "city", Kind: HashColumn, HashBits: 2, Dictionary: &Dictionary{Features: []int{0, 0, 3}, Texts: []string{"b", "a", "c"}}}
	}
	p := &Preprocessing{Nulls: NullsError, Columns: []Column{{Name: "x", Kind: NumberColumn}, *city()}}
	for i, want := range [][]string{nil, {"b", "a"}, {}, {}, {"c"}} {
		if got := p.Texts(i); !slices.Equal(got, want) {
			t.Errorf("feature %d: texts %q, want %q", i, got, want)
		}
	}
	if err := p.Check([]string{"x", "city#hash:2[0]", "city#hash:2[1]", "city#hash:2[2]", "city#hash:2[3]"}); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(c *Column){
		"feature 4 out of order":    func(c *Column) { c.Dictionary.Features[2] = 4 },
		"feature -1 out of order":   func(c *Column) { c.Dictionary.Features[0] = -1 },
		"feature 0 out of order":    func(c *Column) { c.Dictionary.Features[0] = 1 },
		"3 texts of 2 features":     func(c *Column) { c.Dictionary.Features = c.Dictionary.Features[:2] },
		"more than 256 bytes":       func(c *Column) { c.Dictionary.Texts[1] = strings.Repeat("a", 257) },
		"is no UTF-8":               func(c *Column) { c.Dictionary.Texts[1] = "\xff" },
		`but "dictionary" is there`: func(c *Column) { c.Kind, c.HashBits, c.Categories = OneHotColumn, 0, []string{"a", "b", "c", "d"} },
		"more than 3 texts of feature 1": func(c *Column) {
			c.Dictionary.Features, c.Dictionary.Texts = []int{1, 1, 1, 1}, []string{"a", "b", "c", "d"}
		},
	} {
		c := city()
		spoil(c)
		require.Error(t, c.check(), want)
	}
}
