package dataset

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	textfile "halfspace/dataset/internal/text"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A query says which columns and rows of a table a pass reads, and for what.
type query struct {
	Options
	decisions
	types            map[string]plan.Word // of Options.Types
	columnsToRead    []string             // the columns that Ranks or Values reads; nil: none
	takesSparseLists bool                 // Inspect and Values: Keep accepts sparse lists too
	excludesFromKeep bool                 // Convert: an empty Keep means all columns, and Exclude removes columns from Keep
	countsRows       bool                 // count the rows of svmlight files, also for a model
	floatType        arrow.DataType       // type of the values of blocks; nil if no blocks are made
	// forms are those that readForms planned, for the later passes of the same query; nil: there is one pass
	forms map[string]transform.Form
}

// decisions are the parts of a query that the values of a table decided. Other processes that read the rows get them.
type decisions struct {
	features []schema.Column // by Options.Prepare; nil: the options determine the features
	end      int64           // number of input rows after which Options.Limit keeps none; 0: unknown
	versions []files.Version // of the files in object stores; nil: any version
	notes    []string        // about the features
}

// Fields returns pointers to the fields, without the notes, for the messages to other processes.
func (d *decisions) Fields() []any { return []any{&d.features, &d.end, &d.versions} }

// newQuery returns the query of options. A Spec determines the features.
func newQuery(opt Options) (query, error) {
	if opt.Spec != nil {
		opt = opt.withoutFeatures()
	}
	types, err := plan.ParseTypes(opt.Types)
	return query{Options: opt, types: types, forms: map[string]transform.Form{}}, err
}

// choices returns the parts of the query that determine which columns are read and how they are used.
func (q *query) choices() transform.Choices {
	return transform.Choices{Label: q.Label, Positive: q.Positive, SampleWeight: q.SampleWeight, Features: q.Features,
		Exclude: q.Exclude, Keep: q.Keep, NoBias: q.NoBias, Standardize: q.Standardize, KeepWide: q.KeepWide, Nulls: q.Nulls,
		Words: q.Text.NullValues, Categorical: q.Categorical, Cross: q.Cross, HashTexts: q.HashTexts, TakesSparseLists: q.takesSparseLists,
		KeepTexts: q.KeepTexts, ExcludesFromKeep: q.excludesFromKeep, MostFeatures: q.Storage.Widest(), Float: q.floatType, Spec: q.Spec,
		Plan: q.features, Notes: q.notes, Where: q.Where, Sample: q.Sample, Unlabelled: q.DropUnlabelled}
}

// everyColumn returns the query with which each column that may become a feature is one.
func (q query) everyColumn() query {
	q.Categorical = transform.TypedCodings(q.Categorical, q.types)
	q.Standardize, q.Nulls, q.HashTexts, q.floatType, q.features, q.Cross, q.Warn = false, "", false, nil, nil, nil, nil
	return q
}

// typedColumns returns the names of the columns whose type or coding an option names.
func (q *query) typedColumns() []string {
	return append(slices.Collect(maps.Keys(q.types)), transform.Coded(q.Categorical)...)
}

// textColumns returns the names of the columns of a table that must be read as texts, though they may have numbers.
func (q *query) textColumns(t *Table) []string {
	if q.Spec != nil {
		return t.texts()
	}
	return append(plan.NamesOfTexts(q.types), t.texts()...)
}

// skipsTexts returns true if a text in a column of numbers is missing: there is a model that has a use for rows with missing
// values, and lines that can't be read aren't left out.
func (q *query) skipsTexts() bool {
	if q.Spec == nil || q.Rejects != nil {
		return false
	}
	nulls := q.Nulls
	if p := q.Spec.Preprocessing; p != nil && p.Nulls != "" && p.Nulls != schema.NullsError {
		nulls = p.Nulls
	}
	return nulls != "" && nulls != schema.NullsError
}

// An openedInput is the selected columns of a table, in the rows that a query chooses.
type openedInput struct {
	column.Input
	sel      *transform.Selection
	versions []files.Version // of the files in object stores; nil if all files are local
	reader   column.Input    // reads the files
}

// read selects the columns that a query names.
func (t *Table) read(ctx context.Context, q query) (*openedInput, error) {
	if err := q.checkBeside(t.source.Files[0].Path, t.format); err != nil {
		return nil, err
	}
	pick := &transform.Picker{Choices: q.choices()}
	if t.format.paired() && q.KeepWide && q.Spec == nil {
		pick.Narrow = mostStandardized
	}
	req := column.Request{Choose: pick, Spec: q.Spec, Words: q.nullWords(), Memory: q.Memory, Live: q.Live,
		Progress: q.progressOf(passColumns), Count: q.countsRows, MostFeatures: q.Storage.Numbered(), Texts: q.textColumns(t),
		TypedColumns: q.typedColumns(), KeepsCodes: q.decidesByValues(), SkipsTexts: q.skipsTexts(), Rejects: q.Rejects,
		Constants: t.source.Constants.Columns()}
	reader, err := t.open(ctx, q.Options, req)
	if err != nil {
		return nil, err
	}
	in := &openedInput{reader, pick.Sel, t.source.Versions(), reader}
	if err := q.admit(reader, in.sel); err != nil {
		return nil, err
	}
	if err := t.readForms(ctx, q, in); err != nil {
		return nil, err
	}
	if in.Input, err = t.firstRows(ctx, q, in); err != nil {
		return nil, err
	}
	if q.versions != nil && !slices.Equal(q.versions, in.versions) {
		return nil, changed(in)
	}
	return in, nil
}

// columnBytes is the approximate number of bytes that a column takes in addition to its values: descriptions, an
// array in each batch, a reader and a writer.
const columnBytes = 3 << 10

// pairColumnBytes is columnBytes for columns without arrays.
const pairColumnBytes = 1 << 10

// admit returns an error if reading the columns takes more memory than Memory.
func (opt Options) admit(in column.Input, sel *transform.Selection) error {
	if opt.Memory == 0 {
		return nil
	}
	n := int64(len(sel.Columns))
	bytes := n * columnBytes
	if rows, is := in.(column.PairInput); is && rows.Paired() {
		bytes = n*pairColumnBytes + int64(len(sel.Keep))*columnBytes
	}
	if err := column.NewBudget(opt.Memory).Take(bytes, "reading "+humanize.Plural(n, "column")); err != nil {
		return column.ErrorIn(in.Name(), "%w", err)
	}
	return nil
}

// firstRows returns the input up to the last row that Where, Sample and Limit choose; its selection leaves out the
// others.
func (t *Table) firstRows(ctx context.Context, q query, in *openedInput) (column.Input, error) {
	if q.Where == "" && q.Sample == 0 && q.Limit == 0 {
		return in.Input, nil
	}
	if t.format.paired() {
		return nil, message.Errorf("%s: rows of %s can't be chosen by --where, --sample or --limit: convert the file to another format",
			in.Name(), t.format)
	}
	end := q.end
	if end == 0 && q.Limit > 0 {
		column.Within(in.Input, q.Memory, 0)
		var err error
		batches := in.Batches(ctx, t.pool, memory.DefaultAllocator)
		if end, err = in.sel.End(ctx, q.Limit, t.pool, batches); err != nil {
			return nil, err
		}
	}
	in.sel.SetEnd(end)
	return &firstRows{in.Input, end}, nil
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

// end returns the number of input rows after which Options.Limit keeps none; 0: all rows may be kept.
func (in *openedInput) end() int64 {
	if rows, is := in.Input.(*firstRows); is {
		return rows.end
	}
	return 0
}

// text returns the reader of text files of CSV or JSON Lines, or nil.
func (in *openedInput) text() *textfile.CSV {
	text, _ := in.reader.(*textfile.CSV)
	return text
}

// fileNotes returns the notes about the files, without those about columns that are text: a plan says why they are.
func (in *openedInput) fileNotes() []string {
	for k := range in.sel.Columns {
		in.sel.Columns[k].Advice = ""
	}
	in.sel.Odd = nil
	return in.Notes()
}

// changed returns the error if this process sees the files in another state than the process that requested them.
func changed(in column.Input) error {
	return fmt.Errorf("%s: the data changed while it was read, or differs between computers: use the same files everywhere", in.Name())
}
