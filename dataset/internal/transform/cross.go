package transform

import (
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/schema"
)

// crosses returns the columns of each cross of the option cross, and how the crosses become features. The columns in others can't be
// crossed: they are the numbers of the label and the weight, or -1.
func (s *fileColumns) crosses(texts []string, others []int) (of [][]int, inputs []schema.Column, err error) {
	for _, text := range texts {
		x, err := parseCross(text)
		if err != nil {
			return nil, nil, s.errorf("cross is %q: %w", text, err)
		}
		columns, input := []int{}, schema.Column{Name: strings.Join(x.names, "*"), Kind: schema.CrossColumn, HashBits: x.bits}
		for _, name := range x.names {
			i, err := s.lookUp(name)
			if err != nil {
				return nil, nil, err
			}
			part, ok := toPart(s.cols[i])
			switch {
			case !ok:
				return nil, nil, s.errorf("column %q is %s, but categories are text, numbers or booleans: leave it "+
					"out of --cross", name, s.cols[i].Desc)
			case slices.Contains(others, i):
				return nil, nil, s.errorf("column %q is the %s: leave it out of --cross", name,
					[...]string{"label", "weight of rows"}[slices.Index(others, i)])
			case slices.Contains(columns, i):
				return nil, nil, s.errorf("column %q is crossed with itself: name it once in --cross", name)
			}
			s.cols[i].Advice = "" // the column is meant to be text
			columns, input.Of = append(columns, i), append(input.Of, part)
		}
		if slices.ContainsFunc(inputs, func(c schema.Column) bool { return c.Name == input.Name }) {
			return nil, nil, s.errorf("the cross %q is named twice: name it once in --cross", input.Name)
		}
		of, inputs = append(of, columns), append(inputs, input)
	}
	return of, inputs, nil
}

// partsOf returns the columns of a cross of a plan or, if isModel is true, of a model: its categories match by their texts.
func (s *fileColumns) partsOf(want schema.Column, isModel bool) ([]int, error) {
	var columns []int
	for _, part := range want.Of {
		i, err := s.lookUp(part.Name)
		if err != nil {
			return nil, err
		}
		if _, ok := toPart(s.cols[i]); !isModel || !ok {
			if err := s.checkPart(s.cols[i], part); err != nil {
				return nil, err
			}
		}
		columns = append(columns, i)
	}
	return columns, nil
}

// checkPart returns an error if a column can't be the wanted part of a cross, which belongs to a model or to the
// first file.
func (s *fileColumns) checkPart(have column.Column, want schema.Part) error {
	part, ok := toPart(have)
	if have.Type != nil && have.Type.ID() == arrow.DICTIONARY {
		part.Values = want.Values // the values of a dictionary are assumed to have the wanted type
	}
	if !ok || part.Values != want.Values {
		return s.errorf("column %q is %s, and the cross takes %s: convert it", have.Name, have.Desc,
			nameInput(schema.Column{Kind: schema.HashColumn, Values: want.Values}))
	}
	return nil
}

// cells are the arrays of a column of categories: one array, or an array for each column of a cross.
type cells []arrow.Array

func (s *Binding) cells(bt *column.Batch, k int) cells {
	all := cells{bt.Columns[s.Features[k]]}
	for _, i := range s.further(k) {
		all = append(all, bt.Columns[i])
	}
	return all
}

// missing returns the rows from lo up to, but not including, hi that have a missing value.
func (c cells) missing(lo, hi int) []int {
	rows := column.Missing(c[0], lo, hi)
	for _, a := range c[1:] {
		rows = append(rows, column.Missing(a, lo, hi)...)
	}
	if len(c) > 1 {
		slices.Sort(rows)
		rows = slices.Compact(rows)
	}
	return rows
}

// A coder is a numbering that can also number the texts of crosses.
type coder interface {
	numbering
	crossed(text []byte) int
	// canonical returns the text by which the text of part k of a cross matches the categories.
	canonical(k int, text string) string
}

// encodeCells writes the numbers of the len(dst) rows from lo on to dst. No value of these rows may be missing. It
// returns the first wrong row and the error text, or "".
func encodeCells(l coder, c cells, lo int, dst []float32) (row int, what string) {
	if len(c) == 1 {
		return encodeValid(l, c[0], lo, dst)
	}
	var joined []byte
	for i := range dst {
		joined = joined[:0]
		for k, a := range c {
			text, what := textOf(a, lo+i)
			if what != "" {
				return lo + i, what
			}
			if k > 0 {
				joined = append(joined, schema.CrossMark)
			}
			joined = append(joined, l.canonical(k, text)...)
		}
		dst[i] = float32(l.crossed(joined))
	}
	return 0, ""
}
