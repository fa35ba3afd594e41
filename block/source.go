package block

import (
	"context"
	"errors"
	"iter"
	"math"

	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/schema"
)

// A Source yields the blocks of a data set in row order, once for each pass. A block is valid until the next one is
// requested, unless the source is a *Data.
type Source interface {
	Spec() *schema.Spec
	Rows() int64 // the number of rows, the same in every pass
	Blocks(ctx context.Context) iter.Seq2[*Block, error]
}

// A Seekable source isn't in memory, but also reads its rows in any order, a few at a time. Its rows have labels. Several
// goroutines may call its methods at once, also during a pass.
type Seekable interface {
	Source
	// Sparse tells whether the rows are sparse.
	Sparse() bool
	// ReadChunk reads the rows of chunk c, which begin at row c*kernel.ChunkRows, to the front of a block. The block is
	// a dense one of NewFor with room for kernel.ChunkRows rows. If rows are sparse it is one of NewSparseFor: it loses the
	// rows that it has, and grows as it must.
	ReadChunk(c int, to *Block) error
	// ReadRows reads the rows of those numbers to the front of such a block, in the order of rows.
	ReadRows(rows []uint32, to *Block) error
}

// A Remote source's rows are also read by other processes, which make passes over them; see package internal/passes. Blocks
// reads the rows in this process.
type Remote interface {
	// Remote returns those processes, or nil. The rows are those that the processes read, changed by each view in turn.
	Remote() (Cluster, []View)
}

// A Cluster is processes that make passes over the same rows.
type Cluster interface {
	// Pass computes a task for each piece of the rows, anywhere, in any order and any number of times. It passes the results
	// to merge one at a time, in the order of the pieces.
	Pass(ctx context.Context, p Pass, merge func(result any) error) error
}

// A Pass is a task on the rows. Its name and those of its views are those of package internal/passes.
type Pass struct {
	Task   string
	Args   any                 // the task's arguments
	Own    func(piece int) any // arguments of each piece beside Args, called for several at once; nil if there are none
	Views  []View
	Pieces [][]int64 // the numbers of the runs in each piece, ascending
}

// A View is a change of the rows of a source, such as other sample weights. Another process can make it too.
type View struct {
	Name string
	Args any
}

// RemoteOf returns the cluster of src and its views, or nil if src is not Remote.
func RemoteOf(src Source) (Cluster, []View) {
	if r, ok := src.(Remote); ok {
		return r.Remote()
	}
	return nil, nil
}

// InFlight is the number of blocks that a source that isn't in memory holds during a pass. One or two are in use
// while the next ones are read.
const InFlight = 3

// ErrNoLabels tells that a learner got rows without labels.
var ErrNoLabels = errors.New("the rows have no labels: load them with a label column; a program sets Block.Y and Spec.Classes")

// Data is a data set in memory: a Source whose blocks stay, and whose rows can be reached in any order.
type Data struct {
	spec    *schema.Spec
	blocks  []*Block
	rows    int64
	checked bool // see isChecked
	relearn Relearn
}

// NewData returns the data set of the blocks, which follow each other from row 0. Check says what blocks must be, and
// learners call it.
func NewData(spec *schema.Spec, blocks []*Block) *Data {
	d := &Data{spec: spec, blocks: blocks}
	for _, b := range blocks {
		d.rows += int64(b.Len())
	}
	return d
}

// Spec says what the columns mean.
func (d *Data) Spec() *schema.Spec { return d.spec }

// Rows returns the number of rows.
func (d *Data) Rows() int64 { return d.rows }

// Blocks yields the blocks in row order. It stops with the context's error once that is cancelled.
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

// Collect reads all of a source into memory.
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

// Bytes returns the memory of the blocks of rows rows of cols columns, with labels, and with sample weights if
// weighted is set.
func Bytes(rows int64, cols int, weighted bool) int64 {
	each := int64(kernel.Stride(cols)+1) * 4
	if weighted {
		each += 8
	}
	return rows * each
}

// Run is the rows of one run as a block, and the run's number.
type Run struct {
	*Block
	Number int64
}

// runs appends the runs of b.
func (b *Block) runs(runs []Run) []Run {
	for lo := 0; lo < b.Len(); lo += RunRows {
		runs = append(runs, Run{b.Slice(lo, min(b.Len(), lo+RunRows)), (b.First + int64(lo)) / RunRows})
	}
	return runs
}

// follow returns a function that checks the next block of a pass. It checks nothing if Check or Trust returned src:
// then no pass checks the columns of sparse rows.
func follow(src Source) (check func(*Block) error, err error) {
	l, err := newLayout(src)
	if err != nil || isChecked(src) {
		return func(*Block) error { return nil }, err
	}
	l.rows = math.MaxInt64 // not every source knows the number, and nothing here depends on it
	blocks := -1
	return func(b *Block) error {
		blocks++
		return l.next(blocks, b)
	}, nil
}

// Runs yields the runs of src in row order, several at a time. Of data in memory it yields the runs of enough blocks
// for n runs, of other sources those of one block. They are valid until the next are requested. Unless Check or Trust
// returned src, blocks that don't follow each other, or have too short slices, are errors.
func Runs(ctx context.Context, src Source, n int) iter.Seq2[[]Run, error] {
	_, keeps := src.(*Data)
	return func(yield func([]Run, error) bool) {
		follows, err := follow(src)
		if err != nil {
			yield(nil, err)
			return
		}
		var runs []Run
		for b, err := range src.Blocks(ctx) {
			if err == nil {
				err = follows(b)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			runs = b.runs(runs)
			if keeps && len(runs) < n {
				continue
			}
			if !yield(runs, nil) {
				return
			}
			runs = runs[:0]
		}
		if len(runs) > 0 {
			yield(runs, nil)
		}
	}
}

// ReduceRuns computes part on every run of src on up to workers goroutines: 0 is every core, and a negative number is an error.
// It passes the results to merge one at a time in row order, whatever the number of workers. At most two results for each worker
// exist at a time. A run is valid until its result is merged. If src is a Lender, runs of several blocks are computed at once.
func ReduceRuns[R any](ctx context.Context, src Source, workers int, part func(Run) R, merge func(R)) error {
	return MergeRuns(ctx, src, workers, func(run Run) func() {
		r := part(run)
		return func() { merge(r) }
	})
}

// MergeRuns is ReduceRuns for results of any type, and compiled once: part returns the function that merges the result of a run.
func MergeRuns(ctx context.Context, src Source, workers int, part func(Run) (merge func())) error {
	workers, err := parallel.Resolve(workers)
	if err != nil {
		return err
	}
	if _, keeps := src.(*Data); !keeps {
		return reduceLoans(ctx, src, workers, part)
	}
	for runs, err := range Runs(ctx, src, math.MaxInt) {
		if err != nil {
			return err
		}
		if err := parallel.InOrder(ctx, workers, len(runs), func(i int) func() { return part(runs[i]) }); err != nil {
			return err
		}
	}
	return nil
}
