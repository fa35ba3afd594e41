package bench

import (
	"math"
	"math/rand/v2"
	"slices"

	"halfspace/internal/linalg"
	"halfspace/kernel"
)

const (
	sparseRows, sparseElements = 3, 256 // rows, and elements of each row
	sparseColumns              = 300    // 8 vectors take 10 KiB
)

// addRow is a variable so that AddSparse isn't inlined, and its instructions can be found by its name.
var addRow = linalg.AddSparse[float32]

// sparseLoops returns the loops over rows in CSR form. The epochs make no mistake. The loops of package linalg are pure
// Go, with weights in float64.
func sparseLoops() []loop {
	const vectors = 8
	s, w, w64 := randomSparse(), normals[float32](sparseColumns), normals[float64](sparseColumns)
	out, y, log, numbers := make([]float32, sparseRows), make([]float32, sparseRows), make([]uint32, sparseRows), make([]uint32, sparseRows)
	s.Scores(out, w)
	for r := range y {
		y[r], numbers[r] = float32(math.Copysign(1, float64(out[r]))), uint32(r)
	}
	index := kernel.NewSparseIndex([]*kernel.SparseRows{s}, [][]float32{y})
	many := kernel.Interleave(normals[float32](vectors*sparseColumns), sparseColumns, sparseColumns)
	sum := make([]float32, sparseColumns)
	eachRow := func(f func(columns []uint32, values []float32)) {
		for r := range sparseRows {
			f(s.Row(r))
		}
	}
	return []loop{
		{Name: "SparseScores/type=float32", Run: func() { s.Scores(out, w) }},
		{Name: "SparseScores/type=float32/vectors=8", Run: func() { many.Scores(s, func(int, int, []float32) {}) }},
		{Name: "SparseEpoch/type=float32", Run: func() { s.Epoch(w, log, y, 1, 0) }},
		{Name: "SparseEpochIndexed/type=float32", Run: func() { index.Epoch(w, log, numbers, 1, 0) }},
		{Name: "SparseAdd/type=float32", Run: func() {
			for r := range sparseRows {
				s.Add(sum, 1e-9, r)
			}
		}},
		{Name: "ScoreSparse64/type=float32", Run: func() {
			eachRow(func(columns []uint32, values []float32) { linalg.ScoreSparse(columns, values, w64) })
		}},
		{Name: "AddSparse64/type=float32", Run: func() {
			eachRow(func(columns []uint32, values []float32) { addRow(w64, columns, values, 1e-9) })
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
