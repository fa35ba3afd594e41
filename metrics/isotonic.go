package metrics

import (
	"cmp"
	"slices"
)

// Isotonic returns the isotonic regression of the classes on the scores: the ascending probabilities p with the least
// sum of squares of 1 - p for positive rows and p for other rows. It uses the pool-adjacent-violators algorithm (Ayer
// et al. 1955; Zadrozny and Elkan 2002). Equal scores have equal probabilities.
//
// scores are ascending, no two equal, and probabilities belong to them. Between two scores the probability is linear;
// outside the scores it is the probability of the nearest score. Scores between two scores of the same probability are
// left out. Rows of weight 0 don't count. Without other rows, Isotonic returns nil.
func Isotonic(rows *Rows) (scores, probabilities []float64) {
	all := ties(rows)
	pools := all[:0] // never longer than the part of all that was read
	for _, p := range all {
		for n := len(pools); n > 0 && pools[n-1].mean() >= p.mean(); n = len(pools) {
			p.weight += pools[n-1].weight
			p.positive += pools[n-1].positive
			p.low, pools = pools[n-1].low, pools[:n-1]
		}
		pools = append(pools, p)
	}
	for _, p := range pools {
		scores, probabilities = append(scores, p.low), append(probabilities, p.mean())
		if p.high > p.low {
			scores, probabilities = append(scores, p.high), append(probabilities, p.mean())
		}
	}
	return scores, probabilities
}

// A pool is rows of consecutive scores that have the same probability.
type pool struct {
	low, high        float64
	weight, positive float64 // weight of all rows, and of the positive rows
}

func (p pool) mean() float64 { return p.positive / p.weight }

// IsotonicBytes is the most bytes of memory of Isotonic for each row, without its results: an index and a pool.
const IsotonicBytes = 8 + 32

// ties returns a pool for each different score, in ascending order. It leaves out rows of weight 0.
func ties(rows *Rows) []pool {
	order := make([]int, len(rows.Scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(rows.Scores[a], rows.Scores[b]), cmp.Compare(a, b))
	})
	scores := 0
	for k, i := range order {
		if k == 0 || rows.Scores[i] != rows.Scores[order[k-1]] {
			scores++
		}
	}
	pools := make([]pool, 0, scores)
	for _, i := range order {
		s, w := float64(rows.Scores[i]), rows.weight(i)
		if w == 0 {
			continue
		}
		if n := len(pools); n == 0 || pools[n-1].low != s {
			pools = append(pools, pool{low: s, high: s})
		}
		p := &pools[len(pools)-1]
		if p.weight += w; rows.Positive[i] {
			p.positive += w
		}
	}
	return pools
}
