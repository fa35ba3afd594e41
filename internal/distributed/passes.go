// Package distributed gives names to passes over rows, so that other processes can make them.
//
// A pass is a task on pieces of the rows. A piece consists of chunks of 4,096 rows. A task is a pure function of the rows
// of its piece and of its arguments; a piece may have its own arguments. So a piece may be computed anywhere, and more
// than once, with the same result. Results are merged in the order of the pieces, as a single process merges its sums.
//
// Reduce makes a pass where the rows are: on the cluster of a block.Remote source, otherwise in this process. Each and
// EachOwn are for clusters only. EachWithoutRows is for tasks that open files themselves. A process of a cluster calls
// Run. Encode and Decode convert arguments and results to and from bytes.
package distributed

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"halfspace/internal/block"
	"halfspace/internal/parallel"
)

// A Task computes a result of type R from the rows of a piece and arguments of type A.
type Task[A, R any] struct{ task *task }

// An OwnTask is a Task that also takes arguments of type O, which each piece has for itself. The task may change these
// arguments.
type OwnTask[A, O, R any] struct{ task *task }

// A Piece is the rows of one call of a task, with the number of the piece in the pass.
type Piece struct {
	block.Source // rows numbered from 0; each block is a chunk
	Number       int
	Workers      int // number of goroutines that may compute at once
	ownArgs      any // the piece's own arguments, for an OwnTask
}

// A task is a Task of any types. It does all the work, so that the generic types compile to a few instructions each.
type task struct {
	name                          string
	argsType, ownType, resultType reflect.Type // ownType is nil for a task whose pieces have no arguments of their own
	do                            func(ctx context.Context, piece Piece, args any) (any, error)
}

var (
	tasks = map[string]*task{}
	views = map[string]*view{}
)

// newTask registers a task under a name. It panics if the name is taken.
func newTask[A, R any](name string, own reflect.Type, do func(ctx context.Context, piece Piece, args A) (R, error)) *task {
	if tasks[name] != nil {
		panic("distributed: two tasks of one name")
	}
	t := &task{name: name, argsType: reflect.TypeFor[A](), ownType: own, resultType: reflect.TypeFor[R](),
		do: func(ctx context.Context, piece Piece, args any) (any, error) {
			return do(ctx, piece, args.(A))
		}}
	tasks[name] = t
	return t
}

// pass computes the task for the pieces of a pass.
func (t *task) pass(ctx context.Context, cluster block.Cluster, p block.Pass, merge func(result any) error) error {
	p.Task = t.name
	return cluster.Pass(ctx, p, func(r any) error {
		if reflect.TypeOf(r) != t.resultType {
			return fmt.Errorf("the task %s returned a %T: the programs of the cluster differ: use the same version everywhere", t.name, r)
		}
		return merge(r)
	})
}

// each computes the task for pieces of the rows of a Remote source. own is nil if the pieces have no arguments of their
// own.
func (t *task) each(ctx context.Context, src block.Source, args any, pieces [][]int64, own func(i int) any,
	merge func(result any) error) error {
	cluster, views := block.RemoteOf(src)
	if cluster == nil {
		return errNoCluster
	}
	return t.pass(ctx, cluster, block.Pass{Args: args, OwnArgs: own, Views: views, Pieces: pieces}, merge)
}

// New registers a task under a name. Call it at program start: every process of a cluster must have the same tasks.
func New[A, R any](name string, do func(ctx context.Context, piece Piece, args A) (R, error)) *Task[A, R] {
	return &Task[A, R]{newTask(name, nil, do)}
}

// NewOwn is New for a task whose pieces have arguments of their own.
func NewOwn[A, O, R any](name string, do func(ctx context.Context, piece Piece, args A, own O) (R, error)) *OwnTask[A, O, R] {
	return &OwnTask[A, O, R]{newTask(name, reflect.TypeFor[O](), func(ctx context.Context, piece Piece, args A) (R, error) {
		return do(ctx, piece, args, piece.ownArgs.(O))
	})}
}

// Each computes a task for each piece of a Remote source. It passes the results to merge in the order of the pieces.
func Each[A, R any](ctx context.Context, src block.Source, t *Task[A, R], args A, pieces [][]int64, merge func(R) error) error {
	return t.task.each(ctx, src, args, pieces, nil, func(r any) error { return merge(r.(R)) })
}

var errNoCluster = errors.New("no cluster has these rows")

// EachOwn is Each for a task whose pieces have their own arguments: own(i) returns the arguments of piece i.
func EachOwn[A, O, R any](ctx context.Context, src block.Source, t *OwnTask[A, O, R], args A, pieces [][]int64, own func(i int) O,
	merge func(R) error) error {
	ownArgs := func(i int) any { return own(i) }
	return t.task.each(ctx, src, args, pieces, ownArgs, func(r any) error { return merge(r.(R)) })
}

// EachWithoutRows computes a task for pieces without rows: the task reads its input by the number of its piece, from 0
// to pieces-1. The results go to merge in the order of the pieces.
func EachWithoutRows[A, R any](ctx context.Context, cluster block.Cluster, t *Task[A, R], args A, pieces int, merge func(R) error) error {
	return t.task.pass(ctx, cluster, block.Pass{Args: args, Pieces: make([][]int64, pieces)}, func(r any) error { return merge(r.(R)) })
}

// A PerChunk is a task whose result is a list, with an element for each chunk of a piece.
type PerChunk[A, R any] struct{ task *task }

// NewPerChunk registers a task under a name. of returns the function that computes the result of a chunk. of takes the
// source of the chunks, which describes their columns.
func NewPerChunk[A, R any](name string, of func(block.Source, A) func(block.Chunk) R) *PerChunk[A, R] {
	return &PerChunk[A, R]{newTask(name, nil, func(ctx context.Context, piece Piece, args A) (results []R, err error) {
		part := of(piece.Source, args)
		err = block.MergeChunks(ctx, piece.Source, piece.Workers, func(chunk block.Chunk) func() {
			r := part(chunk)
			return func() { results = append(results, r) }
		})
		return results, err
	})}
}

// Reduce is block.ReduceChunks. If the rows have a cluster, it makes the pass as the task t there. part computes the same
// result of a chunk as t.
func Reduce[A, R any](ctx context.Context, src block.Source, workers int, t *PerChunk[A, R], args A,
	part func(block.Chunk) R, merge func(R)) error {
	return t.task.reduce(ctx, src, workers, args, func(chunk block.Chunk) func() {
		r := part(chunk)
		return func() { merge(r) }
	}, func(results any) {
		for _, r := range results.([]R) {
			merge(r)
		}
	})
}

// reduce is Reduce for results of any type. here computes the result of a chunk and returns the function that merges it.
// there merges the results of a piece that a cluster computed.
func (t *task) reduce(ctx context.Context, src block.Source, workers int, args any, here func(block.Chunk) func(),
	there func(results any)) error {
	if cluster, _ := block.RemoteOf(src); cluster == nil {
		return block.MergeChunks(ctx, src, workers, here)
	}
	if _, err := parallel.Resolve(workers); err != nil {
		return err
	}
	return t.each(ctx, src, args, Consecutive(src.Rows()), nil, func(results any) error {
		there(results)
		return nil
	})
}

// mostPieces is the largest number of pieces of a Reduce. With this number, the last piece to finish is a small share
// of the rows.
const mostPieces = 256

// Consecutive cuts the chunks of rows rows into pieces of consecutive chunks.
func Consecutive(rows int64) (pieces [][]int64) {
	chunks := (rows + block.ChunkRows - 1) / block.ChunkRows
	each := max(1, (chunks+mostPieces-1)/mostPieces)
	for first := int64(0); first < chunks; first += each {
		var piece []int64
		for chunk := first; chunk < min(chunks, first+each); chunk++ {
			piece = append(piece, chunk)
		}
		pieces = append(pieces, piece)
	}
	return pieces
}

// RowsOf returns the range of rows of a piece of Consecutive: lo to hi-1. rows is the number of all rows.
func RowsOf(piece []int64, rows int64) (lo, hi int64) {
	lo = piece[0] * block.ChunkRows
	return lo, min(rows, lo+int64(len(piece))*block.ChunkRows)
}

// ErrOtherRows is the error of a piece whose own arguments are for another number of rows than the piece has.
var ErrOtherRows = errors.New("a worker has other rows of DATA than the driver counted: the data changed while it " +
	"was read, or differs between computers: use the same files everywhere, and train again")

var fingerprintPass = NewPerChunk("block.fingerprint", func(block.Source, struct{}) func(block.Chunk) uint64 { return block.HashChunk })

// Fingerprint is block.Fingerprint, on the cluster of src if there is one.
func Fingerprint(ctx context.Context, src block.Source, workers int) (string, error) {
	return block.FingerprintOf(src.Spec().Cols(), func(add func(hash uint64)) error {
		return Reduce(ctx, src, workers, fingerprintPass, struct{}{}, block.HashChunk, add)
	})
}
