package dataset

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	textfile "halfspace/dataset/internal/text"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// draftOf returns the draft that options describe.
func draftOf(opt Options) (plan.Draft, error) {
	types, err := plan.ParseTypes(opt.Types)
	if opt.RankBy != "" {
		opt.Exclude = slices.Concat(opt.Exclude, []string{opt.RankBy})
	}
	return plan.Draft{
		Plan: plan.Plan{Label: opt.Label, Weight: opt.SampleWeight, Keep: opt.Keep, KeepsTexts: opt.KeepTexts, Spec: opt.Spec,
			Positive: opt.Positive, Bias: !opt.NoBias, Nulls: opt.Nulls, NullWords: opt.Text.NullValues, Standardize: opt.Standardize,
			KeepWide: opt.KeepWide, HashTexts: opt.HashTexts, Storage: opt.Storage, Where: opt.Where, Sample: opt.Sample,
			DropUnlabelled: opt.DropUnlabelled},
		Features: opt.Features, Exclude: opt.Exclude, RankBy: opt.RankBy, Categorical: opt.Categorical, Cross: opt.Cross, Types: types,
		Limit: opt.Limit, Prepare: opt.Prepare}, err
}

// everyColumn returns the draft with which each column that may become a feature is one.
func everyColumn(d plan.Draft) plan.Draft {
	d.Types = maps.Clone(d.Types)
	for _, name := range append(slices.Clone(d.Keep), d.RankBy) { // it is no feature
		delete(d.Types, name)
	}
	d.Categorical = transform.TypedCodings(d.Categorical, d.Types)
	d.Standardize, d.Nulls, d.HashTexts, d.MakesBlocks, d.Inputs, d.Cross = false, "", false, false, nil, nil
	return d
}

// textColumns returns the names of the columns that must be read as texts, though they may have numbers.
func (t *Table) textColumns(d plan.Draft) (names []string) {
	if d.Spec == nil {
		names = plan.NamesOfTexts(d.Types)
	}
	for _, c := range t.laterTexts {
		names = append(names, c.Name)
	}
	return names
}

// skipsTexts returns true if a text in a column of numbers is missing: there is a model that has a use for rows with missing
// values, and lines that can't be read aren't left out.
func (t *Table) skipsTexts(d plan.Draft) bool {
	if d.Spec == nil || t.opt.Rejects != nil {
		return false
	}
	nulls := d.Nulls
	if p := d.Spec.Preprocessing; p != nil && p.Nulls != "" && p.Nulls != schema.NullsError {
		nulls = p.Nulls
	}
	return nulls != "" && nulls != schema.NullsError
}

// An openedInput is the selected columns of a table, in the rows that a draft chooses.
type openedInput struct {
	column.Input
	bound  *transform.Binding
	reader column.Input // reads the files
}

// read opens a table and binds a draft to its columns.
func (t *Table) read(ctx context.Context, d plan.Draft) (*openedInput, error) {
	if err := t.opt.checkBeside(t.source.Files[0].Path, t.format); err != nil {
		return nil, err
	}
	binder := &transform.Binder{Draft: d, HasPairs: t.format.paired()}
	typed := append(slices.Collect(maps.Keys(d.Types)), transform.Coded(d.Categorical)...)
	req := column.OpenOptions{Binder: binder, Spec: d.Spec, Words: d.Words(), Memory: t.opt.Memory, Live: t.opt.Live,
		Progress: t.opt.progressOf(passColumns), Count: d.CountsRows, MostFeatures: d.Storage.Numbered(), Texts: t.textColumns(d),
		TypedColumns: typed, KeepsCodes: d.Decides(), SkipsTexts: t.skipsTexts(d), Rejects: t.opt.Rejects,
		Constants: t.source.ConstantColumns()}
	reader, err := t.open(ctx, &d.Plan, req)
	if err != nil {
		return nil, err
	}
	if want := t.source.Expected; want != nil && !slices.Equal(want, t.source.Versions()) {
		return nil, changed(humanize.Files(t.paths()))
	}
	in := &openedInput{reader, binder.Bound, reader}
	if err := t.admit(reader, in.bound); err != nil {
		return nil, err
	}
	if in.bound, err = t.readForms(ctx, d, in); err != nil {
		return nil, err
	}
	return t.firstRows(ctx, d.Limit, in)
}

// columnBytes is the approximate number of bytes that a column takes in addition to its values: descriptions, an
// array in each batch, a reader and a writer.
const columnBytes = 3 << 10

// pairColumnBytes is columnBytes for columns without arrays.
const pairColumnBytes = 1 << 10

// admit returns an error if reading the columns takes more memory than Memory.
func (t *Table) admit(in column.Input, bound *transform.Binding) error {
	if t.opt.Memory == 0 {
		return nil
	}
	n := int64(len(bound.Columns))
	bytes := n * columnBytes
	if rows, is := in.(column.PairInput); is && rows.Paired() {
		bytes = n*pairColumnBytes + int64(len(bound.Keep))*columnBytes
	}
	if err := column.NewBudget(t.opt.Memory).Take(bytes, "reading "+humanize.Plural(n, "column")); err != nil {
		return column.ErrorIn(in.Name(), "%w", err)
	}
	return nil
}

// firstRows returns the input up to the last row that Where, Sample and a limit choose; its binding leaves out the
// others.
func (t *Table) firstRows(ctx context.Context, limit int64, in *openedInput) (*openedInput, error) {
	bound, p := in.bound, &in.bound.Plan
	if p.Where == "" && p.Sample == 0 && limit == 0 && p.End == 0 {
		return in, nil
	}
	if t.format.paired() {
		return nil, message.Errorf("%s: rows of %s can't be chosen by --where, --sample or --limit: convert the file to another format",
			in.Name(), t.format)
	}
	if p.End == 0 && limit > 0 {
		column.Within(in.Input, t.opt.Memory, 0)
		end, err := bound.End(ctx, limit, t.pool, in.Batches(ctx, t.pool, memory.DefaultAllocator))
		if err != nil {
			return nil, err
		}
		bound = bound.Until(end)
	}
	return &openedInput{&firstRows{in.Input, bound.Plan.End}, bound, in.reader}, nil
}

// firstRows are the first rows of an input; all rows if end is 0.
type firstRows struct {
	column.Input
	end int64
}

// Batches yields the batches up to the last of the rows.
func (in *firstRows) Batches(ctx context.Context, p column.Pool, mem memory.Allocator) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		rows := int64(0)
		for bt, err := range in.Input.Batches(ctx, p, mem) {
			if bt != nil {
				rows += bt.Rows
			}
			if !yield(bt, err) || err != nil || in.end > 0 && rows >= in.end {
				return
			}
		}
	}
}

// LabelOnly returns the same input, since other columns may choose the rows.
func (in *firstRows) LabelOnly() column.Input { return in }

// text returns the reader of text files of CSV or JSON Lines, or nil.
func (in *openedInput) text() *textfile.CSV {
	text, _ := in.reader.(*textfile.CSV)
	return text
}

// fileNotes returns the notes about the files, without those about columns that are text: a plan says why they are.
func (in *openedInput) fileNotes() []string {
	for k := range in.bound.Columns {
		in.bound.Columns[k].Advice = ""
	}
	in.bound.Remedies = nil
	return in.Notes()
}

// changed returns the error if this process sees the files in another state than the process that requested them.
func changed(name string) error {
	return fmt.Errorf("%s: the data changed while it was read, or differs between computers: use the same files everywhere", name)
}
