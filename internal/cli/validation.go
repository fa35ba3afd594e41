package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"halfspace/block"
	"halfspace/cache"
	"halfspace/dataset"
	"halfspace/fit"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/train/perceptron"
)

// openValidation opens the rows that the pocket judges on, with the features and classes of those that are learned from: in
// memory where they fit beside those, and else in a temporary cache; or it takes a share out of those that are learned from.
// Without either there are none.
func openValidation[T kernel.Float](ctx context.Context, a *app, o *trainOptions, paths []string, learned *rows[T],
	bar *progress) (*rows[T], error) {
	v := &rows[T]{close: nothing}
	if o.share > 0 {
		return v, holdOut(ctx, o, learned, v, bar)
	}
	if len(paths) == 0 {
		return v, nil
	}
	in, err := dataset.Open[T](ctx, paths, dataset.Options{
		Spec: learned.Spec(), Label: learned.Spec().Label, SampleWeight: o.data.sampleWeight, Workers: o.workers, Text: o.text.options(), Memory: o.storage.memory.limit(),
		Progress: func(rows, total int64) { bar.show("loading the validation", "", rows, total) },
		Warn:     func(s string) { bar.end(); a.note("--validation: %s", s) },
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
	fits, err := budgetBeside(&o.storage, count, learned.Source)
	if err != nil {
		return nil, err
	}
	if fits {
		v.Source, err = in.Load(ctx)
	} else {
		var stream *dataset.Stream[T]
		if stream, err = in.Stream(ctx); err == nil {
			err = v.openTemporary(ctx, &o.storage, stream, func(rows int64) { bar.show("writing the validation's cache", "", rows, count) })
		}
	}
	if err == nil && v.Rows() == 0 {
		err = fmt.Errorf("%s: no rows: name data that has some", dataset.Name(paths))
		v.close()
	}
	return v, err
}

// openTemporary writes the rows of src to a temporary cache and opens that.
func (r *rows[T]) openTemporary(ctx context.Context, s *storage, src block.Source[T], written func(rows int64)) error {
	f, err := cache.Temporary(ctx, s.tempDir(), src, written)
	if err == nil {
		r.Source, r.close = f, f.Close
	}
	return err
}

// holdOut takes a share of the rows out of those that are learned from.
func holdOut[T kernel.Float](ctx context.Context, o *trainOptions, learned, validation *rows[T], bar *progress) error {
	opt := o.fitOptions(nil, bar)
	opt.HoldOut = o.share
	all := *learned
	parts, err := fit.HoldOut(ctx, all.Source, o.learner, opt)
	if errors.Is(err, fit.ErrEmptyShare) {
		return fmt.Errorf("%s of %s %w: take another share, or another --seed", o.validation, say.Plural(all.Rows(), "row"), err)
	}
	if err != nil {
		return err
	}
	learned.Source, validation.Source, validation.close = parts.Kept, parts.Held, parts.Close
	learned.close, learned.input = nothing, nil
	return all.close()
}

// budgetBeside tells whether so many rows fit in memory beside those that are learned from, and tells the garbage collector.
// It is an error if not even the blocks fit that are in use at a time.
func budgetBeside[T kernel.Float](s *storage, count int64, learned block.Source[T]) (fits bool, err error) {
	cols := learned.Spec().Cols()
	all, pass := block.Bytes[T](count, cols, s.weighted), block.InFlight*block.Bytes[T](int64(block.Rows[T](cols)), cols, s.weighted)
	limit, used := s.memory.limit(), block.Bytes[T](learned.Rows(), cols, s.weighted)
	if _, inMemory := learned.(*block.Data[T]); !inMemory {
		used = min(used, pass) + perceptron.WindowBytes[T](cols, s.weighted)
	} else if s.memory.bytes == 0 {
		used = 0 // the limit is of what is available now
	}
	if used+min(all, pass) > limit {
		return false, fmt.Errorf("%s of memory are too little for these rows beside those that are learned from", say.Size(limit))
	}
	if fits = used+all <= limit/5*4; fits {
		debug.SetMemoryLimit(min(limit, debug.SetMemoryLimit(-1)+all/4*5))
	}
	return fits, nil
}
