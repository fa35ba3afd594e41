// Package passes gives passes over rows names, so that other processes can make them.
//
// A pass is a task on pieces of the rows. Each piece is some runs of 4,096 rows. A task is a pure function of the rows of its
// piece and of its arguments. Some of these may be the piece's own. So a piece may be computed anywhere, and more than once, and
// its result is the same. Results are merged in the order of the pieces, as the sums of a single process are.
//
// Reduce makes a pass where the rows are: on the cluster of a block.Remote source, otherwise here. Each and EachOwn are for
// clusters alone. Rowless is for tasks that open files themselves. Run is what a process of a cluster calls. Encode and Decode
// turn arguments and results into bytes.
package passes

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// A Task computes a result of type R from the rows of a piece and arguments of type A.
type Task[T kernel.Float, A, R any] struct {
	name string
	do   func(ctx context.Context, piece Piece[T], args A) (R, error)
}

// An OwnTask is a Task that also takes arguments of type O, which each piece has of its own. The task may change those.
type OwnTask[T kernel.Float, A, O, R any] struct{ task *Task[T, A, R] }

// A Piece is the rows that a task gets, and which piece of the pass they are.
type Piece[T kernel.Float] struct {
	block.Source[T] // numbered from 0; each block is a run
	Number          int
	Workers         int // goroutines that may compute at once
	own             any // arguments of an OwnTask
}

// A task is a Task of any types.
type task interface {
	args() reflect.Type
	result() reflect.Type
	run(ctx context.Context, piece any, number, workers int, args, own any) (any, error)
}

var (
	tasks = map[string]task{}
	owns  = map[string]reflect.Type{} // what pieces have of their own, by task
	views = map[string]view{}
)

func (t *Task[T, A, R]) args() reflect.Type   { return reflect.TypeFor[A]() }
func (t *Task[T, A, R]) result() reflect.Type { return reflect.TypeFor[R]() }

func (t *Task[T, A, R]) run(ctx context.Context, rows any, number, workers int, args, own any) (any, error) {
	src, ok := rows.(block.Source[T])
	if !ok {
		return nil, fmt.Errorf("the task %s takes rows of %T: the programs of the cluster differ: use the same version everywhere", t.name, T(0))
	}
	return t.do(ctx, Piece[T]{src, number, workers, own}, args.(A))
}

// New names a task. It is called as the program starts: every process of a cluster has the same tasks. Of each task there is one
// for float32 and one for float64.
func New[T kernel.Float, A, R any](name string, do func(ctx context.Context, piece Piece[T], args A) (R, error)) *Task[T, A, R] {
	t := &Task[T, A, R]{fmt.Sprintf("%s/%T", name, T(0)), do}
	if tasks[t.name] != nil {
		panic("passes: two tasks of one name")
	}
	tasks[t.name] = t
	return t
}

// NewOwn is New for a task whose pieces have arguments of their own.
func NewOwn[T kernel.Float, A, O, R any](name string, do func(ctx context.Context, piece Piece[T], args A, own O) (R, error)) *OwnTask[T, A, O, R] {
	t := New(name, func(ctx context.Context, piece Piece[T], args A) (R, error) {
		return do(ctx, piece, args, piece.own.(O))
	})
	owns[t.name] = reflect.TypeFor[O]()
	return &OwnTask[T, A, O, R]{t}
}

// Each computes a task for each piece of a Remote source. It passes the results to merge in the order of the pieces.
func Each[T kernel.Float, A, R any](ctx context.Context, src block.Source[T], t *Task[T, A, R], args A, pieces [][]int64, merge func(R) error) error {
	cluster, views := block.RemoteOf(src)
	if cluster == nil {
		return errNone
	}
	return t.pass(ctx, cluster, block.Pass{Args: args, Views: views, Pieces: pieces}, merge)
}

var errNone = errors.New("no cluster has these rows")

// EachOwn is Each for a task whose pieces have arguments of their own: those of piece i are own(i).
func EachOwn[T kernel.Float, A, O, R any](ctx context.Context, src block.Source[T], t *OwnTask[T, A, O, R], args A, pieces [][]int64, own func(i int) O,
	merge func(R) error) error {
	cluster, views := block.RemoteOf(src)
	if cluster == nil {
		return errNone
	}
	return t.task.pass(ctx, cluster, block.Pass{Args: args, Own: func(i int) any { return own(i) }, Views: views, Pieces: pieces}, merge)
}

// Rowless computes a task for pieces without rows: the task reads what it needs by the number of its piece, from 0 to pieces-1.
// The results go to merge in the order of the pieces.
func Rowless[A, R any](ctx context.Context, cluster block.Cluster, t *Task[float32, A, R], args A, pieces int, merge func(R) error) error {
	return t.pass(ctx, cluster, block.Pass{Args: args, Pieces: make([][]int64, pieces)}, merge)
}

func (t *Task[T, A, R]) pass(ctx context.Context, cluster block.Cluster, p block.Pass, merge func(R) error) error {
	p.Task = t.name
	return cluster.Pass(ctx, p, func(r any) error {
		if r, ok := r.(R); ok {
			return merge(r)
		}
		return fmt.Errorf("the task %s returned a %T: the programs of the cluster differ: use the same version everywhere", t.name, r)
	})
}

// Choose returns the task that takes rows of type T. One of the two takes float32, the other one float64.
func Choose[T kernel.Float, A, R any](task32, task64 any) *Task[T, A, R] {
	if t, ok := task32.(*Task[T, A, R]); ok {
		return t
	}
	return task64.(*Task[T, A, R])
}

// ChooseOwn is Choose for tasks whose pieces have arguments of their own.
func ChooseOwn[T kernel.Float, A, O, R any](task32, task64 any) *OwnTask[T, A, O, R] {
	if t, ok := task32.(*OwnTask[T, A, O, R]); ok {
		return t
	}
	return task64.(*OwnTask[T, A, O, R])
}

// A PerRun is a task for float32 and for float64 whose result is a list, with an element for each run of a piece.
type PerRun[A, R any] struct {
	task32 *Task[float32, A, []R]
	task64 *Task[float64, A, []R]
}

// NewPerRun names a task by what it computes of a run. The functions get the source of the runs: it says what their columns are.
func NewPerRun[A, R any](name string, of32 func(block.Source[float32], A) func(block.Run[float32]) R,
	of64 func(block.Source[float64], A) func(block.Run[float64]) R) *PerRun[A, R] {
	return &PerRun[A, R]{New(name, perRun(of32)), New(name, perRun(of64))}
}

// perRun returns a task that computes part for each run of a piece.
func perRun[T kernel.Float, A, R any](of func(block.Source[T], A) func(block.Run[T]) R) func(context.Context, Piece[T], A) ([]R, error) {
	return func(ctx context.Context, piece Piece[T], args A) (results []R, err error) {
		err = block.ReduceRuns(ctx, piece.Source, piece.Workers, of(piece.Source, args), func(r R) { results = append(results, r) })
		return results, err
	}
}

// Reduce is block.ReduceRuns, and makes the pass of a task if the rows have a cluster. part is what the task computes of a run.
func Reduce[T kernel.Float, A, R any](ctx context.Context, src block.Source[T], workers int, t *PerRun[A, R], args A,
	part func(block.Run[T]) R, merge func(R)) error {
	if cluster, _ := block.RemoteOf(src); cluster == nil {
		return block.ReduceRuns(ctx, src, workers, part, merge)
	}
	if _, err := parallel.Resolve(workers); err != nil {
		return err
	}
	return Each(ctx, src, Choose[T, A, []R](t.task32, t.task64), args, Consecutive(src.Rows()), func(results []R) error {
		for _, r := range results {
			merge(r)
		}
		return nil
	})
}

// mostPieces is the most pieces of a Reduce. They are many enough that the last one to come is a small share.
const mostPieces = 256

// Consecutive cuts the runs of so many rows into pieces of runs that follow each other.
func Consecutive(rows int64) (pieces [][]int64) {
	runs := (rows + block.RunRows - 1) / block.RunRows
	each := max(1, (runs+mostPieces-1)/mostPieces)
	for first := int64(0); first < runs; first += each {
		var piece []int64
		for run := first; run < min(runs, first+each); run++ {
			piece = append(piece, run)
		}
		pieces = append(pieces, piece)
	}
	return pieces
}

// RowsOf returns the rows of a piece of Consecutive, from lo to hi-1, of so many.
func RowsOf(piece []int64, rows int64) (lo, hi int64) {
	lo = piece[0] * block.RunRows
	return lo, min(rows, lo+int64(len(piece))*block.RunRows)
}

// ErrOtherRows is the error of a piece whose own arguments are for more or fewer rows than it has.
var ErrOtherRows = errors.New("a worker has other rows of DATA than the driver counted: the data changed while it was read, or differs between computers: use the same files everywhere, and train again")

// fingerprintPass is the pass of Fingerprint.
var fingerprintPass = NewPerRun("block.fingerprint", hasher[float32], hasher[float64])

func hasher[T kernel.Float](block.Source[T], struct{}) func(block.Run[T]) uint64 {
	return block.HashRun[T]
}

// Fingerprint is block.Fingerprint, on the cluster of src if there is one.
func Fingerprint[T kernel.Float](ctx context.Context, src block.Source[T], workers int) (string, error) {
	all := block.NewPrint(src.Spec().Cols())
	err := Reduce(ctx, src, workers, fingerprintPass, struct{}{}, block.HashRun[T], all.Add)
	return all.String(), err
}
