package predict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/model"
)

func linear[T kernel.Float](features int, bias bool, rng *rand.Rand) *model.Model {
	spec := &block.Spec{Bias: bias, Label: "y", Classes: []block.Class{block.BoolClass(false), block.BoolClass(true)}, Positive: 1}
	for i := range features {
		spec.Features = append(spec.Features, string(rune('a'+i)))
	}
	weights := make([]T, spec.Cols())
	for i := range weights {
		weights[i] = T(rng.NormFloat64())
	}
	return model.New(spec, weights)
}

func testScores[T kernel.Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, rows := range []int{0, 1, 5000, 3} { // the buffer grows and is cut again
		for _, bias := range []bool{false, true} {
			m := linear[T](13, bias, rng)
			b := block.New[T](0, rows, m.Spec().Cols())
			for r := range rows {
				row := b.X[r*b.Stride:][:b.Cols]
				for i := range row {
					row[i] = T(rng.NormFloat64())
				}
				if bias {
					row[b.Cols-1] = 1
				}
			}
			scores := NewLinear[T](m).Scores(b)
			if len(scores) != rows {
				t.Fatalf("%d scores for %d rows", len(scores), rows)
			}
			w := model.Vector[T](m)
			for r, score := range scores {
				if want := kernel.Dot(b.X[r*b.Stride:(r+1)*b.Stride], w); score != want {
					t.Fatalf("score of row %d is %v, want %v", r, score, want)
				}
			}
		}
	}
}

func TestScores(t *testing.T) {
	t.Run("float32", testScores[float32])
	t.Run("float64", testScores[float64])
}

func TestScoresReuse(t *testing.T) {
	m := linear[float32](2, true, rand.New(rand.NewPCG(7, 8)))
	l := NewLinear[float32](m)
	long := l.Scores(block.New[float32](0, 100, 3))
	short := l.Scores(block.New[float32](0, 10, 3))
	if len(long) != 100 || len(short) != 10 || &long[0] != &short[0] {
		t.Errorf("%d and %d scores, want 100 and 10 in the same memory", len(long), len(short))
	}
}

func TestClass(t *testing.T) {
	for _, c := range []struct {
		score float64
		want  bool
	}{{1e-300, true}, {math.Inf(1), true}, {0, false}, {math.Copysign(0, -1), false}, {-1, false}, {math.NaN(), false}} {
		for positive := range 2 {
			want := 1 - positive
			if c.want {
				want = positive
			}
			if got := Class(c.score, positive); got != want {
				t.Errorf("Class(%v, %d) is %d, want %d", c.score, positive, got, want)
			}
		}
	}
}

// TestValid: a score is without meaning where a feature is NaN, not where the sum overflows.
func TestValid(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	b := block.New[float64](0, 4, 2)
	for r, row := range [][2]float64{{1, 2}, {nan, 1}, {inf, -inf}, {1, nan}} {
		copy(b.X[r*b.Stride:], row[:])
	}
	if got := Valid(b, []float64{3, nan, nan, nan}); !slices.Equal(got, []bool{true, false, true, false}) {
		t.Errorf("valid are %v", got)
	}
}

// TestVotes: a row's score is the share of votes for it less that against it, whether the row is dense or sparse, for any number of
// rows and workers.
func TestVotes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	const cols, voters = 13, 700 // more than a kernel call takes
	stride := kernel.Stride[float64](cols)
	w, counts := make([]float64, voters*stride), make([]int64, voters)
	total := int64(0)
	for i := range counts {
		for c := range cols {
			w[i*stride+c] = rng.NormFloat64()
		}
		counts[i] = 1 + rng.Int64N(50)
		total += counts[i]
	}
	m := linear[float64](cols, false, rng)
	m.Voters = model.NewVoters(w, counts, cols)
	for _, rows := range []int{150, 0, 1, 64, 65} {
		b := block.New[float64](0, rows, cols)
		sparse := &kernel.SparseRows[float64]{Ptr: []int64{0}}
		var want []float64
		for r := range rows {
			row := b.X[r*stride:][:stride]
			for c := range cols {
				if rng.IntN(2) == 0 {
					row[c] = rng.NormFloat64()
					sparse.Idx, sparse.Val = append(sparse.Idx, uint32(c)), append(sparse.Val, row[c])
				}
			}
			sparse.Ptr = append(sparse.Ptr, int64(len(sparse.Idx)))
			votes := -total
			for i, n := range counts {
				if kernel.Dot(w[i*stride:(i+1)*stride], row) > 0 {
					votes += 2 * n
				}
			}
			want = append(want, float64(votes)/float64(total))
		}
		for workers := 1; workers < 4; workers++ {
			scorer := New[float64](m, workers)
			if got := scorer.Scores(b); !slices.Equal(got, want) {
				t.Fatalf("%d rows, %d workers: scores %v, want %v", rows, workers, got, want)
			}
			if got := scorer.Scores(&block.Block[float64]{Cols: cols, Stride: stride, Sparse: sparse}); !slices.Equal(got, want) {
				t.Fatalf("%d sparse rows, %d workers: scores %v, want %v", rows, workers, got, want)
			}
		}
	}
}
