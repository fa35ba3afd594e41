package encode

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// Unlearned tells whether the features depend on more than the types of their columns.
func (s *Selection) Unlearned() bool {
	if s.Fixed {
		return false
	}
	return s.Wholly() || s.unmeasured()
}

// Wholly tells whether the features depend on all rows.
func (s *Selection) Wholly() bool {
	return s.counted() || slices.ContainsFunc(s.Inputs, func(c schema.Column) bool { return c.Kind == schema.OneHotColumn })
}

// counted tells whether the features depend on their moments.
func (s *Selection) counted() bool { return s.Nulls == schema.NullsMean || s.standardize }

// unmeasured tells whether the length of some column's lists isn't known.
func (s *Selection) unmeasured() bool {
	return slices.ContainsFunc(s.Inputs, func(c schema.Column) bool { return c.Width() == 0 })
}

// Learn finds out from the batches of the input, of total rows, what the features depend on. It leaves wrong values to be
// found by the builder, which says where they are.
func (s *Selection) Learn(ctx context.Context, name string, p frame.Pool, batches iter.Seq2[*frame.Batch, error], total int64,
	progress func(rows, total int64)) error {
	l := NewLesson(s, p)
	for bt, err := range batches {
		if err != nil {
			return err
		}
		err := frame.Recovered(func() error { return l.Add(ctx, bt) })
		bt.Release()
		if err != nil && ctx.Err() == nil && !IsUnfit(err) {
			err = frame.ErrorIn(bt.File, "damaged data (%w)", err)
		}
		if err != nil {
			return err
		}
		if progress != nil {
			progress(l.Input, total)
		}
		if !s.Wholly() && !s.unmeasured() {
			return nil
		}
	}
	return l.Finish(name)
}

// A Lesson is what was learned from some batches.
type Lesson struct {
	sel   *Selection
	pool  frame.Pool
	Input int64       // rows
	rows  int64       // of them that are kept
	stats [][]moments // of each column's features, of numbers
	texts []collector // of each column of categories
}

func NewLesson(s *Selection, p frame.Pool) *Lesson {
	return &Lesson{sel: s, pool: p, stats: make([][]moments, len(s.Inputs)), texts: make([]collector, len(s.Inputs))}
}

// unfit is an error about a column as a whole.
type unfit struct{ error }

func (e unfit) Unwrap() error { return e.error }

// Unfit returns an error about a column as a whole.
func Unfit(err error) error { return unfit{err} }

// IsUnfit tells whether an error is about a column as a whole.
func IsUnfit(err error) bool { return errors.As(err, new(unfit)) }

func (l *Lesson) Add(ctx context.Context, bt *frame.Batch) error {
	kept, err := l.sel.Kept(ctx, l.pool, bt)
	if err != nil {
		return err
	}
	return l.AddKept(ctx, bt, kept)
}

// AddKept adds some of the kept rows of a batch.
func (l *Lesson) AddKept(ctx context.Context, bt *frame.Batch, kept Cut) error {
	l.Input += bt.Rows
	err := l.sel.measureLists(bt, kept)
	if err != nil {
		return err
	}
	if err := l.sel.checkWidth(); err != nil {
		return Unfit(frame.ErrorIn(bt.File, "%w", err))
	}
	if l.sel.Wholly() {
		err = l.pool.Each(ctx, len(l.sel.Inputs), func(k int) error {
			return frame.Recovered(func() error { return l.column(k, bt, kept) })
		})
	}
	l.rows += int64(kept.Len())
	return err
}

// column adds rows of a column to what must be known of it.
func (l *Lesson) column(k int, bt *frame.Batch, kept Cut) error {
	c, a := &l.sel.Inputs[k], bt.Columns[l.sel.Features[k]]
	switch {
	case c.Kind == schema.OneHotColumn:
		if l.texts[k] == nil {
			l.texts[k] = collector{}
		}
		if what := l.texts[k].Add(a, kept); what != "" {
			return Unfit(frame.ErrorIn(bt.File, "column %q: %s", c.Name, what))
		}
	case c.Kind != schema.HashColumn && l.sel.counted():
		return l.count(k, a, kept)
	}
	return nil
}

// count adds rows of a column to its moments. These depend on the kept rows alone: each column is summed in their order,
// run by run.
func (l *Lesson) count(k int, a arrow.Array, kept Cut) error {
	c := &l.sel.Inputs[k]
	if len(l.stats[k]) != c.Width() {
		l.stats[k] = make([]moments, c.Width())
		l.countEmpty(l.stats[k])
	}
	r := reader[float64]{width: c.Width()}
	if c.Kind == schema.ListColumn {
		var err error
		if r.list, err = asList(a); err != nil {
			return err
		}
		a = r.list.ListValues()
	}
	var err error
	if r.view, err = frame.NewView[float64](a); err != nil {
		return err
	}
	row, scratch := l.rows, make([]float64, max(block.RunRows, c.Width()))
	for _, span := range kept.Spans() {
		for lo := span.Lo; lo < span.Hi; {
			n := min(span.Hi-lo, block.RunRows-int(row%block.RunRows))
			if r.list == nil {
				l.countNumbers(&l.stats[k][0], r.view, lo, lo+n, scratch)
			} else {
				l.countLists(k, r, lo, lo+n, scratch)
			}
			if lo, row = lo+n, row+int64(n); row%block.RunRows == 0 {
				endRuns(l.stats[k])
			}
		}
	}
	return nil
}

// countNumbers adds rows lo to hi of a column of numbers.
func (l *Lesson) countNumbers(m *moments, v frame.View[float64], lo, hi int, scratch []float64) {
	values, _ := v.Read(lo, hi, scratch)
	if v.Sound(lo, values) {
		for _, x := range values {
			m.Add(x)
		}
		return
	}
	for i, x := range values {
		if !frame.IsMissing(v.Array, lo+i) {
			m.Add(x)
		} else {
			l.countMissing(m)
		}
	}
}

// countMissing adds what stands for a missing value. The mean is put in its place in the end, and rows without a place for
// it are errors, or weren't kept.
func (l *Lesson) countMissing(m *moments) {
	if l.sel.Nulls == schema.NullsZero {
		m.Add(0)
	}
}

// countEmpty adds the rows so far to the moments of lists of which only now one has elements.
func (l *Lesson) countEmpty(stats []moments) {
	for row := range l.rows {
		for i := range stats {
			l.countMissing(&stats[i])
		}
		if (row+1)%block.RunRows == 0 {
			endRuns(stats)
		}
	}
}

// countLists adds the elements of lists; lists of another length are errors when blocks are built.
func (l *Lesson) countLists(k int, r reader[float64], lo, hi int, scratch []float64) {
	stats := l.stats[k]
	for row := lo; row < hi; row++ {
		from, to := r.list.ValueOffsets(row)
		switch {
		case r.list.IsNull(row):
			for i := range stats {
				l.countMissing(&stats[i])
			}
		case int(to-from) == r.width:
			values, _ := r.view.Read(int(from), int(to), scratch)
			sound := r.view.Sound(int(from), values)
			for i, x := range values {
				if sound || !frame.IsMissing(r.view.Array, int(from)+i) {
					stats[i].Add(x)
				} else {
					l.countMissing(&stats[i])
				}
			}
		}
	}
}

// Finish writes down what was learned.
func (l *Lesson) Finish(name string) error {
	if l.rows == 0 {
		return nil // which is the caller's to tell
	}
	for k := range l.sel.Inputs {
		c := &l.sel.Inputs[k]
		switch {
		case c.Kind == schema.OneHotColumn:
			c.Categories = l.texts[k].sorted()
			if len(c.Categories) == 0 {
				return frame.ErrorIn(name, "column %q: every value is missing, so that there is no category: leave it out with --exclude", c.Name)
			}
			continue
		case c.Width() == 0:
			return frame.ErrorIn(name, "column %q: no list has an element: leave it out with --exclude", c.Name)
		}
		endRuns(l.stats[k])
		for _, m := range l.stats[k] {
			if what := l.note(c, m.all); what != "" {
				return frame.ErrorIn(name, "column %q: %s: leave it out with --exclude", c.Name, what)
			}
		}
	}
	if err := l.sel.checkWidth(); err != nil {
		return frame.ErrorIn(name, "%w", err)
	}
	return nil
}

// note writes down the moments of a column's next feature, or returns what is wrong with them.
func (l *Lesson) note(c *schema.Column, t tally) (what string) {
	if l.sel.Nulls == schema.NullsMean {
		if t.n == 0 {
			return "every value is missing, so that there is no mean"
		}
		c.Means = append(c.Means, t.mean)
	}
	if math.IsNaN(t.mean) || math.IsInf(t.mean, 0) {
		return "its numbers are too large for a mean"
	}
	if l.sel.standardize {
		scale := math.Sqrt(t.squares / float64(max(1, l.rows))) // missing values have the mean, and so add no squares
		if math.IsNaN(scale) || math.IsInf(scale, 0) {
			return "its numbers are too large for a standard deviation"
		}
		if scale == 0 {
			scale = 1
		}
		c.Center, c.Scale = append(c.Center, t.mean), append(c.Scale, scale)
	}
	return ""
}

// measureLists learns from the first list that has elements, among the rows that are kept, how many all must have.
func (s *Selection) measureLists(bt *frame.Batch, kept Cut) error {
	for k, i := range s.Features {
		c := &s.Inputs[k]
		if c.Kind != schema.ListColumn || c.Elements > 0 {
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

// Remember returns all batches, and a sequence that yields them as often as it is asked: the rows of a source that can
// be read once.
func Remember(batches iter.Seq2[*frame.Batch, error]) (all []*frame.Batch, again iter.Seq2[*frame.Batch, error]) {
	for bt, err := range batches {
		if err != nil {
			return all, func(yield func(*frame.Batch, error) bool) { yield(nil, err) }
		}
		all = append(all, bt)
	}
	return all, func(yield func(*frame.Batch, error) bool) {
		for _, bt := range all {
			for _, a := range bt.Columns {
				a.Retain()
			}
			if !yield(bt, nil) {
				return
			}
		}
	}
}
