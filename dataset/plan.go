package dataset

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	textfile "halfspace/dataset/internal/text"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A Plan is the use of each column and row of a table, with the values that features learn from rows: means, deviations,
// categories and the lengths of lists. It holds no rows.
type Plan struct {
	draft
	query     query // with the decisions
	in        column.Input
	sel       *transform.Selection
	survey    *survey         // of the rows; nil until it is needed
	processes *otherProcesses // the processes that read rows too; nil: this process reads all rows
}

// A draft is a table and a query from which a plan is made.
type draft struct {
	table   *Table
	request query
	// readsAllRows: all rows decide how columns become features. Otherwise the first rows decide if each column has numbers
	// in them, and none is missing.
	readsAllRows bool
}

// Plan decides the use of each column and row. It reads rows if features depend on them. Options.Keep is for Scan
// and Convert.
func (t *Table) Plan(ctx context.Context, opt Options) (*Plan, error) {
	q, err := newQuery(opt)
	if err != nil {
		return nil, err
	}
	return t.plan(ctx, q)
}

func (t *Table) plan(ctx context.Context, q query) (*Plan, error) {
	q.Keep, q.Memory, q.floatType = q.columnsToRead, column.Limit(q.Memory), arrow.PrimitiveTypes.Float32
	q.countsRows = q.Storage.Widest() > schema.MaxFeatures && !slices.Contains(t.paths(), "-")
	return withPlan(ctx, &Plan{draft: draft{t, q, q.columnsToRead != nil || q.LearnedFrom != ""}},
		func(p *Plan) (*Plan, error) { return p, nil })
}

// settle calls try with a draft. If the value of a row contradicts the first rows, on which the draft rests, settle calls
// try with a draft that rests on all rows. No other function begins again because of a value.
func settle[T any](ctx context.Context, d draft, try func(d *draft) (T, error)) (T, error) {
	for {
		result, err := try(&d)
		next, err := d.revised(ctx, err)
		if next == nil {
			return result, err
		}
		d = *next
	}
}

// withPlan calls use with a plan, which it decides first if that was not done. It is settle for plans.
func withPlan[T any](ctx context.Context, p *Plan, use func(*Plan) (T, error)) (T, error) {
	return settle(ctx, p.draft, func(d *draft) (result T, err error) {
		if p == nil || p.sel == nil {
			if p, err = d.decide(ctx); err != nil {
				return result, err
			}
		}
		used := p
		p, *d = nil, used.draft
		return use(used)
	})
}

// errFirstRows is a contradiction: a plan rests on the first rows, and all rows must be read for it.
var errFirstRows = errors.New("the first rows don't decide")

// revised returns the draft that rests on all rows if err is a contradiction, otherwise nil and err.
func (d draft) revised(ctx context.Context, err error) (*draft, error) {
	text := (*textfile.Contradiction)(nil)
	switch {
	case !d.table.readsLater && d.request.Spec == nil && errors.As(err, &text) && (text.IsExact || d.request.mayBeText()):
		var bad error
		if d.table, bad = d.table.withText(ctx, d.request, err); bad != nil {
			return nil, bad
		}
	case errors.Is(err, errFirstRows), d.request.decidesByValues() && !d.readsAllRows && errors.Is(err, ErrNulls):
		d.readsAllRows = true
	default:
		return nil, err
	}
	return &d, nil
}

// decidesByValues returns true if the values of columns decide how these become features.
func (q *query) decidesByValues() bool { return q.Prepare && q.Spec == nil }

// mayBeText returns true if a column of numbers may become one of text.
func (q *query) mayBeText() bool { return q.Prepare && q.Rejects == nil }

// decide makes the plan of a draft.
func (d draft) decide(ctx context.Context) (*Plan, error) {
	t, q := d.table, d.request
	if q.Rejects != nil && q.Spec == nil { // finds the rejects
		if _, err := t.readWidest(ctx, q); err != nil {
			return nil, err
		}
	}
	for _, c := range t.laterTexts {
		if c.Exact {
			q.notes = append(q.notes, c.Note)
		}
	}
	q.DropUnlabelled = q.DropUnlabelled || q.Prepare && q.Spec != nil
	if q.decidesByValues() && !t.format.paired() {
		var err error
		if d.readsAllRows, err = t.prepare(ctx, &q, d.readsAllRows); err != nil {
			return nil, err
		}
	} else {
		d.readsAllRows = true
	}
	in, err := t.read(ctx, q)
	if err != nil {
		return nil, err
	}
	if err := checkRows(in, q.Rejects); err != nil {
		return nil, err
	}
	q.versions, q.end = in.versions, in.end()
	p := &Plan{draft: d, query: q, in: in.Input, sel: in.sel, processes: othersOf(t, in, q)}
	if err := p.learn(ctx); err != nil {
		return nil, err
	}
	if p.sel.Gaps && !d.readsAllRows {
		return nil, errFirstRows
	}
	if q.LearnFrom != nil && p.isLearned() {
		shares, err := p.shares(ctx, func(counts []int64) []func(class int) bool {
			return []func(class int) bool{q.LearnFrom(counts)}
		})
		if err != nil {
			return nil, err
		}
		return shares[0], nil
	}
	return p, nil
}

// checkRows returns an error if an input has no rows.
func checkRows(in *openedInput, rejects *Rejects) error {
	if in.Total() == 0 {
		return fmt.Errorf("%s: no rows: name a file that has some", in.Name())
	}
	if text := in.text(); text != nil && text.None {
		if text.LeftOut() {
			return fmt.Errorf("%s: no line is a row: %s has the reasons", in.Name(), rejects.Path())
		}
		return message.Errorf("%s: no rows after the header: name a file with rows, or use --header no if the first "+
			"line is a row", in.Name())
	}
	return nil
}

// readWidest opens a table with all columns that some later pass may read.
func (t *Table) readWidest(ctx context.Context, q query) (*openedInput, error) {
	q.Limit = 0
	if !q.Prepare {
		return t.read(ctx, q)
	}
	return t.read(ctx, q.everyColumn())
}

// withText returns the table after a contradiction was found: with its column as text, or, if it isn't the first, with all
// columns that have text in a later row, for which it reads all rows. If there are none, it returns the contradiction.
func (t *Table) withText(ctx context.Context, q query, found error) (*Table, error) {
	read := *t
	if c, ok := textfile.LaterOf(found); ok && t.laterTexts == nil {
		read.laterTexts = []textfile.Later{c}
		return &read, nil
	}
	in, err := t.readWidest(ctx, q)
	if err != nil {
		return nil, err
	}
	text := in.text()
	if text == nil {
		return nil, found
	}
	later, err := text.Later(ctx, t.pool, q.mayBeText())
	if err == nil && later == nil {
		err = found
	}
	read.laterTexts, read.readsLater = append(slices.Clip(t.laterTexts), later...), true
	return &read, err
}

// count returns the number of kept rows. It reads the files if rows may be dropped, or if the number of all rows is
// unknown.
func (p *Plan) count(ctx context.Context) (int64, error) {
	if n := p.in.Total(); n >= 0 && !p.sel.Drops() {
		return n, nil
	}
	s, err := p.surveyed(ctx)
	return s.rows, err
}

// cols returns the number of columns of the blocks, the bias included.
func (p *Plan) cols() int {
	if p.sel.Bias {
		return p.sel.Width() + 1
	}
	return p.sel.Width()
}

// within limits the memory of later passes; blocks is the number of bytes that their blocks take.
func (p *Plan) within(blocks int64) { column.Within(p.in, p.query.Memory, blocks) }

// A survey is the information that a stream requires before its first block.
type survey struct {
	rows   int64 // number of kept rows
	labels *transform.Labels
}

// surveyed returns the survey of the rows, which it makes at the first call: it reads the labels and counts the kept
// rows.
func (p *Plan) surveyed(ctx context.Context) (survey, error) {
	if p.survey != nil {
		return *p.survey, nil
	}
	s := survey{rows: p.in.Total(), labels: transform.NewLabels(p.query.Spec)}
	var err error
	if s.rows < 0 || p.sel.Drops() || p.query.Spec == nil && p.sel.Label >= 0 {
		s.rows, err = p.allLabels(ctx, s.labels)
	}
	if err != nil {
		return s, err
	}
	if s.rows == 0 && p.sel.Nulls != schema.NullsDrop && p.query.DropUnlabelled && p.query.Where == "" {
		return s, column.ErrorIn(p.in.Name(), "column %q has no value: choose another column with --label", p.query.Label)
	}
	if s.rows == 0 && p.query.Where != "" {
		return s, message.Errorf("%s: no row fulfils --where %q, or each that does has a missing value: change the condition",
			p.in.Name(), p.query.Where)
	}
	if s.rows == 0 {
		return s, column.ErrorIn(p.in.Name(), "no rows are left, each has a missing value: exclude columns, or fill them in")
	}
	p.survey = &s
	return s, nil
}

// numberClasses numbers the classes of the kept rows, until enough returns true, and returns the number of these rows.
// If no rows are dropped and that is less work, it reads only the label column.
func (p *Plan) numberClasses(ctx context.Context, l *transform.Labels, enough func() bool) (rows int64, err error) {
	only, sel := p.in, p.sel
	if sel.Label >= 0 && !sel.Drops() {
		only = p.in.LabelOnly()
		sel = &transform.Selection{Chosen: only.Chosen()}
	}
	pool, told := p.table.pool, p.query.progressOf(passLabels)
	err = transform.Each(ctx, only.Batches(ctx, pool, p.table.mem), p.in.Total(), told, func(bt *column.Batch, first int64) error {
		_, kept, err := l.Number(ctx, sel, pool, bt, first)
		rows += int64(kept.Len())
		if err == nil && enough() {
			err = transform.ErrEnough
		}
		return err
	})
	return rows, err
}
