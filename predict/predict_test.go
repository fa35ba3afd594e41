package predict

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/schema"
)

func linear(features int, bias bool, rng *rand.Rand) *model.Model {
	spec := &schema.Spec{Bias: bias, Label: "y", Classes: []schema.Class{schema.BoolClass(false), schema.BoolClass(true)}, Positive: 1}
	for i := range features {
		spec.Features = append(spec.Features, string(rune('a'+i)))
	}
	weights := make([]float32, spec.Cols())
	for i := range weights {
		weights[i] = float32(rng.NormFloat64())
	}
	return model.New(spec, weights)
}

// TestScores: a score is Dot of the row and the weights. Scores of fewer rows lie in the memory of the former.
func TestScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, bias := range []bool{false, true} {
		m := linear(13, bias, rng)
		w, scorer := model.Vector(m), scorerOf(t, m, 1)
		var first *float32
		for _, rows := range []int{0, 1, 5000, 3} { // the buffer grows and shrinks again
			b := block.New(0, rows, m.Spec().Cols())
			for r := range rows {
				row := b.X[r*b.Stride:][:b.Cols]
				for i := range row {
					row[i] = float32(rng.NormFloat64())
				}
				if bias {
					row[b.Cols-1] = 1
				}
			}
			scores := mustScore(t, scorer, b)[0]
			if len(scores) != rows || rows == 3 && &scores[0] != first {
				t.Fatalf("%d scores for %d rows, perhaps in other memory", len(scores), rows)
			}
			for r, score := range scores {
				if want := kernel.Dot(b.X[r*b.Stride:(r+1)*b.Stride], w); score != want {
					t.Fatalf("score of row %d is %v, want %v", r, score, want)
				}
			}
			first = unsafe.SliceData(scores)
		}
	}
}

func scorerOf(t *testing.T, m *model.Model, workers int) *Scorer {
	t.Helper()
	s, err := NewScorer(m, workers)
	require.NoError(t, err)
	return s
}

func mustScore(t *testing.T, s *Scorer, b *block.Block) [][]float32 {
	t.Helper()
	scores, err := s.Scores(context.Background(), b)
	require.NoError(t, err)
	return scores
}

// TestSparseExpansion: scores of sparse rows have the bits of those of dense rows, with support rows that store few
// values. A missing value gives NaN, though no support row stores its column.
func TestSparseExpansion(t *testing.T) {
	const features, support, rows = 300, 500, 40
	rng := rand.New(rand.NewPCG(9, 10))
	sparse := func(n int) []float32 {
		values := make([]float32, n*features)
		for range 4 * n {
			values[rng.IntN(len(values)/2)*2] = float32(rng.NormFloat64()) // even columns
		}
		return values
	}
	alpha := make([]float32, support)
	m := linear(features, false, rng)
	m.Weights = nil
	m.Expansion = &model.Expansion{Support: model.Pack(sparse(support))}
	for j := range alpha {
		alpha[j] = float32(rng.NormFloat64())
		m.Expansion.Rows = append(m.Expansion.Rows, int64(j))
	}
	m.Expansion.Coefficients = [][]byte{model.Pack(alpha)}
	dense := block.New(0, rows, features)
	for i, v := range sparse(rows) {
		dense.X[i/features*dense.Stride+i%features] = v
	}
	dense.X[5*dense.Stride+1] = float32(math.NaN())
	spec := &schema.Spec{Features: make([]string, features)}
	few := testproblems.Sparse(block.NewData(spec, []*block.Block{dense}))
	for _, kind := range []gram.Kind{gram.Linear, gram.Polynomial, gram.RBF} {
		for _, voted := range []bool{false, true} {
			if m.Expansion.Kernel = (gram.Kernel{Kind: kind, Degree: 3, Gamma: 0.1}); voted {
				m.Expansion.Votes = []model.Votes{{Mistakes: model.Pack([]uint32{0, 1, 499}), Survived: model.Pack([]int64{3, 1, 1})}}
			}
			scorer := scorerOf(t, m, 2)
			want := slices.Clone(mustScore(t, scorer, dense)[0])
			for b := range few.Blocks(t.Context()) {
				for r, got := range mustScore(t, scorer, b)[0] {
					if w := want[r]; (r == 5) != (got != got) || r != 5 && math.Float32bits(got) != math.Float32bits(w) {
						t.Errorf("%s, voted %v: the score of sparse row %d is %v, of the dense row %v", kind, voted, r, got, w)
					}
				}
			}
			m.Expansion.Votes = nil
		}
	}
}

// TestClasses: each class has its scores, and the first of the greatest predicts the class.
func TestClasses(t *testing.T) {
	spec := &schema.Spec{Features: []string{"a"}, Bias: true, Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1), schema.IntClass(2)}}
	s := scorerOf(t, model.New(spec, []float32{-1, 0, 0, 1, 1, 0}), 1)
	b := block.New(0, 4, 2)
	for r, v := range []float32{-3, 0.5, 2, 1} {
		b.X[r*b.Stride], b.X[r*b.Stride+1] = v, 1
	}
	scores := mustScore(t, s, b)
	for r, want := range []int{0, 1, 2, 1} {
		if got := PredictedClass(scores, r, 0); got != want {
			t.Errorf("row %d is of class %d, want %d", r, got, want)
		}
	}
}

func TestClass(t *testing.T) {
	for _, c := range []struct {
		score float32
		want  bool
	}{{math.SmallestNonzeroFloat32, true}, {float32(math.Inf(1)), true}, {0, false}, {float32(math.Copysign(0, -1)), false}, {-1, false}, {float32(math.NaN()), false}} {
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

// TestValid: a score is invalid if a feature is NaN, but not if the sum overflows.
func TestValid(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	b := block.New(0, 4, 2)
	for r, row := range [][2]float32{{1, 2}, {nan, 1}, {inf, -inf}, {1, nan}} {
		copy(b.X[r*b.Stride:], row[:])
	}
	if got := ValidScores(b, []float32{3, nan, nan, nan}); !slices.Equal(got, []bool{true, false, true, false}) {
		t.Errorf("valid are %v", got)
	}
}

// TestMissing: a missing value makes the scores of its row NaN, also those of expansions and of voters, and of no other row.
func TestMissing(t *testing.T) {
	voters := linear(2, true, rand.New(rand.NewPCG(7, 8)))
	voters.Voters = model.NewVoters([]float32{1, 2, 3, 4, 5, 6}, []int64{3, 1}, 3)
	models := map[string]*model.Model{"voters": voters}
	for _, kind := range []gram.Kind{gram.Linear, gram.Polynomial, gram.RBF} {
		for _, voted := range []bool{false, true} {
			m := linear(2, true, rand.New(rand.NewPCG(7, 8)))
			m.Weights = nil
			m.Expansion = &model.Expansion{Kernel: gram.Kernel{Kind: kind, Degree: 2, Gamma: 1}, Rows: []int64{3, 5},
				Support: model.Pack([]float32{1, 2, 3, 4}), Coefficients: [][]byte{model.Pack([]float32{1, -1})}}
			if voted {
				m.Expansion.Votes = []model.Votes{{Mistakes: model.Pack([]uint32{0, 1, 0}), Survived: model.Pack([]int64{3, 1, 1})}}
			}
			models[fmt.Sprint(kind, ", voted ", voted)] = m
		}
	}
	for name, m := range models {
		require.NoError(t, m.Check())
		b := block.New(0, 600, 3)
		for i := range b.X {
			b.X[i] = float32(i%5) - 2
		}
		b.X[300*b.Stride+1] = float32(math.NaN())
		scores := mustScore(t, scorerOf(t, m, 2), b)[0]
		for r, score := range scores {
			if (score != score) != (r == 300) {
				t.Fatalf("%s: score %d is %v", name, r, score)
			}
		}
		if valid := ValidScores(b, scores); valid[300] || !valid[299] {
			t.Errorf("%s: valid are %v", name, valid[299:301])
		}
	}
}

// TestVotes: a row's score is the share of votes for it less that against it. That holds for dense and sparse rows, and
// for any number of rows and workers.
func TestVotes(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	const cols, voters = 13, 700 // more than a kernel call takes
	stride := kernel.Stride(cols)
	w, counts := make([]float32, voters*stride), make([]int64, voters)
	total := int64(0)
	for i := range counts {
		for c := range cols {
			w[i*stride+c] = float32(rng.NormFloat64())
		}
		counts[i] = 1 + rng.Int64N(50)
		total += counts[i]
	}
	m := linear(cols, false, rng)
	m.Voters = model.NewVoters(w, counts, cols)
	for _, rows := range []int{150, 0, 1, 64, 65} {
		b := block.New(0, rows, cols)
		sparse := &kernel.SparseRows{Ptr: []int64{0}}
		var want []float32
		for r := range rows {
			row := b.X[r*stride:][:stride]
			for c := range cols {
				if rng.IntN(2) == 0 {
					row[c] = float32(rng.NormFloat64())
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
			want = append(want, float32(float64(votes)/float64(total)))
		}
		for workers := 1; workers < 4; workers++ {
			scorer := scorerOf(t, m, workers)
			if got := mustScore(t, scorer, b)[0]; !slices.Equal(got, want) {
				t.Fatalf("%d rows, %d workers: scores %v, want %v", rows, workers, got, want)
			}
			if got := mustScore(t, scorer, &block.Block{Cols: cols, Stride: stride, Sparse: sparse})[0]; !slices.Equal(got, want) {
				t.Fatalf("%d sparse rows, %d workers: scores %v, want %v", rows, workers, got, want)
			}
		}
	}
}
