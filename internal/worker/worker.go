// Package worker computes pieces of passes over the rows of files.
//
// It knows no engine: an engine of a cluster, such as Beam or Spark, brings a piece to a process and its result back. A result
// depends on its piece alone, so a piece that is computed again changes nothing.
package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/distributed"
	"halfspace/internal/memory"
	"halfspace/internal/parallel"
	"halfspace/schema"
)

// Files are the files that workers read. A task without rows has none.
type Files struct {
	Plan dataset.SharedPlan
	Rows int64 // number of rows that are kept
}

// A Training describes the rows of the passes of a training to workers.
type Training struct {
	Name         string // differs between trainings
	Files        Files
	Fingerprints []string // of the local files, as the driver sees them; see fingerprintsOf
	Workers      int      // goroutines of a worker that compute at once; 0: GOMAXPROCS
	Parts        []Part   // the files, if an engine has them; otherwise none
}

// NewTraining returns a training on files as this process sees them.
func NewTraining(files Files, workers int) (*Training, error) {
	fingerprints, err := fingerprintsOf(&files.Plan)
	return &Training{Name: rand.Text(), Files: files, Fingerprints: fingerprints, Workers: workers}, err
}

// A Piece is a piece of a pass.
type Piece struct {
	Number  int
	Chunks  []int64 // none for a task without rows
	OwnArgs []byte  // of distributed.EncodeOwn
}

// PieceOf returns piece i of a pass.
func PieceOf(p block.Pass, i int) (Piece, error) {
	own, err := distributed.EncodeOwn(p, i)
	return Piece{i, p.Pieces[i], own}, err
}

// A Worker computes pieces. It keeps decoded rows from one pass to the next. Its methods may be called at the same time.
type Worker struct {
	memory    int64 // see New
	option    string
	mostBytes int64               // of memory that rows of pieces take at once
	inUse     *semaphore.Weighted // whose weights are these bytes

	mu     sync.Mutex
	tables map[string]*table // by the encoded Files
	taken  int64             // bytes of memory that pieces took for their rows
	clock  int64             // number of uses of tables
}

// New returns a worker whose decoded rows take at most half of the given bytes of memory. option names, for errors, the option that
// raises memory, as the command names it. If memory is 0, rows take half of the memory that is available, and a piece that needs more
// computes alone.
func New(memoryBytes int64, option string) *Worker {
	half := memoryBytes / 2
	if memoryBytes == 0 {
		half = memory.Limit(0) / 2
	}
	return &Worker{memory: memoryBytes, option: option, mostBytes: half, inUse: semaphore.NewWeighted(half)}
}

// Compute returns the bytes of the result of a piece of a pass. Up to Training.Workers goroutines compute.
func (w *Worker) Compute(ctx context.Context, t *Training, pass block.Pass, piece Piece) ([]byte, error) {
	return w.compute(ctx, t, pass, piece, t.Workers)
}

// ComputeAll returns the results of several pieces. Up to Training.Workers goroutines compute, on as many pieces at once.
func (w *Worker) ComputeAll(ctx context.Context, t *Training, pass block.Pass, pieces []Piece) ([][]byte, error) {
	workers, err := parallel.Resolve(t.Workers)
	if err != nil {
		return nil, err
	}
	atOnce := min(workers, len(pieces))
	results, errs := make([][]byte, len(pieces)), make([]error, len(pieces))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	err = parallel.For(ctx, atOnce, len(pieces), func(_, i int) {
		if results[i], errs[i] = w.compute(ctx, t, pass, pieces[i], workers/atOnce); errs[i] != nil {
			stop()
		}
	})
	for _, first := range errs {
		if first != nil && !errors.Is(first, context.Canceled) {
			return nil, first
		}
	}
	return results, err
}

func (w *Worker) compute(ctx context.Context, t *Training, pass block.Pass, piece Piece, workers int) (result []byte, err error) {
	rows := block.Source(block.NewData(new(schema.Spec), nil))
	if len(piece.Chunks) > 0 {
		var release func()
		if rows, release, err = w.rows(ctx, t, piece.Chunks); err != nil {
			return nil, err
		}
		defer release()
	}
	return distributed.Run(ctx, pass, piece.OwnArgs, rows, piece.Number, workers)
}
