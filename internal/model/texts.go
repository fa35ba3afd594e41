package model

import (
	"slices"

	"halfspace/schema"
)

// savedPreprocessing returns the preprocessing for the model's file: without the texts of features that have no weight.
// For a model without weights it keeps all texts.
func (m *Model) savedPreprocessing() *schema.Preprocessing {
	p := m.Preprocessing
	if p == nil || len(m.Weights) == 0 || !slices.ContainsFunc(p.Columns, func(c schema.Column) bool { return c.Dictionary != nil }) {
		return p
	}
	pruned, at := *p, 0
	pruned.Columns = slices.Clone(p.Columns)
	for k := range pruned.Columns {
		c := &pruned.Columns[k]
		if all := c.Dictionary; all != nil {
			c.Dictionary = &schema.Dictionary{Features: []int{}, Texts: []string{}}
			for n, i := range all.Features {
				if slices.ContainsFunc(m.Weights, func(row []float64) bool { return row[at+i] != 0 }) {
					c.Dictionary.Features, c.Dictionary.Texts = append(c.Dictionary.Features, i), append(c.Dictionary.Texts, all.Texts[n])
				}
			}
		}
		at += c.Width()
	}
	return &pruned
}
