// Package pocket judges candidate weights on a whole data set, in parallel, and keeps the best.
//
// The pocket algorithm (Gallant, "Perceptron-based learning algorithms", 1990) runs the perceptron and keeps aside the
// weights that make the fewest errors. The perceptron's path doesn't depend on what is kept, so candidates are collected
// and judged in batches, each pass over the rows judging all of them.
package pocket

import (
	"context"
	"math"
	"slices"
	"unsafe"

	"halfspace/block"
	"halfspace/kernel"
)

// Errors counts, for each candidate, the rows whose prediction (+1 where the score is > 0, else -1) isn't their label.
// w holds the candidates, each of a block's stride, one after the other. The counts don't depend on the number of
// workers.
func Errors[T kernel.Float](ctx context.Context, src block.Source[T], w []T, workers int) ([]int64, error) {
	j := newJudge(src, workers)
	j.begin(w)
	err := j.pass(ctx, selection{}, math.MaxInt64)
	return j.counts, err
}

// A Pocket keeps the first of the candidates with the fewest errors. The zero vector is the first candidate.
//
// What is kept is what the literal algorithm keeps, which counts the errors of each candidate on all rows as it comes.
// Candidates are judged in batches, in the order in which they came, and dropped once the errors found on some of the rows are
// as many as the best one's on all of them before the batch: their own on all rows are no fewer, and by the time their turn
// comes the best one, which came earlier, has no more of them. Only a candidate with fewer errors replaces it.
type Pocket[T kernel.Float] struct {
	judge   *judge[T]
	hard    *hardRows[T]
	best    Candidate[T]
	waiting []Candidate[T] // without their weights, which stand in w
	w       []T
	judged  int64
}

// A Candidate is the weights after an update.
type Candidate[T kernel.Float] struct {
	Weights []T
	Update  int64 // number of the update, from 1; 0 for the initial zeros
	Visits  int64 // rows visited so far
	Errors  int64
}

const (
	leastBatch = 8    // candidates of the first batch
	mostBatch  = 1024 // candidates that are judged together at most
	batchBytes = 1 << 20
)

// New returns a pocket that holds the zero vector, for which every row is -1.
func New[T kernel.Float](ctx context.Context, src block.Source[T], workers int) (*Pocket[T], error) {
	hard, positive, err := newHardRows(ctx, src, workers)
	if err != nil {
		return nil, err
	}
	p := &Pocket[T]{judge: newJudge(src, workers), hard: hard}
	p.best = Candidate[T]{Weights: make([]T, p.judge.stride), Errors: positive}
	return p, nil
}

// Best returns the best candidate of those judged so far.
func (p *Pocket[T]) Best() Candidate[T] { return p.best }

// Judged returns how many candidates were judged, and how many rows were scored for that, counting a row once for each
// candidate that it was scored for: at most the product of rows and candidates.
func (p *Pocket[T]) Judged() (candidates, rows int64) { return p.judged, p.judge.scored }

// Offer adds a copy of w as a candidate, and judges those that wait once they make a batch.
func (p *Pocket[T]) Offer(ctx context.Context, w []T, update, visits int64) error {
	p.waiting = append(p.waiting, Candidate[T]{Update: update, Visits: visits})
	p.w = append(p.w, w...)
	if len(p.waiting) < p.batch() {
		return nil
	}
	return p.Judge(ctx)
}

// batch returns how many candidates make a batch: as many as were judged before, since the first ones get better fast and
// none is dropped for a better one of its batch.
func (p *Pocket[T]) batch() int {
	most := min(mostBatch, batchBytes/len(p.best.Weights)/int(unsafe.Sizeof(T(0))))
	return max(leastBatch, int(min(p.judged, int64(most))))
}

// Judge judges the candidates that wait.
func (p *Pocket[T]) Judge(ctx context.Context) error {
	if len(p.waiting) == 0 {
		return nil
	}
	counts, err := p.count(ctx)
	if err != nil {
		return err
	}
	for i, n := range counts {
		if n < p.best.Errors {
			p.best = p.waiting[i]
			p.best.Errors = n
			p.best.Weights = slices.Clone(p.w[i*p.judge.stride : (i+1)*p.judge.stride])
		}
	}
	p.judged += int64(len(p.waiting))
	p.waiting, p.w = p.waiting[:0], p.w[:0]
	return nil
}

// count counts the errors of the candidates that wait, as far as they are fewer than the best one's.
func (p *Pocket[T]) count(ctx context.Context) ([]int64, error) {
	parts, err := p.hard.parts(ctx, p.w, p.best.Errors)
	if err != nil {
		return nil, err
	}
	p.judge.begin(p.w)
	last := int64(0) // scored of the last part
	for _, rows := range parts {
		before := p.judge.scored
		if err := p.judge.pass(ctx, rows, p.best.Errors); err != nil {
			return nil, err
		}
		last = p.judge.scored - before
	}
	p.hard.easy += last
	return p.judge.counts, nil
}
