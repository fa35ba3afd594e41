package encode

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// A reader makes the features of one column of a batch.
type reader struct {
	first, width int // its features among the block's columns

	view frame.View[float32] // of the column's numbers, or of the elements of its lists
	wide frame.View[float64] // the same, of those that are standardized
	list array.ListLike      // nil for a column that has none

	sparse *frame.Lists  // nil for a column without sparse lists; then view and wide are of their values
	beyond *atomic.Int64 // rows with an index that is no feature; may be nil

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
	fillInCross = " (leave the pair out of --cross, or use --nulls drop, zero or mean)"
)

// byRow tells whether features are written row by row, after the columns of others have become rows.
func (r *reader) byRow() bool { return r.list != nil || r.sparse != nil || r.categories != nil }

func newReaders(sel *Selection, texts []*categories, bt *frame.Batch) ([]reader, error) {
	readers := make([]reader, len(sel.Features))
	first := 0
	for k, i := range sel.Features {
		r := &readers[k]
		r.first, r.width = first, sel.Inputs[k].Width()
		first += r.width
		if r.fill, r.advice = sel.fill(k), fillIn; sel.Fixed {
			r.advice = fillInModel
		} else if sel.Inputs[k].Kind == schema.CrossColumn {
			r.advice = fillInCross
		}
		if r.categories = texts[k]; r.categories != nil {
			r.cells = sel.cells(bt, k)
			continue
		}
		values := bt.Columns[i]
		var err error
		if sel.Inputs[k].Kind == schema.ListColumn {
			if r.sparse = frame.NewLists(values); r.sparse != nil {
				values = r.sparse.Values
			} else if r.list, err = asList(values); err == nil {
				values = r.list.ListValues()
			}
		}
		if r.center, r.scale = sel.Inputs[k].Center, sel.Inputs[k].Scale; err == nil && r.center != nil {
			r.wide, err = frame.NewView64(values)
		}
		if err == nil {
			r.view, err = frame.NewView32(values)
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

// fill returns what replaces a missing value of each feature of input k, or nil if it is an error. For categories it
// returns the first feature's alone: the others are zero. For sparse lists it may return one number for all features.
func (s *Selection) fill(k int) []float64 {
	c := &s.Inputs[k]
	width := c.Width()
	if c.Categorical() || s.sparseLists(k) {
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
func (r *reader) read(lo, hi int, dst []float32, s *scratch) (values []float32, lost frame.Loss, row int, what string) {
	if r.center == nil {
		return finished(r, r.view, lo, hi, dst)
	}
	wide, lost, row, what := finished(r, r.wide, lo, hi, s.wide)
	if what != "" {
		return nil, lost, row, what
	}
	dst = dst[:len(wide)]
	r.standardize(dst, wide)
	i, what := tooFar(dst, wide)
	return dst, lost, lo + i, what
}

// tooFar returns the first finite number of wide that is none in dst, and what is wrong with it, or "".
func tooFar(dst []float32, wide []float64) (i int, what string) {
	if frame.Finite(dst) {
		return 0, ""
	}
	for i, x := range wide {
		if frame.Finite(wide[i:i+1]) && !frame.Finite(dst[i:i+1]) {
			return i, fmt.Sprintf("%v is too far from the mean of the training rows: correct the value", x)
		}
	}
	return 0, ""
}

// finished reads through a view, and fills in missing values.
func finished[V float32 | float64](r *reader, v frame.View[V], lo, hi int, dst []V) (values []V, lost frame.Loss, row int, what string) {
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
func (r *reader) standardize(dst []float32, wide []float64) {
	if r.list == nil && r.sparse == nil {
		center, scale := r.center[0], r.scale[0]
		for i, x := range wide {
			dst[i] = float32((x - center) / scale)
		}
		return
	}
	for i, x := range wide {
		dst[i] = float32((x - r.center[i]) / r.scale[i])
	}
}

// readCut does what read does, for any rows of a column of numbers.
func (r *reader) readCut(c Cut, dst []float32, s *scratch) (values []float32, lost frame.Loss, row int, what string) {
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
func (r *reader) putLists(rows []float32, stride int, c Cut, s *scratch) (lost frame.Loss, row int, what string) {
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

// putList writes the elements of one list to dst, which has zeros.
func (r *reader) putList(dst []float32, row int, s *scratch) (lost frame.Loss, what string) {
	switch {
	case r.sparse != nil:
		return r.putPairs(dst, row, s)
	case !r.list.IsNull(row):
	case r.fill == nil:
		return frame.None, "null" + r.advice
	case r.center != nil:
		r.standardize(dst, r.fill)
		return frame.None, ""
	default:
		for i, v := range r.fill {
			dst[i] = float32(v)
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

// A pair is an element of a sparse list: which of the column's features it is, and the value.
type pair[V float32 | float64] struct {
	index int
	value V
}

// pairScratch is the memory for reading a sparse list.
type pairScratch[V float32 | float64] struct {
	pairs  []pair[V]
	values []V
}

// pairsOf returns the elements of a sparse list in ascending order of their features, or what is wrong with it. It leaves out
// indices that are no features.
func pairsOf[V float32 | float64](r *reader, view frame.View[V], row int, s *pairScratch[V]) (pairs []pair[V], lost frame.Loss, what string) {
	lo, hi, at, what := r.sparse.Row(row)
	if what != "" {
		return nil, frame.None, what
	}
	if hi-lo > len(s.values) {
		s.values = make([]V, 2*(hi-lo))
	}
	values, lost := view.Read(lo, hi, s.values)
	sound, ascending, beyond := view.Sound(lo, values), true, false
	pairs = s.pairs[:0]
	for k, v := range values {
		index := int64(k)
		if at >= 0 {
			if index, what = r.sparse.Index(at + k); what != "" {
				return nil, lost, what
			}
		}
		if index >= int64(r.width) {
			beyond = true
			continue
		}
		if !sound {
			if v, what = mended(r, view, lo+k, int(index), v); what != "" {
				return nil, lost, fmt.Sprintf("index %d: %s", index, what)
			}
		}
		ascending = ascending && (len(pairs) == 0 || pairs[len(pairs)-1].index < int(index))
		pairs = append(pairs, pair[V]{int(index), v})
	}
	s.pairs = pairs
	if beyond && r.beyond != nil {
		r.beyond.Add(1)
	}
	if ascending {
		return pairs, lost, ""
	}
	slices.SortFunc(pairs, func(a, b pair[V]) int { return a.index - b.index })
	for i := range pairs[1:] {
		if pairs[i].index == pairs[i+1].index {
			return nil, lost, fmt.Sprintf("index %d is there twice: write each index of a row once", pairs[i].index)
		}
	}
	return pairs, lost, ""
}

// mended returns the value at a place for a feature: v, or what replaces it if it is missing. what says what is wrong, or is "".
func mended[V float32 | float64](r *reader, view frame.View[V], at, index int, v V) (mended V, what string) {
	switch {
	case frame.IsMissing(view.Array, at) && r.fill != nil:
		return V(r.fill[index%len(r.fill)]), ""
	case frame.IsMissing(view.Array, at):
		return v, view.Text(at) + r.advice
	case v-v != 0:
		return v, view.Text(at) + frame.TooWide
	}
	return v, ""
}

// putPairs writes the elements of a sparse list to dst, which has zeros.
func (r *reader) putPairs(dst []float32, row int, s *scratch) (lost frame.Loss, what string) {
	if r.center == nil {
		pairs, lost, what := pairsOf(r, r.view, row, &s.pairs)
		for _, p := range pairs {
			dst[p.index] = p.value
		}
		return lost, what
	}
	pairs, lost, what := pairsOf(r, r.wide, row, &s.widePairs)
	if what != "" {
		return lost, what
	}
	wide := s.wide[:r.width]
	clear(wide)
	for _, p := range pairs {
		wide[p.index] = p.value
	}
	r.standardize(dst, wide)
	if i, what := tooFar(dst, wide); what != "" {
		return lost, fmt.Sprintf("index %d: %s", i, what)
	}
	return lost, ""
}

// addPairs is addValues for the elements of a sparse list, whose other features are 0.
func addPairs(l *losses, pairs []pair[float32]) {
	values := []float32{0}
	for _, p := range pairs {
		values = append(values, p.value)
	}
	addValues(l, values)
}
