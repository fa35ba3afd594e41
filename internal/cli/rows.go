package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/block"
	"halfspace/cache"
	"halfspace/dataset"
	"halfspace/internal/cli/console"
	"halfspace/internal/cli/files"
	"halfspace/internal/cli/flags"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train"
	"halfspace/train/perceptron"
)

// rowOptions are the options of verbs that learn from rows: which rows there are, and where they are kept.
type rowOptions struct {
	flags.Machine
	text    flags.Text
	data    rowData
	dtype   flags.Choice
	storage storage

	// Where not all rows are learned from: which are, by how many rows each class has, and a name for them.
	learned     func(counts []int64) dataset.Choice
	learnedName string
}

// rowData are the options on what to read.
type rowData struct {
	label             string
	features, exclude []string
	positive          string
	sampleWeight      string
	noBias            bool
	nulls             flags.Choice
	standardize       bool
	categorical       string
}

// learned tells whether features may depend on the values of the rows.
func (d *rowData) learned() bool {
	return d.standardize || schema.Nulls(d.nulls.Value) == schema.NullsMean || strings.Contains(d.categorical, "onehot")
}

// AddTo adds the flags; the first of the types is the default.
func (o *rowOptions) addTo(cmd *cobra.Command, types ...string) {
	o.addData(cmd, types...)
	o.addMachine(cmd)
}

// addData adds the flags on what to read.
func (o *rowOptions) addData(cmd *cobra.Command, types ...string) {
	f := cmd.Flags()
	f.StringVar(&o.data.label, "label", "", "`COLUMN` Column with the classes. (required, except for svmlight)")
	f.StringSliceVar(&o.data.features, "features", nil, "`COLUMN,...` Columns to use as features, by name or glob. (default all except the label that can be features)")
	f.StringSliceVar(&o.data.exclude, "exclude", nil, "`COLUMN,...` Columns to leave out, by name or glob.")
	f.Var((*flags.List)(&o.data.categorical), "categorical", "`CODING` Use columns of text as features. onehot makes one feature for each category; hash:BITS hashes "+
		"the categories to 2^BITS features. COLUMN=CODING,... codes only these columns, also columns of numbers.")
	f.StringVar(&o.data.positive, "positive", "", "`CLASS` The class with label +1. (default the greater of two classes)")
	f.BoolVar(&o.data.noBias, "no-bias", false, "Leave out the bias: the plane goes through the origin.")
	flags.AddChoice(cmd, &o.data.nulls, "nulls", "`error|drop|zero|mean` What to do with missing values, NaN and infinities: stop (error), skip the row (drop), "+
		"fill with 0 (zero) or with the mean of the column (mean).", nullsNames()...)
	f.BoolVar(&o.data.standardize, "standardize", false, "Subtract each feature's mean and divide by its standard deviation. "+
		"Features made from text stay as they are.")
	flags.AddChoice(cmd, &o.dtype, "dtype", "`"+strings.Join(types, "|")+"` Type of the numbers to compute with.", types...)
	o.text.AddTo(cmd)
}

// addMachine adds the flags on how to run. They change no result.
func (o *rowOptions) addMachine(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Var(&o.storage.memory, "memory", "`SIZE` Most memory for rows, such as 256MiB or 8G. Rows that don't fit are read again in each pass. (default 80 % of what is available)")
	f.StringVar(&o.storage.cache, "cache", "", "`FILE` Store the decoded rows in this file, for this run and later ones.")
	o.Machine.AddTo(cmd)
}

func nullsNames() []string {
	var names []string
	for _, n := range schema.AllNulls {
		names = append(names, string(n))
	}
	return names
}

// Check looks for what is wrong in the options alone, fills in the label where the data has its own, and applies those on the
// machine.
func (o *rowOptions) check(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return console.Usagef("no data: name a file, a glob or a directory")
	}
	if o.data.label == "" {
		o.data.label = dataset.DefaultLabel(ctx, args)
	}
	if o.data.label == "" {
		return console.Usagef("--label is missing: name the column that holds the classes")
	}
	if err := dataset.CheckCategorical(o.data.categorical); err != nil {
		return console.Usagef("--categorical %s: %w", o.data.categorical, err)
	}
	if err := o.text.Check(); err != nil {
		return err
	}
	if err := o.storage.check(); err != nil {
		return err
	}
	return o.Machine.Apply()
}

// storage are the options on where the rows are while they are worked on. They change no result.
type storage struct {
	memory flags.Size
	cache  string

	// What the verb knows besides its flags.
	out      string // a file that the verb writes: temporary caches go to its folder; "": to the system's folder
	access   train.Access
	weighted bool // rows have weights
	shared   bool // rows are shared out, so that they are there twice for a while
	folds    bool // each fold has features of its own: memory holds its rows in addition to all rows
	parted   bool // only the shares are learned from, and each gets a cache of its own

	beside func(rows int64, cols int) int64 // bytes that the verb needs in addition to the rows; nil: hardly any
}

// Check finds out what is wrong with the options before any work.
func (s *storage) check() error {
	out := s.out
	if s.cache == "" {
		return nil
	}
	if files.ToStdout(s.cache) {
		return console.Usagef("--cache is %s: name a file", s.cache)
	}
	a, errA := os.Stat(s.cache)
	b, errB := os.Stat(out)
	if out != "" && (filepath.Clean(out) == filepath.Clean(s.cache) || errA == nil && errB == nil && os.SameFile(a, b)) {
		return console.Usagef("--cache and --out are both %s: name two files", out)
	}
	return nil
}

// overhead is what a process takes besides its blocks.
const overhead = 32 << 20

// rows are the rows to work on.
type rows[T kernel.Float] struct {
	block.Source[T]
	shut  func() error                      // closes them; nil of rows in memory
	input func() (*dataset.Input[T], error) // opens the files that the rows are of; nil of rows that have none of their own
}

// newRows returns rows that shut closes, where it isn't nil.
func newRows[T kernel.Float](src block.Source[T], shut func() error) *rows[T] {
	return &rows[T]{Source: src, shut: shut}
}

// close removes what the rows have taken. No rows are closed already.
func (r *rows[T]) close() error {
	if r == nil || r.shut == nil {
		return nil
	}
	return r.shut()
}

// relearner returns the rows as a source for a cross-validation, which learns features again for each fold where the rows come from files
// and their features depend on them.
func (r *rows[T]) relearner(ctx context.Context) block.Source[T] {
	if r.input == nil {
		return block.Trust(r.Source)
	}
	return relearner[T]{r.Source, r.input}
}

// A relearner is rows whose features can be learned again.
type relearner[T kernel.Float] struct {
	block.Source[T]
	input func() (*dataset.Input[T], error)
}

func (r relearner[T]) Unwrap() block.Source[T] { return block.Trust(r.Source) }

// Relearn opens the rows as those of r are: in memory, or as a stream.
func (r relearner[T]) Relearn(ctx context.Context, choices []func(class int) bool) (all []func(context.Context) (block.Source[T], error), err error) {
	in, err := r.input()
	if err != nil || !in.Learned() {
		return nil, err
	}
	inputs, err := in.Shares(ctx, func([]int64) []dataset.Choice { return choices })
	_, inMemory := r.Source.(*block.Data[T])
	for _, in := range inputs {
		all = append(all, func(ctx context.Context) (block.Source[T], error) {
			if inMemory {
				data, err := in.Load(ctx)
				return data, err
			}
			return in.Stream(ctx)
		})
	}
	return all, err
}

// openRows opens the rows in memory, where they fit, and else in the files themselves or in a cache. The files serve for
// passes in their order; other access is over a cache, which is temporary where the user named none. The garbage collector is told to keep within the memory.
func openRows[T kernel.Float](ctx context.Context, a *console.App, o *rowOptions, paths []string, bar *console.Progress) (*rows[T], error) {
	opt := dataset.Options{
		Label: o.data.label, Features: o.data.features, Exclude: o.data.exclude, Positive: o.data.positive, SampleWeight: o.data.sampleWeight,
		NoBias: o.data.noBias, Nulls: schema.Nulls(o.data.nulls.Value), Standardize: o.data.standardize,
		Categorical: o.data.categorical, Workers: o.Workers, Text: o.text.Options(), Memory: o.storage.memory.Limit(),
		Progress: func(rows, total int64) { bar.Show("loading", "", rows, total) }, LearnedFrom: o.learnedName,
	}
	said := false // once the rows are open, nothing is said again of the same files
	opt.Warn = func(s string) {
		if !said {
			bar.End()
			a.Note("%s", s)
		}
	}
	written := func(rows, total int64) { bar.Show("writing the cache", "", rows, total) }
	s := &o.storage
	if s.cache != "" {
		r, err := openCache[T](ctx, o, paths, opt, written)
		if err == nil {
			r.input = func() (*dataset.Input[T], error) {
				said = true
				return openInput[T](ctx, o, paths, opt)
			}
		}
		return r, err
	}
	in, err := openInput[T](ctx, o, paths, opt)
	if err != nil {
		return nil, err
	}
	again := func() (*dataset.Input[T], error) {
		said = true
		return in, nil
	}
	count, err := rowsAtMost(ctx, s, in)
	if err != nil {
		return nil, err
	}
	fits, err := budget[T](s, count, in.Cols())
	if err != nil {
		return nil, err
	}
	if fits {
		data, err := in.Load(ctx)
		return &rows[T]{data, nil, again}, err
	}
	stream, err := in.Stream(ctx)
	if err != nil || s.access == train.InOrder || s.parted {
		return &rows[T]{stream, nil, again}, err
	}
	f, err := cache.Temporary(ctx, s.tempDir(), stream, func(rows int64) { written(rows, stream.Rows()) })
	if err != nil {
		return nil, err
	}
	return &rows[T]{f, f.Close, again}, nil
}

// openInput opens files. Their features are learned from the rows that the options tell.
func openInput[T kernel.Float](ctx context.Context, o *rowOptions, paths []string, opt dataset.Options) (*dataset.Input[T], error) {
	in, err := dataset.Open[T](ctx, paths, opt)
	if err != nil || o.learned == nil || !in.Learned() {
		return in, err
	}
	shares, err := in.Shares(ctx, func(counts []int64) []dataset.Choice { return []dataset.Choice{o.learned(counts)} })
	if err != nil {
		return nil, err
	}
	return shares[0], nil
}

// rowsAtMost returns how many rows there are at most. Where only reading tells, files that can't be too large aren't read for
// that.
func rowsAtMost[T kernel.Float](ctx context.Context, s *storage, in *dataset.Input[T]) (int64, error) {
	most := in.Most()
	if most >= 0 && block.Bytes[T](most, in.Cols(), s.weighted) <= s.memory.Limit()/5*4 {
		return most, nil
	}
	return in.Count(ctx)
}

// openCache opens the rows in the cache that the user named. The files are read only where it must be made.
func openCache[T kernel.Float](ctx context.Context, o *rowOptions, paths []string, opt dataset.Options,
	written func(rows, total int64)) (*rows[T], error) {
	s := &o.storage
	key, err := dataset.Key(paths, opt)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	source := func() (block.Source[T], error) {
		in, err := openInput[T](ctx, o, paths, opt)
		if err != nil {
			return nil, err
		}
		if total, err = in.Count(ctx); err != nil {
			return nil, err
		}
		if _, err := budget[T](s, total, in.Cols()); err != nil {
			return nil, err
		}
		stream, err := in.Stream(ctx)
		if err != nil {
			return nil, err
		}
		if now, err := dataset.Key(paths, opt); err != nil || !reflect.DeepEqual(now, key) {
			return nil, fmt.Errorf("%s: the data changed while it was read: try again", dataset.Name(paths))
		}
		return stream, nil
	}
	f, err := cache.Ensure(ctx, s.cache, key, source, opt.Warn, func(rows int64) { written(rows, total) })
	if err != nil {
		return nil, err
	}
	fits, err := budget[T](s, f.Rows(), f.Spec().Cols())
	if err == nil && !fits {
		return newRows(f, f.Close), nil
	}
	defer f.Close()
	if err != nil {
		return nil, err
	}
	data, err := block.Collect(ctx, f)
	return newRows(data, nil), err
}

// Hold has the garbage collector keep within the memory where a learner fills it beside the rows: with two shares of them where there are
// folds.
func (s *storage) hold(bytes int64) {
	if s.memory.Bytes == 0 {
		bytes = 0 // the limit doesn't include the rows
	}
	debug.SetMemoryLimit(s.memory.Limit() + bytes)
}

// tempDir returns the directory that a temporary cache is made in; "" is the system's place.
func (s *storage) tempDir() string {
	if info, err := os.Stat(s.out); s.out == "" || err == nil && !info.Mode().IsRegular() {
		return ""
	}
	return filepath.Dir(s.out)
}

// budget tells whether the blocks fit in memory, and tells the garbage collector what it has. It is an error if not
// even the blocks fit that are in use at a time.
func budget[T kernel.Float](s *storage, count int64, cols int) (fits bool, err error) {
	limit, all := s.memory.Limit(), block.Bytes[T](count, cols, s.weighted)
	held := all
	if s.shared {
		held *= 2
	}
	if s.folds {
		held += all
	}
	beside := int64(0)
	if s.beside != nil {
		beside = s.beside(count, cols)
	}
	if held += beside; held <= limit/5*4 {
		debug.SetMemoryLimit(min(limit, held/4*5+overhead))
		return true, nil
	}
	pass := min(all, block.InFlight*block.Bytes[T](int64(block.Rows[T](cols)), cols, s.weighted))
	least := pass + beside
	switch s.access {
	case train.AnyOrder:
		least += perceptron.WindowBytes[T](cols, s.weighted)
	case train.Nested:
		least += pass
	}
	if least > limit {
		return false, fmt.Errorf("%s of memory are too little: reading these rows piece by piece takes %s, give that with --memory",
			say.Size(limit), say.Size(least))
	}
	debug.SetMemoryLimit(limit)
	return false, nil
}
