package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	textfile "halfspace/dataset/internal/text"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A Plan is the use of each column and row of a table, with the values that features learn from rows: means, deviations,
// categories and the lengths of lists. It holds no rows.
type Plan struct {
	planner
	in        column.Input
	bound     *transform.Binding // bound.Plan is the plan as a plain value
	survey    *survey            // of the rows; nil until it is needed
	processes *otherProcesses    // the processes that read rows too; nil: this process reads all rows
}

// A planner is a table and the request from which a plan is made.
type planner struct {
	table      *Table
	request    plan.Draft
	chooseRows func(counts []int64) func(class int) bool // as Options.LearnFrom; nil: features learn from all rows
	cluster    block.Cluster                             // as Options.Cluster
	// readsAllRows: all rows decide how columns become features. Otherwise the first rows decide if each column has numbers
	// in them, and none is missing.
	readsAllRows bool
	lacksTypes   bool // the command has no option type
}

// Plan decides the use of each column and row. It reads rows if features depend on them. Options.Keep is for Scan
// and Convert. Text, Labels, Weights, Workers, Memory, Rejects and Live of opt must equal
// those given to Examine.
func (t *Table) Plan(ctx context.Context, opt Options) (*Plan, error) {
	opt.Keep = nil
	d, err := t.planner(opt)
	if err = cmp.Or(err, t.checkSame(opt)); err != nil {
		return nil, err
	}
	return d.plan(ctx)
}

// planner returns the planner for options. A Spec determines the features.
func (t *Table) planner(opt Options) (planner, error) {
	if opt.Spec != nil {
		opt = opt.withoutFeatures()
	}
	request, err := draftOf(opt)
	request.MakesBlocks = true
	request.CountsRows = opt.Storage.Widest() > schema.MaxFeatures && !slices.Contains(t.paths(), "-")
	return planner{table: t.withListener(opt.ofTable().listener), request: request, chooseRows: opt.LearnFrom,
		cluster: opt.Cluster, readsAllRows: opt.LearnedFrom != ""}, err
}

func (d planner) plan(ctx context.Context) (*Plan, error) {
	return withPlan(ctx, &Plan{planner: d}, func(p *Plan) (*Plan, error) { return p, nil })
}

// settle calls try with a planner. If the value of a row contradicts the first rows, on which the planner rests, settle calls
// try with a planner that rests on all rows. No other function begins again because of a value.
func settle[T any](ctx context.Context, d planner, try func(d *planner) (T, error)) (T, error) {
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
	return settle(ctx, p.planner, func(d *planner) (result T, err error) {
		if p == nil || p.bound == nil {
			if p, err = d.decide(ctx); err != nil {
				return result, err
			}
		}
		used := p
		p, *d = nil, used.planner
		return use(used)
	})
}

// errFirstRows is a contradiction: a plan rests on the first rows, and all rows must be read for it.
var errFirstRows = errors.New("the first rows don't decide")

// revised returns the planner that rests on all rows if err is a contradiction, otherwise nil and err.
func (d planner) revised(ctx context.Context, err error) (*planner, error) {
	text := (*textfile.Contradiction)(nil)
	switch {
	case !d.table.readsLater && d.request.Spec == nil && errors.As(err, &text) && (text.IsExact || d.mayBeText()):
		var bad error
		if d.table, bad = d.withText(ctx, err); bad != nil {
			return nil, bad
		}
	case errors.Is(err, errFirstRows), d.request.Decides() && !d.readsAllRows && errors.Is(err, ErrNulls):
		d.readsAllRows = true
	default:
		return nil, err
	}
	return &d, nil
}

// mayBeText returns true if a column of numbers may become one of text.
func (d *planner) mayBeText() bool { return d.request.Prepare && d.table.opt.Rejects == nil }

// decide makes the plan of a planner.
func (d planner) decide(ctx context.Context) (*Plan, error) {
	t := d.table
	if t.opt.Rejects != nil && d.request.Spec == nil { // finds the rejects
		in, err := d.readWidest(ctx)
		if err != nil {
			return nil, err
		}
		d.request.Forms = in.bound.Plan.Forms
	}
	request := d.request
	var exact []textfile.Later
	for _, c := range t.laterTexts {
		if c.Exact {
			exact = append(exact, c)
		}
	}
	request.Notes = append(request.Notes, textfile.NotesOfLater(exact)...)
	if request.Decides() && !t.format.paired() {
		var err error
		if d.readsAllRows, err = d.prepare(ctx, &request); err != nil {
			return nil, err
		}
	} else {
		d.readsAllRows = true
	}
	in, err := t.read(ctx, request)
	if err != nil {
		return nil, err
	}
	if err := checkRows(in, t.opt.Rejects); err != nil {
		return nil, err
	}
	p := &Plan{planner: d, in: in.Input, bound: in.bound, processes: othersOf(t, in, d.cluster)}
	if err := p.learn(ctx); err != nil {
		return nil, err
	}
	if p.bound.Gaps && !d.readsAllRows {
		return nil, errFirstRows
	}
	if d.chooseRows != nil && p.isLearned() {
		shares, err := p.shares(ctx, func(counts []int64) []func(class int) bool {
			return []func(class int) bool{d.chooseRows(counts)}
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
func (d *planner) readWidest(ctx context.Context) (*openedInput, error) {
	request := d.request
	request.Limit = 0
	if request.Prepare {
		request = everyColumn(request)
	}
	return d.table.read(ctx, request)
}

// withText returns the table after a contradiction was found: with its column as text, or, if it isn't the first, with all
// columns that have text in a later row, for which it reads all rows. If there are none, it returns the contradiction.
func (d *planner) withText(ctx context.Context, found error) (*Table, error) {
	read := *d.table
	if c, ok := textfile.LaterOf(found); ok && read.laterTexts == nil {
		read.laterTexts = []textfile.Later{c}
		return &read, nil
	}
	in, err := d.readWidest(ctx)
	if err != nil {
		return nil, err
	}
	text := in.text()
	if text == nil {
		return nil, found
	}
	later, err := text.Later(ctx, read.pool, d.mayBeText())
	if err == nil && later == nil {
		err = found
	}
	read.laterTexts, read.readsLater = append(slices.Clip(read.laterTexts), later...), true
	return &read, err
}

// count returns the number of kept rows. It reads the files if no pass counted the rows, and rows may be dropped, or the number of all
// rows is unknown.
func (p *Plan) count(ctx context.Context) (int64, error) {
	if n := p.bound.KeptRows; n > 0 {
		return n, nil
	}
	if n := p.in.Total(); n >= 0 && !p.bound.Drops() {
		return n, nil
	}
	s, err := p.surveyed(ctx)
	return s.rows, err
}

// cols returns the number of columns of the blocks, the bias included.
func (p *Plan) cols() int {
	if p.bound.Plan.Bias {
		return p.bound.Width() + 1
	}
	return p.bound.Width()
}

// within limits the memory of later passes; blocks is the number of bytes that their blocks take.
func (p *Plan) within(blocks int64) { column.Within(p.in, p.table.opt.Memory, blocks) }

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
	s := survey{rows: p.in.Total(), labels: transform.NewLabels(p.bound.Plan.Spec)}
	var err error
	if s.rows < 0 || p.bound.Drops() || p.bound.Plan.Spec == nil && p.bound.Label >= 0 {
		s.rows, err = p.allLabels(ctx, s.labels)
	}
	if err != nil {
		return s, err
	}
	if s.rows == 0 && p.bound.Plan.Nulls != schema.NullsDrop && p.bound.Plan.DropUnlabelled && p.bound.Plan.Where == "" {
		return s, column.ErrorIn(p.in.Name(), "column %q has no value: choose another column with --label", p.bound.Plan.Label)
	}
	if s.rows == 0 && p.bound.Plan.Where != "" {
		return s, message.Errorf("%s: no row fulfils --where %q, or each that does has a missing value: change the condition",
			p.in.Name(), p.bound.Plan.Where)
	}
	if s.rows == 0 {
		return s, column.ErrorIn(p.in.Name(), "no rows are left, each has a missing value: exclude columns, or fill them in")
	}
	p.survey = &s
	return s, nil
}

// numberClasses numbers the classes of the kept rows, and returns the number of these rows. It calls enough, unless that is
// nil, with the classes of rows, and ends when enough returns true. If no rows are dropped and that is less work, it reads
// only the label column. It reports its progress to told.
func (p *Plan) numberClasses(ctx context.Context, l *transform.Labels, told func(rows, total int64),
	enough func(classes []float32) bool) (rows int64, err error) {
	only, bound := p.in, p.bound
	if bound.Label >= 0 && !bound.Drops() {
		only = p.in.LabelOnly()
		bound = &transform.Binding{Roles: only.ReadColumns()}
	}
	pool := p.table.pool
	err = transform.Each(ctx, only.Batches(ctx, pool, p.table.mem), p.in.Total(), told, func(bt *column.Batch, first int64) error {
		classes, kept, err := l.Number(ctx, bound, pool, bt, first)
		rows += int64(kept.Len())
		if err == nil && enough != nil && enough(classes) {
			err = transform.ErrEnough
		}
		return err
	})
	return rows, err
}
