package passes

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"halfspace/internal/block"
)

// A Task computes a result of type R from the rows of a piece and arguments of type A, in another process.
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
		panic("passes: two tasks of one name")
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
			return fmt.Errorf("the task %s returned a %T: %w", t.name, r, ErrProgramsDiffer)
		}
		return merge(r)
	})
}

// each computes the task for pieces of the rows of a block.Remote source. own is nil if the pieces have no arguments of
// their own.
func (t *task) each(ctx context.Context, src block.Source, args any, pieces [][]int64, own func(i int) any,
	merge func(result any) error) error {
	cluster, views := block.RemoteOf(src)
	if cluster == nil {
		return errInProcess
	}
	return t.pass(ctx, cluster, block.Pass{Args: args, OwnArgs: own, Views: views, Pieces: pieces}, merge)
}

var errInProcess = errors.New("no other process has these rows")

// NewTask registers a task under a name. Call it at program start: all processes must have the same tasks.
func NewTask[A, R any](name string, do func(ctx context.Context, piece Piece, args A) (R, error)) *Task[A, R] {
	return &Task[A, R]{newTask(name, nil, do)}
}

// NewOwnTask is NewTask for a task whose pieces have arguments of their own.
func NewOwnTask[A, O, R any](name string, do func(ctx context.Context, piece Piece, args A, own O) (R, error)) *OwnTask[A, O, R] {
	return &OwnTask[A, O, R]{newTask(name, reflect.TypeFor[O](), func(ctx context.Context, piece Piece, args A) (R, error) {
		return do(ctx, piece, args, piece.ownArgs.(O))
	})}
}

// Each computes the task for each piece of rows that other processes read: a piece is the numbers of its chunks. It
// passes the results to merge in the order of the pieces.
func (t *Task[A, R]) Each(ctx context.Context, src block.Source, args A, pieces [][]int64, merge func(R) error) error {
	return t.task.each(ctx, src, args, pieces, nil, func(r any) error { return merge(r.(R)) })
}

// Each is Task.Each with the own arguments of each piece: own(i) returns the arguments of piece i.
func (t *OwnTask[A, O, R]) Each(ctx context.Context, src block.Source, args A, pieces [][]int64, own func(i int) O,
	merge func(R) error) error {
	ownArgs := func(i int) any { return own(i) }
	return t.task.each(ctx, src, args, pieces, ownArgs, func(r any) error { return merge(r.(R)) })
}

// EachWithoutRows computes the task for pieces without rows: the task reads its input by the number of its piece, from 0
// to pieces-1. The results go to merge in the order of the pieces.
func (t *Task[A, R]) EachWithoutRows(ctx context.Context, cluster block.Cluster, args A, pieces int, merge func(R) error) error {
	return t.task.pass(ctx, cluster, block.Pass{Args: args, Pieces: make([][]int64, pieces)}, func(r any) error { return merge(r.(R)) })
}

// EachAt is EachWithoutRows for pieces at positions among the rows; see block.Pass.
func (t *Task[A, R]) EachAt(ctx context.Context, cluster block.Cluster, args A, positions []float64, merge func(R) error) error {
	return t.task.pass(ctx, cluster, block.Pass{Args: args, Pieces: make([][]int64, len(positions)), Positions: positions},
		func(r any) error { return merge(r.(R)) })
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

// ErrProgramsDiffer is the error of a message that this program doesn't know.
var ErrProgramsDiffer = errors.New("the programs of the cluster differ: use the same version everywhere")

// TaskTypes are the types of the values that the processes of a pass exchange.
type TaskTypes struct {
	Args, Result reflect.Type
	Own          reflect.Type // of the own arguments of a piece of the task; nil: none
}

// TypesOf returns the types of a pass with a task.
func TypesOf(task string) (TaskTypes, error) {
	t, err := lookup(tasks, "task", task)
	if err != nil {
		return TaskTypes{}, err
	}
	return TaskTypes{t.argsType, t.resultType, t.ownType}, nil
}

// ArgsOfView returns the type of the arguments of a view.
func ArgsOfView(name string) (reflect.Type, error) {
	v, err := lookup(views, "view", name)
	if err != nil {
		return nil, err
	}
	return v.argsType, nil
}

// lookup returns the task or view of a name among all.
func lookup[T any](all map[string]*T, kind, name string) (*T, error) {
	if t := all[name]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("no %s is called %q: %w", kind, name, ErrProgramsDiffer)
}

// Compute computes a piece of a pass from the rows of its chunks. own is the own arguments of the piece, as
// block.Pass.OwnArgs returned them in another process.
func Compute(ctx context.Context, p block.Pass, own any, piece Piece) (any, error) {
	t, err := lookup(tasks, "task", p.Task)
	if err != nil {
		return nil, err
	}
	for _, v := range p.Views {
		known, err := lookup(views, "view", v.Name)
		if err != nil {
			return nil, err
		}
		if piece.Source, own, err = known.apply(ctx, piece.Source, v.Args, own); err != nil {
			return nil, err
		}
	}
	piece.ownArgs = own
	return t.do(ctx, piece, p.Args)
}
