// Package loops calls the hot kernels on fixed shapes, whose data stay in the first-level cache. Programs time these
// calls, or count their instructions.
package loops

import (
	"fmt"
	"math"
	"math/rand/v2"

	"halfspace/block"
	"halfspace/internal/microkernel"
	"halfspace/kernel"
	"halfspace/kernel/f64"
)

// A Loop is a kernel with its arguments.
type Loop struct {
	Name  string // of the kernel: the function, and the columns of a row where they matter
	Units int    // the work of a call: elements, rows or multiply-adds
	Run   func() // calls the kernel
}

// All returns the loops for the active level, which must not change while they run.
func All() []Loop {
	all := append(append(vectors(), solvers()...), rows(28)...)
	all = append(append(all, rows(256)...), tile(), rankKUpdate(), scaleRows(), transpose())
	return append(append(all, bounds()...), sparse()...)
}

// bytes is the size of an operand. Two operands stay in a first-level cache of 32 KiB together.
const bytes = 8 << 10

// elements is the number of float32 in an operand.
const elements = bytes / 4

// normals returns the same n normal numbers in each call.
func normals[T float32 | float64](n int) []T {
	rng := rand.New(rand.NewPCG(1, 1))
	x := block.Alloc[T](n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

func vectors() []Loop {
	x, y := normals[float32](elements), normals[float32](elements)
	positive, powers := normals[float32](elements), make([]float32, elements)
	for i, v := range positive {
		positive[i] = float32(math.Abs(float64(v)))
	}
	return []Loop{
		{"DotF32", elements, func() { kernel.Dot(x, y) }},
		{"AxpyF32", elements, func() { kernel.Axpy(y, 1e-9, x) }},
		{"PeakF32", 100 * max(1, microkernel.Peak(1)), func() { microkernel.Peak(100) }},
		{"ExpF32", elements, func() { kernel.Exp(powers, positive) }},
	}
}

// solvers returns the loops over float64.
func solvers() []Loop {
	const n = bytes / 8
	x, y, z, signs := normals[float64](n), normals[float64](n), normals[float64](n/2), normals[float64](n/2)
	positive, out := normals[float64](n), make([]float64, n)
	for i, v := range positive {
		positive[i] = math.Abs(v)
	}
	for i, v := range signs {
		signs[i] = math.Copysign(1, v)
	}
	factor, curvature, loss := make([]float64, n/2), make([]float64, n/2), make([]float64, n/2)
	all := []Loop{
		{"DotF64", n, func() { f64.Dot(x, y) }},
		{"AxpyF64", n, func() { f64.Axpy(y, 1e-9, x) }},
		{"ExpF64", n, func() { f64.Exp(out, positive) }},
		{"SigmoidF64", n, func() { f64.Sigmoid(out, positive) }},
		{"Log1pF64", n, func() { f64.Log1p(out, positive) }},
		{"LogisticF64", n / 2, func() { f64.Logistic(z, factor, curvature, loss, signs) }},
	}
	for _, columns := range []int{28, 256} {
		stride := f64.Stride(columns)
		n := 2 * n / stride
		x, w, out := normals[float64](n*stride), normals[float64](stride), make([]float64, n)
		all = append(all, Loop{fmt.Sprintf("ScoresF64/%d", columns), n, func() { f64.Scores(out, x, w) }})
	}
	return all
}

// rows returns the kernels that score rows of that many columns. The epochs make no mistake.
func rows(columns int) []Loop {
	stride := kernel.Stride(columns)
	n := 2 * elements / stride
	x, w, out := normals[float32](n*stride), normals[float32](stride), make([]float32, n)
	kernel.Scores(out, x, w)
	y, log := make([]float32, n), make([]uint32, n)
	for r := range y {
		y[r] = float32(math.Copysign(1, float64(out[r])))
	}
	inOrder, indexes := kernel.NewRows([][]float32{x}, [][]float32{y}, stride), make([]uint32, n)
	for i := range indexes {
		indexes[i] = uint32(i)
	}
	name := fmt.Sprintf("F32/%d", columns)
	return []Loop{
		{"Scores" + name, n, func() { kernel.Scores(out, x, w) }},
		{"Epoch" + name, n, func() { kernel.Epoch(w, log, x, y, 1, 0) }},
		{"EpochIndexed" + name, n, func() { kernel.EpochIndexed(w, log, inOrder, indexes, x, 1, 0) }},
	}
}

func tile() Loop {
	mr, nr := microkernel.TileShape()
	k := 2 * elements / nr
	a, b, c := normals[float32](mr*k), normals[float32](nr*k), make([]float32, mr*nr)
	return Loop{"TileF32", mr * nr * k, func() { microkernel.Tile(c, nr, 0, a, b, false) }}
}

func rankKUpdate() Loop {
	const cols, k = microkernel.BlockCols, 32
	a, c := normals[float64](cols*k), make([]float64, cols*cols)
	return Loop{"RankKUpdateF64", cols * cols * k, func() { microkernel.RankKUpdate(c, a, a, cols, true) }}
}

func scaleRows() Loop {
	const cols, n = microkernel.BlockCols, 32
	x, s, dst := normals[float32](cols*n), make([]float64, n), make([]float64, cols*n)
	for i := range s {
		s[i] = float64(i + 2)
	}
	return Loop{"ScaleRowsF32", n, func() { microkernel.ScaleRows(dst, x, s, cols, cols) }}
}

// bounds calls Bounds and BoundsWeighted through Candidates, which packs the rows first.
func bounds() []Loop {
	const candidates, cols, n = 64, 29, 240
	stride := kernel.Stride(cols)
	padded := func(n int) []float32 {
		x := normals[float32](n * stride)
		for i := range x {
			if i%stride >= cols {
				x[i] = 0
			}
		}
		return x
	}
	c := kernel.NewCandidates(padded(candidates), cols)
	x, y, counts := padded(n), make([]float32, n), make([]int64, candidates)
	for i := range y {
		y[i] = float32(1 - 2*(i%2))
	}
	weights := make([]int32, n)
	for i := range weights {
		weights[i] = int32(i)
	}
	return []Loop{
		{"BoundsF32", candidates * n, func() { c.Errors(counts, x, y) }},
		{"BoundsWeightedF32", candidates * n, func() { c.ErrorWeights(counts, x, y, weights) }},
	}
}

func transpose() Loop {
	const cols = 32
	n := elements / cols
	x, columns := normals[float32](cols*n), make([][]float32, cols)
	for c := range columns {
		columns[c] = x[c*n:][:n]
	}
	dst := make([]float32, n*cols)
	return Loop{"TransposeF32", n * cols, func() { kernel.Transpose(dst, cols, columns) }}
}
