package dataset

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/dataset/internal/encode"
	"halfspace/dataset/internal/frame"
	"halfspace/internal/store"
	"halfspace/schema"
)

// CheckCategorical returns an error if text is not a value of Options.Categorical.
func CheckCategorical(text string) error { return encode.CheckCategorical(text) }

// CheckCross returns an error if text is no value of Options.Cross.
func CheckCross(text string) error { return encode.CheckCross(text) }

// LearnsCategories tells whether features depend on the categories of the rows if categorical and crosses are those of Options.
func LearnsCategories(categorical string, crosses []string) bool {
	return encode.LearnsCategories(categorical, crosses)
}

// Options says which columns are read and what they mean. Names of columns may be patterns in the syntax of path.Match. If a
// column has the very name of a pattern, the name stands for that column. Cache files hold the options that shape the
// blocks, as JSON.
//
// Features are numbers: integers and floating point of every width, decimals, and booleans as 0 and 1. A date or a time
// is the number that its type stores, in the column's unit. That is days or seconds, milliseconds, microseconds or
// nanoseconds, since 1970 or midnight or of a duration. Parquet's INT96 counts nanoseconds since 1970. A list of
// numbers becomes a feature for each element, "name[0]" and so on; all lists of a column have the same length. A label
// is a number, a boolean or a string.
//
// A sparse list names the elements that aren't 0, and becomes a feature for each element too. It is a list of structures
// with the fields index and value, or a map from integers to numbers. It may also be a structure of two lists, indices
// and values, such as a vector of Spark. Its features are one more than the greatest index of the rows, or the size of
// Spark's vectors if that is larger. A null is a list of zeros. Indices that a Spec's features don't have are ignored.
//
// A null, NaN or an infinity is a missing value. So is a list with such an element. Nulls says what to do with a
// missing value of a feature: stop with an error, drop the row, fill with 0 or with the mean. The mean is that of the
// feature over the other kept rows, and the Spec holds it. A missing label or weight is an error unless rows are
// dropped. If a Spec drops rows and there is no label, all rows stay, with NaN for missing numbers: each row gets a
// prediction.
type Options struct {
	Label        string       // label column, in a text file also by its number from 1, or "last"; "": none, blocks have no labels
	Features     []string     // feature columns, in this order, those of a pattern in the file's; empty: all that can be one
	Exclude      []string     // columns that aren't features; each must match one of the file's
	Positive     string       // text of the class +1; "": the greater one
	SampleWeight string       // column of the sample weights, 0 or more, which is no feature; "": none
	NoBias       bool         // no column of ones
	Nulls        schema.Nulls // what to do with missing values; "": stop with an error
	Keep         []string     `json:"-"` // Scan only: columns to hand on as they are
	Workers      int          `json:"-"` // goroutines that compute at once; 0: GOMAXPROCS. No result depends on it
	Text         TextOptions  // how CSV and svmlight files are written

	// Memory, unless 0, bounds the bytes of the blocks and of what is read at a time. That is pages of Parquet files,
	// pieces of text, or messages of Arrow IPC, which have at least 48 MiB. A file that needs more is an error. The
	// rows that are read at a time come on top; their number doesn't depend on Memory.
	Memory int64 `json:"-"`

	// Categorical says how columns of text, or with a dictionary, become features. A text as "column=onehot,other=hash:8"
	// says it of the named columns, which may be numbers or booleans.
	//
	//   - "onehot" makes a feature "name=category" for each category. It finds them in a pass of its own. They are at most 1000
	//     unless Storage is Auto or Sparse.
	//   - "hash:BITS" makes 1<<BITS features, "name#hash:BITS[0]" and so on, one of which is 1; see schema.HashBucket. With more
	//     than 16 bits these are the buckets of the training rows alone, which it finds in a pass of its own.
	//   - "" makes no features.
	//
	// A missing category, or one that isn't in the training data, is all zeros.
	Categorical string

	// Cross names columns whose categories make features together, as "color,city". The texts of a row's categories are hashed
	// to 20 bits, or to those of "color,city=hash:BITS", as schema.Cross joins them.
	Cross []string `json:",omitempty"`

	// HashTexts keeps texts of columns that Categorical or Cross hashes, in schema.Column.Dictionary: the first schema.MaxTexts of each
	// feature, in the order of the rows. It keeps none of more than 256 bytes, and 32 MiB in all.
	HashTexts bool `json:",omitempty"`

	// Standardize replaces every number x by (x - mean) / deviation, computed in float64. Mean and deviation are those of the
	// kept training rows. The deviation divides by n, and is 1 if all values are equal.
	Standardize bool

	// KeepWide, with Standardize, leaves the numbers of svmlight files with more than 16,384 features as they are, and so
	// those of files with sparse lists of so many. Warn says so. Without it such files are an error, since standardized
	// rows are dense.
	KeepWide bool `json:",omitempty"`

	// LearnedFrom names, for Key, the rows from which the features are learned, if these aren't all rows; see Input.Shares.
	LearnedFrom string `json:",omitempty"`

	ranked   string          // Open: the column that Ranks reads
	shows    bool            // InspectTable: Keep takes sparse lists too
	converts bool            // Convert: Keep is all if it is empty, and Exclude takes from it
	counts   bool            // Open: rows of svmlight files are counted, also for a model
	float    arrow.DataType  // of the blocks' values; nil where there are none
	versions []store.Version // of the objects among the files, which must be these; nil: any

	// Storage says how blocks hold rows: "" and Dense, Sparse or Auto.
	Storage Storage `json:",omitempty"`

	// Spec, if not nil, is that of a model: the blocks have its features, and labels are its classes. Of the fields above,
	// only Label, SampleWeight, Keep, Workers, Text, Memory and Storage count then.
	Spec *schema.Spec

	// End, when it is closed, ends standard input. Text counts up to the last line break that was read; Arrow IPC that ends
	// early is an error. A nil channel ends nothing.
	End <-chan struct{} `json:"-"`

	// Live makes Scan yield the rows of CSV or svmlight from standard input as they come, in blocks of any length. CSV
	// columns that are only kept are then text, as written. It needs a Spec.
	Live bool `json:"-"`

	// Cluster, unless nil, has other processes that see the same files. If Spec is nil, Open has them find means, deviations,
	// categories and classes of Parquet files. The calling process does so itself for other files, and if rows are dropped,
	// with HashTexts, and with lists of no fixed length.
	Cluster block.Cluster `json:"-"`

	// Progress, if not nil, is called from the calling goroutine after every batch of rows of a pass over the files. It gets
	// the number of rows so far and of all rows, or -1 if that isn't known. In a pass of a Stream it is called from the goroutine
	// that takes the blocks, after each.
	Progress func(pass Pass, rows, total int64) `json:"-"`
	// Warn, if not nil, is called from the calling goroutine, before the function returns without an error. It gets a
	// line each about columns that aren't features by default, about rows left out, and about data that isn't read
	// exactly.
	Warn func(text string) `json:"-"`
}

// A Pass is what files are read for.
type Pass string

const (
	PassColumns Pass = "looking at the columns" // for types of columns, and for what features depend on
	PassLabels  Pass = "reading the labels"     // for the classes, and the number of rows
	PassRows    Pass = "reading the rows"       // for the rows themselves
	PassAgain   Pass = "reading the rows again" // in a pass of a Stream
)

// told returns what tells of a pass, or nil.
func (opt *Options) told(pass Pass) func(rows, total int64) {
	if opt.Progress == nil {
		return nil
	}
	return func(rows, total int64) { opt.Progress(pass, rows, total) }
}

// Load reads files into memory. Paths are as in Expand. The files must have the same format. Their extensions tell it, or
// else their content.
//
// Labels are +1 for the positive class and -1 for the other. With more than two classes, labels are the numbers of the
// classes in sorted order, from 0 on.
func Load(ctx context.Context, paths []string, opt Options) (*block.Data, error) {
	return load(ctx, paths, opt, memory.DefaultAllocator)
}

func load(ctx context.Context, paths []string, opt Options, mem memory.Allocator) (*block.Data, error) {
	in, err := open(ctx, paths, opt, mem)
	if err != nil {
		return nil, err
	}
	return in.Load(ctx)
}

// choices returns the options that say which columns are read and what they mean.
func (opt Options) choices() encode.Choices {
	return encode.Choices{Label: opt.Label, Positive: opt.Positive, SampleWeight: opt.SampleWeight, Features: opt.Features, Exclude: opt.Exclude, Keep: opt.Keep,
		NoBias: opt.NoBias, Standardize: opt.Standardize, KeepWide: opt.KeepWide, Nulls: opt.Nulls, Words: opt.Text.NullValues, Categorical: opt.Categorical, Cross: opt.Cross,
		HashTexts: opt.HashTexts, Shows: opt.shows, Converts: opt.converts, Most: opt.Storage.Widest(), Float: opt.float, Spec: opt.Spec}
}

// tell calls Warn with each note.
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

// Scan reads files as Load does, and calls fn with each block and a record of the kept columns of its rows. The record
// is nil without Options.Keep. Both are valid until fn returns. Only a few row groups and one block are in memory at a
// time. Kept columns must have the same types in all files. If there are no rows, Scan calls fn once, with an empty
// block.
//
// With a label it needs Options.Spec, since the classes of the data aren't known before its end.
func Scan(ctx context.Context, paths []string, opt Options,
	fn func(*schema.Spec, *block.Block, arrow.Record) error) error {
	return scan(ctx, paths, opt, memory.DefaultAllocator, fn)
}

func scan(ctx context.Context, paths []string, opt Options, mem memory.Allocator,
	fn func(*schema.Spec, *block.Block, arrow.Record) error) error {
	if opt.Label != "" && opt.Spec == nil {
		return errors.New("labels can be read block by block only with the classes of a model: load the data, or give none")
	}
	p, err := frame.PoolOf(opt.Workers)
	if err != nil {
		return err
	}
	opt.float = arrow.PrimitiveTypes.Float32
	in, err := openInput(ctx, paths, opt, p)
	if err != nil {
		return err
	}
	sel, spec, signs := in.selection(), opt.Spec, encode.Signs(opt.Spec)
	if err := learn(ctx, in, &opt, p, mem, nil); err != nil {
		return err
	}
	if spec == nil {
		if spec, err = sel.Spec(); err != nil {
			return frame.ErrorIn(in.Name(), "%w", err)
		}
	}
	in.LastPass()
	rows := int64(block.Rows(spec.Cols()))
	if in.Total() >= 0 {
		rows = min(rows, in.Total())
	}
	beside := (&Input{in: in.Input, sel: sel}).Bytes(rows, sel.Weight >= 0)
	if len(sel.Keep) > 0 {
		beside += GroupBytes // of who writes them
	}
	frame.Within(in, opt.Memory, beside)
	kept := keptSchema(sel)
	b := encode.NewBuilder(sel, encode.NewLabels(opt.Spec), p, mem, in.Total(), func(full *block.Block, keep []arrow.Array) error {
		encode.Sign(full.Y, signs)
		var rec arrow.Record
		if len(keep) > 0 {
			rec = array.NewRecord(kept, keep, int64(full.Len()))
			defer rec.Release()
		}
		return fn(spec, full, rec)
	})
	b.Budget, b.Live, b.Reuse = frame.NewBudget(opt.Memory), opt.Live, true
	if err := b.Run(ctx, in.Batches(ctx, p, mem), opt.told(PassRows)); err != nil {
		return err
	}
	if b.Rows == 0 {
		return emptyBlock(spec, kept, mem, fn)
	}
	b.Warn(opt.Warn)
	opt.tell(slices.Concat(sel.Notes(), in.Notes()))
	return nil
}

// emptyBlock calls fn with no rows.
func emptyBlock(spec *schema.Spec, kept *arrow.Schema, mem memory.Allocator,
	fn func(*schema.Spec, *block.Block, arrow.Record) error) error {
	var rec arrow.Record
	if kept.NumFields() > 0 {
		none := array.NewRecordBuilder(mem, kept)
		defer none.Release()
		rec = none.NewRecord()
		defer rec.Release()
	}
	return fn(spec, block.New(0, 0, spec.Cols()), rec)
}

// keptSchema is the schema of the records that Scan hands on.
func keptSchema(sel *encode.Selection) *arrow.Schema {
	fields := make([]arrow.Field, len(sel.Keep))
	for k, i := range sel.Keep {
		c := sel.Columns[i]
		fields[k] = arrow.Field{Name: c.Name, Type: c.Type, Nullable: c.Nullable}
	}
	return arrow.NewSchema(fields, nil)
}
