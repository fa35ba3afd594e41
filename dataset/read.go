package dataset

import (
	"context"
	"errors"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/source"
	"halfspace/dataset/internal/transform"
	"halfspace/dataset/internal/where"
	"halfspace/internal/block"
	"halfspace/internal/message"
	"halfspace/schema"
)

// Options determine which columns are read and how they are used. Names of columns may be patterns in the syntax of
// path.Match. If a column's name equals the pattern itself, the pattern means only this column. Cache files store the
// options that affect the blocks, as JSON.
//
// Features are numbers:
//
//   - Integers and floating-point numbers of every width, and decimals.
//   - Booleans, as 0 and 1.
//   - Dates and times, as the number that the type stores, in the column's unit: days, seconds, milliseconds, microseconds
//     or nanoseconds; since 1970, since midnight, or of a duration. Parquet's INT96 counts nanoseconds since 1970;
//     a timestamp before 1677 or after 2262 is missing, with a note.
//   - Lists of numbers. Each element is a feature, "name[0]" and so on. All lists of a column must have the same length.
//   - Sparse lists; see below.
//
// A label is a number, a boolean, a string or a date.
//
// A sparse list names the elements that aren't 0. It becomes a feature for each element too. Its type is a list of
// structures with the fields index and value, a map from integers to numbers, or a structure of two lists, indices
// and values, as in Spark's vectors. The number of its features is the greatest index in the rows plus 1, or the size
// in Spark's vectors if that is larger; a dense vector has as many values. A null is a list of zeros. Indices that aren't
// features of a Spec are ignored.
//
// A null, NaN or an infinity is a missing value. A list with a missing element is a missing value too. Nulls
// determines the treatment of a missing value of a feature: an error, dropping the row, or filling it with 0 or with
// the mean. The mean is computed over the feature's other values in the kept rows, and the Spec stores it. A missing
// label or weight is an error unless rows are dropped. If a Spec drops rows and there is no label, all rows stay,
// with NaN for missing numbers, because each row gets a prediction.
type Options struct {
	Label  string // label column; for a text file also its number from 1, or "last"; "": no labels
	Labels string `json:",omitempty"` // .npy file with the labels of the rows of arrays, whose column Label names; "": none
	// .npy file with the sample weights of the rows of arrays, whose column SampleWeight names; "": none
	Weights      string       `json:",omitempty"`
	Features     []string     // feature columns in this order, matches of a pattern in the file's order; empty: all usable columns
	Exclude      []string     // columns that aren't features; each must match a column of the file
	RankBy       string       `json:",omitempty"` // column of Ranks, which groups or orders the rows and is no feature; "": none
	Positive     string       // text of the class +1; "": the greater class
	SampleWeight string       // column of the sample weights, 0 or more, which is no feature; "": none
	NoBias       bool         // no bias column of ones
	Nulls        schema.Nulls // treatment of missing values; "": return an error. With a Spec, drop counts if the Spec has an error
	Keep         []string     `json:"-"` // for Scan and Convert: columns to pass on unchanged
	// columns of Keep have the texts of a text file, digit for digit, not the numbers that the texts stand for
	KeepTexts bool        `json:"-"`
	Workers   int         `json:"-"` // goroutines that compute at the same time; 0: GOMAXPROCS. Results don't depend on it
	Text      TextOptions // the form of CSV and svmlight files

	// Memory is the maximum number of bytes of the blocks, and of the data that is read at a time: pages of Parquet
	// files, pieces of text, or messages of Arrow IPC. These data always may have 48 MiB. If a file requires more,
	// reading returns an error. 0 means four fifths of the memory that is available to the process. The rows that are
	// decoded at a time take additional memory; their number doesn't depend on Memory.
	Memory int64 `json:"-"`

	// Categorical determines how columns of text, and columns with a dictionary, become features. A value such as
	// "column=onehot,other=hash:8" applies to the named columns only, which may be numbers or booleans.
	//
	//   - "onehot" makes a feature "name=category" for each category. The categories are found in a separate pass. There may
	//     be at most 1000 if Storage is Dense.
	//   - "hash:BITS" makes 1<<BITS features, "name#hash:BITS[0]" and so on, one of which is 1; see schema.HashBucket. With
	//     more than 16 bits, only the buckets of the training rows are features; they are found in a separate pass.
	//   - "" makes no features.
	//
	// A missing category, or a category that isn't in the training data, makes all features 0.
	Categorical string

	// Cross names columns whose categories make features together, for example "color,city". The texts of a row's
	// categories, joined by schema.Cross, are hashed to 20 bits, or to the bits in "color,city=hash:BITS".
	Cross []string `json:",omitempty"`

	// HashTexts stores texts of the columns that Categorical or Cross hashes, in schema.Column.Dictionary: for each
	// feature, the first schema.MaxTexts texts in row order. Texts of more than 256 bytes aren't stored, and all
	// stored texts together have at most 32 MiB.
	HashTexts bool `json:",omitempty"`

	// Standardize replaces every number x by (x - mean) / deviation, computed in float64. Mean and deviation are
	// computed over the kept training rows. The deviation divides by n, and is 1 if all values are equal.
	Standardize bool

	// KeepWide, together with Standardize, doesn't standardize the numbers of svmlight files with more than 16,384
	// features, or of files whose sparse lists have more than 16,384 features. Warn reports it. Without KeepWide these
	// files are an error, because standardized rows are dense.
	KeepWide bool `json:",omitempty"`

	// LearnFrom, unless nil, chooses the rows from which means, deviations and categories are computed. It gets the number
	// of kept rows of each class, in the order of the spec. The function that it returns is called for each kept row in row
	// order with the number of the row's class, and returns true to choose the row. LearnedFrom names the choice for Key.
	LearnFrom   func(counts []int64) func(class int) bool `json:"-"`
	LearnedFrom string                                    `json:",omitempty"`

	// Prepare makes features of each column that the other options don't mention, as its values suggest: of texts, dates,
	// yes and no, numbers with units. It leaves out columns that count or name the rows, fills in missing values with the
	// mean, marks them by a feature, and leaves out rows without a label. Warn gets up to three lines about it, and some
	// about decisions that could have gone another way. Tables of numbers without a gap stay as they are. Files of
	// svmlight and a Spec determine the features; then only rows without a label are left out.
	Prepare bool `json:",omitempty"`

	// Types, with Prepare, name the type of columns, as "column=type", in place of the type that the values suggest:
	// number, boolean, date, category, text, hash:BITS, or ignore. number:point and number:comma, and date:DMY, date:MDY
	// and date:YMD, say how texts are read. See TypeNames.
	Types []string `json:",omitempty"`

	// DropUnlabelled leaves out the rows whose label is null, NaN or infinite, and Warn gets their number. Prepare sets it.
	DropUnlabelled bool `json:",omitempty"`

	// Where chooses rows, as SQL's WHERE does: "amount < 1000 and (country in ('de', 'fr') or day >= '2026-01-01')". It knows =, <>, <,
	// <=, >, >=, in, between, like, is null, and, or, not. Names of columns may be in double quotes, texts, dates and times are in
	// single quotes. NaN is greater than every number. The columns need not be features. Sample keeps a share of the rows, between 0
	// and 1, which a hash of the row's number chooses. Limit, unless 0, keeps the first rows of these. svmlight files have no such choice.
	Where  string  `json:",omitempty"`
	Sample float64 `json:",omitempty"`
	Limit  int64   `json:",omitempty"`

	// Rejects, unless nil, gets the lines of text files that can't be read: with a wrong number of fields, a text among numbers, or broken
	// quotes, for example. They are no rows then. Each file is read once more, to find these lines.
	Rejects *Rejects `json:"-"`

	// Raw reads the files in the folders of lake tables as they are: also rows that the log of a table leaves out, and columns by the
	// names that they have in the files.
	Raw bool `json:",omitempty"`

	// Version is the version of the lake tables that are read: the number of a Delta version, or of a file of Iceberg's metadata. "" is
	// the newest. A path may name a version too, as in sales@v41.
	Version string `json:",omitempty"`

	// Storage is the form in which blocks store rows: Auto (also ""), Dense or Sparse.
	Storage Storage `json:",omitempty"`

	// Spec, if not nil, is the Spec of a model: the blocks have its features, and labels are its classes. Options about
	// features, such as Features, Nulls and Types, and Positive and NoBias are ignored then.
	Spec *schema.Spec

	// End ends standard input when it is closed. Text is read up to the last line break that was received. Arrow IPC
	// that ends early is an error. If End is nil, standard input ends only by itself.
	End <-chan struct{} `json:"-"`

	// Live makes Scan yield the rows of CSV or svmlight from standard input as soon as they arrive, in blocks of any
	// length. CSV columns that are only kept are text then, as written. Live requires a Spec.
	Live bool `json:"-"`

	// Cluster, unless nil, is other processes that see the same files. If Spec is nil, Open lets them compute means,
	// deviations, categories and classes of Parquet files. The calling process computes these itself for other files,
	// if rows are dropped, and with HashTexts. It computes all but the classes for lists without a fixed length.
	Cluster block.Cluster `json:"-"`

	// Progress, if not nil, is called on the calling goroutine after every batch of rows in a pass over the files. It
	// gets the number of rows so far, and the number of all rows or -1 if it is unknown. In a pass of a Stream, it is
	// called after each block, on the goroutine that receives the blocks.
	Progress func(pass Pass, rows, total int64) `json:"-"`
	// Warn, if not nil, is called on the calling goroutine before the function returns without an error. It gets one
	// line each about columns that aren't features by default, about rows left out, and about data that isn't read
	// exactly.
	Warn func(text string) `json:"-"`
}

// Check returns an error if Text, Categorical, Types or Cross is invalid.
func (opt Options) Check() error {
	if err := opt.Text.Check(); err != nil {
		return err
	}
	if err := transform.CheckCategorical(opt.Categorical); err != nil {
		return message.Errorf("--categorical %s: %w", opt.Categorical, err)
	}
	if _, err := where.Parse(opt.Where); err != nil {
		return message.Errorf("--where: %w", err)
	}
	if opt.Version != "" {
		if _, err := source.ParseVersion(opt.Version); err != nil {
			return err
		}
	}
	if !(opt.Sample >= 0 && opt.Sample < 1) {
		return message.WrongValue("sample", opt.Sample, "a share above 0 and below 1, such as 0.01")
	}
	if opt.Limit < 0 {
		return message.WrongValue("limit", opt.Limit, "1 or more")
	}
	if _, err := plan.ParseTypes(opt.Types); err != nil {
		return message.Errorf("--type: %w", err)
	}
	for _, text := range opt.Cross {
		if err := transform.CheckCross(text); err != nil {
			return message.Errorf("--cross %s: %w", text, err)
		}
	}
	return nil
}

// withoutFeatures returns the options without the options about features, which a Spec replaces.
func (opt Options) withoutFeatures() Options {
	opt.Features, opt.Exclude, opt.RankBy, opt.Categorical, opt.Cross, opt.Types = nil, nil, "", "", nil, nil
	opt.Nulls, opt.Standardize, opt.KeepWide, opt.HashTexts, opt.NoBias, opt.Positive = "", false, false, false, false, ""
	opt.LearnFrom, opt.LearnedFrom = nil, ""
	return opt
}

// Learned returns true if features may depend on the values in the rows.
func (opt Options) Learned() bool {
	return opt.Spec == nil && (opt.Prepare || opt.Standardize || opt.Nulls == schema.NullsMean || opt.HashTexts ||
		transform.LearnsCategories(opt.Categorical, opt.Cross))
}

// A Pass is the purpose of a pass over the files.
type Pass string

const (
	passColumns Pass = "looking at the columns" // types of columns, and everything that features depend on
	passLabels  Pass = "reading the labels"     // classes, and the number of rows
	PassRows    Pass = "reading the rows"       // the rows themselves
	PassAgain   Pass = "reading the rows again" // a pass of a Stream
	passCache   Pass = "writing the cache"      // rows are stored in a file
)

// progressOf returns the progress function of a pass, or nil.
func (opt listener) progressOf(pass Pass) func(rows, total int64) {
	if opt.Progress == nil {
		return nil
	}
	return func(rows, total int64) { opt.Progress(pass, rows, total) }
}

func (opt listener) tell(notes []string) {
	for _, n := range notes {
		if opt.Warn != nil {
			opt.Warn(n)
		}
	}
}

// Scan reads files as Load does, and calls fn with each block and a record of the kept columns of its rows. Without
// Options.Keep, the record is nil. Both are valid until fn returns. Only a few row groups and one block are in memory
// at a time. Kept columns must have the same types in all files. If there are no rows, Scan calls fn once, with an
// empty block.
//
// If Options.Label is set, Options.Spec must be set too, because the classes of the data are unknown until all rows
// are read.
func Scan(ctx context.Context, paths []string, opt Options,
	fn func(*schema.Spec, *block.Block, arrow.Record) error) error {
	return scan(ctx, paths, opt, memory.DefaultAllocator, fn)
}

func scan(ctx context.Context, paths []string, opt Options, mem memory.Allocator,
	fn func(*schema.Spec, *block.Block, arrow.Record) error) error {
	if opt.Label != "" && opt.Spec == nil {
		return errors.New("labels can be read block by block only with the classes of a model: load the data, or give none")
	}
	opt.Live = opt.Live && opt.Rejects == nil
	t, err := examineWith(ctx, paths, opt, mem)
	if err != nil {
		return err
	}
	d, err := draftOf(opt)
	if err != nil {
		return err
	}
	d.MakesBlocks = true
	in, err := t.read(ctx, d)
	if err != nil {
		return err
	}
	p := &Plan{planner: planner{table: t, request: d}, in: in.Input, bound: in.bound}
	if err := p.learn(ctx); err != nil {
		return err
	}
	return p.scan(ctx, fn)
}

// scan calls fn with each block of the rows, and a record of its kept columns.
func (p *Plan) scan(ctx context.Context, fn func(*schema.Spec, *block.Block, arrow.Record) error) (err error) {
	in, bound, pool, mem, spec := p.in, p.bound, p.table.pool, p.table.mem, p.bound.Plan.Spec
	signs := transform.Signs(spec)
	if spec == nil {
		if spec, err = bound.Spec(); err != nil {
			return column.ErrorIn(in.Name(), "%w", err)
		}
	}
	in.LastPass()
	rows := int64(block.ScanRows(spec.Cols()))
	if in.Total() >= 0 {
		rows = min(rows, in.Total())
	}
	beside := p.Bytes(rows, bound.Weight >= 0)
	if len(bound.Keep) > 0 {
		beside += GroupBytes // for the writer of the kept columns
	}
	p.within(beside)
	kept := keptSchema(bound)
	b := transform.NewBuilder(bound, transform.NewLabels(p.bound.Plan.Spec), pool, mem, in.Total(),
		func(full *block.Block, keep []arrow.Array) error {
			transform.Sign(full.Y, signs)
			var rec arrow.Record
			if len(keep) > 0 {
				rec = array.NewRecord(kept, keep, int64(full.Len()))
				defer rec.Release()
			}
			return fn(spec, full, rec)
		})
	b.Budget, b.Live, b.Reuse = column.NewBudget(p.table.opt.Memory), p.table.opt.Live, true
	b.BlockRows = block.ScanRows(b.Cols)
	if err := b.Run(ctx, in.Batches(ctx, pool, mem), p.table.opt.progressOf(PassRows)); err != nil {
		return err
	}
	if b.Rows == 0 {
		return emptyBlock(spec, kept, mem, fn)
	}
	b.Warn(p.table.opt.Warn)
	p.table.opt.tell(slices.Concat(bound.Notes(), in.Notes()))
	return nil
}

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

func keptSchema(bound *transform.Binding) *arrow.Schema {
	fields := make([]arrow.Field, len(bound.Keep))
	for k, i := range bound.Keep {
		c := bound.Columns[i]
		fields[k] = arrow.Field{Name: c.Name, Type: c.Type, Nullable: c.Nullable}
	}
	return arrow.NewSchema(fields, nil)
}
