package dataset

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/block"
	"halfspace/kernel"
)

// A reader makes the features of one column of a batch.
type reader[T kernel.Float] struct {
	first, width int // its features among the block's columns

	view view[T]        // of the column's numbers, or of the elements of its lists
	list array.ListLike // nil for a column of numbers
	fill []float64      // what stands for missing values: a number for each feature; nil: they are errors

	advice string // what to do about them
}

// The advices about missing values: in training, and where a model meets them.
const (
	fillIn      = " (exclude the column with --exclude, or use --nulls drop, zero or mean)"
	fillInModel = " (fill the value in, or train the model with --nulls zero or mean)"
)

func newReaders[T kernel.Float](sel *selection, bt *batch) ([]reader[T], error) {
	readers := make([]reader[T], len(sel.features))
	first := 0
	for k, i := range sel.features {
		r := &readers[k]
		r.first, r.width = first, sel.inputs[k].Width()
		first += r.width
		if r.fill, r.advice = sel.fill(&sel.inputs[k]), fillIn; sel.fixed {
			r.advice = fillInModel
		}
		values := bt.columns[i]
		var err error
		if sel.inputs[k].Kind == block.ListColumn {
			if r.list, err = asList(values); err == nil {
				values = r.list.ListValues()
			}
		}
		if err == nil {
			r.view, err = newView[T](values)
		}
		if err != nil {
			return nil, errorIn(bt.file, "column %q: %w", sel.columns[i].name, err)
		}
	}
	return readers, nil
}

func asList(a arrow.Array) (array.ListLike, error) {
	if list, ok := a.(array.ListLike); ok {
		return list, nil
	}
	return nil, fmt.Errorf("it is %s in a record, and lists of numbers are wanted", describe(a.DataType()))
}

// fill returns what stands for a missing value of each feature of a column, nil where it is an error.
func (s *selection) fill(c *block.Column) []float64 {
	switch s.nulls {
	case block.NullsZero:
		return make([]float64, c.Width())
	case block.NullsMean:
		return c.Means
	case block.NullsDrop:
		nan := make([]float64, c.Width()) // of rows that stay; see drops
		for i := range nan {
			nan[i] = math.NaN()
		}
		return nan
	}
	return nil
}

// read returns the numbers lo to hi of the column or of its lists, with missing ones filled in, either where they lie or
// in dst. It tells whether T holds all exactly, and returns the first one that can't be used and what is wrong there, or
// "".
func (r *reader[T]) read(lo, hi int, dst []T) (values []T, exact bool, row int, what string) {
	values, exact = r.view.read(lo, hi, dst)
	if r.view.sound(lo, values) {
		return values, exact, 0, ""
	}
	if r.fill == nil {
		row, what = r.view.problem(lo, values)
		if isMissing(r.view.array, row) {
			what += r.advice
		}
		return nil, exact, row, what
	}
	exact, row, what = r.view.mend(lo, hi, dst, r.fill)
	return dst[:hi-lo], exact, row, what
}

// readCut is read for any rows of a column of numbers.
func (r *reader[T]) readCut(c cut, dst []T) (values []T, exact bool, row int, what string) {
	if c.rows == nil {
		return r.read(c.lo, c.hi, dst)
	}
	exact = true
	for i, span := range c.spans() {
		values, all, row, what := r.read(span.lo, span.hi, dst[i:])
		if what != "" {
			return nil, exact, row, what
		}
		copy(dst[i:], values)
		exact = exact && all
	}
	return dst[:c.len()], exact, 0, ""
}

// putLists writes the elements of lists to the columns of rows, which are in a block. The results are those of read.
func (r *reader[T]) putLists(rows []T, stride int, c cut, scratch []T) (exact bool, row int, what string) {
	exact = true
	for _, span := range c.spans() {
		for row := span.lo; row < span.hi; row, rows = row+1, rows[stride:] {
			dst := rows[r.first : r.first+r.width]
			if r.list.IsNull(row) && r.fill != nil {
				for i, v := range r.fill {
					dst[i] = T(v)
				}
				continue
			}
			all, what := r.putList(dst, row, scratch)
			if what != "" {
				return exact, row, what
			}
			exact = exact && all
		}
	}
	return exact, 0, ""
}

// putList writes the elements of one list to dst.
func (r *reader[T]) putList(dst []T, row int, scratch []T) (exact bool, what string) {
	if r.list.IsNull(row) {
		return false, "null" + r.advice
	}
	from, to := r.list.ValueOffsets(row)
	if int(to-from) != r.width {
		return false, fmt.Sprintf("a list of %d, where others have %d (exclude the column with --exclude, or make them "+
			"equally long)", to-from, r.width)
	}
	values, exact, i, what := r.read(int(from), int(to), scratch)
	if what != "" {
		return false, fmt.Sprintf("element %d: %s", i-int(from), what)
	}
	copy(dst, values)
	return exact, ""
}
