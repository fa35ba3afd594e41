package logistic

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"halfspace/block"
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
			b.Axpy(dense.X[r*dense.Stride:][:dense.Stride], 1, r)
		}
		copy(dense.Y, b.Y)
		copy(dense.W, b.W)
	}
	return block.NewData(d.Spec(), []*block.Block{dense})
}

// mixedSteps makes the epochs of descend with shards as the paper writes them: every shard takes the steps of a mover of its own,
// and the next epoch begins with the mean of their vectors. It returns the exact weights and the number of steps.
func mixedSteps(t *testing.T, d *block.Data, opt Settings) ([]float64, int64) {
	s := newSolver(require.Value(begin(t.Context(), d, &opt))(t), opt)
	sc := require.Value(s.scaling(t.Context()))(t)
	at := stepPosition{0, float64(d.Rows()), float64(d.Rows()) / float64(opt.Shards)}
	all, steps, each, c := s.newMover(sc, at), int64(0), batchRows, s.scratch.New().(*scratch)
	if optimize.HasManyColumns(s.cols) {
		each = 1
	}
	index := require.Value(d.Index())(t)
	shared := learner.SharedOptions(&opt)
	for e := range opt.Epochs {
		dealt := require.Value(online.DealChunks(d.Rows(), &shared, e))(t)
		at.Step = e * ((d.Rows() + int64(each)*opt.Shards - 1) / (int64(each) * opt.Shards))
		var sum [][]float64
		for number, chunks := range dealt {
			var rows []uint32
			for _, chunk := range chunks {
				for r := chunk * block.ChunkRows; r < min(d.Rows(), (chunk+1)*block.ChunkRows); r++ {
					rows = append(rows, uint32(r))
				}
			}
			order := slices.Clone(rows)
			if opt.Order == learner.Shuffle {
				p, visited := learner.NewPermutation(len(rows), opt.Seed, int64(number)<<32+e), []uint32{}
				for k := range p.Windows() {
					visited = p.Rows(visited, k)
				}
				for i, v := range visited {
					order[i] = rows[v]
				}
			}
			one := s.newMover(sc, at)
			one.setVectors(all.mixedVectors())
			for lo := 0; lo < len(order); lo += each {
				part := block.NewSparseFor(d.Spec(), 0, each, 0)
				for _, id := range order[lo:min(len(order), lo+each)] {
					b, r := index.At(id)
					part.AppendRow(b, r)
				}
				one.learn(part, c, new(sums))
				steps++
			}
			for i, v := range one.mixedVectors() {
				if number == 0 {
					sum = append(sum, make([]float64, len(v)))
				}
				for c, x := range v {
					sum[i][c] += x
				}
			}
		}
		for _, v := range sum {
			for c := range v {
				v[c] /= float64(opt.Shards)
			}
		}
		all.setVectors(sum)
	}
	all.mean(s.w)
	s.balanceWeights()
	return s.compact(s.w), steps
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
		{8300, maxColumns + 100, 2, learner.Cyclic, 3}, {8300, maxColumns + 100, 3, learner.Shuffle, 2},
	} {
		d := sparseWords(shape.rows, shape.words, shape.classes)
		if i%2 == 0 {
			d = testproblems.Weighted(d, func(r int) float64 { return float64(r%4) / 2 })
		}
		opt := Settings{Options: Options{Epochs: 3, Order: shape.order, Shards: shape.shards, L2: 1, Solver: SGD}, Run: learner.Run{Seed: 5}}
		want, steps := mixedSteps(t, d, opt)
		file := require.OpenFile(cache.Temporary(t.Context(), d, nil))(t)
		sources := []block.Source{d, file}
		if shape.words < 100 {
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

// TestShardsMemory: a shard that has taken its steps keeps no more memory than shardBytes counts, and no less than a third.
func TestShardsMemory(t *testing.T) {
	live := func() uint64 {
		runtime.GC()
		runtime.GC() // which empties pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, features := range []int{2, 200, 511} { // the last are too many for a walk
		d := block.AssumeValid(testproblems.Logistic(100, features))
		opt := Settings{Options: Options{Order: learner.Cyclic, Eta: 1, Shards: 16, L2: 1, Solver: SGD}, Run: learner.Run{Workers: 1}}
		s := newSolver(d, opt)
		sc := require.Value(s.scaling(t.Context()))(t)
		mixed := s.newMover(sc, stepPosition{}).mixedVectors()
		before := live()
		shards := make([]*shard, opt.Shards)
		for i := range shards {
			shards[i] = s.newShard(d, i, sc, stepPosition{AllRows: 1600, EpochRows: 100}, mixed)
			require.NoError(t, shards[i].Pass(t.Context(), 0))
		}
		each := (float64(live()) - float64(before)) / float64(len(shards))
		if counted := float64(opt.shardBytes(d.Spec())); each > counted || each < counted/3 {
			t.Errorf("%d features: a shard keeps %.0f bytes, and %v are counted", features, each, counted)
		}
		runtime.KeepAlive(shards)
	}
}
