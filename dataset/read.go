// Package dataset reads Parquet, CSV, svmlight and Arrow IPC files and Arrow records into blocks, and writes those files.
//
// A file's columns become Arrow arrays, batch by batch, and these are transposed into blocks. The blocks depend
// on the rows alone: not on how they are spread over files, row groups, pages or records, nor on the workers.
//
// Every error is one line that says what is wrong, where (file, column, row) and what to do. Rows are numbered from 0
// over the whole input, in the order of the files. Of several wrong rows the error names the first.
package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/schema"
)

// Options says which columns are read and what they mean. Names of columns may be patterns in the syntax of path.Match;
// a column whose name is the pattern itself comes first. What shapes the blocks is written down in cache files, as JSON.
//
// Features are numbers: integers and floating point of every width, decimals, and booleans as 0 and 1. A date or a time
// is the number that its type stores, in the column's unit: days or seconds, milliseconds, microseconds or nanoseconds
// since 1970, since midnight or of a duration; Parquet's INT96 counts nanoseconds since 1970. A list of numbers becomes a
// feature for each element, "name[0]" and so on; all lists of a column have the same length. A label is a number, a
// boolean or a string.
//
// A null, NaN or an infinity is a missing value; so is a list in which an element is. In a feature, Nulls says what
// becomes of it: an error; its row isn't kept; zero; or the mean of the feature over the other kept rows, which the Spec
// remembers. A missing label or weight is an error unless rows are dropped. Where a Spec that drops rows is given and no label, all
// rows stay, with NaN in place of the missing numbers: a prediction is wanted for each.
type Options struct {
	Label        string       // label column, in a text file also by its number from 1, or "last"; "": none, blocks have no labels
	Features     []string     // feature columns, in this order, those of a pattern in the file's; empty: all that can be one
	Exclude      []string     // columns that aren't features; each must match one of the file's
	Positive     string       // text of the class +1; "": the greater one
	SampleWeight string       // column of the rows' weights, numbers that aren't negative, which is no feature; "": none
	NoBias       bool         // no column of ones
	Nulls        schema.Nulls // what becomes of missing values; "": they are errors
	Keep         []string     `json:"-"` // Scan only: columns to hand on as they are
	Workers      int          `json:"-"` // goroutines that compute at once; 0: GOMAXPROCS. No result depends on it
	Text         TextOptions  // how CSV and svmlight files are written

	// Memory, unless 0, bounds the bytes of the blocks and of what is read at a time: pages of Parquet files, pieces of text,
	// messages of Arrow IPC. These have at least 48 MiB. A file that needs more is an error. The rows that are read at a time
	// come on top; their number doesn't depend on Memory.
	Memory int64 `json:"-"`

	// Categorical says what becomes of columns of text or with a dictionary, and, as "column=onehot,other=hash:8", of columns that are named, which may
	// be numbers or booleans: "onehot" makes a feature "name=category" for
	// each category, at most 1000, found in a pass of its own; "hash:BITS" makes 1<<BITS features, "name#hash:BITS[0]" and so
	// on, one of which is 1, see schema.HashBucket; "" makes none. A missing category, or one that a model's training had not,
	// is all zeros.
	Categorical string

	// Standardize makes every feature that is a number (x - mean) / deviation, in float64 before it is narrowed: those of the kept rows in
	// training, the deviation with n in its denominator, and 1 where all values are equal.
	Standardize bool

	// LearnedFrom names, for Key, the rows from which the features are learned, if these aren't all rows; see Input.Shares.
	LearnedFrom string `json:",omitempty"`

	converts bool           // Convert: Keep is all if it is empty, and Exclude takes from it
	float    arrow.DataType // of the blocks' values; nil where there are none

	// Spec of a model: make its features, give labels as its classes. The fields before are ignored, but for Label,
	// SampleWeight, Keep and Workers.
	Spec *schema.Spec

	// End, where it is closed, ends standard input: of text what was read by then counts, up to its last line break. Of Arrow IPC
	// that is an error. A nil channel ends nothing.
	End <-chan struct{} `json:"-"`

	// Live makes Scan yield the rows of CSV or svmlight from standard input as they come, in blocks of any length. CSV
	// columns that are only kept are then text, as written. It needs a Spec.
	Live bool `json:"-"`

	// Progress, if not nil, is called from the calling goroutine after every batch of rows with the rows so far and all
	// there will be, -1 where that isn't known. A pass to learn what features depend on is counted for itself.
	Progress func(rows, total int64) `json:"-"`
	// Warn, if not nil, is called from the calling goroutine, before the function returns without an error, with one
	// line about columns that aren't features by default, one about rows left out, and one about data that isn't read
	// exactly.
	Warn func(text string) `json:"-"`
}

// Load reads files into memory. Paths are those of Expand; the files must have one format, which their extensions tell,
// or their content where they don't.
//
// Labels are +1 for the positive class and -1 for the other. Where there are more than two classes they are the classes'
// numbers, from 0 on in sorted order.
func Load[T kernel.Float](ctx context.Context, paths []string, opt Options) (*block.Data[T], error) {
	return load[T](ctx, paths, opt, memory.DefaultAllocator)
}

func load[T kernel.Float](ctx context.Context, paths []string, opt Options, mem memory.Allocator) (*block.Data[T], error) {
	in, err := open[T](ctx, paths, opt, mem)
	if err != nil {
		return nil, err
	}
	return in.Load(ctx)
}

// choices returns the options that say which columns are read and what they mean.
func (opt Options) choices() choices {
	return choices{label: opt.Label, sampleWeight: opt.SampleWeight, features: opt.Features, exclude: opt.Exclude, keep: opt.Keep,
		noBias: opt.NoBias, standardize: opt.Standardize, nulls: opt.Nulls, words: opt.Text.NullValues, categorical: opt.Categorical,
		converts: opt.converts, float: opt.float, spec: opt.Spec}
}

// tell passes notes on.
func (opt Options) tell(notes []string) {
	for _, n := range notes {
		if opt.Warn != nil {
			opt.Warn(n)
		}
	}
}

// nullWords returns the texts that are nulls: those that the user names, or those of the model; nil: the default ones.
func (opt Options) nullWords() []string {
	if opt.Text.NullValues == nil && opt.Spec != nil && opt.Spec.Preprocessing != nil {
		return opt.Spec.Preprocessing.NullValues
	}
	return opt.Text.NullValues
}

// FromRecords reads all records of r into memory as Load reads files. It doesn't release r.
//
// The rows end where r does. A source that ends early without an error, as Arrow's ipc.Reader does when its stream was
// cut between two messages, can't be told from one that is complete.
func FromRecords[T kernel.Float](ctx context.Context, r array.RecordReader, opt Options) (*block.Data[T], error) {
	p, err := opt.pool()
	if err != nil {
		return nil, err
	}
	opt.Keep = nil
	sel, err := choose(newFileColumns("", fieldColumns(r.Schema())), opt.choices())
	if err != nil {
		return nil, err
	}
	batches := recordBatches(ctx, r, sel.chosen)
	if sel.unlearned() {
		all, again := remember(batches)
		defer func() {
			for _, bt := range all {
				bt.release()
			}
		}()
		if err := sel.learn(ctx, "", p, again, -1, opt.Progress); err != nil {
			return nil, err
		}
		batches = again
	}
	rest := part{0, -1, func(pool) iter.Seq2[*batch, error] { return batches }}
	return collect[T](ctx, "", sel, opt, p, memory.DefaultAllocator, []part{rest}, 0)
}

// A part is consecutive rows of an input, from first to last, which is -1 where only reading tells.
type part struct {
	first, last int64
	batches     func(p pool) iter.Seq2[*batch, error]
}

// collect puts the parts of an input together as a data set in memory. name is the input's, for messages. One part is
// read by all workers together, several are by one each.
func collect[T kernel.Float](ctx context.Context, name string, sel *selection, opt Options, p pool, mem memory.Allocator,
	parts []part, stored int64) (*block.Data[T], error) {
	all := newBuilder[T](sel, newLabels(opt.Spec), p, mem, parts[len(parts)-1].last, nil)
	all.makeRoom(stored)
	builders, built := make([]*builder[T], len(parts)), make([][]*block.Block[T], len(parts))
	build := func(i int, p pool, progress func(rows, total int64)) error {
		builders[i] = all.part(newLabels(opt.Spec), p, parts[i].first, parts[i].last, func(full *block.Block[T], _ []arrow.Array) error {
			built[i] = append(built[i], full)
			return nil
		})
		return builders[i].run(ctx, parts[i].batches(p), progress)
	}
	var err error
	if len(parts) == 1 {
		err = build(0, p, opt.Progress)
	} else {
		err = buildParts(ctx, p, parts, build, opt.Progress)
	}
	if err != nil {
		return nil, err
	}
	numbers := make([][]int, len(parts)) // of each part's classes among all
	for i, b := range builders {
		all.input, all.rows = all.input+b.input-parts[i].first, all.rows+b.rows-parts[i].first
		what := ""
		if numbers[i], what = all.labels.add(b.labels); what != "" {
			return nil, errorIn(name, "column %q: %s", sel.columns[sel.label].name, what)
		}
	}
	switch {
	case all.rows == 0 && all.input > 0:
		return nil, errorIn(name, "no rows are left of %d, each has a missing value: exclude columns, or fill them in", all.input)
	case all.rows == 0:
		return nil, errorIn(name, "no rows: give some")
	}
	if err := all.weighed(name); err != nil {
		return nil, err
	}
	spec, signs, err := newSpec(sel, all.labels, opt)
	if err != nil {
		return nil, errorIn(name, "%w", err)
	}
	err = p.each(ctx, len(parts), func(i int) error {
		stands := make([]float64, len(numbers[i]))
		for k, n := range numbers[i] {
			stands[k] = signs[n]
		}
		for _, full := range built[i] {
			sign(full.Y, stands)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all.warn(opt.Warn)
	return block.NewData(spec, slices.Concat(built...)), nil
}

// buildParts builds several parts at a time, one worker each. The error is that of the first part that has one.
func buildParts(ctx context.Context, p pool, parts []part, build func(i int, p pool, progress func(rows, total int64)) error,
	progress func(rows, total int64)) error {
	read := make(chan int64, len(parts))
	var g errgroup.Group
	g.Go(func() error {
		defer close(read)
		return p.each(ctx, len(parts), func(i int) error {
			at := parts[i].first
			return build(i, newPool(1), func(rows, _ int64) {
				read <- rows - at
				at = rows
			})
		})
	})
	rows := int64(0)
	for n := range read {
		if rows += n; progress != nil {
			progress(rows, parts[len(parts)-1].last)
		}
	}
	return g.Wait()
}

// newSpec returns what blocks of a selection with those labels mean, and what stands for each number of a class.
func newSpec(sel *selection, l *labels, opt Options) (spec *schema.Spec, signs []float64, err error) {
	if opt.Spec != nil {
		return asWeighted(opt.Spec, sel), modelSigns(opt.Spec), nil
	}
	if spec, err = sel.spec(); err == nil && sel.label >= 0 {
		spec.Label = sel.columns[sel.label].name
		var positive int
		spec.Classes, positive, signs, err = l.spec(spec.Label, opt.Positive)
		spec.SetPositive(positive)
	}
	return spec, signs, err
}

// asWeighted returns a model's spec for rows that have weights or not.
func asWeighted(spec *schema.Spec, sel *selection) *schema.Spec {
	if spec.Weighted == (sel.weight >= 0) {
		return spec
	}
	s := *spec
	s.Weighted = sel.weight >= 0
	return &s
}

// Scan reads files as Load does, and calls fn with one block after the other and the kept columns of its rows,
// as a record, or nil without Options.Keep. Both are valid until fn returns. Only a few row groups and one block are in
// memory at a time. Kept columns must have the same types in all files. Without rows it calls fn once, with an empty
// block, so that fn learns of the columns.
//
// With a label it needs Options.Spec, since the classes of the data aren't known before its end.
func Scan[T kernel.Float](ctx context.Context, paths []string, opt Options,
	fn func(*schema.Spec, *block.Block[T], arrow.Record) error) error {
	return scan(ctx, paths, opt, memory.DefaultAllocator, fn)
}

func scan[T kernel.Float](ctx context.Context, paths []string, opt Options, mem memory.Allocator,
	fn func(*schema.Spec, *block.Block[T], arrow.Record) error) error {
	if opt.Label != "" && opt.Spec == nil {
		return errors.New("labels can be read block by block only with the classes of a model: load the data, or give none")
	}
	p, err := opt.pool()
	if err != nil {
		return err
	}
	opt.float = floatType[T]()
	in, err := openInput(ctx, paths, opt, p)
	if err != nil {
		return err
	}
	sel, spec, signs := in.selection(), opt.Spec, modelSigns(opt.Spec)
	within(in, opt.Memory, 0)
	if sel.unlearned() {
		if err := sel.learn(ctx, in.name(), p, in.batches(ctx, p, mem), in.total(), opt.Progress); err != nil {
			return err
		}
	}
	if spec == nil {
		if spec, err = sel.spec(); err != nil {
			return errorIn(in.name(), "%w", err)
		}
	}
	in.lastPass()
	within(in, opt.Memory, block.Bytes[T](int64(block.Rows[T](spec.Cols())), spec.Cols(), sel.weight >= 0))
	kept := keptSchema(sel)
	var b *builder[T]
	b = newBuilder(sel, newLabels(opt.Spec), p, mem, in.total(), func(full *block.Block[T], keep []arrow.Array) error {
		if !opt.Live {
			b.spare = full
		}
		sign(full.Y, signs)
		var rec arrow.Record
		if len(keep) > 0 {
			rec = array.NewRecord(kept, keep, int64(full.Len()))
			defer rec.Release()
		}
		return fn(spec, full, rec)
	})
	if b.live = opt.Live; b.live {
		b.spare = b.newBlock(0, block.Rows[T](b.cols))
	}
	if err := b.run(ctx, in.batches(ctx, p, mem), opt.Progress); err != nil {
		return err
	}
	if b.rows == 0 {
		return emptyBlock(spec, kept, mem, fn)
	}
	b.warn(opt.Warn)
	opt.tell(sel.notes())
	opt.tell(in.notes())
	return nil
}

// emptyBlock calls fn with no rows.
func emptyBlock[T kernel.Float](spec *schema.Spec, kept *arrow.Schema, mem memory.Allocator,
	fn func(*schema.Spec, *block.Block[T], arrow.Record) error) error {
	var rec arrow.Record
	if kept.NumFields() > 0 {
		none := array.NewRecordBuilder(mem, kept)
		defer none.Release()
		rec = none.NewRecord()
		defer rec.Release()
	}
	return fn(spec, block.New[T](0, 0, spec.Cols()), rec)
}

func (opt Options) pool() (pool, error) {
	switch {
	case opt.Workers < 0:
		return nil, fmt.Errorf("workers is %d: use 1 or more, or 0 for every core", opt.Workers)
	case opt.Workers == 0:
		return newPool(runtime.GOMAXPROCS(0)), nil
	}
	return newPool(opt.Workers), nil
}

// modelSigns returns what stands for each class of a model.
func modelSigns(spec *schema.Spec) []float64 {
	if spec == nil {
		return nil
	}
	return signs(len(spec.Classes), spec.PositiveClass())
}

// signs returns what stands for each of n classes: -1 and +1 for up to two, otherwise their numbers.
func signs(n, positive int) []float64 {
	stands := make([]float64, n)
	for i := range stands {
		switch {
		case n > 2:
			stands[i] = float64(i)
		case i == positive:
			stands[i] = 1
		default:
			stands[i] = -1
		}
	}
	return stands
}

// sign replaces class numbers by what stands for the classes.
func sign[T kernel.Float](y []T, signs []float64) {
	for i, n := range y {
		y[i] = T(signs[int(n)])
	}
}

// keptSchema is the schema of the records that Scan hands on.
func keptSchema(sel *selection) *arrow.Schema {
	fields := make([]arrow.Field, len(sel.keep))
	for k, i := range sel.keep {
		c := sel.columns[i]
		fields[k] = arrow.Field{Name: c.name, Type: c.typ, Nullable: c.nullable}
	}
	return arrow.NewSchema(fields, nil)
}

// fieldColumns are the columns of records.
func fieldColumns(s *arrow.Schema) []column {
	cols := make([]column, s.NumFields())
	for i, f := range s.Fields() {
		cols[i] = column{name: f.Name, typ: f.Type, desc: describe(f.Type), nullable: f.Nullable, index: i}
		if d, ok := f.Type.(arrow.DecimalType); ok && !soundDecimal(d) {
			cols[i].typ = nil
		}
	}
	return cols
}

// soundDecimal tells whether a decimal has the digits that its type can hold: a power of ten beyond them takes for ever.
func soundDecimal(d arrow.DecimalType) bool {
	most := int32(38)
	if d.ID() == arrow.DECIMAL256 {
		most = 76
	}
	precision, scale := d.GetPrecision(), d.GetScale()
	return precision >= 1 && precision <= most && scale >= -most && scale <= most
}

// recordBatches yields the selected columns of the records of r, in batches of up to maxBatchRows rows.
func recordBatches(ctx context.Context, r array.RecordReader, sel *chosen) iter.Seq2[*batch, error] {
	return func(yield func(*batch, error) bool) {
		for {
			b, err := nextRecord(ctx, r, sel)
			if b == nil && err == nil || !b.split(maxBatchRows, func(part *batch) bool { return yield(part, err) }) || err != nil {
				return
			}
		}
	}
}

// split calls yield with the rows in batches of up to so many, as long as that returns true, which it then returns too. A batch that
// isn't nil is released, as those that are handed on must be.
func (b *batch) split(most int64, yield func(*batch) bool) bool {
	if b == nil || b.rows <= most {
		return yield(b)
	}
	defer b.release()
	for lo := int64(0); lo < b.rows; lo += most {
		part := &batch{file: b.file, rows: min(most, b.rows-lo), columns: make([]arrow.Array, len(b.columns))}
		for k, a := range b.columns {
			part.columns[k] = array.NewSlice(a, lo, lo+part.rows)
		}
		if !yield(part) {
			return false
		}
	}
	return true
}

// nextRecord returns the next record's columns, nil after the last.
func nextRecord(ctx context.Context, r array.RecordReader, sel *chosen) (*batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b := &batch{columns: make([]arrow.Array, len(sel.columns))}
	more := false
	err := recovered(func() error {
		if more = r.Next(); !more {
			return r.Err()
		}
		rec := r.Record()
		if b.rows = rec.NumRows(); b.rows > math.MaxInt32 {
			return fmt.Errorf("it has %d rows", b.rows)
		}
		for k, c := range sel.columns {
			col := rec.Column(c.index)
			if int64(col.Len()) != b.rows {
				return fmt.Errorf("column %q has %d of %d rows", c.name, col.Len(), b.rows)
			}
			if !inBounds(col) {
				return fmt.Errorf("column %q has values that end before they begin", c.name)
			}
			col.Retain()
			b.columns[k] = col
		}
		return nil
	})
	if err != nil && err != io.EOF { // which some readers return at the end; within another error it is a cut source
		b.release()
		return nil, fmt.Errorf("a record can't be read (%s): check its source", oneLine(err.Error()))
	}
	if !more {
		return nil, nil
	}
	return b, nil
}

// inBounds tells whether the values of a column of text, binary data or lists, or of its dictionary, lie one behind the
// other. Arrow looks at the end of the last alone.
func inBounds(a arrow.Array) bool {
	if a.Len() == 0 { // which may be without offsets
		return true
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return inBounds(a.Dictionary())
	case *array.String:
		return ascend(a.ValueOffsets())
	case *array.Binary:
		return ascend(a.ValueOffsets())
	case *array.LargeString:
		return ascend(a.ValueOffsets())
	case *array.LargeBinary:
		return ascend(a.ValueOffsets())
	case *array.List:
		return listsAscend(a)
	case *array.LargeList:
		return listsAscend(a)
	}
	return true
}

func ascend[I int32 | int64](offsets []I) bool { return offsets[0] >= 0 && slices.IsSorted(offsets) }

func listsAscend(a array.ListLike) bool {
	last := int64(0)
	for i := range a.Len() {
		lo, hi := a.ValueOffsets(i)
		if lo < last || hi < lo {
			return false
		}
		last = hi
	}
	return last <= int64(a.ListValues().Len()) && inBounds(a.ListValues())
}
