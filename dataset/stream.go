package dataset

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"

	"halfspace/block"
	"halfspace/kernel"
)

// A Stream is a block.Source that reads the files again in every pass, and decodes the next blocks while one is in use.
// Passes may be nested. A file that changed since Open is an error.
type Stream[T kernel.Float] struct {
	*Input[T]
	spec  *block.Spec
	spare sync.Pool // *[]*block.Block[T], those in flight
	warn  sync.Once
}

// Stream returns the rows as a source that takes little memory, whatever their number. It reads the label column, to
// know the classes. Warnings come at the end of the first whole pass. Of several wrong rows an error of Stream names the
// first whose label is wrong, one of a pass the first whose features are.
func (in *Input[T]) Stream(ctx context.Context) (*Stream[T], error) {
	s := &Stream[T]{Input: in, spec: in.opt.Spec}
	if s.spec == nil {
		l, err := in.readLabels(ctx)
		if err != nil {
			return nil, err
		}
		if s.spec, _, err = newSpec(in.in.sel, l, in.opt); err != nil {
			return nil, errorIn(in.in.name(), "%w", err)
		}
	}
	rows := int(min(in.in.rows, int64(block.Rows[T](s.spec.Cols()))))
	count := min(block.InFlight, (in.in.rows+int64(rows)-1)/int64(rows))
	s.spare.New = func() any {
		blocks := make([]*block.Block[T], count)
		for i := range blocks {
			blocks[i] = block.New[T](0, rows, s.spec.Cols())
			if in.in.sel.label < 0 {
				blocks[i].Y = nil
			}
		}
		return &blocks
	}
	return s, nil
}

// readLabels reads the label column alone.
func (in *Input[T]) readLabels(ctx context.Context) (*labels, error) {
	l := newLabels(nil)
	if in.in.sel.label < 0 {
		return l, nil
	}
	var numbers []T
	first := int64(0)
	for bt, err := range in.in.labelOnly().batches(ctx, in.pool, in.mem) {
		if err != nil {
			return nil, err
		}
		numbers = append(numbers[:0], make([]T, bt.rows)...)
		row, what := 0, ""
		err := recovered(func() error {
			row, what = encode(l, bt.columns[0], 0, numbers)
			return nil
		})
		bt.release()
		if err != nil {
			return nil, errorIn(bt.file, "rows %d to %d: damaged data (%w)", first, first+bt.rows-1, err)
		}
		if what != "" {
			return nil, errorIn(bt.file, "column %q, row %d: %s", in.opt.Label, first+int64(row), what)
		}
		first += bt.rows
		if in.opt.Progress != nil {
			in.opt.Progress(first, in.in.rows)
		}
	}
	return l, nil
}

// Spec says what the columns mean.
func (s *Stream[T]) Spec() *block.Spec { return s.spec }

// Blocks decodes the blocks in row order. The first error is that of the first row that is wrong.
func (s *Stream[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[T], error] {
	return func(yield func(*block.Block[T], error) bool) {
		blocks := s.spare.Get().(*[]*block.Block[T])
		defer s.spare.Put(blocks)
		free, ready := make(chan *block.Block[T], len(*blocks)), make(chan *block.Block[T], 1)
		for _, b := range *blocks {
			free <- b
		}
		ctx, cancel := context.WithCancel(ctx)
		var g errgroup.Group
		defer g.Wait()
		defer cancel()
		var b *builder[T]
		g.Go(func() (err error) {
			defer close(ready)
			b, err = s.decode(ctx, free, ready)
			return err
		})
		for full := range ready {
			if !yield(full, nil) {
				return
			}
			free <- full
		}
		if err := g.Wait(); err != nil {
			yield(nil, err)
			return
		}
		s.warn.Do(func() { b.warn(s.opt.Warn) })
	}
}

// decode sends all blocks to ready, each made in one that was free.
func (s *Stream[T]) decode(ctx context.Context, free <-chan *block.Block[T], ready chan<- *block.Block[T]) (*builder[T], error) {
	signs := modelSigns(s.spec)
	in := s.in
	var b *builder[T]
	b = newBuilder(in.sel, newLabels(s.spec), s.pool, s.mem, in.rows, func(full *block.Block[T], _ []arrow.Array) error {
		sign(full.Y, signs)
		select {
		case ready <- full:
		case <-ctx.Done():
			return ctx.Err()
		}
		if b.rows == in.rows {
			return nil
		}
		select {
		case b.spare = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		return nil
	})
	b.spare = <-free
	if err := b.run(ctx, in.batches(ctx, s.pool, s.mem), nil); err != nil {
		return nil, err
	}
	if b.rows != in.rows {
		return nil, fmt.Errorf("%s: the data changed while it was read: try again", in.name())
	}
	return b, nil
}

// labelOnly returns the input with the label as its only column.
func (in *parquetInput) labelOnly() *parquetInput {
	label := in.sel.label
	only := &parquetInput{rows: in.rows, sel: &selection{columns: in.sel.columns[label : label+1], label: 0}}
	for _, f := range in.files {
		g := &parquetFile{path: f.path, info: f.info, columns: f.columns[label : label+1]}
		for _, group := range f.groups {
			g.groups = append(g.groups, rowGroup{group.rows, group.chunks[label : label+1]})
		}
		only.files = append(only.files, g)
	}
	return only
}
