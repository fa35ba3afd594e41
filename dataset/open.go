package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/cache"
	"halfspace/kernel"
)

// An Input is files whose columns were found and checked, and whose rows are still to be read.
type Input[T kernel.Float] struct {
	in   *parquetInput
	opt  Options
	pool pool
	mem  memory.Allocator
}

// Open looks at files as Load does, but reads no rows yet.
func Open[T kernel.Float](ctx context.Context, paths []string, opt Options) (*Input[T], error) {
	return open[T](ctx, paths, opt, memory.DefaultAllocator)
}

func open[T kernel.Float](ctx context.Context, paths []string, opt Options, mem memory.Allocator) (*Input[T], error) {
	p, err := opt.pool()
	if err != nil {
		return nil, err
	}
	opt.Keep = nil
	in, err := openParquet(ctx, paths, opt, p)
	if err != nil {
		return nil, err
	}
	if in.rows == 0 {
		return nil, fmt.Errorf("%s: no rows: name a file that has some", in.name())
	}
	return &Input[T]{in, opt, p, mem}, nil
}

// Rows returns the number of rows.
func (in *Input[T]) Rows() int64 { return in.in.rows }

// Cols returns the number of columns of the blocks, the bias included.
func (in *Input[T]) Cols() int {
	spec := block.Spec{Features: in.in.sel.names(), Bias: in.in.sel.bias}
	return spec.Cols()
}

// Load reads the rows into memory.
func (in *Input[T]) Load(ctx context.Context) (*block.Data[T], error) {
	return collect[T](ctx, in.in.name(), in.in.sel, in.opt, in.pool, in.mem, in.in.rows, in.in.batches(ctx, in.pool, in.mem))
}

// Key identifies the blocks for a cache: it differs where another option, or a file that changed, could make them differ.
func (in *Input[T]) Key() (cache.Key, error) {
	options, err := json.Marshal(in.opt)
	if err != nil {
		return cache.Key{}, err
	}
	key := cache.Key{Options: options}
	for _, f := range in.in.files {
		path, err := filepath.Abs(f.path)
		if err != nil {
			return key, pathError(f.path, err)
		}
		key.Sources = append(key.Sources, cache.Source{Path: path, Size: f.info.Size(), Modified: f.info.ModTime().UnixNano()})
	}
	return key, nil
}
