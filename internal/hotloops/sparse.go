package hotloops

import (
	"math"
	"math/rand/v2"
	"slices"

	"halfspace/internal/csr"
	"halfspace/kernel"
)

const (
	sparseRows, sparseElements = 3, 256 // of a row
	sparseColumns              = 300    // 8 vectors of float64 take 19 KiB
)

// sparse returns the kernels of rows in CSR form. The epochs make no mistake.
func sparse[T kernel.Float]() []Loop {
	const n, vectors = sparseRows * sparseElements, 8
	s, w := randomSparse[T](), normals[T](sparseColumns)
	out, y, log, numbers := make([]T, sparseRows), make([]T, sparseRows), make([]uint32, sparseRows), make([]uint32, sparseRows)
	s.Scores(out, w)
	for r := range y {
		y[r], numbers[r] = T(math.Copysign(1, float64(out[r]))), uint32(r)
	}
	index := kernel.NewSparseIndex([]*kernel.SparseRows[T]{s}, [][]T{y})
	many := kernel.Interleave(normals[T](vectors*sparseColumns), sparseColumns, sparseColumns)
	sum := make([]T, sparseColumns)
	return []Loop{
		{"SparseScores" + suffix[T](), n, func() { s.Scores(out, w) }},
		{"SparseScores8" + suffix[T](), vectors * n, func() { many.Scores(s, func(int, int, []T) {}) }},
		{"SparseEpoch" + suffix[T](), n, func() { s.Epoch(w, log, y, 1, 0) }},
		{"SparseEpochIndexed" + suffix[T](), n, func() { index.Epoch(w, log, numbers, 1, 0) }},
		{"SparseAdd" + suffix[T](), n, func() {
			for r := range sparseRows {
				s.Add(sum, 1e-9, r)
			}
		}},
	}
}

// Compiled returns loops of pure Go over the elements of sparse rows, with weights in float64. The compiler chooses their
// instructions, so package forecast has no model of them.
func Compiled() []Loop { return append(compiled[float32](), compiled[float64]()...) }

func compiled[T kernel.Float]() []Loop {
	const n = sparseRows * sparseElements
	s, w := randomSparse[T](), normals[float64](sparseColumns)
	return []Loop{
		{"csr.Score" + suffix[T](), n, func() {
			for r := range sparseRows {
				columns, values := s.Row(r)
				csr.Score(columns, values, w)
			}
		}},
		{"csr.Add" + suffix[T](), n, func() {
			for r := range sparseRows {
				columns, values := s.Row(r)
				csr.Add(w, columns, values, 1e-9)
			}
		}},
	}
}

// randomSparse returns the same rows of normal numbers in random columns in each call.
func randomSparse[T kernel.Float]() *kernel.SparseRows[T] {
	rng := rand.New(rand.NewPCG(1, 1))
	s := &kernel.SparseRows[T]{Ptr: []int64{0}, Val: normals[T](sparseRows * sparseElements)}
	for range sparseRows {
		row := rng.Perm(sparseColumns)[:sparseElements]
		slices.Sort(row)
		for _, c := range row {
			s.Idx = append(s.Idx, uint32(c))
		}
		s.Ptr = append(s.Ptr, int64(len(s.Idx)))
	}
	return s
}
