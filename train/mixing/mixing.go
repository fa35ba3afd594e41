// Package mixing cuts rows into shards, and mixes the weights that learn from them.
//
// Iterative parameter mixing (McDonald, Hall and Mann, "Distributed Training Strategies for the Structured Perceptron",
// NAACL 2010): in each epoch, every shard makes one pass over its rows, from the same weights. The mean of what the
// shards have then is what the next epoch begins with. The number of shards is an option of the training, and not the
// number of workers. So the result doesn't depend on the computer.
package mixing

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"halfspace/block"
	"halfspace/internal/say"
	"halfspace/train"
)

// Deal returns the runs of each shard in an epoch: their numbers, ascending. A run is block.RunRows rows. Shards get as
// many runs as equal numbers allow, the later ones those that are left over.
//
// In file order each shard has runs that follow each other, the same in each epoch. For the other orders the runs are
// permuted first, by Fisher and Yates with a PCG generator. Its first word is opt.Seed. Its second is the complement of
// the epoch's number, which is 0 for train.FixedShuffle. It is an error if there are fewer runs than shards.
func Deal(rows int64, opt *train.Options, epoch int64) ([][]int64, error) {
	runs := make([]int64, (rows+block.RunRows-1)/block.RunRows)
	shards := int(max(1, opt.Shards))
	if len(runs) < shards {
		most := "1 shard"
		if len(runs) > 1 {
			most = fmt.Sprintf("%d shards or fewer", len(runs))
		}
		return nil, fmt.Errorf("%s make %s of %s, and there are %s shards: use %s", say.Plural(rows, "row"), say.Plural(int64(len(runs)), "run"),
			say.Count(block.RunRows), say.Count(int64(shards)), most)
	}
	for i := range runs {
		runs[i] = int64(i)
	}
	if opt.Order != train.Cyclic && shards > 1 {
		if opt.Order == train.FixedShuffle {
			epoch = 0
		}
		rng := rand.NewPCG(opt.Seed, ^uint64(epoch))
		for i := len(runs) - 1; i > 0; i-- {
			j := train.Draw(rng, uint64(i)+1)
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

// Stream returns the number that takes the place of an epoch's in the random choices of a shard. Those of shard 0 are
// the choices of a training without shards.
func Stream(shard int, epoch int64) int64 { return int64(shard)<<32 + epoch }

// A Part is what a shard made of an epoch.
type Part struct {
	Weights []float32   // at its end, with the stride of a block
	Sum     []float64   // of the weights after each visit; nil unless the training averages them
	State   [][]float64 // other vectors that the training mixes, see MeanState; nil if there are none
	Loss    float64     // sum of the losses of the visits; 0 if the training doesn't use it
	Visits  int64
	Updates int64
	Clean   bool // no row of the shard would change the weights that the epoch began with
}

// Mix writes the mean of the weights of the parts to w. With train.Uniform they have equal shares. With train.Mistakes
// the share of a part is its share of the updates; without any update w stays. Sums are made in float64 in the order of
// the parts. Mix returns the sum over the parts of their updates, each times the part's share. Theorem 3 of the paper
// bounds the sum of that over the epochs by R^2/rho^2.
func Mix(w []float32, parts []Part, mix train.Mix) (updates float64) {
	shares, all := make([]float64, len(parts)), 0.0
	for s, p := range parts {
		shares[s] = 1
		if mix == train.Mistakes {
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

// MeanState returns the mean over the parts of vector i of their states, in a new slice. All parts have equal shares, and there
// is one or more. Sums are made in the order of the parts.
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
