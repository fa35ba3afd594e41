package transform

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
)

// maxKeptBytes limits the kept columns of a block: a block with more bytes of kept columns takes no more rows.
const maxKeptBytes = 1 << 20

// atOnceBytes is the initial size of a block in bytes.
const atOnceBytes = 32 << 20

// NewBuilder returns a Builder of total kept rows, or of an unknown number of rows if total is -1.
func NewBuilder(bound *Binding, l *Labels, p column.Pool, mem memory.Allocator, total int64,
	emit func(*block.Block, []arrow.Array) error) *Builder {
	b := &Builder{bound: bound, Labels: l, pool: p, mem: mem, total: total, emit: emit, Cols: bound.Width()}
	b.texts = newCategoryNumbers(bound)
	b.losses, b.weighted, b.unchosen = newLosses(bound), new(atomic.Bool), new(atomic.Int64)
	b.odd = newSuspects(bound)
	for k := range bound.strange { // passes before this one leave texts there
		bound.strange[k].takeAll()
		bound.marked[k].takeAll()
	}
	if bound.Plan.Bias {
		b.Cols++
	}
	b.ones, b.zeros = make([]float32, b.panel()), make([]float32, b.panel())
	for i := range b.ones {
		b.ones[i] = 1
	}
	if b.keep = make([][]arrow.Array, len(bound.Keep)); bound.Sparse {
		b.scratch.New = b.newCells
		return b
	}
	b.scratch.New = func() any {
		s := &scratch{columns: make([][]float32, b.Cols), values: make([]float32, b.Cols*b.panel())}
		for _, c := range bound.Plan.Inputs {
			if n := max(b.panel(), c.Width()); c.Center != nil && n > len(s.wide) {
				s.wide = make([]float64, n)
			}
		}
		return s
	}
	return b
}

// MakeRoom allocates the memory of all blocks at once, if the number of rows is known. If blocks are allocated one by
// one, the garbage collector runs each time the heap has doubled. A small file may claim any number of rows.
// Therefore MakeRoom allocates at most max(1 GiB, 64 × stored) bytes, where stored is the file's size in bytes, and
// at most the available memory.
func (b *Builder) MakeRoom(stored int64) {
	const most, ratio = 1 << 30, 64
	if b.bound.Sparse {
		b.makeSparseRoom()
		return
	}
	bytes := float64(b.total) * float64(block.Bytes(1, b.Cols, b.bound.Weight >= 0))
	if b.total > 0 && !b.bound.Drops() && bytes <= float64(min(max(most, ratio*stored), column.AvailableMemory())) &&
		b.Budget.Take(int64(bytes), "") == nil {
		b.All = b.newBlock(0, int(b.total))
	}
}

// checkRoom returns an error if the rows were counted, not only claimed by the file, and dense rows take more memory than
// the limit. Without it, an error would come after most of the memory is full.
func (b *Builder) checkRoom() error {
	if !b.bound.Counted || b.bound.Sparse || b.total <= 0 || b.bound.Drops() {
		return nil
	}
	bytes := b.bytes(int(b.total))
	err := b.Budget.Take(bytes, fmt.Sprintf("holding %s with %s", humanize.Plural(b.total, "row"),
		humanize.Plural(int64(b.bound.Width()), "feature")))
	if err == nil {
		b.Budget.Give(bytes)
	}
	return err
}

// ForRows returns a Builder for the rows from first up to, but not including, last. It shares the data for Warn with b.
func (b *Builder) ForRows(l *Labels, p column.Pool, first, last int64, emit func(*block.Block, []arrow.Array) error) *Builder {
	part := NewBuilder(b.bound, l, p, b.mem, last, emit)
	part.texts, part.losses, part.weighted, part.unchosen, part.All, part.Budget = b.texts, b.losses, b.weighted,
		b.unchosen, b.All, b.Budget
	if part.odd = nil; first == 0 {
		part.odd = b.odd
	}
	part.Input, part.Rows = first, first
	return part
}

// Run adds all batches, releases them, and emits the last block.
func (b *Builder) Run(ctx context.Context, batches iter.Seq2[*column.Batch, error], progress func(rows, total int64)) error {
	defer b.releaseKept()
	for batch, err := range batches {
		if err != nil {
			return err
		}
		err = b.Add(ctx, batch)
		batch.Release()
		if err == nil && b.Live && b.block != nil {
			err = b.flush()
		}
		if err != nil {
			return err
		}
		if progress != nil {
			progress(b.Input, b.total)
		}
	}
	if b.block == nil {
		return nil
	}
	return b.flush()
}

// Add puts the kept rows of a batch into blocks, and emits the blocks that are full.
func (b *Builder) Add(ctx context.Context, bt *column.Batch) error {
	bt.First = b.Input
	kept, err := b.bound.Kept(ctx, b.pool, bt)
	if err != nil {
		return b.damaged(ctx, bt, kept, err)
	}
	var readers []reader
	if bt.Pairs == nil {
		var err error
		if readers, err = newReaders(b.bound, b.texts, bt); err != nil {
			return err
		}
		for k := range readers {
			readers[k].beyond = &b.losses[k].beyond
		}
	}
	if b.total >= 0 && b.Rows+int64(kept.Len()) > b.total {
		return column.ErrorIn(bt.File, "the data changed while it was read: try again")
	}
	most := b.keptRows(bt)
	for i := 0; i < kept.Len(); {
		if b.block == nil {
			b.start()
		}
		rows := kept.slice(i, min(kept.Len()-i, b.room(), most))
		if err := b.growFor(bt, rows); err != nil {
			return column.ErrorIn(bt.File, "%w", err)
		}
		if err := b.put(ctx, bt, readers, rows); err != nil {
			return err
		}
		for k := range b.bound.Keep {
			for _, span := range rows.Spans() {
				part := array.NewSlice(bt.Kept(b.bound.Roles, k), int64(span.Lo), int64(span.Hi))
				b.keep[k] = append(b.keep[k], part)
				b.keptBytes += column.RowSizes(part)(0, part.Len())
			}
		}
		i, b.fill, b.Rows = i+rows.Len(), b.fill+rows.Len(), b.Rows+int64(rows.Len())
		if b.room() == 0 {
			if err := b.flush(); err != nil {
				return err
			}
		}
	}
	if b.odd != nil {
		if err := column.Recovered(func() error { return b.odd.AddChosen(b.bound, bt, kept) }); err != nil {
			return b.damaged(ctx, bt, kept, err)
		}
	}
	b.Input += bt.Rows
	b.unchosen.Add(bt.Unchosen)
	return nil
}

// room returns the number of rows that still fit in the block. It is 0 if the kept columns of the block have more
// than maxKeptBytes.
func (b *Builder) room() int {
	if b.keptBytes > maxKeptBytes {
		return 0
	}
	return b.most - b.fill
}

// keptRows returns the number of rows of the batch whose kept columns have about maxKeptBytes, at least 1.
func (b *Builder) keptRows(bt *column.Batch) int {
	bytes := int64(1)
	for k := range b.bound.Keep {
		if bt.Rows > 0 {
			bytes += column.RowSizes(bt.Kept(b.bound.Roles, k))(0, int(bt.Rows))
		}
	}
	return int(min(max(1, bt.Rows), max(1, bt.Rows*maxKeptBytes/bytes)))
}

func (b *Builder) start() {
	b.fill = 0
	b.most = cmp.Or(b.BlockRows, block.Rows(b.Cols))
	if b.total >= 0 {
		b.most = int(min(int64(b.most), b.total-b.Rows))
	}
	b.used = b.Spare != nil
	switch {
	case b.bound.Sparse:
		b.startSparse()
	case b.All != nil:
		b.block = b.All.Slice(int(b.Rows), int(b.Rows)+b.most)
	case b.Spare != nil:
		b.block = b.Spare.Slice(0, min(b.Spare.Len(), b.most))
		b.block.First = b.Rows
	default:
		b.block = b.newBlock(b.Rows, 0)
	}
}

// growFor makes room in the block for rows of a batch.
func (b *Builder) growFor(bt *column.Batch, rows Cut) error {
	if b.bound.Sparse && bt.Pairs == nil { // appendPieces makes room
		return nil
	}
	if b.bound.Sparse {
		more := int(bt.Pairs.Ends[rows.Hi] - bt.Pairs.Ends[rows.Lo])
		if b.bound.Plan.Bias {
			more += rows.Len()
		}
		return b.growSparse(len(b.block.Sparse.Idx) + more)
	}
	return b.grow(b.fill + rows.Len())
}

// grow enlarges the block to at least rows rows. A block of wide rows starts small and doubles, because there may be
// few rows.
func (b *Builder) grow(rows int) error {
	have := b.block.Len()
	if rows <= have {
		return nil
	}
	rows = min(b.most, max(rows, 2*have, int(atOnceBytes/b.bytes(1))))
	if err := b.Budget.Take(b.bytes(rows), fmt.Sprintf("a block of %s with %s", humanize.Plural(int64(rows), "row"),
		humanize.Plural(int64(b.bound.Width()), "feature"))); err != nil {
		return err
	}
	bigger := b.newBlock(b.block.First, rows)
	copy(bigger.X, b.block.X)
	copy(bigger.Y, b.block.Y)
	copy(bigger.W, b.block.W)
	b.block = bigger
	b.Budget.Give(b.bytes(have))
	return nil
}

// flush emits the block, with the kept columns of its rows.
func (b *Builder) flush() error {
	if b.Reuse {
		b.Spare = b.block
	}
	full := b.finished()
	b.block = nil
	keep := make([]arrow.Array, len(b.keep))
	for k, parts := range b.keep {
		if len(parts) == 1 {
			keep[k] = parts[0]
			keep[k].Retain()
			defer keep[k].Release()
			continue
		}
		err := column.Recovered(func() (err error) { // Arrow panics if an array contradicts its type
			keep[k], err = array.Concatenate(parts, b.mem)
			return err
		})
		if err != nil {
			return fmt.Errorf("column %q: %w", b.bound.Columns[b.bound.Keep[k]].Name, err)
		}
		defer keep[k].Release()
	}
	b.releaseKept()
	return b.emit(full, keep)
}

func (b *Builder) releaseKept() {
	for k, parts := range b.keep {
		for _, a := range parts {
			a.Release()
		}
		b.keep[k] = nil
	}
	b.keptBytes = 0
}
