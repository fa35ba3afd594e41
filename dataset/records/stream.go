package records

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/block"
	"halfspace/schema"
)

// Stream returns the records of a program as a source that takes little memory, whatever their number. Each pass calls
// open, reads all records of the reader that open returns, and releases the reader. Each reader must have the same
// schema, and the same rows in the same order; a pass with another number of rows is an error. A nested pass calls open
// before the outer pass has released its reader.
//
// Stream calls open to read the schema. It makes a pass if features depend on the lengths of lists, a pass if they
// depend on means, deviations or categories, and a pass to count the rows and to find the classes. Progress gets the
// rows of these passes. Warn is called at the end of the first later pass. The blocks equal the blocks of Load.
func Stream(ctx context.Context, open func(context.Context) (array.RecordReader, error), opt Options) (block.Source, error) {
	p, err := column.PoolOf(opt.Workers)
	if err != nil {
		return nil, err
	}
	s := &stream{open: open, opt: opt, pool: p}
	first, err := s.reader(ctx)
	if err != nil {
		return nil, err
	}
	s.bound, err = bind(first, opt.draft())
	if err == nil {
		s.schema = first.Schema()
	}
	if first.Release(); err != nil {
		return nil, err
	}
	if s.bound.Unlearned() {
		if s.bound, err = s.bound.Learn(ctx, "", p, s.batches(ctx), -1, opt.Progress); err != nil {
			return nil, err
		}
	}
	if err := transform.SetStorage(s.bound, opt.Storage, s.bound.MostElements(), 1); err != nil {
		return nil, err
	}
	labels := transform.NewLabels(opt.Spec)
	if err := s.count(ctx, labels); err != nil {
		return nil, err
	}
	s.spec, _, err = s.bound.NewSpec(labels)
	return s, err
}

// A stream is the source that Stream returns.
type stream struct {
	open   func(context.Context) (array.RecordReader, error)
	opt    Options
	pool   column.Pool
	bound  *transform.Binding
	schema *arrow.Schema // schema of every reader
	spec   *schema.Spec
	rows   int64 // number of kept rows
	warn   sync.Once
}

// Spec describes the columns of the blocks.
func (s *stream) Spec() *schema.Spec { return s.spec }

// Rows returns the number of kept rows.
func (s *stream) Rows() int64 { return s.rows }

// reader opens a reader.
func (s *stream) reader(ctx context.Context) (array.RecordReader, error) {
	r, err := s.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("the records can't be opened (%w): check their source", err)
	}
	if r == nil {
		return nil, errors.New("the reader of records is nil")
	}
	return r, nil
}

// batches yields the batches of a new reader.
func (s *stream) batches(ctx context.Context) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		r, err := s.reader(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer r.Release()
		if now := r.Schema(); now == nil || !now.Equal(s.schema) {
			yield(nil, errors.New("the records have another schema than in the first pass: read the same records in every pass"))
			return
		}
		column.RecordBatches(ctx, r, s.bound.Roles, nil)(yield)
	}
}

// count counts the kept rows, and numbers their classes.
func (s *stream) count(ctx context.Context, l *transform.Labels) error {
	all := int64(0)
	err := transform.Each(ctx, s.batches(ctx), -1, s.opt.Progress, func(bt *column.Batch, first int64) error {
		_, kept, err := l.Number(ctx, s.bound, s.pool, bt, first)
		all, s.rows = first+bt.Rows, s.rows+int64(kept.Len())
		return err
	})
	if err != nil {
		return err
	}
	return transform.CheckRows("", s.rows, all)
}

// errStopped ends a pass whose caller requests no further block.
var errStopped = errors.New("stopped")

// Blocks yields the blocks in row order. It decodes each block into the memory of the block before.
func (s *stream) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		signs, l := transform.Signs(s.spec), transform.NewLabels(s.spec)
		if s.opt.Spec == nil {
			l.Given, l.Whose = false, "the first pass, which has"
		}
		b := transform.NewBuilder(s.bound, l, s.pool, memory.DefaultAllocator, s.rows, func(full *block.Block, _ []arrow.Array) error {
			transform.Sign(full.Y, signs)
			if !yield(full, nil) {
				return errStopped
			}
			return nil
		})
		b.Budget, b.Reuse = column.NewBudget(s.opt.Memory), true
		err := b.Run(ctx, s.batches(ctx), nil)
		if err == nil && b.Rows != s.rows {
			err = errors.New("the data changed while it was read: try again")
		}
		if err == nil {
			err = b.CheckWeights("")
		}
		switch {
		case err == nil:
			s.warn.Do(func() { b.Warn(s.opt.Warn) })
		case err != errStopped:
			yield(nil, err)
		}
	}
}
