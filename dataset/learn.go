package dataset

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/block"
)

// unlearned tells whether the features depend on more than the types of their columns.
func (s *selection) unlearned() bool {
	if s.fixed {
		return false
	}
	return s.nulls == block.NullsMean || s.unmeasured()
}

// unmeasured tells whether the length of some column's lists isn't known.
func (s *selection) unmeasured() bool {
	return slices.ContainsFunc(s.inputs, func(c block.Column) bool { return c.Width() == 0 })
}

// learn finds out from the batches of the input what the features depend on. It leaves wrong values to be found by the
// builder, which says where they are.
func (s *selection) learn(ctx context.Context, name string, p pool, batches iter.Seq2[*batch, error]) error {
	l := &lesson{sel: s, pool: p, stats: make([][]moments, len(s.inputs))}
	for bt, err := range batches {
		if err != nil {
			return err
		}
		err := recovered(func() error { return l.add(ctx, bt) })
		bt.release()
		if err != nil && ctx.Err() == nil {
			err = errorIn(bt.file, "damaged data (%w)", err)
		}
		if err != nil {
			return err
		}
		if s.nulls != block.NullsMean && !s.unmeasured() {
			return nil
		}
	}
	return l.finish(name)
}

// A lesson is what was learned from some batches.
type lesson struct {
	sel   *selection
	pool  pool
	rows  int64       // kept
	stats [][]moments // of each column's features
}

func (l *lesson) add(ctx context.Context, bt *batch) error {
	if err := l.sel.measureLists(bt); err != nil {
		return err
	}
	if l.sel.nulls != block.NullsMean {
		return nil
	}
	kept, err := l.sel.kept(ctx, l.pool, bt)
	if err != nil {
		return err
	}
	err = l.pool.each(ctx, len(l.sel.inputs), func(k int) error {
		return recovered(func() error { return l.count(k, bt.columns[l.sel.features[k]], kept) })
	})
	l.rows += int64(kept.len())
	return err
}

// count adds rows of a column to its moments. These depend on the kept rows alone: each column is summed in their order,
// run by run.
func (l *lesson) count(k int, a arrow.Array, kept cut) error {
	c := &l.sel.inputs[k]
	if l.stats[k] == nil {
		l.stats[k] = make([]moments, c.Width())
	}
	r := reader[float64]{width: c.Width()}
	if c.Kind == block.ListColumn {
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
				l.stats[k][0].addAll(r.view, lo, lo+n, scratch)
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

// countLists adds the elements of lists; those of lists that can't be used are errors when blocks are built.
func (l *lesson) countLists(k int, r reader[float64], lo, hi int, scratch []float64) {
	for row := lo; row < hi; row++ {
		from, to := r.list.ValueOffsets(row)
		if r.list.IsNull(row) || int(to-from) != r.width {
			continue
		}
		values, _ := r.view.read(int(from), int(to), scratch)
		sound := r.view.sound(int(from), values)
		for i, x := range values {
			if sound || !isMissing(r.view.array, int(from)+i) {
				l.stats[k][i].add(x)
			}
		}
	}
}

// finish writes down what was learned.
func (l *lesson) finish(name string) error {
	for k := range l.sel.inputs {
		c := &l.sel.inputs[k]
		if c.Width() == 0 {
			return errorIn(name, "column %q: no list has an element: leave it out with --exclude", c.Name)
		}
		endRuns(l.stats[k])
		for _, m := range l.stats[k] {
			mean := m.all.mean
			switch {
			case m.all.n == 0:
				return errorIn(name, "column %q: every value is missing, so that there is no mean: leave it out with --exclude", c.Name)
			case math.IsNaN(mean) || math.IsInf(mean, 0):
				return errorIn(name, "column %q: its numbers are too large for a mean: leave it out with --exclude", c.Name)
			}
			c.Means = append(c.Means, mean)
		}
	}
	return nil
}

// measureLists learns from the first list that has elements how many all must have.
func (s *selection) measureLists(bt *batch) error {
	for k, i := range s.features {
		c := &s.inputs[k]
		if c.Kind != block.ListColumn || c.Elements > 0 {
			continue
		}
		list, err := asList(bt.columns[i])
		if err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		for row := 0; row < list.Len() && c.Elements == 0; row++ {
			if from, to := list.ValueOffsets(row); list.IsValid(row) {
				c.Elements = int(to - from)
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
