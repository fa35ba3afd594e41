package encode

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/frame"
	"halfspace/kernel"
	"halfspace/schema"
)

// A reader makes the features of one column of a batch.
type reader[T kernel.Float] struct {
	first, width int // its features among the block's columns

	view frame.View[T]       // of the column's numbers, or of the elements of its lists
	wide frame.View[float64] // the same, of those that are standardized
	list array.ListLike      // nil for a column that has none

	cells      cells // of categories, otherwise nil
	categories *categories

	fill []float64 // what stands for missing values: a number for each feature; nil: they are errors

	center, scale []float64 // of each feature, if standardized

	advice string // what to do about missing values
}

// The advices about missing values: in training, and where a model meets them.
const (
	fillIn      = " (exclude the column with --exclude, or use --nulls drop, zero or mean)"
	fillInModel = " (fill the value in, or train the model with --nulls zero or mean)"
)

// byRow tells whether features are written row by row, after the columns of others have become rows.
func (r *reader[T]) byRow() bool { return r.list != nil || r.categories != nil }

func newReaders[T kernel.Float](sel *Selection, texts []*categories, bt *frame.Batch) ([]reader[T], error) {
	readers := make([]reader[T], len(sel.Features))
	first := 0
	for k, i := range sel.Features {
		r := &readers[k]
		r.first, r.width = first, sel.Inputs[k].Width()
		first += r.width
		if r.fill, r.advice = sel.fill(&sel.Inputs[k]), fillIn; sel.Fixed {
			r.advice = fillInModel
		}
		if r.categories = texts[k]; r.categories != nil {
			r.cells = sel.cells(bt, k)
			continue
		}
		values := bt.Columns[i]
		var err error
		if sel.Inputs[k].Kind == schema.ListColumn {
			if r.list, err = asList(values); err == nil {
				values = r.list.ListValues()
			}
		}
		if r.center, r.scale = sel.Inputs[k].Center, sel.Inputs[k].Scale; err == nil && r.center != nil {
			r.wide, err = frame.NewView[float64](values)
		}
		if err == nil {
			r.view, err = frame.NewView[T](values)
		}
		if err != nil {
			return nil, frame.ErrorIn(bt.File, "column %q: %w", sel.Columns[i].Name, err)
		}
	}
	return readers, nil
}

func asList(a arrow.Array) (array.ListLike, error) {
	if list, ok := a.(array.ListLike); ok {
		return list, nil
	}
	return nil, fmt.Errorf("it is %s in a record, and lists of numbers are wanted", frame.Describe(a.DataType()))
}

// fill returns what replaces a missing value of each feature of a column, or nil if it is an error. For categories it
// returns the first feature's alone: the others are zero.
func (s *Selection) fill(c *schema.Column) []float64 {
	width := c.Width()
	if c.Categorical() {
		width = 1 // no category has no mean: it is none
	}
	switch {
	case s.Nulls == schema.NullsMean && c.Means != nil:
		return c.Means
	case s.Nulls == schema.NullsZero || s.Nulls == schema.NullsMean:
		return make([]float64, width)
	case s.Nulls == schema.NullsDrop:
		nan := make([]float64, width) // of rows that stay; see drops
		for i := range nan {
			nan[i] = math.NaN()
		}
		return nan
	}
	return nil
}

// read returns the numbers lo to hi of the column, or of one of its lists, as features, either where they lie or in dst.
// It tells whether they are read exactly, and returns the first one that can't be used and what is wrong there, or "".
func (r *reader[T]) read(lo, hi int, dst []T, s *scratch[T]) (values []T, lost frame.Loss, row int, what string) {
	if r.center == nil {
		return finished(r, r.view, lo, hi, dst)
	}
	wide, lost, row, what := finished(r, r.wide, lo, hi, s.wide)
	if what != "" {
		return nil, lost, row, what
	}
	dst = dst[:len(wide)]
	r.standardize(dst, wide)
	if !frame.Finite(dst) {
		for i, x := range wide {
			if frame.Finite(wide[i:i+1]) && !frame.Finite(dst[i:i+1]) {
				return nil, lost, lo + i, fmt.Sprintf("%v is too far from the mean of the training rows: correct the value", x)
			}
		}
	}
	return dst, lost, 0, ""
}

// finished reads through a view, and fills in missing values.
func finished[T, V kernel.Float](r *reader[T], v frame.View[V], lo, hi int, dst []V) (values []V, lost frame.Loss, row int, what string) {
	values, lost = v.Read(lo, hi, dst)
	if v.Sound(lo, values) {
		return values, lost, 0, ""
	}
	if r.fill == nil {
		row, what = v.Problem(lo, values)
		if frame.IsMissing(v.Array, row) {
			what += r.advice
		}
		return nil, lost, row, what
	}
	lost, row, what = v.Mend(lo, hi, dst, r.fill)
	return dst[:hi-lo], lost, row, what
}

// standardize writes standardized numbers: many rows of one feature, or one row of all features of a list.
func (r *reader[T]) standardize(dst []T, wide []float64) {
	if r.list == nil {
		center, scale := r.center[0], r.scale[0]
		for i, x := range wide {
			dst[i] = T((x - center) / scale)
		}
		return
	}
	for i, x := range wide {
		dst[i] = T((x - r.center[i]) / r.scale[i])
	}
}

// readCut does what read does, for any rows of a column of numbers.
func (r *reader[T]) readCut(c Cut, dst []T, s *scratch[T]) (values []T, lost frame.Loss, row int, what string) {
	if c.Rows == nil {
		return r.read(c.Lo, c.Hi, dst, s)
	}
	for i, span := range c.Spans() {
		values, all, row, what := r.read(span.Lo, span.Hi, dst[i:], s)
		if what != "" {
			return nil, lost, row, what
		}
		copy(dst[i:], values)
		lost = max(lost, all)
	}
	return dst[:c.Len()], lost, 0, ""
}

// putLists writes the elements of lists to the columns of rows, which are in a block. The results are those of read.
func (r *reader[T]) putLists(rows []T, stride int, c Cut, s *scratch[T]) (lost frame.Loss, row int, what string) {
	for _, span := range c.Spans() {
		for row := span.Lo; row < span.Hi; row, rows = row+1, rows[stride:] {
			all, what := r.putList(rows[r.first:r.first+r.width], row, s)
			if what != "" {
				return lost, row, what
			}
			lost = max(lost, all)
		}
	}
	return lost, 0, ""
}

// putList writes the elements of one list to dst.
func (r *reader[T]) putList(dst []T, row int, s *scratch[T]) (lost frame.Loss, what string) {
	switch {
	case !r.list.IsNull(row):
	case r.fill == nil:
		return frame.None, "null" + r.advice
	case r.center != nil:
		r.standardize(dst, r.fill)
		return frame.None, ""
	default:
		for i, v := range r.fill {
			dst[i] = T(v)
		}
		return frame.None, ""
	}
	from, to := r.list.ValueOffsets(row)
	if int(to-from) != r.width {
		return frame.None, fmt.Sprintf("a list of %d, where others have %d (exclude the column with --exclude, or make them "+
			"equally long)", to-from, r.width)
	}
	values, lost, i, what := r.read(int(from), int(to), s.values, s)
	if what != "" {
		return frame.None, fmt.Sprintf("element %d: %s", i-int(from), what)
	}
	copy(dst, values)
	return lost, ""
}
