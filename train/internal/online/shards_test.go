package online_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/cache"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/train/ftrl"
	"halfspace/train/internal/online"
	"halfspace/train/learner"
	"halfspace/train/passiveaggressive"
)

// A path is the weights of a shard, and what they depend on. Both learners are written out as in their papers, on rows of one
// block.
type path struct {
	w       []float32 // a vector for each class, or one of two classes
	z, n    []float64 // of AdaGrad
	visits  int64
	updates int64
}

func (p *path) clone() *path {
	return &path{w: slices.Clone(p.w), z: slices.Clone(p.z), n: slices.Clone(p.n)}
}

// A visitRule has a path visit row r of b.
type visitRule func(p *path, b *block.Block, r int) (updated bool)

// squaredWay is PA-II with C = 0.3.
func squaredWay(p *path, b *block.Block, r int) bool { return passive2006(p, b, r, true) }

// passiveWay is PA-I with C = 0.3.
func passiveWay(p *path, b *block.Block, r int) bool { return passive2006(p, b, r, false) }

// passive2006 is the algorithm of Crammer et al. 2006, sections 3 and 7.
func passive2006(p *path, b *block.Block, r int, squared bool) bool {
	x, loss, norm := b.X[r*b.Stride:][:b.Stride], 0.0, b.SquaredNorm(r)
	own, rival := 0, -1
	if len(p.w) == b.Stride {
		loss = 1 - float64(b.Y[r])*float64(kernel.Dot(x, p.w))
	} else {
		own, norm = int(b.Y[r]), 2*norm
		score := func(c int) float32 { return kernel.Dot(x, p.w[c*b.Stride:][:b.Stride]) }
		for c := range len(p.w) / b.Stride {
			if c != own && (rival < 0 || score(c) > score(rival)) {
				rival = c
			}
		}
		loss = 1 - (float64(score(own)) - float64(score(rival)))
	}
	t := float32(min(0.3*b.Weight(r), loss/norm))
	if squared {
		t = float32(loss / (norm + 1/(2*0.3*b.Weight(r))))
	}
	if loss <= 0 || t == 0 {
		return false
	}
	if rival < 0 {
		kernel.Axpy(p.w, b.Y[r]*t, x)
		return true
	}
	kernel.Axpy(p.w[own*b.Stride:][:b.Stride], t, x)
	kernel.Axpy(p.w[rival*b.Stride:][:b.Stride], -t, x)
	return true
}

// adaGradRate is that of AdaGrad.
const adaGradRate = 0.4

// adaGradWay is AdaGrad of the hinge loss as FTRL-Proximal has it (McMahan et al. 2013, algorithm 1).
func adaGradWay(p *path, b *block.Block, r int) bool {
	x, y := b.X[r*b.Stride:][:b.Cols], float64(b.Y[r])
	if y*float64(b.Dot(r, p.w)) >= 1 || b.Weight(r) == 0 {
		return false
	}
	for c, v := range x {
		if v == 0 {
			continue
		}
		g := -y * b.Weight(r) * float64(v)
		before := math.Sqrt(p.n[c])
		p.n[c] += float64(g * g)
		p.z[c] += g - float64(float64((math.Sqrt(p.n[c])-before)*(1/adaGradRate))*float64(p.w[c]))
		p.w[c] = p.weight(c)
	}
	return true
}

// divisor is what the weight of a column is divided by.
func (p *path) divisor(c int) float64 {
	return float64((1e-10 + math.Sqrt(p.n[c])) * (1 / adaGradRate))
}

func (p *path) weight(c int) float32 {
	if p.z[c] == 0 {
		return 0
	}
	return float32(-p.z[c] / p.divisor(c))
}

// visitedRows returns the rows that an epoch of a shard of n rows visits, in their order. The choices have that stream.
func visitedRows(n int, order learner.Order, seed, stream uint64) (rows []uint32) {
	switch order {
	case learner.Cyclic:
		for r := range uint32(n) {
			rows = append(rows, r)
		}
	case learner.Random:
		rng := rand.NewPCG(seed, stream)
		for range n {
			rows = append(rows, uint32(learner.Draw(rng, uint64(n))))
		}
	default:
		p := learner.NewPermutation(n, seed, int64(stream))
		for k := range p.Windows() {
			rows = p.Rows(rows, k)
		}
	}
	return rows
}

// epoch is an epoch of iterative parameter mixing (McDonald, Hall and Mann 2010, figure 3), of the rows of a block.
func (p *path) epoch(b *block.Block, visit visitRule, o *learner.Options, epoch uint64) {
	var chunks []int
	for lo := 0; lo < b.Len(); lo += 4096 {
		chunks = append(chunks, lo)
	}
	if o.Order == learner.FixedShuffle {
		epoch = 0
	}
	if rng := rand.NewPCG(o.Seed, math.MaxUint64-epoch); o.Order != learner.Cyclic {
		for i := len(chunks) - 1; i > 0; i-- {
			j := learner.Draw(rng, uint64(i)+1)
			chunks[i], chunks[j] = chunks[j], chunks[i]
		}
	}
	shards, parts := int(o.Shards), []*path{}
	for s := range shards {
		var rows []int
		for lo := range b.Len() {
			if slices.Contains(chunks[s*len(chunks)/shards:(s+1)*len(chunks)/shards], lo/4096*4096) {
				rows = append(rows, lo)
			}
		}
		one := p.clone()
		for _, i := range visitedRows(len(rows), o.Order, o.Seed, uint64(s)<<32+epoch) {
			one.visits++
			if visit(one, b, rows[i]) {
				one.updates++
			}
		}
		parts = append(parts, one)
	}
	p.mix(parts, o.Mix)
}

// mix sets p to the mean of the parts.
func (p *path) mix(parts []*path, mix learner.Mix) {
	before := p.updates
	for _, one := range parts {
		p.visits, p.updates = p.visits+one.visits, p.updates+one.updates
	}
	if p.updates == before {
		return
	}
	mean := func(of func(one *path) float64) float64 {
		sum, whole := 0.0, 0.0
		for _, one := range parts {
			share := 1.0
			if mix == learner.Mistakes {
				share = float64(one.updates)
			}
			sum, whole = sum+float64(share*of(one)), whole+share
		}
		return sum / whole
	}
	for i := range p.w {
		p.w[i] = float32(mean(func(one *path) float64 { return float64(one.w[i]) }))
	}
	for c := range p.n {
		p.n[c] = mean(func(one *path) float64 { return one.n[c] })
		if p.z[c] = mean(func(one *path) float64 { return one.z[c] }); p.weight(c) != p.w[c] {
			p.z[c] = -float64(float64(p.w[c]) * p.divisor(c))
		}
	}
}

// TestShards compares trainings with the literal algorithms, bit for bit, with shards and without: rows in memory and in a file, dense
// and sparse, with one worker and with several.
func TestShards(t *testing.T) {
	hinge := func(o learner.Options) learner.Settings {
		return &ftrl.AdaGradSettings{AdaGradOptions: ftrl.AdaGradOptions{Order: o.Order, Epochs: o.Epochs, Eta: adaGradRate,
			Shards: o.Shards, Loss: ftrl.Hinge}, Run: o.Run}
	}
	with := func(o learner.Options, loss passiveaggressive.Loss) learner.Settings {
		return &passiveaggressive.Settings{Options: passiveaggressive.Options{Order: o.Order, Epochs: o.Epochs, Shards: o.Shards, Mix: o.Mix,
			C: 0.3, Loss: loss}, Run: o.Run}
	}
	aggressive := func(o learner.Options) learner.Settings { return with(o, passiveaggressive.Hinge) }
	squared := func(o learner.Options) learner.Settings { return with(o, passiveaggressive.SquaredHinge) }
	for i, c := range []struct {
		learner *learner.Learner
		opt     func(learner.Options) learner.Settings
		visit   visitRule
		order   learner.Order
		mix     learner.Mix
		shards  int64
		classes int
	}{
		{passiveaggressive.Learner, aggressive, passiveWay, learner.Cyclic, learner.Uniform, 2, 2},
		{passiveaggressive.Learner, aggressive, passiveWay, learner.Shuffle, learner.Mistakes, 3, 2},
		{passiveaggressive.Learner, aggressive, passiveWay, learner.FixedShuffle, learner.Mistakes, 2, 3},
		{passiveaggressive.Learner, aggressive, passiveWay, learner.Random, learner.Uniform, 4, 3},
		{passiveaggressive.Learner, aggressive, passiveWay, learner.Shuffle, learner.Uniform, 1, 2}, // as without shards
		{passiveaggressive.Learner, aggressive, passiveWay, learner.Random, learner.Uniform, 1, 3},
		{passiveaggressive.Learner, squared, squaredWay, learner.Cyclic, learner.Uniform, 1, 2},
		{passiveaggressive.Learner, squared, squaredWay, learner.FixedShuffle, learner.Uniform, 1, 3},
		{passiveaggressive.Learner, squared, squaredWay, learner.Shuffle, learner.Uniform, 2, 3},
		{ftrl.AdaGrad(ftrl.AdaGradOptions{}).Learner, hinge, adaGradWay, learner.FixedShuffle, learner.Uniform, 1, 2},
		{ftrl.AdaGrad(ftrl.AdaGradOptions{}).Learner, hinge, adaGradWay, learner.Cyclic, learner.Uniform, 3, 2},
		{ftrl.AdaGrad(ftrl.AdaGradOptions{}).Learner, hinge, adaGradWay, learner.Shuffle, learner.Uniform, 2, 2},
		{ftrl.AdaGrad(ftrl.AdaGradOptions{}).Learner, hinge, adaGradWay, learner.FixedShuffle, learner.Uniform, 4, 2},
		{ftrl.AdaGrad(ftrl.AdaGradOptions{}).Learner, hinge, adaGradWay, learner.Random, learner.Uniform, 3, 2},
	} {
		rows := noisyRows(13_000, c.classes) // 4 chunks
		if i%2 == 1 {
			rows = testproblems.Weighted(rows, func(r int) float64 { return float64(r%4) / 2 })
		}
		o := learner.Options{Order: c.order, Mix: c.mix, Shards: c.shards, Epochs: 2, Run: learner.Run{Seed: 9}}
		stride, cols := kernel.Stride(rows.Spec().Cols()), rows.Spec().Cols()
		want := &path{w: block.Alloc[float32](rows.Spec().Vectors() * stride)}
		if c.learner == ftrl.AdaGrad(ftrl.AdaGradOptions{}).Learner {
			want.z, want.n = make([]float64, cols), make([]float64, cols)
		}
		for e := range uint64(o.Epochs) {
			for b := range rows.Blocks(context.Background()) {
				want.epoch(b, c.visit, &o, e)
			}
		}
		var weights []float32
		for w := range slices.Chunk(want.w, stride) {
			weights = append(weights, w[:cols]...)
		}
		for j, src := range []block.Source{rows, testproblems.Sparse(rows), require.OpenFile(cache.Temporary(t.Context(), rows, nil))(t), require.OpenFile(cache.Temporary(t.Context(), testproblems.Sparse(rows), nil))(t)} {
			if require.Small() && (i+j)%2 > 0 {
				continue
			}
			o.Workers = 1 + (i+j)%3
			learned := require.Value(c.learner.Train(t.Context(), &learner.Task{Rows: src, Settings: c.opt(o)}))(t)
			if r := learned.Result; !slices.Equal(r.Weights, weights) || r.Visits != want.visits || r.Updates != want.updates {
				t.Errorf("%s %s %s, %d shards, source %d of %T: weights %v, %d visits, %d updates, want %v, %d, %d", c.learner.Name, c.order, c.mix, c.shards, j, float32(0),
					r.Weights, r.Visits, r.Updates, weights, want.visits, want.updates)
			}
		}
	}
}

// noisyRows returns rows of some classes in one block, a tenth of which have a wrong label.
func noisyRows(rows, classes int) *block.Data {
	if classes > 2 {
		return testproblems.RandomClasses(rows, 5, classes, 0.1)
	}
	rng := rand.New(rand.NewPCG(3, 0))
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r] = []float64{rng.NormFloat64(), rng.NormFloat64(), 0}
		if r%3 > 0 {
			x[r][2] = rng.NormFloat64()
		}
		if y[r] = math.Copysign(1, x[r][0]+2*x[r][1]-x[r][2]); r%10 == 0 {
			y[r] = -y[r]
		}
	}
	return testproblems.Dense(x, y, true)
}

// TestShardsConverge: rows that a plane separates end the training early, in every order but random.
func TestShardsConverge(t *testing.T) {
	rows := noisyRows(9000, 2)
	for b := range rows.Blocks(t.Context()) {
		for r := range b.Len() {
			b.Y[r] = float32(math.Copysign(1, float64(b.X[r*b.Stride])))
			b.X[r*b.Stride] += b.Y[r]
		}
	}
	for _, order := range learner.Orders {
		r, err := passiveaggressive.Train(t.Context(), rows, passiveaggressive.Settings{Options: passiveaggressive.Options{Order: order, Shards: 3, Epochs: 200, C: 1e6}})
		if err != nil || r.Errors > 0 || r.Converged != (order != learner.Random) || r.Converged != (r.Epochs < 200) {
			t.Errorf("%s: %d errors after %d epochs, converged %t, error %v", order, r.Errors, r.Epochs, r.Converged, err)
		}
	}
}

// TestWindows: a file has at most three windows, and no more than its rows fill. WindowBytes counts the windows of all shards.
func TestWindows(t *testing.T) {
	for _, c := range []struct {
		rows, shards int64
		each, all    int64
	}{{1000, 1, 1, 1}, {4096, 1, 1, 1}, {4097, 1, 2, 2}, {50_000, 1, 3, 3}, {50_000, 2, 3, 6}, {50_000, 8, 3, 13}} {
		file := require.OpenFile(cache.Temporary(t.Context(), testproblems.RandomClasses(int(c.rows), 2, 2, 0.1), nil))(t)
		made := int64(0)
		if _, err := online.NewPass(block.Source(file), learner.Options{Order: learner.Shuffle}, 0, func(p *online.Pass) {
			p.PrepareIndex = func(*block.Index) (any, func()) {
				made++
				return nil, func() {}
			}
		}); err != nil {
			t.Fatal(err)
		}
		counted := learner.WindowBytes(c.rows, c.shards, func(rows int64) int64 { return rows })
		if made != c.each || counted != c.all*block.ChunkRows {
			t.Errorf("%d rows have %d windows, want %d; those of %d shards take the memory of %d rows, want %d", c.rows, made, c.each, c.shards, counted, c.all*block.ChunkRows)
		}
	}
}
