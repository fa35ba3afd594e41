package dataset

import (
	"cmp"
	"context"
	"slices"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	textfile "halfspace/dataset/internal/text"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A Profile describes the columns of a table, and the features that Options.Prepare makes of them.
type Profile struct {
	Rows       int64           `json:"rows"`
	Unlabelled int64           `json:"unlabelled"` // rows without a label
	Columns    []ColumnProfile `json:"columns"`    // that may become features
	Classes    []ClassCount    `json:"classes"`
	Notes      []string        `json:"notes,omitempty"` // about the files: lines that are no rows, columns that some files lack
}

// A ColumnProfile describes a column, and the features that it becomes.
type ColumnProfile = plan.Column

// A ClassCount is a class, and the number of its rows.
type ClassCount struct {
	Class schema.Class `json:"class"`
	Rows  int64        `json:"rows"`
}

// Profile reads a table and describes its columns, as Options.Prepare sees them. svmlight files have no columns to
// prepare: they are an error.
func (t *Table) Profile(ctx context.Context, opt Options) (*Profile, error) {
	if t.format.paired() {
		return nil, column.Mark(message.Errorf("%s: the columns of %s are features as they are: leave out --label", t.paths()[0], t.format),
			ErrNoColumns)
	}
	opt.Prepare = true
	d, err := t.planner(opt)
	if err = cmp.Or(err, t.checkSame(opt)); err != nil {
		return nil, err
	}
	d.readsAllRows = true
	found, err := settle(ctx, d, func(d *planner) (profiled, error) { return d.profile(ctx, allRowsCounted) })
	if err != nil {
		return nil, err
	}
	info := &Profile{Columns: found.plan.Columns, Notes: found.notes}
	if note := found.plan.TypesNote; note != "" {
		info.Notes = append(info.Notes, note)
	}
	var classes []schema.Class
	var counts []int64
	classes, counts, info.Rows, info.Unlabelled = found.counts.Classes()
	for i, c := range classes {
		info.Classes = append(info.Classes, ClassCount{c, counts[i]})
	}
	if note := found.counts.ClassNote(classes); note != "" {
		info.Notes = append(info.Notes, note)
	}
	return info, nil
}

// An extent is the rows that a profile reads, and the values that it counts.
type extent int

const (
	firstRowsIfPlain extent = iota // the first rows, if these are complete numbers; otherwise all rows
	allRows
	allRowsCounted // all rows, with the different numbers of columns and the classes
)

// profiled is a profile of the columns that may become features.
type profiled struct {
	counts *transform.Profile
	plan   *plan.Decisions // nil: the first rows are plain
	end    int64           // as plan.Plan.End
	forms  []plan.Form     // as plan.Plan.Forms
	notes  []string        // about the files
}

// profile counts the values of the columns that may become features, and plans these.
func (d *planner) profile(ctx context.Context, reads extent) (found profiled, err error) {
	t, request := d.table, d.request
	wide := everyColumn(request)
	in, err := t.read(ctx, wide)
	if err != nil {
		return found, err
	}
	found.end, found.forms = in.bound.Plan.End, in.bound.Plan.Forms
	t.look(in)
	f := transform.NewProfile(in.bound, t.pool, wide.Types, request.Categorical, request.Features)
	if text := in.text(); text != nil && text.Semicolons() {
		f.Semicolons()
	}
	if d.lacksTypes {
		f.LacksTypes()
	}
	whole := reads != firstRowsIfPlain || !f.Numeric()
	if reads == allRowsCounted {
		f.Whole()
	}
	isPlain, batches, told := false, in.Batches(ctx, t.pool, t.mem), t.opt.progressOf(passColumns)
	err = transform.Each(ctx, batches, in.Total(), told, func(bt *column.Batch, _ int64) error {
		if err := f.Add(ctx, bt); err != nil {
			return err
		}
		if isPlain = !whole && f.Plain(); isPlain {
			return transform.ErrEnough
		}
		whole = true
		return nil
	})
	if err != nil || isPlain {
		return found, err
	}
	if _, _, rows, _ := f.Classes(); rows == 0 && request.Where != "" {
		return found, message.Errorf("%s: no row fulfils --where %q: change the condition", in.Name(), request.Where)
	}
	found.counts, found.notes = f, in.fileNotes()
	if found.plan, err = f.Plan(request.Nulls); err != nil {
		return found, column.ErrorIn(humanize.Files(t.paths()), "%w", err)
	}
	return found, nil
}

// lookAhead is the memory, for each worker, of the text that is read ahead of a pass that keeps no rows. The chunks of
// a table with 100,000 columns take more, so that one is read at a time.
const lookAhead = 48 << 20

// look limits the memory of a pass that keeps no rows.
func (t *Table) look(in *openedInput) {
	column.Within(in.Input, t.opt.Memory, 0)
	if text := in.text(); text != nil {
		text.Limit(min(int64(cap(t.pool))*lookAhead, max(column.LeastReading, t.opt.Memory)))
	}
}

// prepare makes the decisions that the values of the columns suggest; see Options.Prepare. Unless d.readsAllRows, it reads only the
// first rows of tables of numbers, and decides nothing if these are complete. It returns true if all rows decided.
func (d *planner) prepare(ctx context.Context, request *plan.Draft) (bool, error) {
	reads := firstRowsIfPlain
	if d.readsAllRows {
		reads = allRows
	}
	found, err := d.profile(ctx, reads)
	if request.End, request.Forms = found.end, found.forms; err != nil || found.plan == nil {
		return false, err
	}
	made := found.plan
	var later []textfile.Later
	for _, c := range d.table.laterTexts {
		derived := func(in schema.Column) bool {
			return in.Name == c.Name && in.Derive != "" && in.Derive != schema.Missing
		}
		if !c.Exact && !slices.ContainsFunc(made.Inputs, derived) { // a column of numbers has a note of its own
			later = append(later, c)
		}
	}
	request.Notes = append(request.Notes, textfile.NotesOfLater(later)...)
	request.Inputs, request.Nulls, request.Notes = made.Inputs, made.Nulls, append(request.Notes, made.Notes...)
	request.HasUnlabelled = made.Unlabelled
	return true, nil
}

// TypeNames returns the types that Options.Types takes.
func TypeNames() []string { return plan.TypeWords() }
