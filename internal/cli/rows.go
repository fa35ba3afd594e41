package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"

	"halfspace/block"
	"halfspace/cache"
	"halfspace/dataset"
	"halfspace/kernel"
	"halfspace/train"
	"halfspace/train/perceptron"
)

// storage are the options on where the rows are while they are learned from. They change no result.
type storage struct {
	memory byteSize
	cache  string
}

// check finds out what is wrong with the options before any work.
func (s *storage) check(out string) error {
	if s.cache == "" {
		return nil
	}
	if toStdout(s.cache) {
		return usagef("--cache is %s: name a file", s.cache)
	}
	a, errA := os.Stat(s.cache)
	b, errB := os.Stat(out)
	if out != "" && (filepath.Clean(out) == filepath.Clean(s.cache) || errA == nil && errB == nil && os.SameFile(a, b)) {
		return usagef("--cache and --out are both %s: name two files", out)
	}
	return nil
}

// nothing is how rows in memory are closed.
func nothing() error { return nil }

// overhead is what a process takes besides its blocks.
const overhead = 32 << 20

// rows are the rows to learn from.
type rows[T kernel.Float] struct {
	block.Source[T]
	close func() error
}

// openRows opens the rows in memory, where they fit, and else in the files themselves or in a cache. The files serve for
// passes in their order; what takes other orders, or many passes as a pocket does, runs over a cache, which is temporary
// where the user named none. The garbage collector is told to keep within the memory.
func openRows[T kernel.Float](ctx context.Context, a *app, o *trainOptions, paths []string, bar *progress) (*rows[T], error) {
	opt := dataset.Options{
		Label: o.data.label, Features: o.data.features, Exclude: o.data.exclude, Positive: o.data.positive,
		NoBias: o.data.noBias, Nulls: block.Nulls(o.data.nulls.value), Standardize: o.data.standardize,
		Categorical: o.data.categorical, Workers: o.workers, Text: o.text.options(), Memory: o.storage.memory.limit(),
		Progress: func(rows, total int64) { bar.show("loading", "", rows, total) },
		Warn:     func(s string) { bar.end(); a.note("%s", s) },
	}
	written := func(rows, total int64) { bar.show("writing the cache", "", rows, total) }
	if o.storage.cache != "" {
		return openCache[T](ctx, o, paths, opt, written)
	}
	in, err := dataset.Open[T](ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	count, err := rowsAtMost(ctx, o, in)
	if err != nil {
		return nil, err
	}
	fits, err := budget[T](o, count, in.Cols())
	if err != nil {
		return nil, err
	}
	if fits {
		data, err := in.Load(ctx)
		return &rows[T]{data, nothing}, err
	}
	stream, err := in.Stream(ctx)
	anyOrder := train.Order(o.order.value) != train.Cyclic || o.algo.value == "pocket"
	if err != nil || !anyOrder || o.share > 0 { // each share gets a cache of its own
		return &rows[T]{stream, nothing}, err
	}
	f, err := cache.Temporary(ctx, o.tempDir(), stream, func(rows int64) { written(rows, stream.Rows()) })
	if err != nil {
		return nil, err
	}
	return &rows[T]{f, f.Close}, nil
}

// rowsAtMost returns how many rows there are at most. Where only reading tells, files that can't be too large aren't read for
// that.
func rowsAtMost[T kernel.Float](ctx context.Context, o *trainOptions, in *dataset.Input[T]) (int64, error) {
	most := in.Most()
	if most >= 0 && block.Bytes[T](most, in.Cols()) <= o.storage.memory.limit()/5*4 {
		return most, nil
	}
	return in.Count(ctx)
}

// openCache opens the rows in the cache that the user named. The files are read only where it must be made.
func openCache[T kernel.Float](ctx context.Context, o *trainOptions, paths []string, opt dataset.Options,
	written func(rows, total int64)) (*rows[T], error) {
	key, err := dataset.Key(paths, opt)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	source := func() (block.Source[T], error) {
		in, err := dataset.Open[T](ctx, paths, opt)
		if err != nil {
			return nil, err
		}
		if total, err = in.Count(ctx); err != nil {
			return nil, err
		}
		if _, err := budget[T](o, total, in.Cols()); err != nil {
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
	f, err := cache.Ensure(ctx, o.storage.cache, key, source, opt.Warn, func(rows int64) { written(rows, total) })
	if err != nil {
		return nil, err
	}
	fits, err := budget[T](o, f.Rows(), f.Spec().Cols())
	if err == nil && !fits {
		return &rows[T]{f, f.Close}, nil
	}
	defer f.Close()
	if err != nil {
		return nil, err
	}
	data, err := block.Collect(ctx, f)
	return &rows[T]{data, nothing}, err
}

// tempDir returns where a temporary cache is made: where the model goes, since there is a disk; "" is the system's place.
func (o *trainOptions) tempDir() string {
	if info, err := os.Stat(o.out); o.out == "" || err == nil && !info.Mode().IsRegular() {
		return ""
	}
	return filepath.Dir(o.out)
}

// budget tells whether the blocks fit in memory, and tells the garbage collector what it has. It is an error if not
// even the blocks fit that are in use at a time.
func budget[T kernel.Float](o *trainOptions, count int64, cols int) (fits bool, err error) {
	limit, all := o.storage.memory.limit(), block.Bytes[T](count, cols)
	held := all
	if o.share > 0 {
		held *= 2 // while they are shared out
	}
	if held <= limit/5*4 {
		debug.SetMemoryLimit(min(limit, held/4*5+overhead))
		return true, nil
	}
	pass := min(all, block.InFlight*block.Bytes[T](int64(block.Rows[T](cols)), cols))
	least := pass
	switch {
	case train.Order(o.order.value) != train.Cyclic:
		least += perceptron.WindowBytes[T](cols)
	case o.algo.value == "pocket": // which makes passes of its own within one
		least += pass
	}
	if least > limit {
		return false, fmt.Errorf("%s of memory are too little: reading these rows piece by piece takes %s, give that with --memory",
			size(limit), size(least))
	}
	debug.SetMemoryLimit(limit)
	return false, nil
}
