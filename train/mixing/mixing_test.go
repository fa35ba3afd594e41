package mixing

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/block"
	"halfspace/cache"
	"halfspace/checkpoint"
	"halfspace/internal/testrows"
	"halfspace/train"
)

// TestDeal: every shard gets runs, as many as the others or one more, and every run is in one shard. In file order they follow each
// other. Other orders deal them in another way in each epoch, and fixed-shuffle in the same way.
func TestDeal(t *testing.T) {
	for _, order := range train.Orders {
		for _, runs := range []int64{1, 2, 7, 64, 300} {
			for _, shards := range []int64{1, 2, 3, 7, 64} {
				opt := &train.Options{Order: order, Seed: 3, Shards: shards}
				rows := runs*block.RunRows - 100
				dealt, err := Deal(rows, opt, 0)
				if (err != nil) != (shards > runs) {
					t.Fatalf("%d shards of %d runs: error %v", shards, runs, err)
				}
				if err != nil {
					continue
				}
				all := slices.Concat(dealt...)
				for s, mine := range dealt {
					if n := int64(len(mine)); int64(len(dealt)) != shards || n < runs/shards || n > (runs+shards-1)/shards || !slices.IsSorted(mine) {
						t.Errorf("%s, %d runs: shard %d of %d has %v", order, runs, s, len(dealt), mine)
					}
				}
				if inOrder := slices.IsSorted(all); order == train.Cyclic && !inOrder || order != train.Cyclic && runs == 300 && shards > 1 && inOrder {
					t.Errorf("%s: %d runs are dealt to %d shards in file order: %t", order, runs, shards, inOrder)
				}
				slices.Sort(all)
				if int64(len(slices.Compact(all))) != runs || all[0] != 0 || all[runs-1] != runs-1 {
					t.Errorf("%s: %d shards have the runs %v, want %d", order, shards, all, runs)
				}
				later, err := Deal(rows, opt, 5)
				same := slices.EqualFunc(dealt, later, slices.Equal)
				if moves := order == train.Shuffle || order == train.Random; err != nil || !moves && !same || moves && runs == 300 && shards > 1 && same {
					t.Errorf("%s, %d runs, %d shards: dealt alike in another epoch: %t (error %v)", order, runs, shards, same, err)
				}
			}
		}
	}
}

// TestMix: weights are the exact mean up to the rounding of the sums, and updates count by the shares. Shards that made no update
// leave the weights, or have no share of them.
func TestMix(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, counts := range [][]int64{{3}, {5, 0, 2}, {1, 1, 1, 1}, {0, 0, 9}, {0, 0}} {
		for _, mix := range train.Mixes {
			parts, all := make([]Part, len(counts)), new(big.Rat)
			share, updates := make([]*big.Rat, len(counts)), new(big.Rat)
			for s, n := range counts {
				parts[s] = Part{Weights: []float32{float32(rng.NormFloat64()), 1e9 * float32(rng.NormFloat64())}, Updates: n, State: [][]float64{nil, {float64(s)}}}
				if share[s] = big.NewRat(1, 1); mix == train.Mistakes {
					share[s] = big.NewRat(n, 1)
				}
				all.Add(all, share[s])
				updates.Add(updates, new(big.Rat).Mul(share[s], big.NewRat(n, 1)))
			}
			w := []float32{7, 7}
			got := Mix(w, parts, mix)
			if updates.Sign() == 0 {
				if got != 0 || !slices.Equal(w, []float32{7, 7}) {
					t.Errorf("%s of %v: no update left %v, %v updates", mix, counts, w, got)
				}
				continue
			}
			if want, _ := updates.Quo(updates, all).Float64(); got != want {
				t.Errorf("%s of %v: %v updates, want %v", mix, counts, got, want)
			}
			for i, v := range w {
				sum, size := new(big.Rat), new(big.Rat)
				for s, p := range parts {
					x := new(big.Rat).Mul(share[s], new(big.Rat).SetFloat64(float64(p.Weights[i])))
					sum.Add(sum, x)
					size.Add(size, x.Abs(x))
				}
				off := new(big.Rat).Sub(new(big.Rat).SetFloat64(float64(v)), sum.Quo(sum, all))
				most := size.Quo(size, all).Mul(size, big.NewRat(int64(2*len(parts)+1), 1<<24)) // products, sums, the quotient
				if off.Abs(off).Cmp(most) > 0 {
					t.Errorf("%s of %v: weight %v is %v from the mean, and at most %v are rounding", mix, counts, v, off.FloatString(30), most.FloatString(30))
				}
			}
			if got, want := MeanState(parts, 1), float64(len(counts)-1)/2; !slices.Equal(got, []float64{want}) {
				t.Errorf("%v: the mean of states is %v, want %v", counts, got, want)
			}
		}
	}
}

// numbered returns rows whose only feature is their number.
func numbered(rows int) *block.Data {
	x, y := make([][]float64, rows), make([]float64, rows)
	for r := range x {
		x[r], y[r] = []float64{float64(r + 1)}, 1
	}
	return testrows.Dense(x, y, false)
}

// TestRows: a shard has the rows of its runs, in passes, chunks and by number: of rows in memory and in a file, dense and sparse.
func TestRows(t *testing.T) {
	const rows = 3*block.RunRows + 700
	d := numbered(rows)
	sources := []block.Source{d, testrows.Sparse(d)}
	for _, data := range []*block.Data{d, testrows.Sparse(d)} {
		file, err := cache.Temporary(t.Context(), block.Source(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		sources = append(sources, file)
	}
	one := block.Alloc[float32](8)
	one[0] = 1
	for i, src := range sources {
		all, err := NewRows(block.Trust(src))
		if err != nil {
			t.Fatal(err)
		}
		for _, runs := range [][]int64{{0}, {1, 3}, {3}, {0, 2}, {0, 1, 2, 3}} {
			var want, got []float32
			for _, run := range runs {
				for r := run * block.RunRows; r < min(rows, (run+1)*block.RunRows); r++ {
					want = append(want, float32(r+1))
				}
			}
			shard := all.Shard(runs)
			for b, err := range shard.Blocks(t.Context()) {
				if err != nil || b.First != int64(len(got)) {
					t.Fatalf("source %d: a block begins with row %d, want %d (error %v)", i, b.First, len(got), err)
				}
				for r := range b.Len() {
					got = append(got, b.Dot(r, one))
				}
			}
			if !slices.Equal(got, want) || shard.Rows() != int64(len(want)) {
				t.Errorf("source %d, runs %v: %d other rows, %d are told, want %d", i, runs, len(got), shard.Rows(), len(want))
			}
			file, ok := shard.(block.Seekable)
			if !ok {
				continue
			}
			numbers := []uint32{0, uint32(len(want) - 1), uint32(len(want) / 2)}
			to := block.NewFor(d.Spec(), 0, block.RunRows)
			if file.Sparse() {
				to = block.NewSparseFor(d.Spec(), 0, block.RunRows, 0)
			}
			if err := file.ReadRows(numbers, to); err != nil {
				t.Fatal(err)
			}
			for k, n := range numbers {
				if to.Dot(k, one) != want[n] {
					t.Errorf("source %d, runs %v: row %d is %v, want %v", i, runs, n, to.Dot(k, one), want[n])
				}
			}
		}
	}
	if _, err := NewRows(block.Source(testrows.Stream{Data: d})); err == nil {
		t.Error("a stream was cut into shards")
	}
}

// A counter is a member that counts its rows, and pauses once after the first.
type counter struct {
	rows   int64
	seen   int64
	paused bool
	err    error
}

func (c *counter) Pass(ctx context.Context, _ int64) error {
	if c.seen++; !c.paused {
		c.paused = true
		return ErrPause
	}
	if c.err != nil {
		return c.err
	}
	c.seen = c.rows
	return nil
}

func (c *counter) Part() Part { return Part{Visits: c.seen} }

func (c *counter) Visits() int64 { return c.seen }

func (c *counter) State(w *checkpoint.Walk) { w.Int(&c.seen) }

func counters(t *testing.T, err error) *Shards {
	opt, _ := train.Options{Shards: 3, Workers: 2}.WithDefaults()
	x, failed := NewShards(block.Trust(block.Source(numbered(20_000))), opt, func(rows block.Source, shard int) (Member, error) {
		c := &counter{rows: rows.Rows()}
		if shard == 1 {
			c.err = err
		}
		return c, nil
	}, nil)
	if failed != nil {
		t.Fatal(failed)
	}
	return x
}

// TestShards: members that pause go on, parts come in the order of the shards, and an epoch that failed goes on or is taken as it is.
func TestShards(t *testing.T) {
	visits := func(parts []Part) (all []int64) {
		for _, p := range parts {
			all = append(all, p.Visits)
		}
		return all
	}
	parts, err := counters(t, nil).Epoch(t.Context(), 0, func() {})
	if want := []int64{4096, 8192, 20_000 - 3*4096}; err != nil || !slices.Equal(visits(parts), want) {
		t.Errorf("shards of %v rows (error %v), want %v", visits(parts), err, want)
	}
	failed := errors.New("failed")
	x := counters(t, failed)
	if _, err := x.Epoch(t.Context(), 0, func() {}); err != failed || x.each[1].Visits() != 2 {
		t.Errorf("error %v after %d visits", err, x.Visited())
	}
	state, err := checkpoint.Write(func(w *checkpoint.Walk) { x.State(w, 0) })
	if err != nil {
		t.Fatal(err)
	}
	again := counters(t, nil)
	if err := checkpoint.Read(state, func(w *checkpoint.Walk) { again.State(w, 0) }); err != nil || again.Visited() != x.Visited() {
		t.Errorf("%d visits after the state was read, want %d (error %v)", again.Visited(), x.Visited(), err)
	}
	if parts, err := again.Epoch(t.Context(), 0, func() {}); err != nil || visits(parts)[1] != 8192 || again.Take() != nil {
		t.Errorf("then %v (error %v)", visits(parts), err)
	}
	if interrupted := visits(x.Take()); interrupted[1] != 2 || x.Visited() != 0 {
		t.Errorf("the epoch ends with %v", interrupted)
	}
	elsewhere := counters(t, nil)
	elsewhere.rows = nil
	if err := checkpoint.Read(state, func(w *checkpoint.Walk) { elsewhere.State(w, 0) }); err == nil {
		t.Error("a state with shards in an epoch is read where a cluster has the rows")
	}
}
