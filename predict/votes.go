package predict

import (
	"context"

	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// Votes are vectors of weights, each with a number of votes (Freund and Schapire 1999). They are safe for concurrent
// use.
type Votes struct {
	w      []float32
	stride int
	counts []int64
	total  int64
}

// NewVotes returns Votes of the vectors w, one for each count, each with the stride of a block. It keeps both slices.
// It panics with a constant if there are no counts, or if w doesn't have one vector for each count.
func NewVotes(w []float32, counts []int64) *Votes {
	if len(counts) == 0 || len(w)%len(counts) != 0 {
		panic("predict: w and counts have different numbers of voters")
	}
	v := &Votes{w: w, stride: len(w) / len(counts), counts: counts}
	for _, n := range counts {
		v.total += n
	}
	return v
}

// newVotes returns the voters of a model: one Votes for two classes, and otherwise one for each class.
func newVotes(m *model.Model) []*Votes {
	w, counts := model.VoterVectors(m), m.Voters.Counts
	stride, sizes := len(w)/len(counts), m.Voters.Sizes
	if sizes == nil {
		sizes = []int{len(counts)}
	}
	var votes []*Votes
	for _, n := range sizes {
		votes = append(votes, NewVotes(w[:n*stride], counts[:n]))
		w, counts = w[n*stride:], counts[n:]
	}
	return votes
}

// Scores sets out, for each row of b, to the share of the votes for +1 minus the share of the votes for -1. A voter
// votes for +1 if its score is above 0, and for -1 otherwise. If a row has a NaN, for a missing value, its element of
// out is NaN.
func (v *Votes) Scores(b *block.Block, out []float32) {
	scores := make([]float32, v.panel())
	for r := range out {
		out[r] = v.score(b, r, scores)
	}
}

// panel returns the number of voters that score a row at a time.
func (v *Votes) panel() int { return min(kernel.PanelRows(v.stride), len(v.counts)) }

// score returns the score of row r of b, as Scores does. scores is work memory for the scores of a panel of voters.
func (v *Votes) score(b *block.Block, r int, scores []float32) float32 {
	votes, panel := int64(0), v.panel()
	for lo := 0; lo < len(v.counts); lo += panel {
		hi := min(len(v.counts), lo+panel)
		part := scores[:hi-lo]
		b.RowScores(r, v.w[lo*v.stride:hi*v.stride], part)
		for i, s := range part {
			if s > 0 {
				votes += v.counts[lo+i]
			} else {
				votes -= v.counts[lo+i]
			}
		}
	}
	if s := scores[(len(v.counts)-1)%panel]; s != s { // the last voter's score: a NaN in the row makes all scores NaN
		return s
	}
	return float32(float64(votes) / float64(v.total))
}

// scoreParallel is Scores on workers goroutines.
func (v *Votes) scoreParallel(ctx context.Context, b *block.Block, out []float32, workers int) error {
	tasks := (b.Len() + voteRows - 1) / voteRows
	return parallel.For(ctx, workers, tasks, func(_, task int) {
		lo, hi := task*voteRows, min(b.Len(), (task+1)*voteRows)
		v.Scores(b.Slice(lo, hi), out[lo:hi])
	})
}

// voteRows is the number of rows that a goroutine scores at a time.
const voteRows = 64
