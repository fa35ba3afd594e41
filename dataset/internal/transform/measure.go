package transform

import (
	"context"
	"fmt"
	"iter"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
	"halfspace/schema"
)

// hasUnknownLists returns true if there are sparse lists whose number of features is unknown.
func (s *Binding) hasUnknownLists() bool {
	for k := range s.Plan.Inputs {
		if s.sparseLists(k) && !s.Fixed && s.Plan.Inputs[k].Elements == 0 {
			return true
		}
	}
	return false
}

// measureSparse reads the batches of the input, which has total rows, and returns the binding with the number of
// features of sparse lists: the greatest index in a kept row plus 1, or the size in Spark's vectors if it is larger.
func (s *Binding) measureSparse(ctx context.Context, name string, p column.Pool, batches iter.Seq2[*column.Batch, error], total int64,
	progress func(rows, total int64)) (*Binding, error) {
	s = s.forLearning()
	err := Each(ctx, batches, total, progress, func(bt *column.Batch, first int64) error { return s.measureBatch(ctx, p, bt, first) })
	if err != nil {
		return nil, err
	}
	for k := range s.Plan.Inputs {
		if c := &s.Plan.Inputs[k]; s.sparseLists(k) && c.Elements == 0 && s.lists.rows > 0 {
			return nil, column.ErrorIn(name, "column %q: no list has an element: leave it out with --exclude", c.Name)
		}
	}
	if err = s.checkWidth(); err == nil {
		err = s.limitMoments()
	}
	if err != nil {
		return nil, column.ErrorIn(name, "%w", err)
	}
	return s, nil
}

// limitMoments turns standardizing off if sparse lists have too many features for it and it is on by default only. If
// the user asked for standardizing, or for means, limitMoments returns an error instead.
func (s *Binding) limitMoments() error {
	width := 0
	for k := range s.Plan.Inputs {
		if s.sparseLists(k) {
			width += s.Plan.Inputs[k].Elements
		}
	}
	if s.Plan.Standardize && s.Plan.KeepWide && width > MostStandardized {
		s.Plan.Standardize, s.wide = false, true
	}
	switch {
	case width <= MostStandardized:
	case s.Plan.Standardize:
		return message.Errorf("%d features, and standardized rows are dense, with at most %d: use --standardize=false",
			width, MostStandardized)
	case s.Plan.Nulls == schema.NullsMean:
		return message.Errorf("%d features of lists, and at most %d of them have means: use --nulls zero", width, MostStandardized)
	}
	return nil
}

// measureBatch adds the rows of a batch. first is the number of the batch's first row in the input.
func (s *Binding) measureBatch(ctx context.Context, p column.Pool, bt *column.Batch, first int64) error {
	kept, err := s.Kept(ctx, p, bt)
	if err != nil {
		return err
	}
	s.lists.rows += int64(kept.Len())
	for k := range s.Plan.Inputs {
		if !s.sparseLists(k) {
			continue
		}
		l := column.NewLists(bt.Columns[s.Features[k]])
		if l == nil {
			return fmt.Errorf("column %q has other lists than its type says", s.Plan.Inputs[k].Name)
		}
		for _, span := range kept.Spans() {
			for row := span.Lo; row < span.Hi; row++ {
				if what := s.measureRow(k, l, row); what != "" {
					return Unfit(bt.RowError(first, row, s.Plan.Inputs[k].Name, what))
				}
			}
		}
	}
	return nil
}

// measureRow adds a row of input k. It returns the error text for its indices, or "".
func (s *Binding) measureRow(k int, l *column.Lists, row int) (what string) {
	lo, hi, at, what := l.Row(row)
	if what != "" {
		return what
	}
	width := max(l.Size(row), 0)
	if width > schema.MaxNamed {
		return fmt.Sprintf("a vector of size %d, and a row has at most %d features: write a smaller one", width, schema.MaxNamed)
	}
	s.lists.values += int64(hi - lo)
	if at < 0 { // the indices are 0, 1, 2 and so on
		width, hi = max(width, int64(hi-lo)), lo
	}
	for i := range hi - lo {
		index, what := l.Index(at + i)
		if what != "" {
			return what
		}
		if index >= schema.MaxNamed {
			return fmt.Sprintf("index %s, and a row has at most %d features: leave larger indices out", l.IndexText(at+i), schema.MaxNamed)
		}
		width = max(width, index+1)
	}
	s.Plan.Inputs[k].Elements = max(s.Plan.Inputs[k].Elements, int(width))
	return ""
}

// measureLists sets the length of a column's lists from the first list with elements in the kept rows.
func (s *Binding) measureLists(bt *column.Batch, kept Cut) error {
	for k, i := range s.Features {
		c := &s.Plan.Inputs[k]
		if c.Kind != schema.ListColumn || c.Elements > 0 || s.sparseLists(k) {
			continue
		}
		list, err := asList(bt.Columns[i])
		if err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		for _, span := range kept.Spans() {
			for row := span.Lo; row < span.Hi && c.Elements == 0; row++ {
				if from, to := list.ValueOffsets(row); list.IsValid(row) {
					c.Elements = int(to - from)
				}
			}
		}
	}
	return nil
}
