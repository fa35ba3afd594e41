package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/kerneltest"
	"halfspace/internal/require"
	"halfspace/kernel"
)

// TestSparse: rows in CSR form give the results of the same rows in dense form, on every level.
func TestSparse(t *testing.T) {
	kerneltest.OnLevels(t, testSparse)
}

// bothForms returns rows of which about a share of the elements is stored, in both forms.
func bothForms(rng *rand.Rand, rows, cols int, share float64) (dense []float32, s *kernel.SparseRows) {
	stride := kernel.Stride(cols)
	dense, s = make([]float32, rows*stride), &kernel.SparseRows{Ptr: []int64{0}}
	for r := range rows {
		for c := range cols {
			if rng.Float64() < share {
				v := float32(rng.NormFloat64())
				dense[r*stride+c] = v
				s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, v)
			}
		}
		s.Ptr = append(s.Ptr, int64(len(s.Idx)))
	}
	return dense, s
}

func testSparse(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, rows := range []int{0, 1, 7, kernel.GroupRows + 100} {
		for _, cols := range []int{1, 9, 70, 300} {
			if require.Small() && rows*cols > 300_000 {
				continue
			}
			dense, s := bothForms(rng, rows, cols, []float64{0.05, 0.9}[rng.IntN(2)])
			stride := kernel.Stride(cols)
			w, y := make([]float32, stride), make([]float32, rows)
			for c := range cols {
				w[c] = float32(rng.NormFloat64())
			}
			for r := range y {
				y[r] = []float32{-1, 1, 0.5}[rng.IntN(3)]
			}
			what := fmt.Sprintf("rows=%d cols=%d", rows, cols)
			got, want := make([]float32, rows), make([]float32, rows)
			kernel.Scores(want, dense, w)
			s.Scores(got, w)
			equalNumbers(t, what+" Scores", got, want)
			for r := range rows {
				if score := s.Score(r, w); score != want[r] {
					t.Fatalf("%s: row %d has the score %v, want %v", what, r, score, want[r])
				}
			}
			if got, want := s.MaxSquaredNorm(), kernel.MaxSquaredNorm(dense, stride); got != want {
				t.Fatalf("%s: the largest squared norm is %v, want %v", what, got, want)
			}
			if rows > 0 {
				sparseEpochs(t, what, rng, s, dense, y, w)
			}
			sparseVectors(t, what, rng, s, dense, stride, cols)
		}
	}
}

// sparseEpochs compares both kinds of epochs, with logs that are full on the way and ones that never are.
func sparseEpochs(t *testing.T, what string, rng *rand.Rand, s *kernel.SparseRows, dense, y, w []float32) {
	stride := len(w)
	var x, labels [][]float32
	var groups []*kernel.SparseRows
	for lo := 0; lo < len(y); lo += kernel.GroupRows {
		hi := min(len(y), lo+kernel.GroupRows)
		x, labels = append(x, dense[lo*stride:hi*stride]), append(labels, y[lo:hi])
		groups = append(groups, &kernel.SparseRows{Ptr: s.Ptr[lo : hi+1], Idx: s.Idx, Val: s.Val})
	}
	rows, index := kernel.NewRows(x, labels, stride), kernel.NewSparseIndex(groups, labels)
	numbers := make([]uint32, 1000)
	for i := range numbers {
		numbers[i] = uint32(rng.IntN(len(y)))
	}
	for _, room := range []int{1, 5, 2000} {
		a, b := slices.Clone(w), slices.Clone(w)
		la, lb := make([]uint32, room), make([]uint32, room)
		visits, updates := kernel.Epoch(a, la, dense, y, 0.1, 0.25)
		n, m := s.Epoch(b, lb, y, 0.1, 0.25)
		if n != visits || m != updates || !slices.Equal(la, lb) {
			t.Fatalf("%s: Epoch: %d visits and %d updates, want %d and %d", what, n, m, visits, updates)
		}
		equalNumbers(t, what+" Epoch", b, a)
		visits, updates = kernel.EpochIndexed(a, la, rows, numbers, nil, 0.1, 0.25)
		n, m = index.Epoch(b, lb, numbers, 0.1, 0.25)
		if n != visits || m != updates || !slices.Equal(la, lb) {
			t.Fatalf("%s: by numbers: %d visits and %d updates, want %d and %d", what, n, m, visits, updates)
		}
		equalNumbers(t, what+" Epoch by numbers", b, a)
		s.Add(b, 0.5, len(y)-1)
		kernel.Axpy(a, 0.5, dense[(len(y)-1)*stride:])
		equalNumbers(t, what+" Add", b, a)
	}
}

// sparseVectors compares the scores of several vectors, and the errors of candidates.
func sparseVectors(t *testing.T, what string, rng *rand.Rand, s *kernel.SparseRows, dense []float32, stride, cols int) {
	for _, n := range []int{0, 1, 8, 11} {
		w := make([]float32, n*stride)
		for i := range w {
			if i%stride < cols {
				w[i] = float32(rng.NormFloat64())
			}
		}
		scored := 0
		kernel.Interleave(w, cols, stride).Scores(s, func(row, vector int, scores []float32) {
			for i, got := range scores {
				scored++
				if want := kernel.Dot(dense[row*stride:(row+1)*stride], w[(vector+i)*stride:][:stride]); got != want {
					t.Fatalf("%s: row %d, vector %d: score %v, want %v", what, row, vector+i, got, want)
				}
			}
		})
		if scored != n*s.Len() {
			t.Fatalf("%s: %d scores of %d vectors", what, scored, n)
		}
	}
}

func equalNumbers(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// TestSparseBeyond: wrong rows panic on every level. No memory beyond the slices is read or written.
func TestSparseBeyond(t *testing.T) {
	good := func() *kernel.SparseRows {
		return &kernel.SparseRows{Ptr: []int64{0, 2, 3}, Idx: []uint32{0, 3, 1}, Val: []float32{1, 2, 3}}
	}
	w, y, log := make([]float32, 4), []float32{1, 1}, make([]uint32, 4)
	calls := map[string]func(*kernel.SparseRows){
		"Scores": func(s *kernel.SparseRows) { s.Scores(make([]float32, 2), w) },
		"Score":  func(s *kernel.SparseRows) { s.Score(0, w); s.Score(1, w) },
		"Add":    func(s *kernel.SparseRows) { s.Add(w, 1, 0); s.Add(w, 1, 1) },
		"Epoch":  func(s *kernel.SparseRows) { s.Epoch(w, log, y, 1, 0) },
		"Interleaved": func(s *kernel.SparseRows) {
			kernel.Interleave(w, 4, 4).Scores(s, func(int, int, []float32) {})
		},
		"SparseIndex": func(s *kernel.SparseRows) {
			kernel.NewSparseIndex([]*kernel.SparseRows{s}, [][]float32{y}).Epoch(w, log, []uint32{0, 1}, 1, 0)
		},
	}
	wrong := map[string]func(*kernel.SparseRows){
		"column":       func(s *kernel.SparseRows) { s.Idx[1] = 4 },
		"far column":   func(s *kernel.SparseRows) { s.Idx[2] = 1 << 31 },
		"beyond":       func(s *kernel.SparseRows) { s.Ptr[2] = 4 },
		"descending":   func(s *kernel.SparseRows) { s.Ptr[1] = 5 },
		"negative":     func(s *kernel.SparseRows) { s.Ptr[0] = -1 },
		"short values": func(s *kernel.SparseRows) { s.Val = s.Val[:2] },
	}
	kerneltest.OnLevels(t, func(t *testing.T) {
		for call, f := range calls {
			if panics(func() { f(good()) }) {
				t.Errorf("%s panics on good rows", call)
			}
			for name, spoil := range wrong {
				s := good()
				spoil(s)
				if !panics(func() { f(s) }) && (call != "Add" || name != "short values") {
					t.Errorf("%s doesn't panic: %s", call, name)
				}
			}
		}
	})
}

func panics(f func()) bool { return kerneltest.PanicOf(f) != "<nil>" }
