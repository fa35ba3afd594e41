package dataset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/transform"
	"halfspace/schema"
)

// Ranks reads a column of files, which need not be a feature, and returns the rank of the value in each kept row: 0
// for the least value, 1 for the next greater value and so on. Equal values have equal ranks. Numbers, dates and
// times are ordered by value, texts by their bytes. The rows are the rows of Open with the same options. A missing
// value is an error. If inTime is true, a text must be a date in the form 2006-01-02, which may end after the month,
// or continue with a time. The order of other texts wouldn't be the order of times.
func (opt Options) Ranks(ctx context.Context, paths []string, col string, inTime bool) ([]int64, error) {
	if slices.Contains(paths, "-") {
		return nil, fmt.Errorf("column %q is read apart from the rows, and standard input can't be read twice: save it and name the file", col)
	}
	opt.KeepTexts = !inTime
	in, err := opt.reading(ctx, paths, []string{col})
	if err != nil {
		return nil, err
	}
	if len(in.sel.Keep) != 1 {
		return nil, fmt.Errorf("%s: %q stands for %d columns: name one", in.in.Name(), col, len(in.sel.Keep))
	}
	r := ranking{column: in.sel.Columns[in.sel.Keep[0]].Name, inTime: inTime, numbers: map[rankKey]int64{}}
	err = transform.Each(ctx, in.in.Batches(ctx, in.pool, in.mem), in.Rows(), in.opt.told(passColumns), func(bt *column.Batch, first int64) error {
		kept, err := in.sel.Kept(ctx, in.pool, bt)
		if err == nil {
			err = r.add(bt, in.sel.Keep[0], kept, first)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r.ranks(), nil
}

// reading opens files to read columns, which need not be features, of the rows that Open with the same options keeps.
func (opt Options) reading(ctx context.Context, paths, columns []string) (*Input, error) {
	opt.asked, opt.Standardize, opt.Warn, opt.Cluster = columns, false, nil, nil
	if opt.Nulls == schema.NullsMean {
		opt.Nulls = schema.NullsZero
	}
	return Open(ctx, paths, opt)
}

// A ranking numbers the values of a column in the order in which they appear.
type ranking struct {
	column  string
	inTime  bool
	rows    []int64 // for each row, the number of its value
	numbers map[rankKey]int64
}

// A rankKey is a value. Keys are ordered by their fields, beginning with the first field.
type rankKey struct {
	number float64 // the nearest float64
	whole  int64   // the value of a whole number, which float64 may round
	text   string
}

func (k rankKey) compare(other rankKey) int {
	return cmp.Or(cmp.Compare(k.number, other.number), cmp.Compare(k.whole, other.whole), strings.Compare(k.text, other.text))
}

// add adds the kept rows of a batch. first is the number of the batch's first row.
func (r *ranking) add(bt *column.Batch, col int, kept transform.Cut, first int64) error {
	values, err := keysOf(bt.Columns[col])
	if err != nil {
		return transform.Unfit(column.ErrorIn(bt.File, "column %q: %w", r.column, err))
	}
	for _, span := range kept.Spans() {
		for row := span.Lo; row < span.Hi; row++ {
			what := ""
			var k rankKey
			if column.IsMissing(bt.Columns[col], row) {
				what = "no value: fill it in, or leave the row out"
			} else if k = values(row); r.inTime && k.text != "" && !isTime(k.text) {
				what = fmt.Sprintf("%q is no time whose text sorts: write 2006-01-02 or 2006-01-02T15:04:05", k.text)
			}
			if what != "" {
				return transform.Unfit(column.ErrorIn(bt.File, "column %q, %s: %s", r.column, bt.Row(first, row), what))
			}
			n, ok := r.numbers[k]
			if !ok {
				k.text = strings.Clone(k.text)
				n = int64(len(r.numbers))
				r.numbers[k] = n
			}
			r.rows = append(r.rows, n)
		}
	}
	return nil
}

// isTime returns true if a text is a date or time of ISO 8601 whose order is the order of its bytes: it ends after a
// month, a day, a minute, a second or a fraction of a second.
func isTime(text string) bool {
	const form = "0000-00-00T00:00:00."
	text = strings.TrimSuffix(text, "Z")
	for i := range len(text) {
		want, digit := byte('0'), text[i] >= '0' && text[i] <= '9'
		if i < len(form) {
			want = form[i]
		}
		if digit != (want == '0') || !digit && text[i] != want && (want != 'T' || text[i] != ' ') {
			return false
		}
	}
	return len(text) > len(form) || slices.Contains([]int{7, 10, 16, 19}, len(text))
}

// ranks replaces the number of each row's value by its rank.
func (r *ranking) ranks() []int64 {
	keys := make([]rankKey, 0, len(r.numbers))
	for k := range r.numbers {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, rankKey.compare)
	rank := make([]int64, len(keys))
	for i, k := range keys {
		rank[r.numbers[k]] = int64(i)
	}
	for i, n := range r.rows {
		r.rows[i] = rank[n]
	}
	return r.rows
}

// keysOf returns the function that returns the key of a row of an array.
func keysOf(a arrow.Array) (func(row int) rankKey, error) {
	if text := column.Texts(a); text != nil {
		return func(row int) rankKey { return rankKey{text: text(row)} }, nil
	}
	switch a := a.(type) {
	case *array.Uint64:
		return func(row int) rankKey { return rankKey{number: float64(a.Value(row)), whole: int64(a.Value(row))} }, nil
	case *array.Dictionary:
		values, err := keysOf(a.Dictionary())
		return func(row int) rankKey { return values(a.GetValueIndex(row)) }, err
	}
	if whole := column.Whole(a); whole != nil {
		return func(row int) rankKey { return rankKey{number: float64(whole(row)), whole: whole(row)} }, nil
	}
	v, err := column.NewView64(a)
	if err != nil {
		return nil, fmt.Errorf("it is %s, and groups and times are numbers, dates or texts: choose another one", column.Describe(a.DataType()))
	}
	return func(row int) rankKey {
		values, _ := v.Read(row, row+1, make([]float64, 1))
		return rankKey{number: values[0]}
	}, nil
}
