package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/kernel"
)

// powerLaw returns rows of some elements each, whose columns follow a power law, and a bias.
func powerLaw(rows, cols, elements int) *kernel.SparseRows {
	rng := rand.New(rand.NewPCG(1, 1))
	s := &kernel.SparseRows{Ptr: []int64{0}}
	has := make([]bool, cols)
	for range rows {
		var row []uint32
		for len(row) < elements-1 {
			if c := min(cols-2, int(math.Pow(float64(cols), rng.Float64()))-1); !has[c] {
				has[c] = true
				row = append(row, uint32(c))
			}
		}
		row = append(row, uint32(cols-1))
		slices.Sort(row)
		for _, c := range row {
			has[c] = false
			s.Idx, s.Val = append(s.Idx, c), append(s.Val, float32(rng.NormFloat64()))
		}
		s.Ptr = append(s.Ptr, int64(len(s.Idx)))
	}
	return s
}

// BenchmarkSparse times the kernels of rows in CSR form, for each element.
func BenchmarkSparse(b *testing.B) {
	levels(b, []string{"SparseScores", "SparseScores8", "SparseEpoch"}, benchmarkSparse)
}

func benchmarkSparse(b *testing.B) {
	for _, shape := range []struct{ rows, cols, elements int }{{2000, 124, 15}, {2000, 100_000, 80}, {20000, 1_000_000, 80}} {
		s := powerLaw(shape.rows, shape.cols, shape.elements)
		w, out, y, log := make([]float32, shape.cols), make([]float32, shape.rows), make([]float32, shape.rows), make([]uint32, shape.rows)
		for i := range w {
			w[i] = float32(math.Sin(float64(i)))
		}
		s.Scores(out, w)
		for r := range y {
			y[r] = float32(math.Copysign(1, float64(out[r])))
			if r%8 == 0 {
				y[r] = -y[r]
			}
		}
		many := make([]float32, 8*shape.cols)
		group := kernel.Interleave(many, shape.cols, shape.cols)
		run := func(kind string, per int, f func()) {
			b.Run(fmt.Sprintf("%s/cols=%d/elements=%d", kind, shape.cols, shape.elements), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.Idx)*per), "ns/element")
			})
		}
		run("Scores", 1, func() { s.Scores(out, w) })
		run("Scores8", 8, func() { group.Scores(s, func(int, int, []float32) {}) })
		run("Epoch", 1, func() { s.Epoch(w, log, y, 1e-9, 0) })
	}
}
