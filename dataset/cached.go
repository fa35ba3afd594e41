package dataset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"sync"

	"halfspace/dataset/internal/column"
	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/schema"
)

// readerVersion counts the changes of this package after which the same files and options give other blocks.
const readerVersion = 8

// openCache opens the rows in b.Cache. It plans and reads the rows only if it must write the cache.
func (t *Table) openCache(ctx context.Context, opt Options, b Budget) (*Rows, error) {
	if opt.Rejects != nil {
		return nil, errors.New("a cache keeps no rejects: leave Rejects or Cache out")
	}
	key, err := t.key(opt)
	if err != nil {
		return nil, err
	}
	b = b.withLimit(opt.Memory)
	total := int64(0)
	source := func() (block.Source, error) {
		p, err := t.Plan(ctx, opt)
		if err != nil {
			return nil, err
		}
		stream, err := withPlan(ctx, p, func(p *Plan) (*Stream, error) {
			if total, err = p.count(ctx); err != nil {
				return nil, err
			}
			if _, err := b.fits(total, p.cols(), p.pagesMemory(), p.bytes(b)); err != nil {
				return nil, err
			}
			return p.streamed(ctx)
		})
		if err != nil {
			return nil, err
		}
		if now, err := t.key(opt); err != nil || !reflect.DeepEqual(now, key) {
			return nil, fmt.Errorf("%s: the data changed while it was read: try again", humanize.Files(t.paths()))
		}
		return stream, nil
	}
	tell := func(note string) { t.opt.tell([]string{note}) }
	f, err := cache.Ensure(ctx, b.Cache, key, source, tell, t.opt.cacheProgress(func() int64 { return total }))
	if err != nil {
		return nil, err
	}
	rows := &Rows{Source: f, Lake: t.Lake(), Density: f.Density(), close: f.Close, replan: func(ctx context.Context) (*Plan, error) {
		silent := opt
		silent.Warn = nil // the cache has the notes
		return t.Plan(ctx, silent)
	}}
	cols := f.Spec().Cols()
	fits, err := b.fits(f.Rows(), cols, columnPageBytes*int64(cols), func(rows int64) int64 { return f.Bytes(rows, b.Weighted) })
	if err != nil {
		f.Close()
		return nil, err
	}
	if fits {
		defer f.Close()
		rows.close = nil
		rows.Source, err = block.Collect(ctx, f)
	}
	return rows, err
}

// key identifies the blocks of a table for a cache. Keys differ if the options or a change of the files could make the
// blocks differ. key doesn't read the files.
func (t *Table) key(opt Options) (cache.Key, error) {
	if opt.Nulls == "" {
		opt.Nulls = schema.NullsError
	}
	options, err := json.Marshal(struct {
		Reader  int
		Rejects bool   `json:",omitempty"`
		Lake    string `json:",omitempty"` // a version may leave out other rows of the same files
		Options
	}{readerVersion, opt.Rejects != nil, t.Lake(), opt})
	if err != nil {
		return cache.Key{}, err
	}
	sources, err := SourcesOf(opt.With(t.paths()))
	return cache.Key{Options: options, Sources: sources}, err
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

// SourcesOf returns the state of files. A changed file has another state.
func SourcesOf(paths []string) (all []cache.Source, err error) {
	for _, p := range paths {
		info, err := files.Stat(p)
		if err != nil {
			return nil, column.PathError(p, err)
		}
		abs, err := files.Abs(p)
		if err != nil {
			return nil, column.PathError(p, err)
		}
		all = append(all, cache.SourceOf(abs, info))
	}
	return all, nil
}

// A cachingStream is a Stream whose first whole pass also writes the blocks to a temporary cache. Later passes read the
// cache. If the cache can't be written, every pass reads the files.
type cachingStream struct {
	*Stream
	mu         sync.Mutex
	file       *cache.File // nil before the end of the first whole pass
	readsFiles bool        // no further pass writes the cache: a pass is writing it, or could not write it
}

// Close removes the cache.
func (s *cachingStream) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// Blocks yields the blocks in row order.
func (s *cachingStream) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return block.EachLease(s.Lend(ctx))
}

// Lend is Blocks for callers that use several blocks at the same time. See block.Leaser.
func (s *cachingStream) Lend(ctx context.Context) iter.Seq2[block.Lease, error] {
	return func(yield func(block.Lease, error) bool) {
		s.mu.Lock()
		file, readsFiles := s.file, s.readsFiles
		s.readsFiles = true
		s.mu.Unlock()
		switch {
		case file != nil:
			file.Lend(ctx)(yield)
		case readsFiles:
			s.Stream.Lend(ctx)(yield)
		default:
			s.writeCache(ctx, yield)
		}
	}
}

// writeCache is Lend for a pass that also writes the cache. After a pass that its caller left, the next one writes it.
func (s *cachingStream) writeCache(ctx context.Context, yield func(block.Lease, error) bool) {
	w := cache.NewTemporary(s.Stream)
	defer w.Close()
	for lease, err := range s.Stream.Lend(ctx) {
		if err != nil {
			yield(lease, err)
			return
		}
		w.Add(lease.Block)
		if !yield(lease, nil) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.readsFiles = false
			return
		}
	}
	if file, err := w.Finish(); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.file = file
	}
}
