package pocket

import (
	"context"

	"halfspace/internal/block"
	"halfspace/internal/passes"
)

// errorsPass counts the errors of candidates in each chunk. Its arguments are the candidates' weights.
var errorsPass = passes.New("pocket.errors", errorsOfChunk)

// chunkErrors are the errors of each candidate in a chunk.
type chunkErrors struct {
	tallies  []tally
	total    float64 // sum of the sample weights of all rows
	noLabels bool
}

func (r *chunkErrors) Fields() []any { return []any{&r.tallies, &r.total, &r.noLabels} }

func errorsOfChunk(src block.Source, weights []float64) func(block.Chunk) chunkErrors {
	j, w := newJudge(src, 1), make([]float32, len(weights))
	for i, v := range weights {
		w[i] = float32(v)
	}
	j.begin(w)
	return func(chunk block.Chunk) (e chunkErrors) {
		switch {
		case chunk.Y == nil:
			e.noLabels = true
		case chunk.W != nil:
			e.tallies = j.wrongRows(chunk.Block)
			for _, v := range chunk.W {
				e.total += v
			}
		default:
			counts := make([]int64, len(j.remainingCandidates))
			chunk.Errors(j.errorCounter, counts)
			for _, n := range counts {
				e.tallies = append(e.tallies, tally{n, float64(n)})
			}
			e.total = float64(chunk.Len())
		}
		return e
	}
}

// countRemote counts the errors of the candidates on all rows, and sums their sample weights, in the processes that read
// the rows. It drops no candidate. It returns the sum of the sample weights of all rows.
func (j *judge) countRemote(ctx context.Context) (total float64, err error) {
	weights, noLabels := make([]float64, len(j.w)), false
	for i, v := range j.w {
		weights[i] = float64(v)
	}
	err = errorsPass.Reduce(ctx, j.src, j.workers, weights, func(e chunkErrors) {
		for i, t := range e.tallies {
			j.counts[i] += t.rows
			j.weights[i] += t.weight
		}
		total += e.total
		noLabels = noLabels || e.noLabels
	})
	if err == nil && noLabels {
		err = block.ErrNoLabels
	}
	j.scoreCount += j.src.Rows() * int64(len(j.remainingCandidates))
	return total, err
}
