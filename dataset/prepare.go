package dataset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	textfile "halfspace/dataset/internal/text"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/humanize"
	"halfspace/schema"
)

// prepare sets the options that the values of the columns suggest; see Options.Prepare. Unless whole is true, it reads only the first
// rows of tables of numbers. It returns hopeful if these are plain: then the options stay, and hold unless a later value is missing.
func (opt *Options) prepare(ctx context.Context, p column.Pool, mem memory.Allocator, whole bool) (hopeful bool, err error) {
	if opt.opened.format.paired() { // it has numbers only
		return false, nil
	}
	_, made, err := opt.profile(ctx, p, mem, whole, false)
	if made == nil || err != nil {
		return err == nil, err
	}
	for _, c := range opt.later {
		derived := func(in schema.Column) bool {
			return in.Name == c.Name && in.Derive != "" && in.Derive != schema.Missing
		}
		if !slices.ContainsFunc(made.Inputs, derived) { // a column of numbers has a note of its own
			opt.notes = append(opt.notes, c.Note)
		}
	}
	opt.prepared, opt.plan, opt.Nulls, opt.unlabelled = true, made.Inputs, made.Nulls, made.Unlabelled
	opt.notes = append(opt.notes, made.Notes...)
	return false, nil
}

// A Profile describes the columns of files, and the features that Options.Prepare makes of them.
type Profile struct {
	Rows       int64           `json:"rows"`
	Unlabelled int64           `json:"unlabelled"` // rows without a label
	Columns    []ColumnProfile `json:"columns"`    // that may become features
	Classes    []ClassCount    `json:"classes"`
}

// A ColumnProfile describes a column, and the features that it becomes.
type ColumnProfile = plan.Prepared

// A ClassCount is a class, and the number of its rows.
type ClassCount struct {
	Class schema.Class `json:"class"`
	Rows  int64        `json:"rows"`
}

// Examine reads files and describes their columns, as Options.Prepare sees them. svmlight files have no columns to prepare: they are
// an error.
func Examine(ctx context.Context, paths []string, opt Options) (*Profile, error) {
	p, err := column.PoolOf(opt.Workers)
	if err != nil {
		return nil, err
	}
	if opt.opened, err = openFiles(ctx, paths, opt); err != nil {
		return nil, err
	}
	if f := opt.opened.format; f.paired() {
		return nil, column.Mark(fmt.Errorf("%s: the columns of %s are features as they are: leave out --label", opt.opened.paths()[0], f), ErrNoColumns)
	}
	f, made, err := opt.profile(ctx, p, memory.DefaultAllocator, true, true)
	if err != nil {
		return nil, err
	}
	info := &Profile{Columns: made.Columns}
	var classes []schema.Class
	var counts []int64
	classes, counts, info.Rows, info.Unlabelled = f.Classes()
	for i, c := range classes {
		info.Classes = append(info.Classes, ClassCount{c, counts[i]})
	}
	return info, nil
}

// profile counts the values of the columns that may become features, and plans these. If whole is false and the first rows are plain,
// the plan is nil.
func (opt *Options) profile(ctx context.Context, p column.Pool, mem memory.Allocator,
	whole, every bool) (f *transform.Profile, made *plan.Plan, err error) {
	types, err := plan.ParseTypes(opt.Types)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range opt.asked { // it is no feature
		delete(types, name)
	}
	in, err := openInput(ctx, opt.whole(types), p)
	if err != nil {
		return nil, nil, err
	}
	hopeful := false
	opt.end = in.end()
	column.Within(in.Input, opt.Memory, 0)
	f = transform.NewProfile(in.selection(), p, types, opt.Categorical, opt.Features)
	if text, is := in.reader.(*textfile.CSV); is && text.Semicolons() {
		f.Semicolons()
	}
	if whole = whole || !f.Numeric(); every {
		f.Whole()
	}
	err = transform.Each(ctx, in.Batches(ctx, p, mem), in.Total(), opt.told(passColumns), func(bt *column.Batch, _ int64) error {
		if err := f.Add(ctx, bt); err != nil {
			return err
		}
		if hopeful = !whole && f.Plain(); hopeful {
			return transform.ErrEnough
		}
		whole = true
		return nil
	})
	if err != nil || hopeful {
		return nil, nil, err
	}
	place := func(odd plan.Odd) string { return opt.place(ctx, odd) }
	if made, err = f.Plan(opt.Nulls, place); err != nil {
		return nil, nil, column.ErrorIn(humanize.Files(opt.opened.paths()), "%w", err)
	}
	return f, made, nil
}

// place returns the line of a text's first row, or its row if the files have no lines.
func (opt *Options) place(ctx context.Context, odd plan.Odd) string {
	paths := opt.opened.paths()
	file, line := paths[0], odd.Line
	if line == 0 {
		if path, at, ok := opt.Text.Line(ctx, paths, odd.Row); ok {
			file, line = path, at
		}
	}
	switch {
	case line == 0:
		return fmt.Sprintf("row %d", odd.Row)
	case len(paths) > 1:
		return fmt.Sprintf("%s: line %d", file, line)
	}
	return fmt.Sprintf("line %d", line)
}

// whole returns the options with which each column that may become a feature is one. types are the types of Types.
func (opt Options) whole(types map[string]plan.Word) Options {
	opt.Categorical = transform.TypedCodings(opt.Categorical, types)
	opt.Standardize, opt.Nulls, opt.HashTexts, opt.float, opt.plan, opt.Cross, opt.Warn = false, "", false, nil, nil, nil, nil
	return opt
}

// widest opens files with all columns that some later pass may read.
func (opt Options) widest(ctx context.Context, p column.Pool) (*openedInput, error) {
	opt.Limit = 0
	if !opt.Prepare {
		return openInput(ctx, opt, p)
	}
	types, err := plan.ParseTypes(opt.Types)
	if err != nil {
		return nil, err
	}
	return openInput(ctx, opt.whole(types), p)
}

// typed returns the names of the columns whose type or coding an option names.
func (opt Options) typed() []string {
	types, err := plan.ParseTypes(opt.Types)
	if err != nil {
		return nil // opening the files reports it
	}
	return append(slices.Collect(maps.Keys(types)), transform.Coded(opt.Categorical)...)
}

// asTexts returns the names of the columns that must be read as texts, though they may have numbers.
func (opt Options) asTexts() []string {
	types, err := plan.ParseTypes(opt.Types)
	if err != nil || opt.Spec != nil {
		return opt.texts // opening the files reports an error
	}
	return append(plan.NamesOfTexts(types), opt.texts...)
}

// TypeNames returns the types that Options.Types takes.
func TypeNames() []string { return plan.Words() }

// contradicts returns true if an error is about a text in a column that has other values in the first rows, and the
// column may become one of text: a label, a category or a kept column always, a number if Prepare decides how columns
// become features.
func (opt *Options) contradicts(err error) bool {
	switch {
	case opt.Spec != nil || opt.texts != nil:
		return false
	case errors.Is(err, textfile.ErrInexact):
		return true
	}
	return opt.mayBeText() && errors.Is(err, textfile.ErrUnfit)
}

// mayBeText returns true if a column of numbers may become one of text.
func (opt *Options) mayBeText() bool { return opt.Prepare && opt.Rejects == nil }

// findTexts reads all rows and sets the columns that have text in a later row. It returns an error if there are none, or if the files
// can't be read.
func (opt *Options) findTexts(ctx context.Context, p column.Pool, found error) error {
	in, err := opt.widest(ctx, p)
	if err != nil {
		return err
	}
	text, is := in.reader.(*textfile.CSV)
	if !is {
		return found
	}
	later, err := text.Later(ctx, p, opt.mayBeText())
	if err != nil {
		return err
	}
	for _, c := range later {
		if opt.texts = append(opt.texts, c.Name); c.Exact {
			opt.notes = append(opt.notes, c.Note)
		} else {
			opt.later = append(opt.later, c)
		}
	}
	if opt.texts == nil {
		return found
	}
	return nil
}

// again opens the files again, as the values of all rows suggest, unless that was done. found is the error about a row that contradicts the
// first rows, or nil. again returns true if the rows become other ones.
func (in *Input) again(ctx context.Context, found error) (bool, error) {
	opt := in.opt
	contradicted := opt.contradicts(found)
	if !in.hopeful && !contradicted {
		return false, nil
	}
	if contradicted {
		if err := opt.findTexts(ctx, in.pool, found); err != nil {
			return false, err
		}
	}
	if in.hopeful {
		in.hopeful = false
		_, err := opt.prepare(ctx, in.pool, in.mem, true)
		if opt.contradicts(err) {
			if err = opt.findTexts(ctx, in.pool, err); err == nil {
				_, err = opt.prepare(ctx, in.pool, in.mem, true)
			}
		}
		if err != nil || opt.plan == nil && !opt.unlabelled && opt.texts == nil {
			return false, err
		}
	}
	other, err := open(ctx, nil, opt, in.mem)
	if err == nil {
		*in = *other
	}
	return err == nil, err
}

// retry calls do, and calls it again if a value is missing or a text, and the files were opened in the hope that none is.
func retry[T any](ctx context.Context, in *Input, do func() (T, error)) (result T, err error) {
	if result, err = do(); !errors.Is(err, ErrNulls) && !in.opt.contradicts(err) {
		return result, err
	}
	if changed, bad := in.again(ctx, err); bad != nil || !changed {
		return result, errors.Join(bad, err)
	}
	return do()
}
