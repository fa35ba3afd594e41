// Package parallel runs tasks on several cores with results that do not depend on the number of workers.
package parallel

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// mostWorkers is the largest number of goroutines that compute at once, on a machine with fewer cores.
const mostWorkers = 256

// Resolve returns the number of goroutines that may compute at once if a caller asks for n workers. It is GOMAXPROCS if
// n is 0. It is at most 256, or the number of the machine's cores if that is larger, since each worker takes memory. It
// is an error if n is negative. Every exported function and option that takes a number of workers calls Resolve first.
func Resolve(n int) (int, error) {
	if n < 0 {
		return 0, fmt.Errorf("workers is %d: use 1 or more, or 0 for every core", n)
	}
	return Workers(n), nil
}

// Workers is Resolve for a number that was checked before. It treats a negative number as 0.
func Workers(n int) int {
	if n < 1 {
		return runtime.GOMAXPROCS(0)
	}
	return min(n, max(mostWorkers, runtime.NumCPU()))
}

// For calls do once for each task from 0 to n-1, on up to workers goroutines, and returns when all calls have returned.
// do takes the number of its worker and the number of the task. A worker takes the next task when it has finished a
// task. If ctx ends, For starts no more tasks and returns ctx's error. workers is a result of Resolve.
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

// MergeInOrder computes part for each task from 0 to n-1 on up to workers goroutines. It passes the results to merge
// one at a time, in the order of the tasks, whatever the number of workers. At most two results for each worker exist
// at a time.
func MergeInOrder[R any](ctx context.Context, workers, n int, part func(task int) R, merge func(R)) error {
	return InOrder(ctx, workers, n, func(task int) func() {
		r := part(task)
		return func() { merge(r) }
	})
}

// InOrder is MergeInOrder for results of any type: part returns the function that merges the result of a task. InOrder
// is compiled once, and MergeInOrder adds only a few instructions for each type.
func InOrder(ctx context.Context, workers, n int, part func(task int) (merge func())) error {
	l := NewLine(ctx, workers, 2*Workers(workers))
	for task := range n {
		if !l.Go(func() func() { return part(task) }) {
			break
		}
	}
	return l.Wait()
}

// A mergeQueue takes results 0, 1, 2, ... in any order and merges them in ascending order. It has room for a few
// results that wait.
type mergeQueue struct {
	mu          sync.Mutex
	changed     sync.Cond
	mergedCount int      // number of results merged
	results     []func() // function that merges result i, at i modulo the room; nil: result i isn't there
	isMerging   bool
	hasEnded    bool
}

func newOrdered(room int) *mergeQueue {
	o := &mergeQueue{results: make([]func(), room)}
	o.changed.L = &o.mu
	return o
}

// wait waits until there is room for result i, and returns true. It returns false after end.
func (o *mergeQueue) wait(i int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i >= o.mergedCount+len(o.results) && !o.hasEnded {
		o.changed.Wait()
	}
	return !o.hasEnded
}

// end makes all waits return false.
func (o *mergeQueue) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hasEnded = true
	o.changed.Broadcast()
}

// put merges the results that are next, unless another call does so. A long merge doesn't block wait.
func (o *mergeQueue) put(i int, merge func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.results[i%len(o.results)] = merge
	for !o.isMerging && o.results[o.mergedCount%len(o.results)] != nil {
		o.mergeNext()
	}
}

// mergeNext merges the next result. The caller holds the lock, which it gives back for that time. If the merge panics, wait
// returns false.
func (o *mergeQueue) mergeNext() {
	k := o.mergedCount % len(o.results)
	merge, merged := o.results[k], false
	o.isMerging = true
	o.mu.Unlock()
	defer func() {
		o.mu.Lock()
		o.isMerging, o.results[k] = !merged, nil
		o.mergedCount++
		o.hasEnded = o.hasEnded || !merged
		o.changed.Broadcast()
	}()
	merge()
	merged = true
}
