package parallel

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// A Line is InOrder for a number of tasks that isn't known at the start.
type Line struct {
	ctx            context.Context
	isSingleWorker bool // one worker, which is the caller
	g              errgroup.Group
	o              *mergeQueue
	begunTasks     int
	stop           func() bool
}

// NewLine returns a line without tasks. It computes on up to workers goroutines. It merges results one at a time, in
// the order of the calls of Go. At most room results wait for their merge. A single worker is the caller's goroutine. The
// caller must call Wait at the end.
func NewLine(ctx context.Context, workers, room int) *Line {
	workers = Workers(workers)
	l := &Line{ctx: ctx, isSingleWorker: workers == 1, o: newOrdered(room)}
	l.g.SetLimit(workers)
	l.stop = context.AfterFunc(ctx, l.o.end)
	return l
}

// Go starts the next task once there is room for its result. part returns the function that merges the result. If ctx
// has ended, Go starts no task and returns false.
func (l *Line) Go(part func() (merge func())) bool {
	task := l.begunTasks
	if l.ctx.Err() != nil || !l.o.wait(task) {
		return false
	}
	l.begunTasks++
	do := func() { l.o.put(task, part()) }
	if l.isSingleWorker {
		do()
		return true
	}
	l.g.Go(func() error {
		do()
		return nil
	})
	return true
}

// Wait waits until all results are merged. It returns ctx's error if ctx has ended.
func (l *Line) Wait() error {
	err := l.g.Wait()
	l.stop()
	if err == nil {
		err = l.ctx.Err()
	}
	return err
}
