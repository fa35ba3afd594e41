package flags

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"halfspace/block"
	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/cache"
	"halfspace/internal/humanize"
	"halfspace/schema"
	"halfspace/train/learner"
)

type Rows struct {
	block.Source
	Density float64 // approximate share of values that aren't 0, for sparse rows; otherwise 0

	shut  func() error                   // closes the rows; nil for rows in memory
	input func() (*dataset.Input, error) // opens the files of the rows; nil if they have none
}

// NewRows returns the rows of src. Close calls shut, unless shut is nil.
func NewRows(src block.Source, shut func() error) *Rows {
	return &Rows{Source: src, shut: shut}
}

// Close closes the rows and removes their temporary cache. It does nothing if r is nil.
func (r *Rows) Close() error {
	if r == nil || r.shut == nil {
		return nil
	}
	return r.shut()
}

// Refiter returns the rows as the source of a cross-validation. If features depend on the values of the rows in
// files, each fold learns its features from its own rows.
func (r *Rows) Refiter() block.Source {
	if r.input == nil {
		return block.AssumeValid(r.Source)
	}
	return refiter{r.Source, r.input}
}

// A refiter is a source whose features can be learned again from some of its rows.
type refiter struct {
	block.Source
	input func() (*dataset.Input, error)
}

// Unwrap returns the source without Refit.
func (r refiter) Unwrap() block.Source { return block.AssumeValid(r.Source) }

// Refit returns, for each choice of rows, a function that opens all rows with the features learned from the chosen
// rows: in memory if r is in memory, otherwise as a stream. It returns nil if no feature depends on the rows.
func (r refiter) Refit(ctx context.Context, choices []func(class int) bool) (all []func(context.Context) (block.Source, error), err error) {
	in, err := r.input()
	if err != nil || !in.Learned() {
		return nil, err
	}
	inputs, err := in.Shares(ctx, func([]int64) []func(class int) bool { return choices })
	_, inMemory := r.Source.(*block.Data)
	for _, in := range inputs {
		all = append(all, func(ctx context.Context) (block.Source, error) {
			if inMemory {
				return load(ctx, in)
			}
			return in.Stream(ctx)
		})
	}
	return all, err
}

// load loads rows that nothing changes from then on. Their values are checked while they are read.
func load(ctx context.Context, in *dataset.Input) (block.Source, error) {
	data, err := in.Load(ctx)
	if err != nil {
		return nil, err
	}
	return block.AssumeValid(data), nil
}

// OpenRows opens the rows in memory if they fit in --memory. If they don't fit, each pass in the order of the files reads
// the files again; any other access reads a cache, which is temporary without --cache. Open sets the memory limit of
// the garbage collector. It clears o.Data.Standardize if o.Data.KeepWide left the rows unscaled.
func OpenRows(ctx context.Context, a *console.App, o *Options, paths []string, bar *console.Progress) (*Rows, error) {
	opt := o.options(bar)
	said := false // the files were read before and their warnings printed
	opt.Warn = func(s string) {
		if !said {
			a.Warn(s)
		}
	}
	r, err := open(ctx, a, o, paths, opt, bar)
	if err != nil {
		return r, err
	}
	if input := r.input; input != nil {
		r.input = func() (*dataset.Input, error) {
			said = true
			return input()
		}
	}
	if o.Data.KeepWide && unscaled(r.Spec().Preprocessing) {
		o.Data.Standardize = false
	}
	return r, nil
}

// unscaled tells whether some features are numbers, and none is standardized.
func unscaled(p *schema.Preprocessing) bool {
	return p == nil || !p.Standardized() && slices.ContainsFunc(p.Columns, func(c schema.Column) bool { return !c.Categorical() })
}

// manyBytes is the size of rows from which a garbage collection before their allocation takes only a small share of the
// time.
const manyBytes = 64 << 20

func open(ctx context.Context, a *console.App, o *Options, paths []string, opt dataset.Options, bar *console.Progress) (r *Rows, err error) {
	written := func(rows, total int64) { bar.Rows("writing the cache", rows, total) }
	s := &o.Storage
	if s.cache != "" {
		if r, err = openCache(ctx, o, paths, opt, written); err == nil {
			r.input = func() (*dataset.Input, error) { return openInput(ctx, o, paths, opt) }
		}
		return r, err
	}
	if a.Cluster != nil { // it also learns the data that features depend on
		if opt.Cluster, err = a.Cluster(console.Files{}); err != nil {
			return nil, err
		}
	}
	in, err := openInput(ctx, o, paths, opt)
	if err != nil {
		return nil, err
	}
	again := func() (*dataset.Input, error) { return in, nil }
	if a.Cluster != nil {
		if r, err = Distribute(ctx, a, in); err == nil {
			r.input = again
		}
		return r, err
	}
	count := in.Most()
	if count < 0 || in.Bytes(count, s.Weighted) > s.Memory.Limit()/5*4 { // count the rows only if their bound is too large for the memory
		if count, err = in.Count(ctx); err != nil {
			return nil, err
		}
	}
	fits, err := budget(s, count, in.Cols(), sizes(s, in))
	if err != nil {
		return nil, err
	}
	if fits {
		if !in.Learned() {
			again = nil // frees the descriptions of the columns, 300 bytes each
		}
		if in.Sparse() && in.Bytes(count, s.Weighted) >= manyBytes {
			debug.FreeOSMemory() // frees the memory that Open needed for the columns, before the rows take memory
		}
		data, err := load(ctx, in)
		return &Rows{data, in.Density(), nil, again}, err
	}
	stream, err := in.Stream(ctx)
	if err != nil || s.Access == learner.InOrder || s.Parted {
		return &Rows{stream, in.Density(), nil, again}, err
	}
	f, err := cache.Temporary(ctx, stream, func(rows int64) { written(rows, stream.Rows()) })
	if err != nil {
		return nil, err
	}
	return &Rows{f, in.Density(), f.Close, again}, nil
}

// distributed is a stream whose rows a cluster reads too.
type distributed struct {
	*dataset.Stream
	cluster block.Cluster
}

// Remote returns the cluster; see block.Remote.
func (d distributed) Remote() (block.Cluster, []block.View) { return d.cluster, nil }

// Distribute returns rows over which a cluster makes passes. This process reads them only for work that the cluster
// can't do.
func Distribute(ctx context.Context, a *console.App, in *dataset.Input) (*Rows, error) {
	stream, err := in.Stream(ctx)
	if err != nil {
		return nil, err
	}
	absolute, opt := in.Spread(stream.Spec())
	cluster, err := a.Cluster(console.Files{Paths: absolute, Options: opt, Rows: stream.Rows()})
	if err != nil {
		return nil, err
	}
	return NewRows(block.Source(distributed{stream, cluster}), nil), nil
}

func (o *Options) options(bar *console.Progress) dataset.Options {
	opt := o.Data.Options
	if opt.Spec == nil {
		if by := cmp.Or(o.Split.Group, o.Split.OrderBy); by != "" { // no feature
			opt.Exclude = slices.Concat(opt.Exclude, []string{by})
			ofBy := func(item string) bool { return strings.HasPrefix(item, by+"=") }
			opt.Types = slices.DeleteFunc(slices.Clone(opt.Types), ofBy)
		}
		opt.LearnedFrom = o.LearnFromName
	} else {
		opt = dataset.Options{Spec: opt.Spec, Label: opt.Label, Labels: opt.Labels, SampleWeight: opt.SampleWeight, Weights: opt.Weights, Text: opt.Text, Prepare: opt.Prepare,
			Where: opt.Where, Sample: opt.Sample, Limit: opt.Limit, Rejects: opt.Rejects}
	}
	opt.Workers, opt.Memory, opt.Progress, opt.Storage = o.Workers, o.Storage.Memory.Limit(), bar.Reading("loading"), dataset.Storage(o.form)
	return opt
}

// sizes returns a function that returns the bytes of the blocks of a number of rows.
func sizes(s *Storage, in *dataset.Input) func(rows int64) int64 {
	return func(rows int64) int64 { return in.Bytes(rows, s.Weighted) }
}

// openInput opens files. If o.LearnFrom is set, features are learned from the rows that it chooses.
func openInput(ctx context.Context, o *Options, paths []string, opt dataset.Options) (*dataset.Input, error) {
	in, err := dataset.Open(ctx, paths, opt)
	if err != nil || o.LearnFrom == nil || !in.Learned() {
		return in, err
	}
	shares, err := in.Shares(ctx, func(counts []int64) []func(class int) bool { return []func(class int) bool{o.LearnFrom(counts)} })
	if err != nil {
		return nil, err
	}
	return shares[0], nil
}

// openCache opens the rows in --cache. It reads the files only if it must write the cache.
func openCache(ctx context.Context, o *Options, paths []string, opt dataset.Options,
	written func(rows, total int64)) (*Rows, error) {
	s := &o.Storage
	key, err := opt.Key(ctx, paths)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	source := func() (block.Source, error) {
		in, err := openInput(ctx, o, paths, opt)
		if err != nil {
			return nil, err
		}
		if total, err = in.Count(ctx); err != nil {
			return nil, err
		}
		if _, err := budget(s, total, in.Cols(), sizes(s, in)); err != nil {
			return nil, err
		}
		stream, err := in.Stream(ctx)
		if err != nil {
			return nil, err
		}
		if now, err := opt.Key(ctx, paths); err != nil || !reflect.DeepEqual(now, key) {
			return nil, fmt.Errorf("%s: the data changed while it was read: try again", humanize.Files(paths))
		}
		return stream, nil
	}
	f, err := cache.Ensure(ctx, s.cache, key, source, opt.Warn, func(rows int64) { written(rows, total) })
	if err != nil {
		return nil, err
	}
	fits, err := budget(s, f.Rows(), f.Spec().Cols(), func(rows int64) int64 { return f.Bytes(rows, s.Weighted) })
	if err == nil && !fits {
		return &Rows{f, f.Density(), f.Close, nil}, nil
	}
	defer f.Close()
	if err != nil {
		return nil, err
	}
	data, err := block.Collect(ctx, f)
	return &Rows{data, f.Density(), nil, nil}, err
}

// validated returns the options for the rows of a validation, with the features and classes of spec.
func (o *Options) validated(spec *schema.Spec, bar *console.Progress) dataset.Options {
	own := *o
	d := &own.Data
	d.Labels, d.Weights, d.Sample, d.Limit = "", "", 0, 0 // of the training rows
	d.Spec, d.Label = spec, spec.Label
	return own.options(bar)
}

// OpenValidation opens the rows of a validation, with the features and classes of learned. It keeps them in memory if
// they fit in addition to learned, and in a temporary cache otherwise.
func OpenValidation(ctx context.Context, a *console.App, o *Options, paths []string, learned *Rows, bar *console.Progress) (*Rows, error) {
	if o.Data.Labels != "" && dataset.IsArray(paths[0]) {
		return nil, fmt.Errorf("%s: the labels of --labels are those of the training rows: hold out a share of these, as in --validation 0.2, or name a table with the column %q", paths[0], learned.Spec().Label)
	}
	opt := o.validated(learned.Spec(), bar)
	opt.Progress, opt.Warn = bar.Reading("loading the validation"), func(s string) { a.Note("--validation: %s", s) }
	in, err := dataset.Open(ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	count := in.Most()
	if count < 0 {
		if count, err = in.Count(ctx); err != nil {
			return nil, err
		}
	}
	fits, err := budgetBeside(&o.Storage, count, sizes(&o.Storage, in), learned.Source)
	if err != nil {
		return nil, err
	}
	v := new(Rows)
	if fits {
		v.Source, err = load(ctx, in)
	} else if stream, bad := in.Stream(ctx); bad != nil {
		return nil, bad
	} else if f, bad := cache.Temporary(ctx, stream, func(rows int64) { bar.Rows("writing the validation's cache", rows, count) }); bad != nil {
		return nil, bad
	} else {
		v = NewRows(f, f.Close)
	}
	if err == nil && v.Rows() == 0 {
		err = fmt.Errorf("%s: no rows: name data that has some", humanize.Files(paths))
		v.Close()
	}
	return v, err
}

// budgetBeside tells whether count rows fit in memory in addition to the rows of learned, and sets the garbage
// collector's memory limit. bytes returns the bytes of the blocks of a number of rows. It is an error if even the
// blocks that are in use at one time don't fit.
func budgetBeside(s *Storage, count int64, bytes func(rows int64) int64, learned block.Source) (fits bool, err error) {
	cols := learned.Spec().Cols()
	all, pass := bytes(count), block.InFlight*bytes(int64(block.Rows(cols)))
	limit, used := s.Memory.Limit(), block.MemoryBytes(learned, s.Weighted)
	if _, inMemory := learned.(*block.Data); !inMemory {
		used = min(used, pass) + learner.WindowBytes(learned.Rows(), max(1, s.Shards), bytes)
	} else if parted := s.parted(used); s.Memory.Bytes == 0 {
		used = parted - used // the limit is relative to the memory that is available now
	} else {
		used = parted
	}
	if used+min(all, pass) > limit {
		return false, fmt.Errorf("%s of memory is too little for these rows beside those that are learned from", humanize.Size(limit))
	}
	if fits = used+all <= limit/5*4; fits {
		debug.SetMemoryLimit(min(limit, debug.SetMemoryLimit(-1)+all/4*5))
	}
	return fits, nil
}
