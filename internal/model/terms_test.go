package model

import (
	"fmt"
	"testing"

	"halfspace/schema"
)

// TestTerms: the features of a column of categories are one term, and the strongest term of all classes stands first.
func TestTerms(t *testing.T) {
	m := &Model{Weights: [][]float64{{1, 0.5, -3, 0, 2, 0}, {0, 0, 0, -5, 0, 0}}, Preprocessing: &schema.Preprocessing{Columns: []schema.Column{
		{Name: "n", Kind: schema.NumberColumn}, {Name: "c", Kind: schema.OneHotColumn, Categories: []string{"x", "y"}}, {Name: "l", Kind: schema.ListColumn, Elements: 2},
		{Name: "d", Kind: schema.NumberColumn, Derive: schema.Days}}}}
	text := ""
	for _, term := range m.Terms() {
		text += fmt.Sprintf("%s %d %d %v; ", m.TermName(&term), term.First, term.Features, term.Strength)
	}
	if want := "l[0] 3 1 5; c (2 categories) 1 2 3; l[1] 4 1 2; n 0 1 1; d (days) 5 1 0; "; text != want {
		t.Errorf("%s, want %s", text, want)
	}
}
