package rows

import (
	"context"
	"fmt"
	"runtime/debug"

	"halfspace/block"
	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/cache"
	"halfspace/internal/humanize"
	"halfspace/train/learner"
)

// OpenValidation opens the rows of a validation, with the features and classes of learned. It keeps them in memory if
// they fit in addition to learned, and in a temporary cache otherwise.
func OpenValidation(ctx context.Context, a *console.App, o *Options, paths []string, learned *Rows, bar *console.Progress) (*Rows, error) {
	in, err := dataset.Open(ctx, paths, dataset.Options{
		Spec: learned.Spec(), Label: learned.Spec().Label, SampleWeight: o.Columns.SampleWeight, Workers: o.Workers, Text: o.Text.Options(), Memory: o.Storage.Memory.Limit(),
		Storage:  dataset.Storage(o.form.Value),
		Progress: bar.Reading("loading the validation"),
		Warn:     func(s string) { a.Note("--validation: %s", s) },
	})
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
		v.Source, err = in.Load(ctx)
	} else {
		v, err = openTemporary(ctx, in, func(rows int64) { bar.Rows("writing the validation's cache", rows, count) })
	}
	if err == nil && v.Rows() == 0 {
		err = fmt.Errorf("%s: no rows: name data that has some", humanize.Files(paths))
		v.Close()
	}
	return v, err
}

// openTemporary writes the rows of in to a temporary cache and opens the cache.
func openTemporary(ctx context.Context, in *dataset.Input, written func(rows int64)) (*Rows, error) {
	stream, err := in.Stream(ctx)
	if err != nil {
		return nil, err
	}
	f, err := cache.Temporary(ctx, stream, written)
	if err != nil {
		return nil, err
	}
	return New(f, f.Close), nil
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
