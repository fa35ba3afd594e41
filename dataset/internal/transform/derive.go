package transform

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// numberOf returns the number that an input has for a text, or false if the text stands for none. Texts of a column of
// numbers are read as the readers of text files read them.
func numberOf(c *schema.Column, text string) (float64, bool) {
	if c.Derive != numberInText {
		return c.Number(text)
	}
	switch {
	case strings.EqualFold(text, "true"):
		return 1, true
	case strings.EqualFold(text, "false"):
		return 0, true
	}
	if v, err := humanize.ParseNumber(text); err == nil {
		return v, true
	}
	return column.MarkedNumber(text, false)
}

// hasMarks returns true if a text of a model's column of numbers is read as a number, although it isn't written as one.
func hasMarks(text string) bool {
	_, err := humanize.ParseNumber(text)
	return err != nil && !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false")
}

// array returns the array from which input k makes its features: the column's, or the numbers that derive from it.
func (s *Binding) array(bt *column.Batch, k int) arrow.Array {
	if s.Plan.Inputs[k].Derive != "" {
		return bt.Derived[k]
	}
	return bt.Columns[s.Features[k]]
}

// derive computes the derived arrays of a batch.
func (s *Binding) derive(ctx context.Context, p column.Pool, bt *column.Batch) error {
	if bt.Derived != nil || !s.derives {
		return nil
	}
	bt.Derived = make([]arrow.Array, len(s.Plan.Inputs))
	err := p.Each(ctx, len(s.Plan.Inputs), func(k int) error {
		c := &s.Plan.Inputs[k]
		if c.Derive == "" || c.Derive == schema.Missing {
			return nil
		}
		return column.Recovered(func() (err error) {
			var counts textCounts
			if bt.Derived[k], counts, err = derived(c, bt.Columns[s.Features[k]], s.Plan.Words()); err != nil {
				return column.ErrorIn(bt.File, "column %q: %w", c.Name, err)
			}
			s.strange[k].add(bt, counts.strange)
			s.marked[k].add(bt, counts.marked)
			if counts.strange.Rows > 0 && c.Derive == numberInText && s.Plan.Nulls == schema.NullsError {
				return noNumber(c, bt, s.Features[k])
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	for k := range s.Plan.Inputs {
		if s.Plan.Inputs[k].Derive == schema.Missing {
			of := bt.Columns[s.Features[k]]
			for j, i := range s.Features { // a text that is no number is missing too
				if i == s.Features[k] && s.Plan.Inputs[j].Derive != "" && s.Plan.Inputs[j].Derive != schema.Missing {
					of = bt.Derived[j]
					break
				}
			}
			bt.Derived[k] = missingOf(of)
		}
	}
	return nil
}

// noNumber returns the error about the first text of a column that is no number, or nil.
func noNumber(c *schema.Column, bt *column.Batch, k int) error {
	for i := range bt.Columns[k].Len() {
		if bt.Columns[k].IsNull(i) {
			continue
		}
		text, _ := textOf(bt.Columns[k], i)
		if _, ok := numberOf(c, text); !ok {
			what := message.Sprintf("%.40q is no number (correct it, or train the model with --nulls zero or mean)", text)
			return Unfit(column.Mark(bt.RowError(bt.First, i, c.Name, what), column.ErrNulls))
		}
	}
	return nil
}

// missingOf returns an array with 1 where a value is missing, and 0 elsewhere.
func missingOf(a arrow.Array) arrow.Array {
	values := make([]float64, a.Len())
	for _, row := range column.Missing(a, 0, a.Len()) {
		values[row] = 1
	}
	return column.Floats(values)
}

// numbersOf returns an array of numbers, of which some aren't valid.
func numbersOf(values []float64, valid []bool) arrow.Array {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	defer b.Release()
	b.AppendValues(values, valid)
	return b.NewArray()
}

// derived returns the numbers that derive from the values of a column, and counts the texts that a note is about. words are the
// texts that are nulls in a column of numbers.
func derived(c *schema.Column, a arrow.Array, words []string) (numbers arrow.Array, counts textCounts, err error) {
	values, valid := make([]float64, a.Len()), make([]bool, a.Len())
	switch d, is := a.(*array.Dictionary); {
	case is: // each value is read once
		of, _, err := derived(c, d.Dictionary(), words)
		if err != nil {
			return nil, counts, err
		}
		for i := range values {
			if d.IsNull(i) {
				continue
			}
			at := d.GetValueIndex(i)
			values[i], valid[i] = of.(*array.Float64).Value(at), of.IsValid(at)
			if textual(d.Dictionary().DataType()) && d.Dictionary().IsValid(at) && (!valid[i] || c.Derive == numberInText) {
				text, what := textOf(d.Dictionary(), at)
				counts.add(c, i, text, what, values[i], valid[i], words)
			}
		}
		return numbersOf(values, valid), counts, nil
	case textual(a.DataType()):
		for i := range values {
			if a.IsNull(i) {
				continue
			}
			text, what := textOf(a, i)
			if what == "" && !(c.Derive == numberInText && slices.Contains(words, text)) {
				values[i], valid[i] = numberOf(c, text)
			}
			if !valid[i] || c.Derive == numberInText {
				counts.add(c, i, text, what, values[i], valid[i], words)
			}
		}
		return numbersOf(values, valid), counts, nil
	}
	read, err := column.Numbers(a)
	if err != nil {
		return nil, counts, err
	}
	perDay, dated := column.PerDay(a.DataType())
	if c.Derive.Dated() != dated {
		return nil, counts, fmt.Errorf("it is %s, and the model takes %s", column.Describe(a.DataType()), nameInput(*c))
	}
	copy(values, read)
	for i, v := range values {
		valid[i] = !a.IsNull(i) && !math.IsNaN(v) && !math.IsInf(v, 0)
		if dated && valid[i] {
			values[i] = c.AtDays(v / perDay)
		}
	}
	return numbersOf(values, valid), counts, nil
}

// textCounts counts texts of a batch from which a number should derive.
type textCounts struct {
	strange column.OddTexts // texts that are no number, and don't say that a value is missing
	marked  column.OddTexts // numbers with marks in a model's column of numbers
}

// add counts the text of a row. unread is the reason why the value is no text, or "".
func (n *textCounts) add(c *schema.Column, row int, text, unread string, value float64, valid bool, words []string) {
	switch {
	case !valid && !slices.Contains(words, text) && (unread != "" || !column.MeansMissing(text)):
		n.strange.Add(int64(row), text, 0)
	case valid && c.Derive == numberInText && hasMarks(text):
		n.marked.Add(int64(row), text, value)
	}
}
