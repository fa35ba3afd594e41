package predict

import (
	"context"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/model"
)

// Votes are vectors of weights. Each has a number of votes (Freund and Schapire 1999). They are safe for concurrent
// use.
type Votes struct {
	w      []float32
	stride int
	counts []int64
	total  int64
}

// NewVotes returns the voters w, one for each count, each of a block's stride. It keeps both slices. It panics with a
// constant if there are no counts, or if w and counts don't have the same number of voters.
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

// newVotes returns the voters of a model: all in one for two classes, else those of each class.
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

// Scores sets out, for each row of b, to the share of the votes for +1 less that for -1. A voter votes for +1 if its
// score is above 0, else for -1. If the row has a NaN, for a missing value, so has out.
func (v *Votes) Scores(b *block.Block, out []float32) {
	scores := make([]float32, v.panel())
	for r := range out {
		out[r] = v.score(b, r, scores)
	}
}

// panel returns the number of voters that score a row at a time.
func (v *Votes) panel() int { return min(kernel.PanelRows(v.stride), len(v.counts)) }

// score returns the score of row r of b, as Scores does. scores has room for a panel of voters.
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
	if s := scores[(len(v.counts)-1)%panel]; s != s { // the last voter's: NaN in the row makes all of them NaN
		return s
	}
	return float32(float64(votes) / float64(v.total))
}

// parallel is Scores on that many workers.
func (v *Votes) parallel(ctx context.Context, b *block.Block, out []float32, workers int) error {
	tasks := (b.Len() + voteRows - 1) / voteRows
	return parallel.For(ctx, workers, tasks, func(_, task int) {
		lo, hi := task*voteRows, min(b.Len(), (task+1)*voteRows)
		v.Scores(b.Slice(lo, hi), out[lo:hi])
	})
}

// voteRows is the number of rows that a goroutine scores at a time.
const voteRows = 64
