package column

import (
	"bytes"
	"context"
	"iter"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"
)

// An Input is a set of files of one format, whose selected columns are known.
type Input interface {
	Name() string
	Total() int64 // number of rows; -1: unknown until all are read
	Most() int64  // upper bound of the number of rows, without reading them; -1: unknown
	ReadColumns() *Roles
	// Batches yields the rows in order. It ends after an error. Each call is a pass over the data. The caller must
	// release the batches.
	Batches(ctx context.Context, p Pool, mem memory.Allocator) iter.Seq2[*Batch, error]
	Limit(memory int64) // limits the memory of later passes, their batches included
	Notes() []string    // lines about data that a pass found and ignored
	LastPass()          // announces that the next pass is the last: standard input needn't be buffered
	LabelOnly() Input   // returns an input with only the label column if that is less work, otherwise the same input
}

// A PairInput is an input whose rows name in the file the features that aren't 0.
type PairInput interface {
	Input
	Pairs() int64 // upper bound of the number of pairs in all rows; -1: unknown
	Paired() bool // batches have pairs
}

// A future is a batch that a goroutine is making.
type future struct {
	done  chan struct{}
	bytes int64 // bytes of memory of the job
	batch *Batch
	err   error
}

// A Job makes a batch. Several jobs may run at the same time.
type Job struct {
	Bytes int64 // approximate bytes of memory that the job takes, its batch included
	Make  func() (*Batch, error)
}

// InOrder runs jobs under the pool and yields their batches in order. It starts one job more than the pool has
// places. Unless memory is 0, the running jobs and the last batch take at most memory bytes plus one job.
func InOrder(ctx context.Context, p Pool, memory int64, jobs iter.Seq[Job]) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running errgroup.Group
		var queue []*future
		defer func() {
			cancel()
			running.Wait()
			for _, f := range queue {
				f.batch.Release()
			}
		}()
		next, stop := iter.Pull(jobs)
		defer stop()
		held := int64(0)
		start := func() {
			for len(queue) <= cap(p) && (memory == 0 || held < memory) {
				j, ok := next()
				if !ok {
					return
				}
				f := &future{done: make(chan struct{}), bytes: j.Bytes}
				queue, held = append(queue, f), held+j.Bytes
				running.Go(func() error {
					defer close(f.done)
					f.err = p.Run(ctx, func() (err error) {
						f.batch, err = j.Make()
						return err
					})
					return nil
				})
			}
		}
		for start(); len(queue) > 0; start() {
			f := queue[0]
			<-f.done
			queue = queue[1:]
			start()
			if !yield(f.batch, f.err) || f.err != nil {
				return
			}
			held -= f.bytes
		}
	}
}

// HasPrefix returns true if the first bytes of a file are prefix.
func HasPrefix(b []byte, prefix string) bool { return bytes.HasPrefix(b, []byte(prefix)) }
