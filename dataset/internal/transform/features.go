package transform

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/internal/message"
	"halfspace/internal/words"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/schema"
)

// A reader makes the features of one column of a batch.
type reader struct {
	first, width int // number of its first feature among the block's columns, and number of its features

	view column.View[float32] // view of the column's numbers, or of the elements of its lists
	wide column.View[float64] // the same view as float64, if features are standardized
	list array.ListLike       // nil unless the column has lists

	sparse *column.Lists // nil unless the column has sparse lists; view and wide then read their values
	beyond *atomic.Int64 // counts rows with an index that is no feature; may be nil

	cells      cells // arrays of a column of categories, otherwise nil
	categories *categoryNumbers
	tokens     *Tokens // of the texts of a column of words, whose cells are not read then; nil: none
	firstRow   int64   // number of the first row of the batch in the input, for tokens

	fill []float64 // replaces a missing value: a number for each feature; nil: missing values are errors

	center, scale []float64 // for each feature, if standardized

	advice string // remedy for missing values
}

// The remedies for missing values: in training, for the rows that a model reads, and for crosses.
const (
	fillIn      = " (exclude the column with --exclude, or use --nulls drop, zero or mean)"
	fillInModel = " (fill the value in, or train the model with --nulls zero or mean)"
	fillInCross = " (leave the pair out of --cross, or use --nulls drop, zero or mean)"
)

// byRow returns true if features are written row by row, after the columns of numbers were transposed to rows.
func (r *reader) byRow() bool { return r.list != nil || r.sparse != nil || r.categories != nil }

func newReaders(bound *Binding, texts []*categoryNumbers, bt *column.Batch) ([]reader, error) {
	readers := make([]reader, len(bound.Features))
	first := 0
	for k := range bound.Features {
		r := &readers[k]
		r.first, r.width = first, bound.Plan.Inputs[k].Width()
		first += r.width
		if r.fill, r.advice = bound.fill(k), fillIn; bound.Fixed {
			r.advice = fillInModel
		} else if bound.Plan.Inputs[k].Kind == schema.CrossColumn {
			r.advice = fillInCross
		}
		if r.categories = texts[k]; r.categories != nil {
			r.cells = bound.cells(bt, k)
			if bound.tokens != nil {
				r.tokens, r.firstRow = bound.tokens[k], bt.First
			}
			continue
		}
		values := bound.array(bt, k)
		var err error
		if bound.Plan.Inputs[k].Kind == schema.ListColumn {
			if r.sparse = column.NewLists(values); r.sparse != nil {
				values = r.sparse.Values
			} else if r.list, err = asList(values); err == nil {
				values = r.list.ListValues()
			}
		}
		if r.center, r.scale = bound.Plan.Inputs[k].Center, bound.Plan.Inputs[k].Scale; err == nil && r.center != nil {
			r.wide, err = column.NewView64(values)
		}
		if err == nil {
			r.view, err = column.NewView32(values)
		}
		if err != nil {
			return nil, column.ErrorIn(bt.File, "column %q: %w", bound.Plan.Inputs[k].Name, err)
		}
	}
	return readers, nil
}

func asList(a arrow.Array) (array.ListLike, error) {
	if list, ok := a.(array.ListLike); ok {
		return list, nil
	}
	return nil, fmt.Errorf("it is %s in a record, and lists of numbers are wanted", column.Describe(a.DataType()))
}

// fill returns the number that replaces a missing value for each feature of input k, or nil if a missing value is an
// error. For categories, it returns the number for the first feature only: the other features are 0. For sparse lists
// it may return one number, which applies to all features.
func (s *Binding) fill(k int) []float64 {
	c := &s.Plan.Inputs[k]
	width := c.Width()
	if c.Categorical() || s.sparseLists(k) {
		width = 1 // a category has no mean: a missing category is no category
	}
	switch {
	case s.Plan.Nulls == schema.NullsMean && c.Means != nil:
		return c.Means
	case s.Plan.Nulls == schema.NullsZero || s.Plan.Nulls == schema.NullsMean:
		return make([]float64, width)
	case s.Plan.Nulls == schema.NullsDrop:
		nan := make([]float64, width) // in rows that aren't dropped; see Drops
		for i := range nan {
			nan[i] = math.NaN()
		}
		return nan
	}
	return nil
}

// read returns the numbers from lo up to, but not including, hi of the column, or of one of its lists, as features.
// The result is in dst or, if no conversion is necessary, in the memory of the array. lost is the loss of precision.
// If a number can't be used, read returns the index of the first one and an error text; otherwise the text is "".
func (r *reader) read(lo, hi int, dst []float32, s *scratch) (values []float32, lost column.Loss, row int, what string) {
	if r.center == nil {
		return finished(r, r.view, lo, hi, dst)
	}
	if r.standardizeNarrow(lo, hi, dst) {
		return dst[:hi-lo], column.None, 0, ""
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

// standardizeNarrow writes standardized numbers of a column of float32 without gaps to dst. Otherwise, or if a result isn't
// finite, it returns false.
func (r *reader) standardizeNarrow(lo, hi int, dst []float32) bool {
	if _, narrow := r.view.Array.(*array.Float32); !narrow || r.list != nil || r.sparse != nil {
		return false
	}
	values, _ := r.view.Read(lo, hi, nil)
	if !r.view.Sound(lo, values) {
		return false
	}
	kernel.Standardize(dst[:hi-lo], values, r.center[0], r.scale[0])
	return column.Finite(dst[:hi-lo])
}

// tooFar returns the index of the first finite number of wide whose value in dst isn't finite, and the error text, or
// "".
func tooFar(dst []float32, wide []float64) (i int, what string) {
	if column.Finite(dst) {
		return 0, ""
	}
	for i, x := range wide {
		if column.Finite(wide[i:i+1]) && !column.Finite(dst[i:i+1]) {
			return i, fmt.Sprintf("%v is too far from the mean of the training rows: correct the value", x)
		}
	}
	return 0, ""
}

// finished reads numbers through a view, and replaces missing values.
func finished[V float32 | float64](r *reader, v column.View[V], lo, hi int, dst []V) (values []V, lost column.Loss, row int, what string) {
	values, lost = v.Read(lo, hi, dst)
	if v.Sound(lo, values) {
		return values, lost, 0, ""
	}
	if r.fill == nil {
		row, what = v.Problem(lo, values)
		if column.IsMissing(v.Array, row) {
			what += message.Translate(r.advice)
		}
		return nil, lost, row, what
	}
	lost, row, what = v.Mend(lo, hi, dst, r.fill)
	return dst[:hi-lo], lost, row, what
}

// standardize writes standardized numbers to dst: many rows of one feature, or all features of one row of a list.
func (r *reader) standardize(dst []float32, wide []float64) {
	if r.list == nil && r.sparse == nil {
		f64.Standardize(dst, wide, r.center[0], r.scale[0])
		return
	}
	for i, x := range wide {
		dst[i] = float32((x - r.center[i]) / r.scale[i])
	}
}

// readCut is read for any rows of a column of numbers.
func (r *reader) readCut(c Cut, dst []float32, s *scratch) (values []float32, lost column.Loss, row int, what string) {
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

// putLists writes the elements of lists to the columns of rows, which belong to a block. It returns the same results
// as read.
func (r *reader) putLists(rows []float32, stride int, c Cut, s *scratch) (lost column.Loss, row int, what string) {
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

// putList writes the elements of the list in a row to dst, which has zeros.
func (r *reader) putList(dst []float32, row int, s *scratch) (lost column.Loss, what string) {
	switch {
	case r.sparse != nil:
		return r.putPairs(dst, row, s)
	case !r.list.IsNull(row):
	case r.fill == nil:
		return column.None, "null" + message.Translate(r.advice)
	case r.center != nil:
		r.standardize(dst, r.fill)
		return column.None, ""
	default:
		for i, v := range r.fill {
			dst[i] = float32(v)
		}
		return column.None, ""
	}
	from, to := r.list.ValueOffsets(row)
	if int(to-from) != r.width {
		return column.None, r.otherLength("list", int(to-from))
	}
	values, lost, i, what := r.read(int(from), int(to), s.values, s)
	if what != "" {
		return column.None, fmt.Sprintf("element %d: %s", i-int(from), what)
	}
	copy(dst, values)
	return lost, ""
}

// otherLength returns the error text about a list or a vector of n elements, where others have more or fewer.
func (r *reader) otherLength(kind string, n int) string {
	return message.Sprintf("a %s of %d, where others have %d (exclude the column with --exclude, or make them equally long)",
		kind, n, r.width)
}

// pairsOf returns the elements of a sparse list in ascending order of their features, or an error text. It leaves out
// elements whose index is no feature, and counts the rows with an element that it leaves out.
func pairsOf[V float32 | float64](r *reader, view column.View[V], row int, s *pairScratch[V]) (pairs []pair[V],
	lost column.Loss, what string) {
	lo, hi, at, what := r.sparse.Row(row)
	if what != "" {
		return nil, column.None, what
	}
	if at < 0 && hi-lo != r.width {
		return nil, column.None, r.otherLength("vector", hi-lo)
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

// mended returns v, the value of feature index at position at of view, or its replacement if the value is missing. It
// also returns an error text, or "".
func mended[V float32 | float64](r *reader, view column.View[V], at, index int, v V) (mended V, what string) {
	switch {
	case column.IsMissing(view.Array, at) && r.fill != nil:
		return V(r.fill[index%len(r.fill)]), ""
	case column.IsMissing(view.Array, at):
		return v, view.Text(at) + message.Translate(r.advice)
	case v-v != 0:
		return v, view.Text(at) + column.TooWide()
	}
	return v, ""
}

// putPairs writes the elements of a sparse list to dst, which has zeros.
func (r *reader) putPairs(dst []float32, row int, s *scratch) (lost column.Loss, what string) {
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

// putCategories sets the feature of each row's category to 1. The features in rows must be 0 before. It returns the
// first wrong row and the error text, or "".
func (r *reader) putCategories(rows []float32, stride int, c Cut, s *scratch) (row int, what string) {
	if r.categories.words != nil {
		return r.putWords(rows, stride, c)
	}
	numbers := s.values[:c.Len()]
	if row, what := r.readCategories(c, numbers); what != "" {
		return row, what
	}
	for i, n := range numbers {
		switch {
		case n >= 0:
			rows[i*stride+r.first+int(n)] = 1
		case n != n:
			rows[i*stride+r.first] = n
		}
	}
	return 0, ""
}

// hasWords returns true for a column of words.
func (r *reader) hasWords() bool { return r.categories != nil && r.categories.words != nil }

// putWords writes the features of words to rows, which are 0 before. It returns the first wrong row and the error text, or "".
func (r *reader) putWords(rows []float32, stride int, c Cut) (row int, what string) {
	for i, span := range c.Spans() {
		for row := span.Lo; row < span.Hi; row, i = row+1, i+1 {
			if what := r.categories.words.each(r, row, func(features []uint32, values []float32) {
				for n, f := range features {
					rows[i*stride+r.first+int(f)] = values[n]
				}
			}); what != "" {
				return row, what
			}
		}
	}
	return 0, ""
}

// each calls put with the features of a row that aren't 0, from 0 on, and their values. It returns an error text, or "". A missing
// text has no features, or NaN for the first.
func (w *wordFeatures) each(r *reader, row int, put func(features []uint32, values []float32)) (what string) {
	a := r.cells[0]
	if r.tokens != nil {
		m := w.makers.Get().(*words.Maker)
		defer w.makers.Put(m)
		put(m.FeaturesOf(r.tokens.of(r.firstRow + int64(row))))
		return ""
	}
	if column.IsMissing(a, row) {
		switch {
		case r.fill == nil:
			return "null" + message.Translate(r.advice)
		case r.fill[0] != r.fill[0]:
			put([]uint32{0}, []float32{float32(math.NaN())})
		}
		return ""
	}
	text, what := textOf(a, row)
	if what != "" {
		return what
	}
	m := w.makers.Get().(*words.Maker)
	defer w.makers.Put(m)
	put(m.Features(text))
	return ""
}

// addWords adds the features of words in a row. It returns an error text, or "".
func (p *piece) addWords(r *reader, row int) (what string) {
	return r.categories.words.each(r, row, func(features []uint32, values []float32) {
		for n, f := range features {
			p.columns, p.values = append(p.columns, uint32(r.first+int(f))), append(p.values, values[n])
		}
	})
}

// readCategories writes the feature number of each row's category to dst, from 0. The number is -1 for a row with an
// unknown or missing category, and NaN for a row that the training would have dropped. It returns the first wrong row
// and the error text, or "".
func (r *reader) readCategories(c Cut, dst []float32) (row int, what string) {
	for i, span := range c.Spans() {
		gaps := r.cells.missing(span.Lo, span.Hi)
		for from, g := span.Lo, 0; from < span.Hi; g++ {
			to := span.Hi
			if g < len(gaps) {
				to = gaps[g]
			}
			numbers := dst[i+from-span.Lo:][:to-from]
			if row, what := encodeCells(r.categories, r.cells, from, numbers); what != "" {
				return row, what
			}
			for _, n := range numbers {
				if n < 0 {
					r.categories.unknown.Add(1)
				}
			}
			if g < len(gaps) {
				if r.fill == nil {
					return to, "null" + message.Translate(r.advice)
				}
				dst[i+to-span.Lo] = float32(r.fill[0]) - 1 // a fill is 0 or NaN
			}
			from = to + 1
		}
	}
	return 0, ""
}
