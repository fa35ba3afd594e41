// Package mixing cuts rows into shards, and mixes the weights that the shards learn.
//
// It does iterative parameter mixing (McDonald, Hall and Mann, "Distributed Training Strategies for the Structured
// Perceptron", NAACL 2010). In each epoch, every shard makes one pass over its rows, from the same weights. The next
// epoch begins with the mean of the shards' weights. The number of shards is an option of the training, not the number
// of workers. So the result doesn't depend on the computer.
package mixing

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"halfspace/block"
	"halfspace/internal/humanize"
	"halfspace/train/learner"
)

// Deal returns the runs of each shard in an epoch: their numbers, ascending. A run is block.ChunkRows rows. Of n runs in
// order, shard s gets the runs s*n/shards to (s+1)*n/shards-1, so the numbers of runs of two shards differ by at most
// 1.
//
// In file order, the order of the runs is the same in each epoch, and the runs of a shard follow each other. For the
// other orders the runs are permuted first, by Fisher and Yates with a PCG generator. Its first word is opt.Seed. Its
// second word is the complement of the epoch's number, and of 0 for learner.FixedShuffle. Deal returns an error if there
// are fewer runs than shards.
func Deal(rows int64, opt *learner.Options, epoch int64) ([][]int64, error) {
	runs := make([]int64, (rows+block.ChunkRows-1)/block.ChunkRows)
	shards := int(max(1, opt.Shards))
	if len(runs) < shards {
		most := "1 shard"
		if len(runs) > 1 {
			most = fmt.Sprintf("%d shards or fewer", len(runs))
		}
		return nil, fmt.Errorf("%s make %s of %s, and there are %s shards: use %s", humanize.Plural(rows, "row"), humanize.Plural(int64(len(runs)), "run"),
			humanize.Count(block.ChunkRows), humanize.Count(int64(shards)), most)
	}
	for i := range runs {
		runs[i] = int64(i)
	}
	if opt.Order != learner.Cyclic && shards > 1 {
		if opt.Order == learner.FixedShuffle {
			epoch = 0
		}
		rng := rand.NewPCG(opt.Seed, ^uint64(epoch))
		for i := len(runs) - 1; i > 0; i-- {
			j := learner.Draw(rng, uint64(i)+1)
			runs[i], runs[j] = runs[j], runs[i]
		}
	}
	dealt := make([][]int64, shards)
	for s := range dealt {
		dealt[s] = runs[s*len(runs)/shards : (s+1)*len(runs)/shards]
		slices.Sort(dealt[s])
	}
	return dealt, nil
}

// Stream returns the number that replaces the epoch's number in the random choices of a shard. For shard 0 it is the
// epoch's number, so shard 0 makes the same choices as a training without shards.
func Stream(shard int, epoch int64) int64 { return int64(shard)<<32 + epoch }

// A Part is the result of one shard in one epoch.
type Part struct {
	Weights []float32   // weights at the end of the epoch, with the stride of a block
	Sum     []float64   // sum of the weights after each visit; nil unless the training averages weights
	State   [][]float64 // other vectors that the training mixes, see MeanState; nil: none
	Loss    float64     // sum of the losses of the visits; 0 if the training doesn't use it
	Visits  int64
	Updates int64
	Clean   bool // no row of the shard would change the weights with which the epoch began
}

// Mix writes the mean of the weights of the parts to w. With learner.Uniform the parts have equal shares. With
// learner.Mistakes the share of a part is its share of the updates. Without any update, w stays the same. Sums are made
// in float64 in the order of the parts. Mix returns the sum over the parts of updates times share. The sum of the
// returned numbers over the epochs is at most R^2/rho^2 (theorem 3 of McDonald, Hall and Mann).
func Mix(w []float32, parts []Part, mix learner.Mix) (updates float64) {
	shares, all := make([]float64, len(parts)), 0.0
	for s, p := range parts {
		shares[s] = 1
		if mix == learner.Mistakes {
			shares[s] = float64(p.Updates)
		}
		updates += float64(shares[s] * float64(p.Updates))
		all += shares[s]
	}
	if all == 0 || updates == 0 {
		return 0
	}
	for i := range w {
		sum := 0.0
		for s, p := range parts {
			sum += float64(shares[s] * float64(p.Weights[i]))
		}
		w[i] = float32(sum / all)
	}
	return updates / all
}

// MeanState returns the mean over the parts of vector i of State, in a new slice. All parts have equal shares. There
// must be one part or more. Sums are made in the order of the parts.
func MeanState(parts []Part, i int) []float64 {
	mean := make([]float64, len(parts[0].State[i]))
	for _, p := range parts {
		for c, v := range p.State[i] {
			mean[c] += v
		}
	}
	for c := range mean {
		mean[c] /= float64(len(parts))
	}
	return mean
}
