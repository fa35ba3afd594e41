// Package cluster makes passes over rows on Apache Beam.
//
// A pass is one pipeline. Its elements are numbers of pieces of the rows. A worker reads the rows of a piece, computes the task
// and writes the result to a file in a folder that all processes share. The driver, which is the process that trains, reads the
// files in the order of the pieces. A result depends on its piece alone, so a piece that is computed again changes nothing.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/distributed"
	"halfspace/internal/files"
	"halfspace/internal/parallel"
	"halfspace/internal/worker"
)

// Options say how passes are made.
type Options struct {
	Runner  string   // of Beam, such as prism or flink
	Staging string   // the folder of the files by which processes exchange tasks and results: a path, or a URL such as gs://bucket/folder
	Pools   []string // addresses of the workers of Serve; none: Runner starts the workers
	Workers int      // goroutines of a worker that compute at once; 0: GOMAXPROCS
}

// A Cluster makes passes over the rows of files. It is a block.Cluster.
type Cluster struct {
	opt      Options
	training *worker.Training
	folder   *folder

	mu        sync.Mutex
	passes    int             // made so far
	lostPools map[string]bool // pools whose worker has ended
}

// New returns a cluster for files. Close removes the files that the cluster wrote to Options.Staging.
func New(opt Options, files worker.Files) (*Cluster, error) {
	training, err := worker.NewTraining(files, opt.Workers)
	if err != nil {
		return nil, err
	}
	f, err := newFolder(opt.Staging)
	if err != nil {
		return nil, fmt.Errorf("--staging: %w", err)
	}
	return &Cluster{opt: opt, training: training, folder: f, lostPools: map[string]bool{}}, nil
}

// Close removes the files of the cluster. Nobody uses it any more.
func (c *Cluster) Close(ctx context.Context) error { return c.folder.remove(ctx, "") }

// An order is the first message of a pass to its workers.
type order struct {
	Training   *worker.Training
	Pass       []byte // of distributed.EncodePass
	Pieces     [][]int64
	HasOwnArgs bool // each piece has a file of arguments beside the order; see ownArgsName
}

// mostTries is how often the pieces of a pass are given out, before the pieces without a result end the training.
const mostTries = 5

// Pass makes a pass; see block.Cluster. A pass without rows has empty pieces.
func (c *Cluster) Pass(ctx context.Context, p block.Pass, merge func(result any) error) error {
	c.mu.Lock()
	c.passes++
	name := fmt.Sprintf("pass-%06d", c.passes)
	c.mu.Unlock()
	pass, err := distributed.EncodePass(p)
	if err != nil {
		return err
	}
	text, err := distributed.Encode(order{c.training, pass, p.Pieces, p.OwnArgs != nil})
	if err != nil {
		return err
	}
	if err := c.folder.write(ctx, name+"/order", text); err != nil {
		return err
	}
	if p.OwnArgs != nil {
		errs, err := callInParallel(ctx, len(p.Pieces), func(i int) error {
			args, err := distributed.EncodeOwn(p, i)
			if err == nil {
				err = c.folder.write(ctx, name+"/"+ownArgsName(int64(i)), args)
			}
			return err
		})
		if err := errors.Join(append(errs, err)...); err != nil {
			return err
		}
	}
	results, err := c.compute(ctx, name, len(p.Pieces))
	if err != nil {
		return err
	}
	if err := distributed.MergeResults(p, results, merge); err != nil {
		return err
	}
	_ = c.folder.remove(ctx, name) // Close tries again, and tells
	return nil
}

// callInParallel calls do for each number below n, for several numbers at once. It returns the errors of the calls, and the error of ctx.
func callInParallel(ctx context.Context, n int, do func(i int) error) ([]error, error) {
	errs := make([]error, n)
	return errs, parallel.For(ctx, files.ParallelRequests, n, func(_, i int) { errs[i] = do(i) })
}

// compute returns the results of all pieces of a pass.
func (c *Cluster) compute(ctx context.Context, name string, pieces int) ([][]byte, error) {
	results := make([][]byte, pieces)
	missing := make([]int64, pieces)
	for i := range missing {
		missing[i] = int64(i)
	}
	var runErr error
	hasTaskError := make([]bool, pieces) // a worker had an error with the piece
	for try := range mostTries {
		select { // a runner may start again
		case <-time.After(time.Duration(try) * time.Second / 2):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		runErr = c.run(ctx, name, missing, pieces, try)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		errs, err := callInParallel(ctx, len(missing), func(k int) (err error) {
			results[missing[k]], err = c.folder.result(ctx, name, missing[k])
			return err
		})
		if err != nil {
			return nil, err
		}
		var nextMissing []int64
		for k, i := range missing {
			switch err := errs[k]; {
			case errors.As(err, new(taskError)) && (hasTaskError[i] || !c.opt.hasOtherWorker()):
				return nil, err // two workers have an error
			case err != nil:
				hasTaskError[i] = errors.As(err, new(taskError))
				nextMissing = append(nextMissing, i)
			}
		}
		if missing = nextMissing; len(missing) == 0 {
			return results, nil
		}
	}
	if runErr == nil {
		runErr = errors.New("the runner says that the pipeline is done: do all workers and this process see the same folder --staging?")
	}
	return nil, fmt.Errorf("%d of %d pieces of a pass have no result after %d tries: %w", len(missing), pieces, mostTries, runErr)
}

// hasOtherWorker tells whether another process may compute a piece that is given out again. The error of a piece may come from one
// worker's disk or network.
func (o *Options) hasOtherWorker() bool {
	return len(o.Pools) > 1 || len(o.Pools) == 0 && strings.TrimSuffix(strings.ToLower(o.Runner), "runner") != "prism"
}

// run runs the pipeline of the given pieces, of pieceCount in the pass, or a pipeline on each pool at the same time. Workers
// that have ended get no more pieces, unless all have ended. Each try gives a piece to the next pool.
func (c *Cluster) run(ctx context.Context, name string, pieces []int64, pieceCount, try int) error {
	if len(c.opt.Pools) == 0 {
		return runPipeline(ctx, c.opt.Runner, c.folder.path(name), pieces)
	}
	pools := c.livePools()
	poolPieces := make([][]int64, len(pools))
	for _, i := range pieces { // the same pool gets the same piece in each pass, and has its rows already
		at := (int(i)*len(pools)/pieceCount + try) % len(pools)
		poolPieces[at] = append(poolPieces[at], i)
	}
	errs := make([]error, len(pools))
	var wait sync.WaitGroup
	for k, pool := range pools {
		if len(poolPieces[k]) > 0 {
			wait.Go(func() { errs[k] = runOnPool(ctx, pool, c.folder.path(name), poolPieces[k]) })
		}
	}
	wait.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, err := range errs {
		if errors.As(err, new(lostWorkerError)) {
			c.lostPools[pools[k]] = true
		}
	}
	return errors.Join(errs...)
}

// livePools returns the pools whose workers have not ended, or all pools if every worker has ended.
func (c *Cluster) livePools() (pools []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.opt.Pools {
		if !c.lostPools[p] {
			pools = append(pools, p)
		}
	}
	if len(pools) == 0 {
		clear(c.lostPools)
		return c.opt.Pools
	}
	return pools
}

// List returns the items of a list that is typed with commas.
func List(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}
