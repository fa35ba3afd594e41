package dataset

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/transform"
	"halfspace/schema"
)

// Ranks reads a column of files, which need not be a feature, and returns the rank of the value in each kept row: 0
// for the least value, 1 for the next greater value and so on. Equal values have equal ranks. Numbers, dates and
// times are ordered by value, texts by their bytes. The rows are the rows of Open with the same options. A missing
// value is an error. If inTime is true, texts are dates or times as features derive from them, all in one layout, and
// they are ordered by time.
func (opt Options) Ranks(ctx context.Context, paths []string, col string, inTime bool) ([]int64, error) {
	if slices.Contains(paths, "-") {
		return nil, fmt.Errorf("column %q is read apart from the rows, and standard input can't be read twice: save "+
			"it and name the file", col)
	}
	opt.KeepTexts = !inTime
	t, err := Examine(ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	p, err := t.reading(ctx, opt, []string{col}, false)
	if err != nil {
		return nil, err
	}
	if len(p.bound.Keep) != 1 {
		return nil, fmt.Errorf("%s: %q stands for %d columns: name one", p.in.Name(), col, len(p.bound.Keep))
	}
	r, err := withPlan(ctx, p, func(p *Plan) (*ranking, error) { return p.ranking(ctx, inTime) })
	if err != nil {
		return nil, err
	}
	layout, notes, dated, err := r.layout()
	if err != nil {
		return nil, err
	}
	t.opt.tell(notes)
	return r.ranks(func(k rankKey) rankKey {
		if dated {
			t, _ := schema.ParseTime(k.text, layout)
			day, nanos := schema.DayOf(t)
			k = rankKey{number: float64(day), whole: nanos}
		}
		return k
	}), nil
}

// ranking numbers the values of the only column that the plan keeps.
func (p *Plan) ranking(ctx context.Context, inTime bool) (*ranking, error) {
	name := p.bound.Columns[p.bound.Keep[0]].Name
	r := &ranking{column: name, numbers: map[rankKey]int64{}}
	if inTime {
		r.dates = plan.NewTextDates(name, p.request.Types[name])
	}
	return r, transform.Each(ctx, p.in.Batches(ctx, p.table.pool, p.table.mem), p.in.Total(), p.table.opt.progressOf(passColumns),
		func(bt *column.Batch, first int64) error {
			kept, err := p.bound.Kept(ctx, p.table.pool, bt)
			if err == nil {
				err = r.add(bt, p.bound.Keep[0], kept, first)
			}
			return err
		})
}

// reading plans reading some columns, which need not be features, in the rows that Plan with the same options keeps.
// shows: sparse lists may be among them.
func (t *Table) reading(ctx context.Context, opt Options, columns []string, shows bool) (*Plan, error) {
	opt.Standardize, opt.Warn, opt.Cluster, opt.LearnFrom = false, nil, nil, nil
	if opt.Nulls == schema.NullsMean {
		opt.Nulls = schema.NullsZero
	}
	d, err := t.planner(opt)
	if err != nil {
		return nil, err
	}
	d.request.Keep, d.request.KeepsSparseLists, d.request.KeepsTypes, d.readsAllRows = columns, shows, !shows, true
	return d.plan(ctx)
}

// A ranking numbers the values of a column in the order in which they appear.
type ranking struct {
	column  string
	dates   *plan.TextDates // nil: texts are ordered by their bytes
	rows    []int64         // for each row, the number of its value
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
			if column.IsMissing(bt.Columns[col], row) {
				return transform.Unfit(bt.RowError(first, row, r.column, "no value: fill it in, or leave the row out"))
			}
			k := values(row)
			n, ok := r.numbers[k]
			if !ok {
				if r.dates != nil && isText(bt.Columns[col]) {
					r.dates.Distinct++
					if odd := r.dates.AddText(k.text, first+int64(row)); odd > 0 && bt.Line != nil {
						o := &r.dates.OddTexts[odd-1]
						o.File, o.Line = bt.File, bt.Line(int64(row))
					}
				}
				k.text = strings.Clone(k.text)
				n = int64(len(r.numbers))
				r.numbers[k] = n
			}
			r.rows = append(r.rows, n)
		}
	}
	return nil
}

// isText returns true if the values of an array are texts.
func isText(a arrow.Array) bool {
	if d, is := a.(*array.Dictionary); is {
		a = d.Dictionary()
	}
	return column.Texts(a) != nil
}

// layout returns the layout of texts that are dates, and notes about other dates that they could be. ok is false if
// there are no texts, or they are ordered by their bytes.
func (r *ranking) layout() (layout string, notes []string, ok bool, err error) {
	if r.dates == nil || r.dates.Distinct == 0 {
		return "", nil, false, nil
	}
	layout, notes, odd := r.dates.Layout()
	if odd != nil {
		why := fmt.Errorf("%q is no date as the other texts are, and no plain number: write 2006-01-02, 2006-01-02T15:04:05 or 12.5",
			odd.Text)
		if w, is := schema.ParseWritten(odd.Text, '.'); is {
			why = fmt.Errorf("%q is a number with marks, and plain numbers, dates or times order rows: write %v", odd.Text, w.Value)
		}
		err = &RowError{File: odd.File, Line: odd.Line, Row: odd.Row, Column: r.column, Err: why}
	}
	for i, note := range notes {
		notes[i] = fmt.Sprintf("column %q: %s", r.column, note)
	}
	return layout, notes, err == nil, err
}

// ranks replaces the number of each row's value by its rank. of returns the key by which a value is ordered.
func (r *ranking) ranks(of func(rankKey) rankKey) []int64 {
	type value struct {
		key    rankKey
		number int64
	}
	values := make([]value, 0, len(r.numbers))
	for k, n := range r.numbers {
		values = append(values, value{of(k), n})
	}
	slices.SortFunc(values, func(a, b value) int { return a.key.compare(b.key) })
	rank, last := make([]int64, len(values)), int64(0)
	for i, v := range values {
		if i > 0 && v.key != values[i-1].key {
			last++
		}
		rank[v.number] = last
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
	case *array.Decimal128, *array.Decimal256: // float64 may lack digits
		return func(row int) rankKey {
			v, _ := strconv.ParseFloat(a.ValueStr(row), 64)
			return rankKey{number: v, text: a.ValueStr(row)}
		}, nil
	case *array.Dictionary:
		values, err := keysOf(a.Dictionary())
		return func(row int) rankKey { return values(a.GetValueIndex(row)) }, err
	}
	if whole := column.Whole(a); whole != nil {
		return func(row int) rankKey { return rankKey{number: float64(whole(row)), whole: whole(row)} }, nil
	}
	v, err := column.NewView64(a)
	if err != nil {
		return nil, fmt.Errorf("it is %s, and groups and times are numbers, dates or texts: choose another one",
			column.Describe(a.DataType()))
	}
	return func(row int) rankKey {
		values, _ := v.Read(row, row+1, make([]float64, 1))
		return rankKey{number: values[0]}
	}, nil
}
