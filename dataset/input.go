package dataset

import (
	"context"
	"iter"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"golang.org/x/sync/errgroup"
)

// An input is files of one format, looked at as far as it takes to know the selected columns.
type input interface {
	name() string
	total() int64 // rows; -1 where only reading tells
	most() int64  // no fewer rows than there are, without reading them; -1 where only reading tells
	chosen() *chosen
	// batches yields the rows in order, after an error nothing more. Each call is a pass over the data. The batches are
	// the caller's to release.
	batches(ctx context.Context, p pool, mem memory.Allocator) iter.Seq2[*batch, error]
	limit(memory int64) // bounds the memory of the passes that follow, their batches included
	notes() []string    // lines about what a pass found and passed over
	lastPass()          // tells that it is read once more, and then no more: standard input needn't be held
	labelOnly() input   // with the label as the only column, where that is less work; otherwise the same
}

// nameOf names an input of those files.
func nameOf(sources []*source) string {
	paths := make([]string, len(sources))
	for i, s := range sources {
		paths[i] = s.path
	}
	return nameFiles(paths)
}

// A future is a batch that is being made.
type future struct {
	done  chan struct{}
	bytes int64 // of the job
	batch *batch
	err   error
}

// A job makes a batch; it may run beside others.
type job struct {
	bytes int64 // of memory that it takes, its batch included, about
	make  func() (*batch, error)
}

// inOrder runs jobs under the pool, one more at a time than it has places, and yields what they make in their order. Unless
// memory is 0, those under way and the last batch take no more than that and one job.
func inOrder(ctx context.Context, p pool, memory int64, jobs iter.Seq[job]) iter.Seq2[*batch, error] {
	return func(yield func(*batch, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var running errgroup.Group
		var queue []*future
		defer func() {
			cancel()
			running.Wait()
			for _, f := range queue {
				f.batch.release()
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
				f := &future{done: make(chan struct{}), bytes: j.bytes}
				queue, held = append(queue, f), held+j.bytes
				running.Go(func() error {
					defer close(f.done)
					f.err = p.run(ctx, func() (err error) {
						f.batch, err = j.make()
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
