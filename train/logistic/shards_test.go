package logistic

import (
	"context"
	"math"
	"runtime"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/internal/online"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// sparseWords returns sparse rows of a few words, in the blocks of a whole data set.
func sparseWords(rows, words, classes int) *block.Data {
	few := testproblems.Sparse(wordRows(150, words, classes))
	each, blocks := block.Rows(words+1), []*block.Block{}
	for b := range few.Blocks(context.Background()) {
		for r := range rows {
			if r%each == 0 {
				blocks = append(blocks, block.NewSparseFor(few.Spec(), int64(r), each, 0))
			}
			blocks[len(blocks)-1].AppendRow(b, (r+r/150)%150)
		}
	}
	return block.NewData(few.Spec(), blocks)
}

// denseRows returns the dense form of sparse rows in one block.
func denseRows(d *block.Data) *block.Data {
	dense := block.NewFor(d.Spec(), 0, int(d.Rows()))
	for b := range d.Blocks(context.Background()) {
		for r := range b.Len() {
			b.Axpy(dense.X[(int(b.First)+r)*dense.Stride:][:dense.Stride], 1, r)
		}
		copy(dense.Y[b.First:], b.Y)
		copy(dense.W[min(int(b.First), len(dense.W)):], b.W)
	}
	return block.NewData(d.Spec(), []*block.Block{dense})
}

// mixedSteps makes the epochs of SGD with shards as the paper writes them: every shard takes steps on its own, and the next
// epoch begins with the mean of the states. It returns the exact weights and the number of steps.
func mixedSteps(t *testing.T, d *block.Data, opt Settings) ([]float64, int64) {
	src := require.Value(begin(t.Context(), d, &opt))(t)
	member := func() *descent {
		training := &online.Training{Task: &learner.Task{Settings: &opt}, Src: src}
		return require.Value(newDescent(t.Context(), training))(t).(*descent)
	}
	all, count, log := member(), int64(0), make([]uint32, block.ChunkRows)
	index := require.Value(d.Index())(t)
	shared := opt.Shared()
	for e := range opt.Epochs {
		var states [][][]float64
		for number, chunks := range require.Value(online.DealChunks(d.Rows(), &shared, e))(t) {
			var rows []uint32
			for _, chunk := range chunks {
				for r := chunk * block.ChunkRows; r < min(d.Rows(), (chunk+1)*block.ChunkRows); r++ {
					rows = append(rows, uint32(r))
				}
			}
			one := member()
			one.Begin(nil, all.Vectors())
			for _, window := range windowsOf(len(rows), opt, int64(number)<<32+e) {
				for lo := 0; lo < len(window); lo += batchRows {
					part := block.NewSparseFor(d.Spec(), 0, batchRows, 0)
					for _, id := range window[lo:min(len(window), lo+batchRows)] {
						b, r := index.At(rows[id])
						part.AppendRow(b, r)
					}
					_, steps, err := one.Visit(t.Context(), &online.Panel{Block: part, Hi: part.Len()}, log)
					require.NoError(t, err)
					count += int64(steps)
				}
			}
			states = append(states, one.Vectors())
		}
		mean := all.Vectors()
		for i, v := range mean {
			for c := range v {
				v[c] = 0
				for _, state := range states {
					v[c] += state[i][c]
				}
				v[c] /= float64(opt.Shards)
			}
		}
	}
	return all.compact(all.exactWeights()), count
}

// windowsOf returns the numbers of n rows in the order of an epoch, in windows.
func windowsOf(n int, opt Settings, stream int64) (windows [][]uint32) {
	if opt.Order == learner.Shuffle {
		p := learner.NewPermutation(n, opt.Seed, stream)
		for k := range p.Windows() {
			windows = append(windows, p.Rows(nil, k))
		}
		return windows
	}
	all := make([]uint32, n)
	for i := range all {
		all[i] = uint32(i)
	}
	return [][]uint32{all}
}

// TestShards compares stochastic gradient descent with shards with the literal algorithm, bit for bit: with batches and with many
// columns, rows in memory and in a file, with one worker and with several. Dense rows give the same weights.
func TestShards(t *testing.T) {
	for i, shape := range []struct {
		rows, words, classes int
		order                learner.Order
		shards               int64
	}{
		{9000, 12, 2, learner.Cyclic, 2}, {13_000, 9, 2, learner.Shuffle, 3}, {9000, 9, 3, learner.Shuffle, 2}, {9000, 9, 2, learner.Shuffle, 1},
		{8300, 1100, 2, learner.Shuffle, 2}, {8300, optimize.MaxColumns + 100, 2, learner.Cyclic, 3}, {8300, optimize.MaxColumns + 100, 3, learner.Shuffle, 2},
	} {
		d := sparseWords(shape.rows, shape.words, shape.classes)
		if i%2 == 0 {
			d = testproblems.Weighted(d, func(r int) float64 { return float64(r%4) / 2 })
		}
		opt := Settings{Options: Options{Epochs: 3, Order: shape.order, Shards: shape.shards, L2: 1, Solver: SGD}, Run: learner.Run{Seed: 5}}
		want, steps := mixedSteps(t, d, opt)
		file := require.OpenFile(cache.Temporary(t.Context(), d, nil))(t)
		sources := []block.Source{d, file}
		if shape.words < optimize.MaxColumns {
			sources = append(sources, denseRows(d))
		}
		for workers, src := range sources {
			opt.Workers = workers + 1
			r := require.Value(Train(t.Context(), src, opt))(t)
			if !slices.Equal(r.ExactWeights, want) || r.Updates != steps {
				t.Errorf("%+v, source %d: %d steps, want %d, to other weights", shape, workers, r.Updates, steps)
			}
		}
	}
}

// TestShardsNear: shards come as near to the optimum as one path does.
func TestShardsNear(t *testing.T) {
	for _, classes := range []int{2, 3} {
		d := testproblems.RandomClasses(20_000, 6, classes, 0.1)
		if classes == 2 {
			x, y := draw(20_000, 6, 4)
			d = testproblems.Dense(x, y, true)
		}
		for _, order := range []learner.Order{learner.Cyclic, learner.Shuffle} {
			r, err := Train(t.Context(), d, Settings{Options: Options{Order: order, Shards: 4, L2: 1, Solver: SGD}})
			if err != nil || !r.Converged || !(r.Gap <= convergedGapSGD*r.Objective) {
				t.Errorf("%s, %d classes: a gap of %v of %v, converged %t (error %v)", order, classes, r.Gap, r.Objective, r.Converged, err)
			}
		}
	}
}

// TestShardsFar: a column far from zero doesn't keep SGD from the optimum, in any order and with shards.
func TestShardsFar(t *testing.T) {
	far := testproblems.Logistic(9000, 3)
	for b := range far.Blocks(t.Context()) {
		for r := range b.Len() {
			b.X[r*b.Stride] = 1.7e9 + 128*float32(math.Round(float64(b.X[r*b.Stride])*50))
		}
	}
	for _, order := range learner.Orders {
		for _, shards := range []int64{1, 2} {
			r := mustTrain(t, far, Settings{Options: Options{Order: order, Shards: shards, Solver: SGD}})
			if !(r.Gap <= convergedGapSGD*r.Objective) || r.Weights[0] == 0 {
				t.Errorf("%s, %d shards: a gap of %v of %v, weights %v", order, shards, r.Gap, r.Objective, r.Weights)
			}
		}
	}
}

// TestShardsMemory: a shard that has taken its steps keeps no more memory than its ShardBytes count, and no less than a third.
func TestShardsMemory(t *testing.T) {
	live := func() uint64 {
		runtime.GC()
		runtime.GC() // which empties pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, features := range []int{200, 511, optimize.MaxColumns + 1} { // the last are too many for batches
		d := block.AssumeValid(testproblems.Logistic(100, features))
		opt := Settings{Options: Options{Order: learner.Cyclic, Eta: 1, Shards: 16, L2: 1, Solver: SGD}, Run: learner.Run{Workers: 1}}
		shard := func() *descent {
			training := &online.Training{Task: &learner.Task{Settings: &opt}, Src: d}
			one := require.Value(newDescent(t.Context(), training))(t).(*descent)
			one.bound = nil // shards have none
			for b := range d.Blocks(t.Context()) {
				panel := &online.Panel{Block: b, Hi: b.Len()}
				_, _, err := one.Visit(t.Context(), panel, make([]uint32, b.Len()))
				require.NoError(t, err)
			}
			return one
		}
		begun := shard()
		before, shards := live(), make([]*descent, opt.Shards)
		for i := range shards {
			shards[i] = shard()
		}
		each := (float64(live()) - float64(before)) / float64(len(shards))
		if counted := float64(begun.ShardBytes()); each > counted || each < counted/3 {
			t.Errorf("%d features: a shard keeps %.0f bytes, and %v are counted", features, each, counted)
		}
		runtime.KeepAlive(shards)
	}
}
