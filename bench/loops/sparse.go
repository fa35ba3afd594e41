package loops

import (
	"math"
	"math/rand/v2"
	"slices"

	"halfspace/internal/csr"
	"halfspace/kernel"
)

const (
	sparseRows, sparseElements = 3, 256 // rows, and elements of each row
	sparseColumns              = 300    // 8 vectors take 10 KiB
)

// sparse returns the kernels of rows in CSR form. The epochs make no mistake.
func sparse() []Loop {
	const n, vectors = sparseRows * sparseElements, 8
	s, w := randomSparse(), normals[float32](sparseColumns)
	out, y, log, numbers := make([]float32, sparseRows), make([]float32, sparseRows), make([]uint32, sparseRows), make([]uint32, sparseRows)
	s.Scores(out, w)
	for r := range y {
		y[r], numbers[r] = float32(math.Copysign(1, float64(out[r]))), uint32(r)
	}
	index := kernel.NewSparseIndex([]*kernel.SparseRows{s}, [][]float32{y})
	many := kernel.Interleave(normals[float32](vectors*sparseColumns), sparseColumns, sparseColumns)
	sum := make([]float32, sparseColumns)
	return []Loop{
		{"SparseScoresF32", n, func() { s.Scores(out, w) }},
		{"SparseScores8F32", vectors * n, func() { many.Scores(s, func(int, int, []float32) {}) }},
		{"SparseEpochF32", n, func() { s.Epoch(w, log, y, 1, 0) }},
		{"SparseEpochIndexedF32", n, func() { index.Epoch(w, log, numbers, 1, 0) }},
		{"SparseAddF32", n, func() {
			for r := range sparseRows {
				s.Add(sum, 1e-9, r)
			}
		}},
	}
}

// addRow is a variable so that csr.Add isn't inlined, and its instructions can be found by its name.
var addRow = csr.Add[float32]

// Compiled returns loops of pure Go over the elements of sparse rows, with weights in float64.
func Compiled() []Loop {
	const n = sparseRows * sparseElements
	s, w := randomSparse(), normals[float64](sparseColumns)
	return []Loop{
		{"csr.ScoreF32", n, func() {
			for r := range sparseRows {
				columns, values := s.Row(r)
				csr.Score(columns, values, w)
			}
		}},
		{"csr.AddF32", n, func() {
			for r := range sparseRows {
				columns, values := s.Row(r)
				addRow(w, columns, values, 1e-9)
			}
		}},
	}
}

// randomSparse returns rows of normal numbers in random columns, the same in each call.
func randomSparse() *kernel.SparseRows {
	rng := rand.New(rand.NewPCG(1, 1))
	s := &kernel.SparseRows{Ptr: []int64{0}, Val: normals[float32](sparseRows * sparseElements)}
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
