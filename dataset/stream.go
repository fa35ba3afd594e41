package dataset

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"golang.org/x/sync/errgroup"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/schema"
)

// A Stream is a block.Source that reads the files again in every pass. It decodes the next blocks while the caller
// uses a block. Passes may be nested. If a file changed since Open, the pass returns an error.
type Stream struct {
	*Plan
	rows   int64
	spec   *schema.Spec
	budget *column.Budget // for the blocks of a pass
	spare  sync.Pool      // *[]*block.Block, the blocks of a pass
	warn   sync.Once
	heard  []string // warnings of the first whole pass
}

// Stream returns the rows as a source that takes little memory, whatever their number. It reads the label column to
// find the classes. Warnings are passed on at the end of the first whole pass. If labels are wrong, Stream returns an
// error that names the first row with a wrong label. If features are wrong, a pass returns an error that names the
// first row with a wrong feature.
func (p *Plan) Stream(ctx context.Context) (*Stream, error) {
	return withPlan(ctx, p, func(p *Plan) (*Stream, error) { return p.streamed(ctx) })
}

func (p *Plan) streamed(ctx context.Context) (*Stream, error) {
	// Otherwise a pass would find a missing value only. For a cluster, this process doesn't read all rows beforehand.
	if !p.readsAllRows && !p.isLearned() && p.cluster == nil {
		if err := p.checkComplete(ctx); err != nil {
			return nil, err
		}
	}
	survey, err := p.surveyed(ctx)
	if err != nil {
		return nil, err
	}
	return p.stream(survey)
}

// checkComplete reads all rows once, and returns errFirstRows if a value is missing. It doesn't count the values of
// columns of numbers, whose first rows decided their use.
func (p *Plan) checkComplete(ctx context.Context) error {
	columns := slices.Clone(p.bound.Features)
	if p.bound.Label >= 0 {
		columns = append(columns, p.bound.Label)
	}
	batches, told := p.in.Batches(ctx, p.table.pool, p.table.mem), p.table.opt.progressOf(passColumns)
	return transform.Each(ctx, batches, p.in.Total(), told, func(bt *column.Batch, _ int64) error {
		if bt.Unread || bt.Pairs != nil { // pairs have finite numbers alone
			return nil
		}
		return p.table.pool.Each(ctx, len(columns), func(k int) error {
			a := bt.Columns[columns[k]]
			if len(column.Missing(a, 0, a.Len())) > 0 {
				return transform.Unfit(errFirstRows)
			}
			return nil
		})
	})
}

// StreamOnce returns the rows as a source for a single pass, whose number of rows is unknown. It takes the classes
// from the first rows, until it has found two. It reads standard input during the pass, without buffering it.
func (p *Plan) StreamOnce(ctx context.Context) (*Stream, error) {
	l := transform.NewLabels(p.bound.Plan.Spec)
	if p.bound.Plan.Spec == nil && p.bound.Label >= 0 {
		two := func([]float32) bool { return len(l.Classes) > 1 }
		if _, err := p.numberClasses(ctx, l, p.table.opt.progressOf(passLabels), two); err != nil {
			return nil, err
		}
		if len(l.Classes) == 0 {
			return nil, column.ErrorIn(p.in.Name(), "no rows with a label: name a file that has some")
		}
	}
	p.in.LastPass()
	return p.stream(survey{rows: -1, labels: l})
}

func (p *Plan) stream(survey survey) (s *Stream, err error) {
	s = &Stream{Plan: p, rows: survey.rows}
	if s.spec, _, err = p.bound.NewSpec(survey.labels); err != nil {
		return nil, column.ErrorIn(p.in.Name(), "%w", err)
	}
	rows, count := block.Rows(s.spec.Cols()), int64(block.BlocksInFlight)
	if s.rows >= 0 {
		rows = int(min(s.rows, int64(rows)))
		count = min(count, (s.rows+int64(rows)-1)/int64(rows))
	}
	sizes := slices.Repeat([]int{rows}, int(count))
	if left := s.rows - (count-1)*int64(rows); s.rows >= 0 && left < int64(rows) { // all blocks of a pass exist at the same time
		sizes[count-1] = int(left)
	}
	bytes := int64(0)
	for _, n := range sizes {
		bytes += p.Bytes(int64(n), s.spec.Weighted)
	}
	s.budget = column.NewBudget(p.table.opt.Memory)
	if err := s.budget.Take(bytes, fmt.Sprintf("%s of %s with %s", humanize.Plural(count, "block"), humanize.Plural(int64(rows), "row"),
		humanize.Plural(int64(p.bound.Width()), "feature"))); err != nil {
		return nil, column.ErrorIn(p.in.Name(), "%w", err)
	}
	p.within(bytes)
	s.spare.New = func() any {
		blocks := make([]*block.Block, count)
		for i := range blocks {
			if p.bound.Sparse {
				blocks[i] = block.NewSparseFor(s.spec, 0, sizes[i], int(p.elements(int64(sizes[i]))))
			} else {
				blocks[i] = block.NewFor(s.spec, 0, sizes[i])
			}
			if p.bound.Label < 0 {
				blocks[i].Y = nil
			}
		}
		return &blocks
	}
	return s, nil
}

// Rows returns the number of rows, or -1 for a source of StreamOnce.
func (s *Stream) Rows() int64 { return s.rows }

// Spec describes the columns.
func (s *Stream) Spec() *schema.Spec { return s.spec }

// Warnings returns the warnings that were passed to Options.Warn at the end of the first whole pass, or nil before.
func (s *Stream) Warnings() []string { return s.heard }

// Blocks decodes the blocks in row order. If several rows are wrong, it returns the error of the first of them.
func (s *Stream) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return block.EachLease(s.Lend(ctx))
}

// Lend is Blocks for callers that use several blocks at the same time. See block.Leaser.
func (s *Stream) Lend(ctx context.Context) iter.Seq2[block.Lease, error] {
	return func(yield func(block.Lease, error) bool) {
		blocks := s.spare.Get().(*[]*block.Block)
		defer s.spare.Put(blocks)
		free, ready := make(chan *block.Block, len(*blocks)), make(chan *block.Block, 1)
		for _, b := range *blocks {
			free <- b
		}
		var lent sync.WaitGroup
		defer lent.Wait()
		ctx, cancel := context.WithCancel(ctx)
		var g errgroup.Group
		defer g.Wait()
		defer cancel()
		var b *transform.Builder
		g.Go(func() (err error) {
			defer close(ready)
			b, err = s.decode(ctx, free, ready)
			return err
		})
		read, tell := int64(0), s.table.opt.progressOf(PassAgain)
		for full := range ready {
			lent.Add(1)
			read += int64(full.Len())
			release := func() {
				free <- full
				lent.Done()
			}
			if !yield(block.Lease{Block: full, Release: release}, nil) {
				return
			}
			if tell != nil {
				tell(read, s.rows)
			}
		}
		if err := g.Wait(); err != nil {
			yield(block.Lease{}, message.Located(err))
			return
		}
		if err := b.CheckWeights(s.in.Name()); err != nil {
			yield(block.Lease{}, err)
			return
		}
		s.warn.Do(func() {
			b.Warn(func(text string) { s.heard = append(s.heard, text) })
			s.heard = append(s.heard, s.in.Notes()...)
			s.table.opt.tell(s.heard)
		})
	}
}

// decode sends all blocks to ready. It decodes each block into a block from free.
func (s *Stream) decode(ctx context.Context, free <-chan *block.Block, ready chan<- *block.Block) (*transform.Builder, error) {
	signs, l := transform.Signs(s.spec), transform.NewLabels(s.spec)
	if s.bound.Plan.Spec == nil {
		l.Given = false
		l.Whose = "the first rows, which have"
	}
	var b *transform.Builder
	b = transform.NewBuilder(s.bound, l, s.table.pool, s.table.mem, s.rows, func(full *block.Block, _ []arrow.Array) error {
		transform.Sign(full.Y, signs)
		select {
		case ready <- full:
		case <-ctx.Done():
			return ctx.Err()
		}
		if b.Rows == s.rows {
			return nil
		}
		select {
		case b.Spare = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		return nil
	})
	if s.bound.Sparse { // dense blocks don't grow
		b.Budget = s.budget
	}
	b.Spare = <-free
	if err := b.Run(ctx, s.in.Batches(ctx, s.table.pool, s.table.mem), nil); err != nil {
		return nil, err
	}
	if s.rows >= 0 && b.Rows != s.rows {
		return nil, fmt.Errorf("%s: the data changed while it was read: try again", s.in.Name())
	}
	return b, nil
}
