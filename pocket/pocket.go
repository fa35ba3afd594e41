// Package pocket judges candidate weights on a whole data set, in parallel, and keeps the best.
//
// The pocket algorithm (Gallant, "Perceptron-based learning algorithms", 1990) runs the perceptron and keeps aside the
// weights that make the fewest errors. The perceptron's path doesn't depend on what is kept, so candidates are collected
// and judged in batches, each pass over the rows judging all of them.
package pocket

import (
	"context"

	"halfspace/block"
	"halfspace/kernel"
)

// Errors counts, for each candidate, the rows whose prediction (+1 where the score is > 0, else -1) isn't their label.
// Candidates have the length of a block's Stride. The counts don't depend on the number of workers.
func Errors[T kernel.Float](ctx context.Context, src block.Source[T], candidates [][]T, workers int) ([]int64, error) {
	totals := make([]int64, len(candidates))
	count := func(r block.Run[T]) []int64 {
		var buf [block.RunRows]T
		scores := buf[:r.Len()]
		counts := make([]int64, len(candidates))
		for i, w := range candidates {
			r.Scores(w, scores)
			counts[i] = disagreements(scores, r.Y)
		}
		return counts
	}
	err := block.ReduceRuns(ctx, src, workers, count, func(counts []int64) {
		for i, n := range counts {
			totals[i] += n
		}
	})
	return totals, err
}

func disagreements[T kernel.Float](scores, y []T) int64 {
	n := int64(0)
	for i, s := range scores {
		if (s > 0) != (y[i] > 0) {
			n++
		}
	}
	return n
}

// batch is how many candidates one pass over the rows judges.
const batch = 32

// A Pocket keeps the first of the candidates with the fewest errors. The zero vector is the first candidate.
type Pocket[T kernel.Float] struct {
	src     block.Source[T]
	workers int
	waiting []Candidate[T]
	best    Candidate[T]
}

// A Candidate is the weights after an update.
type Candidate[T kernel.Float] struct {
	Weights []T
	Update  int64 // number of the update, from 1; 0 for the initial zeros
	Visits  int64 // rows visited so far
	Errors  int64
}

// New returns a pocket that holds the zero vector of length stride.
func New[T kernel.Float](ctx context.Context, src block.Source[T], stride, workers int) (*Pocket[T], error) {
	zero := make([]T, stride)
	counts, err := Errors(ctx, src, [][]T{zero}, workers)
	if err != nil {
		return nil, err
	}
	return &Pocket[T]{src: src, workers: workers, best: Candidate[T]{Weights: zero, Errors: counts[0]}}, nil
}

// Best returns the best candidate of those judged so far.
func (p *Pocket[T]) Best() Candidate[T] { return p.best }

// Offer adds a copy of w as a candidate, and judges those that wait once they make a batch.
func (p *Pocket[T]) Offer(ctx context.Context, w []T, update, visits int64) error {
	p.waiting = append(p.waiting, Candidate[T]{Weights: append([]T(nil), w...), Update: update, Visits: visits})
	if len(p.waiting) < batch {
		return nil
	}
	return p.Judge(ctx)
}

// Judge judges the candidates that wait, in the order in which they came.
func (p *Pocket[T]) Judge(ctx context.Context) error {
	if len(p.waiting) == 0 {
		return nil
	}
	weights := make([][]T, len(p.waiting))
	for i, c := range p.waiting {
		weights[i] = c.Weights
	}
	counts, err := Errors(ctx, p.src, weights, p.workers)
	if err != nil {
		return err
	}
	for i, n := range counts {
		if n < p.best.Errors {
			p.best = p.waiting[i]
			p.best.Errors = n
		}
	}
	p.waiting = p.waiting[:0]
	return nil
}
