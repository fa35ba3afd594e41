package dataset

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"halfspace/block"
	"halfspace/dataset/internal/column"
	"halfspace/internal/cache"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/schema"
)

// readerVersion counts the changes of this package after which the same files and options give other blocks.
const readerVersion = 6

// openCache opens the rows in b.Cache. It reads the files only if it must write the cache.
func openCache(ctx context.Context, paths []string, opt Options, b Budget) (*Rows, error) {
	key, err := opt.Key(ctx, paths)
	if err != nil {
		return nil, err
	}
	b = b.limited(opt.Memory)
	replan := func(ctx context.Context) (*Plan, error) {
		t, err := Examine(ctx, paths, opt)
		if err != nil {
			return nil, err
		}
		return t.Plan(ctx, opt)
	}
	total := int64(0)
	source := func() (block.Source, error) {
		p, err := replan(ctx)
		if err != nil {
			return nil, err
		}
		if total, err = p.Count(ctx); err != nil {
			return nil, err
		}
		if _, err := b.fits(total, p.Cols(), func(rows int64) int64 { return p.Bytes(rows, b.Weighted) }); err != nil {
			return nil, err
		}
		stream, err := p.Stream(ctx)
		if err != nil {
			return nil, err
		}
		if now, err := opt.Key(ctx, paths); err != nil || !reflect.DeepEqual(now, key) {
			return nil, fmt.Errorf("%s: the data changed while it was read: try again", humanize.Files(paths))
		}
		return stream, nil
	}
	f, err := cache.Ensure(ctx, b.Cache, key, source, func(note string) { opt.tell([]string{note}) }, opt.stored(func() int64 { return total }))
	if err != nil {
		return nil, err
	}
	opt.Warn = nil // for replan: the cache has the warnings
	fits, err := b.fits(f.Rows(), f.Spec().Cols(), func(rows int64) int64 { return f.Bytes(rows, b.Weighted) })
	if err == nil && !fits {
		return &Rows{f, f.Density(), f.Close, replan}, nil
	}
	defer f.Close()
	if err != nil {
		return nil, err
	}
	data, err := block.Collect(ctx, f)
	return &Rows{data, f.Density(), nil, replan}, err
}

// With returns paths and the files of Labels and Weights.
func (opt Options) With(paths []string) []string {
	all := slices.Clone(paths)
	for _, p := range []string{opt.Labels, opt.Weights} {
		if p != "" {
			all = append(all, p)
		}
	}
	return all
}

// Key identifies the blocks of files for a cache. Keys differ if the options or a change of the files could make the
// blocks differ. Key doesn't read the files.
func (opt Options) Key(ctx context.Context, paths []string) (cache.Key, error) {
	if opt.Nulls == "" {
		opt.Nulls = schema.NullsError
	}
	options, err := json.Marshal(struct {
		Reader  int
		Rejects bool `json:",omitempty"`
		Options
	}{readerVersion, opt.Rejects != nil, opt})
	if err != nil {
		return cache.Key{}, err
	}
	if paths, err = Expand(ctx, paths, nil); err != nil {
		return cache.Key{}, err
	}
	key := cache.Key{Options: options}
	for _, p := range opt.With(paths) {
		if p == "-" {
			return key, fmt.Errorf("%s: a cache of standard input could serve no later run: save it and name the file", p)
		}
		info, err := files.Stat(p)
		if err != nil {
			return key, column.PathError(p, err)
		}
		abs, err := files.Abs(p)
		if err != nil {
			return key, column.PathError(p, err)
		}
		key.Sources = append(key.Sources, cache.SourceOf(abs, info))
	}
	return key, nil
}
