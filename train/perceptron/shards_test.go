package perceptron

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/pocket"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
)

// mixedLiteral is iterative parameter mixing as its paper has it (McDonald, Hall and Mann 2010, figure 3), on the
// chunks that online.DealChunks documents.
type mixedLiteral struct {
	all     *literal
	mixed   float64
	fewest  int64
	best    []float32 // with fewest errors at the end of an epoch
	visits  int64
	updates int64
}

// dealtRows returns the rows of each shard in an epoch.
func dealtRows(n int, opt Settings, epoch uint64) (rows [][]int) {
	shared := opt.Shared()
	chunks, err := online.DealChunks(int64(n), &shared, int64(epoch))
	if err != nil {
		panic(err)
	}
	for _, mine := range chunks {
		var all []int
		for _, chunk := range mine {
			for r := int(chunk) * block.ChunkRows; r < min(n, int(chunk+1)*block.ChunkRows); r++ {
				all = append(all, r)
			}
		}
		rows = append(rows, all)
	}
	return rows
}

// epoch makes an epoch from the weights of all, and mixes.
func (m *mixedLiteral) epoch(shards int, opt Settings, epoch uint64) {
	a, parts := m.all, make([][]float32, shards)
	counts := make([]float64, shards)
	for s, rows := range dealtRows(len(a.x), opt, epoch) {
		l := &literal{w: slices.Clone(a.w), sum: a.sum, change: a.change, margin: a.margin}
		for _, r := range rows {
			l.x, l.y = append(l.x, a.x[r]), append(l.y, a.y[r])
			if a.weights != nil {
				l.weights = append(l.weights, a.weights[r])
			}
		}
		stream := uint64(s)<<32 + epoch
		order := opt.Order
		if order == learner.FixedShuffle {
			order, stream = learner.Shuffle, uint64(s)<<32
		}
		for _, i := range visitedRows(len(l.x), order, opt.Seed, stream) {
			l.visit(int(i), float32(opt.Eta), 0)
		}
		parts[s], counts[s] = l.w, float64(l.updates)
		m.visits += l.visits
		m.updates += l.updates
	}
	shares := slices.Clone(counts)
	if opt.Mix != learner.Mistakes {
		for s := range shares {
			shares[s] = 1
		}
	}
	whole, updates := 0.0, 0.0
	for s, share := range shares {
		whole += share
		updates += share * counts[s]
	}
	if updates > 0 {
		m.mixed += updates / whole
		for i := range a.w {
			sum := 0.0
			for s := range parts {
				sum += shares[s] * float64(parts[s][i])
			}
			a.w[i] = float32(sum / whole)
		}
	}
	if wrong := a.errors(a.w); wrong < m.fewest {
		m.fewest, m.best = wrong, slices.Clone(a.w)
	}
}

// TestShards compares trainings of several shards with the literal algorithm, bit for bit: rows in memory and in a file, dense
// and sparse, with one worker and with several.
func TestShards(t *testing.T) {
	x, y := noisyPlane(18_000, 4, 0.05, true, 3) // 5 chunks
	d := testproblems.Dense(x, y, true)
	for i, c := range []struct {
		order  learner.Order
		mix    learner.Mix
		shards int64
		margin float64
		weigh  bool
	}{
		{learner.Cyclic, learner.Uniform, 2, 0, false}, {learner.Cyclic, learner.Mistakes, 3, 1, true}, {learner.Shuffle, learner.Uniform, 3, 0, true},
		{learner.Shuffle, learner.Mistakes, 5, 0, false}, {learner.FixedShuffle, learner.Uniform, 4, 0, false}, {learner.Random, learner.Mistakes, 2, 0, true},
	} {
		rows := d
		if c.weigh {
			rows = testproblems.Weighted(d, quarterWeight)
		}
		m := &mixedLiteral{all: newLiteral(rows)}
		m.fewest, m.best, m.all.margin = m.all.errors(m.all.w), slices.Clone(m.all.w), float32(c.margin)
		opt := Settings{Options: Options{Order: c.order, Mix: c.mix, Shards: c.shards, Epochs: 3, Eta: 0.5, Margin: c.margin}, Run: learner.Run{Seed: 9}}
		for e := range uint64(3) {
			m.epoch(int(c.shards), opt, e)
		}
		what := fmt.Sprintf("%s %s %d shards", c.order, c.mix, c.shards)
		sources := []block.Source{rows, testproblems.Sparse(rows), require.OpenFile(cache.Temporary(t.Context(), rows, nil))(t), require.OpenFile(cache.Temporary(t.Context(), testproblems.Sparse(rows), nil))(t)}
		var mean []float32
		for j, src := range sources {
			if require.Small() && (i+j)%2 > 0 {
				continue
			}
			opt.Form, opt.Pocket, opt.Workers = "", "", 1+(i+j)%3
			r := mustTrain(t, src, opt)
			if !slices.Equal(r.Weights, m.all.w[:5]) || r.Visits != m.visits || r.Updates != m.updates || r.MixedUpdates != m.mixed {
				t.Errorf("%s, source %d: weights %v, %d visits, %d updates, %v mixed, want %v, %d, %d, %v", what, j, r.Weights, r.Visits, r.Updates, r.MixedUpdates,
					m.all.w, m.visits, m.updates, m.mixed)
			}
			opt.Form = learner.Averaged
			r = mustTrain(t, src, opt)
			if mean == nil {
				mean = r.Weights
			}
			for k, v := range r.Weights {
				if want := m.all.sum[k] / float64(m.visits); v != mean[k] || math.Abs(float64(v)-want) > 1e-5*math.Abs(want) {
					t.Errorf("%s, source %d, averaged: weights %v, want %v, as source 0 has: %v", what, j, r.Weights, want, mean)
				}
			}
			if opt.Form, opt.Pocket = "", pocket.Exact; c.weigh || opt.Margin > 0 {
				continue // the literal pocket counts rows
			}
			if r = mustTrain(t, src, opt); r.Errors != m.fewest || !slices.Equal(r.Weights, m.best[:5]) {
				t.Errorf("%s, source %d, pocket: weights %v with %d errors, want %v with %d", what, j, r.Weights, r.Errors, m.best, m.fewest)
			}
		}
	}
}

// TestShardsBound: on rows that a plane separates, the training converges, and the mixed updates obey theorem 3 of the paper. With
// margins and another learning rate they obey what its proof gives for those.
func TestShardsBound(t *testing.T) {
	x, y := noisyPlane(20_000, 3, 0, false, 5)
	kept := 0
	for i := range x { // a gap between the classes
		if s := x[i][0] + 2*x[i][1] - x[i][2]; math.Abs(s) > 0.3 {
			x[kept], y[kept] = x[i], math.Copysign(1, s)
			kept++
		}
	}
	d := testproblems.Dense(x[:kept], y[:kept], true)
	for _, order := range learner.Orders {
		for _, mix := range learner.Mixes {
			for _, margin := range []float64{0, 2} {
				opt := Settings{Options: Options{Order: order, Mix: mix, Shards: 4, Epochs: 3000, Eta: 0.25, Margin: margin}}
				r := mustTrain(t, block.Source(d), opt)
				bound := r.UpdateBound(margin, 0.25)
				if !r.Converged || r.Errors > 0 || r.MixedUpdates == 0 || !(r.MixedUpdates <= bound) || math.IsInf(bound, 1) {
					t.Errorf("%s %s margin %v: converged %t, %d errors, %v mixed updates of %d, bound %v", order, mix, margin, r.Converged, r.Errors, r.MixedUpdates, r.Updates, bound)
				}
				if mix == learner.Uniform && r.MixedUpdates != float64(r.Updates)/4 {
					t.Errorf("%s: %v mixed updates of %d in equal shares", order, r.MixedUpdates, r.Updates)
				}
			}
		}
	}
}

// TestShardsMemory: the weights of the shards count in the limit of memory, beside the rows, of all trainings that go on at a time.
func TestShardsMemory(t *testing.T) {
	opt := Settings{Options: Options{Shards: 3, Epochs: 1}}
	require.NoError(t, Learner.PrepareSettings(&opt))
	task := &learner.Task{Rows: block.AssumeValid(block.Source(noisyRows(9000))), Settings: &opt, HeldBytes: 1 << 20}
	for _, c := range []struct {
		room   int64 // 3 vectors of 8 numbers of 4 bytes, and 5 times as many
		beside int
		fits   bool
	}{{95, 0, false}, {96, 1, true}, {479, 5, false}, {480, 5, true}} {
		task.Memory, task.ParallelTrainings = task.HeldBytes+c.room, c.beside
		if _, err := Learner.Train(t.Context(), task); (err == nil) != c.fits {
			t.Errorf("with %d bytes beside the rows, and %d trainings: error %v", c.room, c.beside, err)
		}
	}
}

func noisyRows(n int) *block.Data {
	x, y := noisyPlane(n, 4, 0.1, false, 8)
	return testproblems.Dense(x, y, true)
}
