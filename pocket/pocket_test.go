package pocket

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/schema"
)

func random(rows, cols int) *block.Data {
	rng := rand.New(rand.NewPCG(1, uint64(rows)))
	var blocks []*block.Block
	for first, per := 0, block.Rows(cols); first < rows; first += per {
		b := block.New(int64(first), min(per, rows-first), cols)
		for r := range b.Len() {
			for c := range cols {
				b.X[r*b.Stride+c] = float32(rng.NormFloat64())
			}
			b.Y[r] = float32(2*rng.IntN(2) - 1)
		}
		blocks = append(blocks, b)
	}
	return block.NewData(&schema.Spec{Features: make([]string, cols)}, blocks)
}

// TestErrors compares the counts with a loop over rows and candidates, for several workers.
func TestErrors(t *testing.T) {
	d := random(10000, 13)
	rng := rand.New(rand.NewPCG(2, 2))
	const k, stride = 5, 16
	w := make([]float32, k*stride)
	for c := 1; c < k; c++ {
		for i := range 13 {
			w[c*stride+i] = float32(rng.NormFloat64())
		}
	}
	want := make([]int64, k)
	for b := range d.Blocks(context.Background()) {
		for r := range b.Len() {
			for c := range k {
				if (kernel.Dot(b.X[r*stride:(r+1)*stride], w[c*stride:(c+1)*stride]) > 0) != (b.Y[r] > 0) {
					want[c]++
				}
			}
		}
	}
	for _, workers := range []int{1, 2, 3, 8} {
		got, err := Errors(context.Background(), d, w, workers)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%d workers: %v, want %v (error %v)", workers, got, want, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Errors(ctx, d, w, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context was cancelled", err)
	}
}

// TestFirstOnTies: of equal candidates the first is kept. A candidate no better than the initial zeros isn't kept.
func TestFirstOnTies(t *testing.T) {
	ctx := context.Background()
	d := random(5000, 3)
	p := require.Value(New(ctx, d, Exact, 2))(t)
	zeros := p.Best().Errors
	equal := []float32{0, 0, 0, 0, 0, 0, 0, 0} // as many as for zeros, which predict -1 for every row
	require.NoError(t, p.AfterUpdate(ctx, equal, 1, 1))
	require.NoError(t, p.Judge(ctx))
	if p.Best().Update != 0 || p.Best().Visits != 0 {
		t.Errorf("update %d is kept, no better than the zeros", p.Best().Update)
	}
	better := []float32{0, 0, 0, 0, 0, 0, 0, 0}
	for i := int64(1); p.Best().Errors == zeros; i++ {
		better[0], better[1] = float32(i%7)-3, float32(i%5)-2
		for range 3 { // thrice the same
			require.NoError(t, p.AfterUpdate(ctx, better, i, 10*i))
		}
		require.NoError(t, p.AfterUpdate(ctx, make([]float32, 8), i, 10*i))
		require.NoError(t, p.Judge(ctx))
	}
	best := p.Best()
	require.NoError(t, p.AfterUpdate(ctx, best.Weights, 1000, 10000))
	require.NoError(t, p.Judge(ctx))
	if p.Best().Update != best.Update || p.Best().Visits != 10*best.Update {
		t.Errorf("kept update %d, visits %d; the first with its errors was %d", p.Best().Update, p.Best().Visits, best.Update)
	}
}

// problem returns rows in blocks of one chunk, and the weights of a perceptron on draws from them. The labels follow a
// plane, except for some. If the features are small integers, scores of zero and equal counts are common.
func problem(rng *rand.Rand, rows, cols, candidates int, whole bool, flips float64) (*block.Data, []float32) {
	number := rng.NormFloat64
	if whole {
		number = func() float64 { return float64(rng.IntN(5) - 2) }
	}
	truth := make([]float64, cols)
	for i := range truth {
		truth[i] = rng.NormFloat64()
	}
	var blocks []*block.Block
	for first := 0; first < rows; first += block.ChunkRows {
		b := block.New(int64(first), min(block.ChunkRows, rows-first), cols)
		for r := range b.Len() {
			s := 0.0
			for c, v := range truth {
				b.X[r*b.Stride+c] = float32(number())
				s += v * float64(b.X[r*b.Stride+c])
			}
			b.Y[r] = -1
			if (s > 0) != (rng.Float64() < flips) {
				b.Y[r] = 1
			}
		}
		blocks = append(blocks, b)
	}
	w, stride := []float32{}, kernel.Stride(cols)
	now := make([]float32, stride)
	for visits := 0; len(w) < candidates*stride && visits < 20*candidates+100; visits++ {
		b := blocks[rng.IntN(len(blocks))]
		r := rng.IntN(b.Len())
		if x := b.X[r*stride : (r+1)*stride]; b.Y[r]*kernel.Dot(x, now) <= 0 {
			kernel.Axpy(now, b.Y[r], x)
			w = append(w, now...)
		}
	}
	return block.NewData(&schema.Spec{Features: make([]string, cols)}, blocks), w
}

// wrong counts the errors of w row by row.
func wrong(d *block.Data, w []float32) (n int64) {
	for b := range d.Blocks(context.Background()) {
		for r, y := range b.Y {
			if (kernel.Dot(b.X[r*b.Stride:(r+1)*b.Stride], w) > 0) != (y > 0) {
				n++
			}
		}
	}
	return n
}

// TestLiteral compares what is kept after every batch with the literal algorithm. It takes thousands of problems with
// ties, all numbers of workers, every instruction set, and rows in memory, streamed and sparse. The number of scored
// rows depends on the problem alone.
func TestLiteral(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	seeds := uint64(2000)
	if require.Small() {
		seeds = 200
	}
	var candidates, all, scored, marked int64
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(11, seed))
		rows, cols := 1+rng.IntN(150), 1+rng.IntN(6)
		if seed%500 == 499 {
			rows = 3*block.ChunkRows - rng.IntN(5000)
		}
		d, w := problem(rng, rows, cols, rng.IntN(300), seed%2 == 0, rng.Float64()/2)
		stride := kernel.Stride(cols)
		positive := wrong(d, make([]float32, stride))
		want := []Candidate{{Weights: make([]float32, stride), Errors: positive, Weight: float64(positive)}}
		for i := range len(w) / stride {
			c := want[i]
			if n := wrong(d, w[i*stride:(i+1)*stride]); n < c.Errors {
				c = Candidate{Weights: w[i*stride : (i+1)*stride], Update: int64(i + 1), Visits: int64(10 * i), Errors: n, Weight: float64(n)}
			}
			want = append(want, c)
		}
		early := rng.IntN(200) // judge at this update, whatever the batch
		for _, level := range kernel.Levels() {
			kernel.Use(level)
			sources := []block.Source{d, testproblems.Stream{Data: d}}
			if seed%5 == 0 {
				sources[1] = testproblems.Sparse(d)
			}
			for i, src := range sources {
				p := require.Value(New(context.Background(), src, Exact, []int{1, 2, 3, 8}[rng.IntN(4)]))(t)
				for i := range len(w) / stride {
					err := p.AfterUpdate(context.Background(), w[i*stride:(i+1)*stride], int64(i+1), int64(10*i))
					if err == nil && (i == early || i == len(w)/stride-1) {
						err = p.Judge(context.Background())
					}
					if n := p.judgedCandidates; err != nil || !reflect.DeepEqual(p.Best(), want[n]) {
						t.Fatalf("seed %d, %s, %T: after %d candidates %+v is kept, want %+v (error %v)", seed, level, src, n, p.Best(), want[n], err)
					}
				}
				if p.hardRows.marks != nil {
					marked++
				}
				if n, s := p.Judged(); i == 0 && level == kernel.Generic {
					candidates, all, scored = n, all+n*int64(rows), scored+s
				} else if n != candidates {
					t.Fatalf("seed %d, %s, %T: %d candidates, want %d", seed, level, src, n, candidates)
				}
			}
		}
	}
	if marked < int64(seeds)/4 || scored > all*4/5 {
		t.Errorf("hard rows were marked for %d problems, %d of %d rows scored: the test shows little", marked, scored, all)
	}
}

// TestRowsScored: candidates of noisy data are judged on a part of the rows. It is the same part for all workers,
// instruction sets and sources.
func TestRowsScored(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	rows, candidates := 5*block.ChunkRows, 600
	if require.Small() {
		candidates = 300
	}
	const cols = 9
	d, w := problem(rand.New(rand.NewPCG(12, 12)), rows, cols, candidates, false, 0.03)
	stride, want := kernel.Stride(cols), int64(0)
	for _, level := range kernel.Levels() {
		kernel.Use(level)
		for i, workers := range []int{1, 2, 3, 8} {
			var src block.Source = d
			if i%2 == 1 {
				src = testproblems.Stream{Data: d}
			}
			p := require.Value(New(context.Background(), src, Exact, workers))(t)
			for i := range candidates {
				require.NoError(t, p.AfterUpdate(context.Background(), w[i*stride:(i+1)*stride], int64(i+1), 0))
			}
			require.NoError(t, p.Judge(context.Background()))
			n, scored := p.Judged()
			if want == 0 {
				want = scored
			}
			if n != int64(candidates) || scored != want || scored > int64(rows*candidates/2) {
				t.Errorf("%s, %d workers: %d rows scored for %d candidates, want %d and no more than half of all", level, workers, scored, n, want)
			}
		}
	}
}

// TestCancel: a pocket whose context ends returns its error, wherever it is.
func TestCancel(t *testing.T) {
	d, w := problem(rand.New(rand.NewPCG(14, 14)), 3*block.ChunkRows, 4, leastBatch+batchesMarked, false, 0.1)
	for after := range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		src := &cancelling{d, after, cancel}
		p, err := New(ctx, src, Exact, 2)
		for i := 0; err == nil && i < len(w); i += 8 {
			err = p.AfterUpdate(ctx, w[i:i+8], 1, 1)
		}
		if src.after >= 0 {
			t.Errorf("the test is over before block %d", after)
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v after the context ended at block %d", err, after)
		}
		cancel()
	}
}

// batchesMarked are enough candidates, after the first batch, for rows to be marked.
const batchesMarked = 8 + 16 + 32 + 64

// A cancelling source ends a context after a number of blocks.
type cancelling struct {
	*block.Data
	after  int
	cancel func()
}

func (c *cancelling) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		for b, err := range c.Data.Blocks(ctx) {
			if c.after--; c.after == -1 {
				c.cancel()
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// TestAllocations: the memory that judging a batch allocates doesn't depend on the rows of a chunk or on the
// candidates.
func TestAllocations(t *testing.T) {
	const chunks = 4
	d, w := problem(rand.New(rand.NewPCG(15, 15)), chunks*block.ChunkRows, 20, 100, false, 0.1)
	marks := make([]uint64, chunks*block.ChunkRows/64)
	for i := range marks {
		marks[i] = 0x5555555555555555
	}
	j := newJudge(d, 1)
	n := testing.AllocsPerRun(20, func() {
		j.begin(w)
		for _, rows := range []selection{{marks, 0}, {marks, ^uint64(0)}} {
			require.NoError(t, j.pass(context.Background(), rows, 1<<40))
		}
	})
	if perTask := n / (2 * chunks * block.ChunkRows / taskRows); perTask > 8 {
		t.Errorf("%v allocations for each %d rows", perTask, taskRows)
	}
}

// TestWeightsAtTheDoor: weights of another length than a block's stride, or with numbers after the columns, are errors of every
// entry in every mode. The pocket keeps what it had.
func TestWeightsAtTheDoor(t *testing.T) {
	data := random(100, 3)
	for _, mode := range Modes {
		p := require.Value(New(t.Context(), block.Source(data), mode, 1))(t)
		first := p.Best()
		for name, offer := range map[string]func(context.Context, []float32, int64, int64) error{"AfterUpdate": p.AfterUpdate, "AfterEpoch": p.AfterEpoch, "AfterTraining": p.AfterTraining} {
			for _, w := range [][]float32{nil, {1, 2, 3}, make([]float32, 16), {0, 0, 0, 1, 0, 0, 0, 1}} {
				if err := offer(t.Context(), w, 1, 1); err == nil {
					t.Errorf("%s: %s takes the weights %v", mode, name, w)
				}
			}
		}
		if err := p.Judge(t.Context()); err != nil || !slices.Equal(p.Best().Weights, first.Weights) {
			t.Errorf("%s: the best weights are %v, error %v", mode, p.Best().Weights, err)
		}
	}
}
