// Package parallel runs tasks on several cores. Results don't depend on the number of workers.
package parallel

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// mostWorkers is the most goroutines that compute at once on a machine of fewer cores.
const mostWorkers = 256

// Resolve returns how many goroutines may compute at once where a caller asks for n workers: GOMAXPROCS for 0, and no more than 256
// or the cores of the machine, since each takes memory. It is an error if n is negative. Every exported function and option that
// takes a number of workers calls Resolve first.
func Resolve(n int) (int, error) {
	if n < 0 {
		return 0, fmt.Errorf("workers is %d: use 1 or more, or 0 for every core", n)
	}
	return Workers(n), nil
}

// Workers is Resolve for a number that was checked before. It takes a negative number for 0.
func Workers(n int) int {
	if n < 1 {
		return runtime.GOMAXPROCS(0)
	}
	return min(n, max(mostWorkers, runtime.NumCPU()))
}

// For calls do once for each task from 0 to n-1 on up to workers goroutines, and returns when all calls have returned.
// do gets the number of its worker and of the task. A worker takes the next task when it has finished one. If ctx ends,
// For starts no more tasks and returns ctx's error. workers is a result of Resolve.
func For(ctx context.Context, workers, n int, do func(worker, task int)) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for worker := range min(Workers(workers), n) {
		g.Go(func() error {
			for {
				task := int(next.Add(1)) - 1
				if task >= n {
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				do(worker, task)
			}
		})
	}
	return g.Wait()
}

// Ordered computes part of each task from 0 to n-1 on up to workers goroutines. It passes the results to merge one at a
// time, in the order of the tasks, whatever the number of workers. At most two results for each worker exist at a time.
func Ordered[R any](ctx context.Context, workers, n int, part func(task int) R, merge func(R)) error {
	return InOrder(ctx, workers, n, func(task int) func() {
		r := part(task)
		return func() { merge(r) }
	})
}

// InOrder is Ordered for results of any type: part returns the function that merges the result of a task. It is compiled once, and
// Ordered is a few instructions for each type.
func InOrder(ctx context.Context, workers, n int, part func(task int) (merge func())) error {
	workers = Workers(workers)
	o := newOrdered(2 * workers)
	stop := context.AfterFunc(ctx, o.end)
	err := For(ctx, workers, n, func(_, task int) {
		if o.wait(task) {
			o.put(task, part(task))
		}
	})
	stop()
	if err == nil {
		err = ctx.Err() // those who waited may have seen the end before For did
	}
	return err
}

// An ordered takes results 0, 1, 2, ... in any order and merges them in ascending order. It has room for a few that
// wait.
type ordered struct {
	mu      sync.Mutex
	moved   sync.Cond
	merged  int      // number of results merged
	results []func() // what merges result i, at i modulo the room; nil: result i isn't there
	ended   bool
}

func newOrdered(room int) *ordered {
	o := &ordered{results: make([]func(), room)}
	o.moved.L = &o.mu
	return o
}

// wait returns true when there is room for result i, or false at the end. The worker with the next result to merge
// never waits.
func (o *ordered) wait(i int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i >= o.merged+len(o.results) && !o.ended {
		o.moved.Wait()
	}
	return !o.ended
}

// end ends all waits.
func (o *ordered) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.moved.Broadcast()
}

func (o *ordered) put(i int, merge func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.results[i%len(o.results)] = merge
	for k := o.merged % len(o.results); o.results[k] != nil; k = o.merged % len(o.results) {
		o.results[k]()
		o.results[k] = nil
		o.merged++
	}
	o.moved.Broadcast()
}
