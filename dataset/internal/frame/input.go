package frame

import (
	"context"
	"io/fs"
	"iter"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"

	"halfspace/internal/store"
)

// An Input is a set of files of one format, whose selected columns are known.
type Input interface {
	Name() string
	Total() int64 // rows; -1 where only reading tells
	Most() int64  // no fewer rows than there are, without reading them; -1 where only reading tells
	Chosen() *Chosen
	// Batches yields the rows in order. After an error it yields nothing more. Each call is a pass over the data. The
	// caller releases the batches.
	Batches(ctx context.Context, p Pool, mem memory.Allocator) iter.Seq2[*Batch, error]
	Limit(memory int64) // bounds the memory of the passes that follow, their batches included
	Notes() []string    // lines about what a pass found and passed over
	LastPass()          // tells that it is read once more, and then no more: standard input needn't be held
	LabelOnly() Input   // with the label as the only column, where that is less work; otherwise the same
}

// A future is a batch that is being made.
type future struct {
	done  chan struct{}
	bytes int64 // of the job
	batch *Batch
	err   error
}

// A Job makes a batch; it may run beside others.
type Job struct {
	Bytes int64 // of memory that it takes, its batch included, about
	Make  func() (*Batch, error)
}

// InOrder runs jobs under the pool and yields their batches in order. One job more than the pool has places is begun.
// Unless memory is 0, the jobs under way and the last batch take no more than memory and one job.
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

// A File is a file of data that is open.
type File = store.File

// Open opens a file of data. Tests put files in its place whose reads fail.
var Open = store.Open

// Reopen opens a file that was looked at. An object needs no second look, which would be a request.
func Reopen(path string, seen fs.FileInfo) (File, error) {
	if s, err := store.Of(path); err == nil && s != nil {
		return s.Open(path, seen)
	}
	return Open(path)
}
