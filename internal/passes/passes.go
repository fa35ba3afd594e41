// Package passes makes passes over rows where the rows are read: in this process, or in other processes.
//
// A Pass computes a result for each chunk of 4,096 rows, and merges the results in row order. A learner needs nothing
// else. A Task computes a result for each piece of the rows, such as a shard, and an OwnTask from numbers that this
// process keeps for each row. A View is a change of rows, such as other sample weights. Each has a name, so that a
// process of the same program finds it.
//
// A source whose rows other processes read is a block.Remote. Tasks and views are pure functions of their rows and
// arguments: any process may compute a piece, and more than once, with the same result.
package passes

import (
	"context"

	"halfspace/internal/block"
	"halfspace/internal/parallel"
)

// InProcess tells whether this process makes the passes over the rows of src.
func InProcess(src block.Source) bool {
	cluster, _ := block.RemoteOf(src)
	return cluster == nil
}

// A Pass computes a result of type R from arguments of type A and the rows of a chunk.
type Pass[A, R any] struct {
	of   func(block.Source, A) func(block.Chunk) R
	task *task
}

// New registers a pass under a name. Call it at program start: all processes must have the same passes. of returns the
// function that computes the result of a chunk. of takes the source of the chunks, which describes their columns; in
// another process it has only some of the rows.
func New[A, R any](name string, of func(block.Source, A) func(block.Chunk) R) *Pass[A, R] {
	return &Pass[A, R]{of, newTask(name, nil, func(ctx context.Context, piece Piece, args A) (results []R, err error) {
		part := of(piece.Source, args)
		err = block.MergeChunks(ctx, piece.Source, piece.Workers, func(chunk block.Chunk) func() {
			r := part(chunk)
			return func() { results = append(results, r) }
		})
		return results, err
	})}
}

// Reduce makes the pass over the rows of src. It calls merge with the result of each chunk, one at a time and in row
// order. In this process, it computes on up to workers goroutines, as block.ReduceChunks does.
func (p *Pass[A, R]) Reduce(ctx context.Context, src block.Source, workers int, args A, merge func(R)) error {
	return p.task.reduce(ctx, src, workers, args, func() func(chunk block.Chunk) func() {
		part := p.of(src, args)
		return func(chunk block.Chunk) func() {
			r := part(chunk)
			return func() { merge(r) }
		}
	}, func(results any) error {
		for _, r := range results.([]R) {
			merge(r)
		}
		return nil
	})
}

// reduce is Pass.Reduce for any types, compiled once: parts returns the function of a chunk in this process, and add
// merges the results of a piece that another process computed.
func (t *task) reduce(ctx context.Context, src block.Source, workers int, args any, parts func() func(block.Chunk) func(),
	add func(results any) error) error {
	if InProcess(src) {
		return block.MergeChunks(ctx, src, workers, parts())
	}
	if _, err := parallel.Resolve(workers); err != nil {
		return err
	}
	return t.each(ctx, src, args, Consecutive(src.Rows()), nil, add)
}

// fingerprintPass hashes each chunk.
var fingerprintPass = New("block.fingerprint", func(block.Source, struct{}) func(block.Chunk) uint64 { return block.HashChunk })

// Fingerprint is block.Fingerprint, of rows that any process reads.
func Fingerprint(ctx context.Context, src block.Source, workers int) (string, error) {
	return block.FingerprintOf(src.Spec().Cols(), func(add func(hash uint64)) error {
		return fingerprintPass.Reduce(ctx, src, workers, struct{}{}, add)
	})
}
