package parallel

import (
	"context"

	"golang.org/x/sync/errgroup"
)

// A Line is InOrder for tasks whose number isn't known at the start.
type Line struct {
	ctx   context.Context
	g     errgroup.Group
	o     *ordered
	begun int
	stop  func() bool
}

// NewLine returns a line without tasks. It computes on up to workers goroutines. Results are merged one at a time, in the
// order of Go. Wait must follow.
func NewLine(ctx context.Context, workers int) *Line {
	workers = Workers(workers)
	l := &Line{ctx: ctx, o: newOrdered(2 * workers)}
	l.g.SetLimit(workers)
	l.stop = context.AfterFunc(ctx, l.o.end)
	return l
}

// Go starts the next task once there is room for its result. part returns the function that merges it. Go returns false, and starts none, if ctx has ended.
func (l *Line) Go(part func() (merge func())) bool {
	task := l.begun
	if l.ctx.Err() != nil || !l.o.wait(task) {
		return false
	}
	l.begun++
	l.g.Go(func() error {
		l.o.put(task, part())
		return nil
	})
	return true
}

// Wait returns when all results are merged. It returns ctx's error if that has ended.
func (l *Line) Wait() error {
	err := l.g.Wait()
	l.stop()
	if err == nil {
		err = l.ctx.Err()
	}
	return err
}
