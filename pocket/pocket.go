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
// w holds the candidates, each of a block's stride, one after the other. The counts don't depend on the number of
// workers.
func Errors[T kernel.Float](ctx context.Context, src block.Source[T], w []T, workers int) ([]int64, error) {
	candidates := kernel.NewCandidates(w, src.Spec().Cols())
	totals := make([]int64, candidates.Len())
	count := func(r block.Run[T]) []int64 {
		counts := make([]int64, len(totals))
		r.Errors(candidates, counts)
		return counts
	}
	err := block.ReduceRuns(ctx, src, workers, count, func(counts []int64) {
		for i, n := range counts {
			totals[i] += n
		}
	})
	return totals, err
}

// batch is how many candidates one pass over the rows judges.
const batch = 32

// A Pocket keeps the first of the candidates with the fewest errors. The zero vector is the first candidate.
type Pocket[T kernel.Float] struct {
	src     block.Source[T]
	workers int
	stride  int
	best    Candidate[T]
	waiting []Candidate[T] // without their weights, which stand in w
	w       []T
}

// A Candidate is the weights after an update.
type Candidate[T kernel.Float] struct {
	Weights []T
	Update  int64 // number of the update, from 1; 0 for the initial zeros
	Visits  int64 // rows visited so far
	Errors  int64
}

// New returns a pocket that holds the zero vector.
func New[T kernel.Float](ctx context.Context, src block.Source[T], workers int) (*Pocket[T], error) {
	p := &Pocket[T]{src: src, workers: workers, stride: kernel.Stride[T](src.Spec().Cols())}
	zero := make([]T, p.stride)
	counts, err := Errors(ctx, src, zero, workers)
	if err != nil {
		return nil, err
	}
	p.best = Candidate[T]{Weights: zero, Errors: counts[0]}
	return p, nil
}

// Best returns the best candidate of those judged so far.
func (p *Pocket[T]) Best() Candidate[T] { return p.best }

// Offer adds a copy of w as a candidate, and judges those that wait once they make a batch.
func (p *Pocket[T]) Offer(ctx context.Context, w []T, update, visits int64) error {
	p.waiting = append(p.waiting, Candidate[T]{Update: update, Visits: visits})
	p.w = append(p.w, w...)
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
	counts, err := Errors(ctx, p.src, p.w, p.workers)
	if err != nil {
		return err
	}
	for i, n := range counts {
		if n < p.best.Errors {
			p.best = p.waiting[i]
			p.best.Errors = n
			p.best.Weights = append([]T(nil), p.w[i*p.stride:(i+1)*p.stride]...)
		}
	}
	p.waiting, p.w = p.waiting[:0], p.w[:0]
	return nil
}
