package dataset

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/block"
	"halfspace/schema"
)

// unlearned tells whether the features depend on more than the types of their columns.
func (s *selection) unlearned() bool {
	if s.fixed {
		return false
	}
	return s.wholly() || s.unmeasured()
}

// wholly tells whether the features depend on all rows.
func (s *selection) wholly() bool {
	return s.counted() || slices.ContainsFunc(s.inputs, func(c schema.Column) bool { return c.Kind == schema.OneHotColumn })
}

// counted tells whether the features depend on their moments.
func (s *selection) counted() bool { return s.nulls == schema.NullsMean || s.standardize }

// unmeasured tells whether the length of some column's lists isn't known.
func (s *selection) unmeasured() bool {
	return slices.ContainsFunc(s.inputs, func(c schema.Column) bool { return c.Width() == 0 })
}

// learn finds out from the batches of the input, of total rows, what the features depend on. It leaves wrong values to be
// found by the builder, which says where they are.
func (s *selection) learn(ctx context.Context, name string, p pool, batches iter.Seq2[*batch, error], total int64,
	progress func(rows, total int64)) error {
	l := newLesson(s, p)
	for bt, err := range batches {
		if err != nil {
			return err
		}
		err := recovered(func() error { return l.add(ctx, bt) })
		bt.release()
		if err != nil && ctx.Err() == nil && !isUnfit(err) {
			err = errorIn(bt.file, "damaged data (%w)", err)
		}
		if err != nil {
			return err
		}
		if progress != nil {
			progress(l.input, total)
		}
		if !s.wholly() && !s.unmeasured() {
			return nil
		}
	}
	return l.finish(name)
}

// A lesson is what was learned from some batches.
type lesson struct {
	sel   *selection
	pool  pool
	input int64       // rows
	rows  int64       // of them that are kept
	stats [][]moments // of each column's features, of numbers
	texts []collector // of each column of categories
}

func newLesson(s *selection, p pool) *lesson {
	return &lesson{sel: s, pool: p, stats: make([][]moments, len(s.inputs)), texts: make([]collector, len(s.inputs))}
}

// unfit is an error about a column as a whole.
type unfit struct{ error }

func isUnfit(err error) bool { return errors.As(err, new(unfit)) }

func (l *lesson) add(ctx context.Context, bt *batch) error {
	kept, err := l.sel.kept(ctx, l.pool, bt)
	if err != nil {
		return err
	}
	return l.addKept(ctx, bt, kept)
}

// addKept adds some of the kept rows of a batch.
func (l *lesson) addKept(ctx context.Context, bt *batch, kept cut) error {
	l.input += bt.rows
	err := l.sel.measureLists(bt, kept)
	if err != nil {
		return err
	}
	if err := l.sel.checkWidth(); err != nil {
		return unfit{errorIn(bt.file, "%w", err)}
	}
	if l.sel.wholly() {
		err = l.pool.each(ctx, len(l.sel.inputs), func(k int) error {
			return recovered(func() error { return l.column(k, bt, kept) })
		})
	}
	l.rows += int64(kept.len())
	return err
}

// column adds rows of a column to what must be known of it.
func (l *lesson) column(k int, bt *batch, kept cut) error {
	c, a := &l.sel.inputs[k], bt.columns[l.sel.features[k]]
	switch {
	case c.Kind == schema.OneHotColumn:
		if l.texts[k] == nil {
			l.texts[k] = collector{}
		}
		if what := l.texts[k].add(a, kept); what != "" {
			return unfit{errorIn(bt.file, "column %q: %s", c.Name, what)}
		}
	case c.Kind != schema.HashColumn && l.sel.counted():
		return l.count(k, a, kept)
	}
	return nil
}

// count adds rows of a column to its moments. These depend on the kept rows alone: each column is summed in their order,
// run by run.
func (l *lesson) count(k int, a arrow.Array, kept cut) error {
	c := &l.sel.inputs[k]
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
	if r.view, err = newView[float64](a); err != nil {
		return err
	}
	row, scratch := l.rows, make([]float64, max(block.RunRows, c.Width()))
	for _, span := range kept.spans() {
		for lo := span.lo; lo < span.hi; {
			n := min(span.hi-lo, block.RunRows-int(row%block.RunRows))
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
func (l *lesson) countNumbers(m *moments, v view[float64], lo, hi int, scratch []float64) {
	values, _ := v.read(lo, hi, scratch)
	if v.sound(lo, values) {
		for _, x := range values {
			m.add(x)
		}
		return
	}
	for i, x := range values {
		if !isMissing(v.array, lo+i) {
			m.add(x)
		} else {
			l.countMissing(m)
		}
	}
}

// countMissing adds what stands for a missing value. The mean is put in its place in the end, and rows without a place for
// it are errors, or weren't kept.
func (l *lesson) countMissing(m *moments) {
	if l.sel.nulls == schema.NullsZero {
		m.add(0)
	}
}

// countEmpty adds the rows so far to the moments of lists of which only now one has elements.
func (l *lesson) countEmpty(stats []moments) {
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
func (l *lesson) countLists(k int, r reader[float64], lo, hi int, scratch []float64) {
	stats := l.stats[k]
	for row := lo; row < hi; row++ {
		from, to := r.list.ValueOffsets(row)
		switch {
		case r.list.IsNull(row):
			for i := range stats {
				l.countMissing(&stats[i])
			}
		case int(to-from) == r.width:
			values, _ := r.view.read(int(from), int(to), scratch)
			sound := r.view.sound(int(from), values)
			for i, x := range values {
				if sound || !isMissing(r.view.array, int(from)+i) {
					stats[i].add(x)
				} else {
					l.countMissing(&stats[i])
				}
			}
		}
	}
}

// finish writes down what was learned.
func (l *lesson) finish(name string) error {
	if l.rows == 0 {
		return nil // which is the caller's to tell
	}
	for k := range l.sel.inputs {
		c := &l.sel.inputs[k]
		switch {
		case c.Kind == schema.OneHotColumn:
			c.Categories = l.texts[k].sorted()
			if len(c.Categories) == 0 {
				return errorIn(name, "column %q: every value is missing, so that there is no category: leave it out with --exclude", c.Name)
			}
			continue
		case c.Width() == 0:
			return errorIn(name, "column %q: no list has an element: leave it out with --exclude", c.Name)
		}
		endRuns(l.stats[k])
		for _, m := range l.stats[k] {
			if what := l.note(c, m.all); what != "" {
				return errorIn(name, "column %q: %s: leave it out with --exclude", c.Name, what)
			}
		}
	}
	if err := l.sel.checkWidth(); err != nil {
		return errorIn(name, "%w", err)
	}
	return nil
}

// note writes down the moments of a column's next feature, or returns what is wrong with them.
func (l *lesson) note(c *schema.Column, t tally) (what string) {
	if l.sel.nulls == schema.NullsMean {
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
func (s *selection) measureLists(bt *batch, kept cut) error {
	for k, i := range s.features {
		c := &s.inputs[k]
		if c.Kind != schema.ListColumn || c.Elements > 0 {
			continue
		}
		list, err := asList(bt.columns[i])
		if err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		for _, span := range kept.spans() {
			for row := span.lo; row < span.hi && c.Elements == 0; row++ {
				if from, to := list.ValueOffsets(row); list.IsValid(row) {
					c.Elements = int(to - from)
				}
			}
		}
	}
	return nil
}

// remember returns all batches, and a sequence that yields them as often as it is asked: the rows of a source that can
// be read once.
func remember(batches iter.Seq2[*batch, error]) (all []*batch, again iter.Seq2[*batch, error]) {
	for bt, err := range batches {
		if err != nil {
			return all, func(yield func(*batch, error) bool) { yield(nil, err) }
		}
		all = append(all, bt)
	}
	return all, func(yield func(*batch, error) bool) {
		for _, bt := range all {
			for _, a := range bt.columns {
				a.Retain()
			}
			if !yield(bt, nil) {
				return
			}
		}
	}
}
