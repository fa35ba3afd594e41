package predict

import (
	"context"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/model"
)

// A Scorer scores rows: above 0 is the positive class. It isn't safe for concurrent use.
type Scorer[T kernel.Float] interface {
	// Scores returns the score of every row of b. They are valid until the next call.
	Scores(b *block.Block[T]) []T
}

// New returns the scorer of a model of two classes: its voters if it has some, else its weights. T is the type that m.Dtype names.
// Rows are put to the vote on up to workers goroutines.
func New[T kernel.Float](m *model.Model, workers int) Scorer[T] {
	if m.Voters == nil {
		return NewLinear[T](m)
	}
	return &voted[T]{votes: NewVotes(model.VoterVectors[T](m), m.Voters.Counts), workers: workers}
}

// Votes are vectors of weights of which each has votes (Freund and Schapire 1999). They are safe for concurrent use.
type Votes[T kernel.Float] struct {
	w      []T
	stride int
	counts []int64
	total  int64
}

// NewVotes returns the voters w, one for each count, each of a block's stride. It keeps both.
func NewVotes[T kernel.Float](w []T, counts []int64) *Votes[T] {
	v := &Votes[T]{w: w, stride: len(w) / len(counts), counts: counts}
	for _, n := range counts {
		v.total += n
	}
	return v
}

// Scores sets out, for each row of b, to the share of the votes for +1 less that for -1: each voter is for +1 where its score is
// above 0, and else for -1.
func (v *Votes[T]) Scores(b *block.Block[T], out []T) {
	panel := kernel.PanelRows[T](v.stride)
	scores := make([]T, min(panel, len(v.counts)))
	for r := range out {
		votes := int64(0)
		for lo := 0; lo < len(v.counts); lo += panel {
			hi := min(len(v.counts), lo+panel)
			part := scores[:hi-lo]
			v.score(b, r, v.w[lo*v.stride:hi*v.stride], part)
			for i, s := range part {
				if s > 0 {
					votes += v.counts[lo+i]
				} else {
					votes -= v.counts[lo+i]
				}
			}
		}
		out[r] = T(float64(votes) / float64(v.total))
	}
}

// score scores row r with some voters. To the kernel these are the rows, and the row is the weights: the products and their order
// are the same.
func (v *Votes[T]) score(b *block.Block[T], r int, w, out []T) {
	if b.Sparse == nil {
		kernel.Scores(w, b.X[r*b.Stride:(r+1)*b.Stride], out)
		return
	}
	for i := range out {
		out[i] = b.Sparse.Score(r, w[i*v.stride:(i+1)*v.stride])
	}
}

// A voted is the scorer of a model with voters.
type voted[T kernel.Float] struct {
	votes   *Votes[T]
	workers int
	scores  []T
}

func (v *voted[T]) Scores(b *block.Block[T]) []T {
	if v.scores = v.scores[:0]; cap(v.scores) < b.Len() {
		v.scores = make([]T, b.Len())
	}
	v.scores = v.scores[:b.Len()]
	tasks := (b.Len() + voteRows - 1) / voteRows
	// Without an error: the context has none.
	block.Parallel(context.Background(), v.workers, tasks, func(_, task int) {
		lo, hi := task*voteRows, min(b.Len(), (task+1)*voteRows)
		v.votes.Scores(b.Slice(lo, hi), v.scores[lo:hi])
	})
	return v.scores
}

// voteRows is how many rows one goroutine puts to the vote at a time.
const voteRows = 64
