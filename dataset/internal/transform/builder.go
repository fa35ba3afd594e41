package transform

import (
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/internal/block"
	"halfspace/kernel"
)

// A Builder puts the kept rows of batches into blocks, and passes each block to emit when it is full. The labels of a
// block are class numbers when emit gets it.
type Builder struct {
	bound  *Binding
	Labels *Labels
	pool   column.Pool
	mem    memory.Allocator // for concatenating kept columns
	emit   func(b *block.Block, keep []arrow.Array) error
	Budget *column.Budget // limits the memory of blocks

	Cols      int
	BlockRows int             // number of rows of a full block; 0: the default
	total     int64           // number of rows that there will be; -1: unknown
	Input     int64           // number of rows of the input before the current batch
	Rows      int64           // number of kept rows so far
	unchosen  *atomic.Int64   // number of rows that the options where, sample and limit left out; of all parts
	block     *block.Block    // the block that is being filled; nil before its first row
	most      int             // the number of rows at which the block is full
	fill      int             // number of rows in the block
	Spare     *block.Block    // an emitted block to refill; nil: none
	Reuse     bool            // each block is refilled after emit returns
	used      bool            // the block was emitted before, so that its memory isn't zeros
	Live      bool            // emit the block at the end of each batch, even if it isn't full
	All       *block.Block    // memory for all rows, of which blocks take slices; nil: each block gets its own memory
	keep      [][]arrow.Array // for each kept column, its arrays for the rows in the block

	keptBytes int64 // approximate bytes of keep

	texts    []*categoryNumbers
	ones     []float32
	zeros    []float32
	losses   []losses     // of each feature column
	weighted *atomic.Bool // some sample weight is above 0
	odd      *suspects    // nil, except in the builder of the part with the first rows
	scratch  sync.Pool    // *scratch
	pieces   []piece      // rows that were read from columns, for a sparse block
}

// fewRows is a number of rows that take less time to convert than a goroutine takes to start.
const fewRows = 16

// panel returns the number of rows that are transposed at a time. Wide rows have more than a panel of the kernels: 8 values
// of each of 3,000 columns would be 3,000 places in memory, and a load would take five times as long.
func (b *Builder) panel() int {
	const rows, values = 128, 1 << 20 // of a panel of wide rows, at most
	stride := kernel.Stride(b.Cols)
	return max(kernel.PanelRows(stride), min(rows, values/max(1, stride)))
}

func (b *Builder) bytes(rows int) int64 {
	return block.Bytes(int64(rows), b.Cols, b.bound.Weight >= 0)
}

// newBlock returns a dense block of rows rows. It has labels and weights if the binding has them.
func (b *Builder) newBlock(first int64, rows int) *block.Block {
	blk := block.New(first, rows, b.Cols)
	if b.bound.Label < 0 {
		blk.Y = nil
	}
	if b.bound.Weight >= 0 {
		blk.W = block.Alloc[float64](rows)
	}
	return blk
}
