package block

import (
	"context"
	"errors"
	"iter"
	"math"

	"halfspace/kernel"
	"halfspace/schema"
)

// A Source yields the blocks of a data set in row order, once for each pass. A block is valid until the next block is
// requested. The blocks of a *Data stay valid.
type Source interface {
	Spec() *schema.Spec
	Rows() int64 // the number of rows, the same in every pass
	Blocks(ctx context.Context) iter.Seq2[*Block, error]
}

// A Seekable source isn't in memory, but can read its rows in any order, several rows at a time. Its rows have
// labels. Several goroutines may call its methods at the same time, also during a pass.
type Seekable interface {
	Source
	// Sparse returns true if the rows are sparse.
	Sparse() bool
	// ReadGroup reads the rows of group c, which begin at row c*kernel.GroupRows, to the front of a block. For dense
	// rows, the block is one that NewFor returned, with room for kernel.GroupRows rows. For sparse rows, the block is
	// one that NewSparseFor returned: ReadGroup removes its rows first, and enlarges it if necessary.
	ReadGroup(c int, to *Block) error
	// ReadRows reads the rows with the given numbers, in this order, to the front of a block like the block of
	// ReadGroup.
	ReadRows(rows []uint32, to *Block) error
}

// A Remote source's rows are also read by other processes, which make passes over them; see package internal/distributed.
// Blocks reads the rows in this process.
type Remote interface {
	// Remote returns the cluster of the other processes, or nil. The rows of the source are the rows that these
	// processes read, changed by each view in turn.
	Remote() (Cluster, []View)
}

// A Cluster is a set of processes that make passes over the same rows.
type Cluster interface {
	// Pass computes a task for each piece of the rows. Any process may compute a piece, in any order and several
	// times. Pass passes the results to merge one at a time, in the order of the pieces.
	Pass(ctx context.Context, p Pass, merge func(result any) error) error
}

// A Pass is a task on the rows. Package internal/distributed defines the names of tasks and views.
type Pass struct {
	Task    string
	Args    any                 // the task's arguments
	OwnArgs func(piece int) any // arguments of one piece in addition to Args; called concurrently; nil: none
	Views   []View
	Pieces  [][]int64 // for each piece, the numbers of its chunks, ascending

	// Positions are the share of the rows before each piece, if the pieces have no chunks but read rows. A cluster may bring the same
	// rows to the same process by them. They may be nil.
	Positions []float64
}

// A View is a change of the rows of a source, such as other sample weights. Another process can make the same change.
type View struct {
	Name string
	Args any
}

// RemoteOf returns the cluster and the views of src, or nil if src is not Remote.
func RemoteOf(src Source) (Cluster, []View) {
	if r, ok := src.(Remote); ok {
		return r.Remote()
	}
	return nil, nil
}

// BlocksInFlight is the number of blocks that a source that isn't in memory holds during a pass. One or two blocks are
// in use while the next blocks are read.
const BlocksInFlight = 3

// ErrNoLabels is the error if a learner gets rows without labels.
var ErrNoLabels = errors.New("the rows have no labels: load them with a label column; a program sets Block.Y and Spec.Classes")

// Data is a data set in memory: a Source whose blocks stay valid, and whose rows can be read in any order.
type Data struct {
	spec      *schema.Spec
	blocks    []*Block
	rows      int64
	isChecked bool // see isChecked
	refit     Refit
}

// NewData returns a data set of the blocks, which follow each other from row 0. It doesn't check them: learners call
// Validate, whose documentation lists the conditions.
func NewData(spec *schema.Spec, blocks []*Block) *Data {
	d := &Data{spec: spec, blocks: blocks}
	for _, b := range blocks {
		d.rows += int64(b.Len())
	}
	return d
}

// Spec describes the columns.
func (d *Data) Spec() *schema.Spec { return d.spec }

// Rows returns the number of rows.
func (d *Data) Rows() int64 { return d.rows }

// Blocks yields the blocks in row order. It stops with the context's error if ctx is cancelled.
func (d *Data) Blocks(ctx context.Context) iter.Seq2[*Block, error] {
	return func(yield func(*Block, error) bool) {
		for _, b := range d.blocks {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// Collect reads all blocks of src into memory.
func Collect(ctx context.Context, src Source) (*Data, error) {
	var blocks []*Block
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, b.Clone())
	}
	return NewData(src.Spec(), blocks), nil
}

// Bytes returns the bytes of memory that dense blocks of rows rows and cols columns take, labels included, and sample
// weights included if weighted is true.
func Bytes(rows int64, cols int, weighted bool) int64 {
	each := int64(kernel.Stride(cols)+1) * 4
	if weighted {
		each += 8
	}
	return rows * each
}

// A Chunk is the rows of a chunk as a block, with the number of the chunk.
type Chunk struct {
	*Block
	Number int64
}

// chunks appends the chunks of b to chunks.
func (b *Block) chunks(chunks []Chunk) []Chunk {
	for lo := 0; lo < b.Len(); lo += ChunkRows {
		chunks = append(chunks, Chunk{b.Slice(lo, min(b.Len(), lo+ChunkRows)), (b.First + int64(lo)) / ChunkRows})
	}
	return chunks
}

// passCheck returns a function that checks the next block of a pass. The function checks nothing if Validate or
// AssumeValid returned src: then the pass doesn't check the columns of sparse rows again.
func passCheck(src Source) (check func(*Block) error, err error) {
	l, err := newLayout(src)
	if err != nil || isChecked(src) {
		return func(*Block) error { return nil }, err
	}
	l.rows = math.MaxInt64 // some sources don't know the number of rows, and nothing here depends on it
	blocks := -1
	return func(b *Block) error {
		blocks++
		return l.next(blocks, b)
	}, nil
}

// Chunks yields the chunks of src in row order, several at a time. For data in memory it yields the chunks of enough blocks
// to have at least n chunks; for other sources, the chunks of one block. Chunks are valid until the next ones are
// requested. Unless Validate or AssumeValid returned src, Chunks yields an error if blocks don't follow each other or have
// slices that are too short.
func Chunks(ctx context.Context, src Source, n int) iter.Seq2[[]Chunk, error] {
	_, keeps := src.(*Data)
	return func(yield func([]Chunk, error) bool) {
		follows, err := passCheck(src)
		if err != nil {
			yield(nil, err)
			return
		}
		var chunks []Chunk
		for b, err := range src.Blocks(ctx) {
			if err == nil {
				err = follows(b)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			chunks = b.chunks(chunks)
			if keeps && len(chunks) < n {
				continue
			}
			if !yield(chunks, nil) {
				return
			}
			chunks = chunks[:0]
		}
		if len(chunks) > 0 {
			yield(chunks, nil)
		}
	}
}

// ReduceChunks calls part for every chunk of src on up to workers goroutines (0: every core; a negative number is an
// error). It passes the results to merge one at a time, in row order, for any number of workers. At most two results
// for each worker exist at the same time. A chunk is valid until its result is merged. If src is a Leaser, chunks of
// several blocks are computed at the same time.
func ReduceChunks[R any](ctx context.Context, src Source, workers int, part func(Chunk) R, merge func(R)) error {
	return MergeChunks(ctx, src, workers, func(chunk Chunk) func() {
		r := part(chunk)
		return func() { merge(r) }
	})
}
