package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"halfspace/schema"
)

// A Term is one feature of a model, or all features of a column of categories, whose weights tell something only
// together.
type Term struct {
	Column   *schema.Column
	First    int // number of the first feature
	Features int
	Strength float64 // largest absolute value of a weight
}

// HasCategories tells whether the term has all features of a column of categories.
func (t *Term) HasCategories() bool { return t.Column.Categorical() }

// fewFeatures is the number of features above which terms without a weight are left out.
const fewFeatures = 1000

// Terms returns the terms of a model, the strongest first. Of several classes, the weights of all classes count. Terms
// leaves out terms whose weights are 0 if there are over 1,000 features.
func (m *Model) Terms() (terms []Term) {
	columns, at := m.columns().Columns(), 0
	for k := range columns {
		c := &columns[k]
		n, each := c.Width(), 1
		if c.Categorical() {
			each = n
		}
		for i := 0; i < n; i += each {
			t := Term{Column: c, First: at + i, Features: each}
			for _, w := range m.Weights {
				for _, v := range w[t.First:][:each] {
					t.Strength = max(t.Strength, math.Abs(v))
				}
			}
			if t.Strength > 0 || m.Width() <= fewFeatures {
				terms = append(terms, t)
			}
		}
		at += n
	}
	slices.SortStableFunc(terms, func(a, b Term) int { return cmp.Compare(b.Strength, a.Strength) })
	return terms
}

// TermName returns the name of a term: the feature, or the column with the number of its categories.
func (m *Model) TermName(t *Term) string {
	switch {
	case t.HasCategories() && t.Column.Hashed():
		return fmt.Sprintf("%s (%d hashed features)", t.Column.Name, t.Features)
	case t.Column.Words != nil:
		return fmt.Sprintf("%s (%d words)", t.Column.Name, t.Features)
	case t.HasCategories():
		return fmt.Sprintf("%s (%d categories)", t.Column.Name, t.Features)
	}
	return m.FeatureName(t.First)
}
