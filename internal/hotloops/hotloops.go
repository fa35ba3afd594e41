// Package hotloops calls the hot kernels on fixed shapes, whose data stay in the first-level cache. Programs time them,
// or count their instructions.
package hotloops

import (
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"halfspace/block"
	"halfspace/internal/microkernel"
	"halfspace/kernel"
)

// A Loop is a kernel with its arguments.
type Loop struct {
	Name  string // of the kernel in package forecast: the function, and the columns where they matter
	Units int    // the amount of work of a call, in units of package forecast
	Run   func() // calls the kernel
}

// All returns the loops for the active level, which must not change while they run.
func All() []Loop {
	var all []Loop
	all = append(all, vectors[float32]()...)
	all = append(all, vectors[float64]()...)
	all = append(all, elementary[float32]()...)
	all = append(all, elementary[float64]()...)
	all = append(all, logistic())
	for _, columns := range []int{28, 256} {
		all = append(all, rows[float32](columns)...)
		all = append(all, rows[float64](columns)...)
	}
	all = append(all, tile[float32](), tile[float64](), rankKUpdate(), scaleRows[float32](), scaleRows[float64]())
	all = append(all, transpose[float32](), transpose[float64]())
	all = append(append(all, bounds[float32]()...), bounds[float64]()...)
	return append(append(all, sparse[float32]()...), sparse[float64]()...)
}

// bytes is the size of an operand that stays in a first-level cache of 32 KiB together with another.
const bytes = 8 << 10

// suffix returns how the names of functions for an element type end.
func suffix[T kernel.Float]() string { return fmt.Sprintf("F%d", 8*unsafe.Sizeof(T(0))) }

func elements[T kernel.Float]() int { return bytes / int(unsafe.Sizeof(T(0))) }

// normals returns the same n normal numbers in each call.
func normals[T kernel.Float](n int) []T {
	rng := rand.New(rand.NewPCG(1, 1))
	x := block.Alloc[T](n)
	for i := range x {
		x[i] = T(rng.NormFloat64())
	}
	return x
}

func vectors[T kernel.Float]() []Loop {
	n := elements[T]()
	x, y := normals[T](n), normals[T](n)
	return []Loop{
		{"Dot" + suffix[T](), n, func() { kernel.Dot(x, y) }},
		{"Axpy" + suffix[T](), n, func() { kernel.Axpy(y, 1e-9, x) }},
		{"Peak" + suffix[T](), 100 * max(1, microkernel.Peak[T](1)), func() { microkernel.Peak[T](100) }},
	}
}

func elementary[T kernel.Float]() []Loop {
	n := elements[T]()
	x, y := normals[T](n), block.Alloc[T](n)
	for i := range x {
		x[i] = T(math.Abs(float64(x[i])))
	}
	return []Loop{
		{"Exp" + suffix[T](), n, func() { kernel.Exp(y, x) }},
		{"Sigmoid" + suffix[T](), n, func() { kernel.Sigmoid(y, x) }},
		{"Log1p" + suffix[T](), n, func() { kernel.Log1p(y, x) }},
	}
}

func logistic() Loop {
	n := elements[float64]() / 2
	z, y := normals[float64](n), normals[float64](n)
	for i := range y {
		y[i] = math.Copysign(1, y[i])
	}
	factor, curvature, loss := make([]float64, n), make([]float64, n), make([]float64, n)
	return Loop{"LogisticF64", n, func() { kernel.Logistic(z, factor, curvature, loss, y) }}
}

// rows returns the kernels that score rows of a stride of that many columns. The epochs make no mistake.
func rows[T kernel.Float](columns int) []Loop {
	stride := kernel.Stride[T](columns)
	n := 2 * elements[T]() / stride
	x, w, out := normals[T](n*stride), normals[T](stride), make([]T, n)
	kernel.Scores(out, x, w)
	y, log := make([]T, n), make([]uint32, n)
	for r := range y {
		y[r] = T(math.Copysign(1, float64(out[r])))
	}
	inOrder, indexes := kernel.NewRows([][]T{x}, [][]T{y}, stride), make([]uint32, n)
	for i := range indexes {
		indexes[i] = uint32(i)
	}
	name := fmt.Sprintf("%s/%d", suffix[T](), columns)
	return []Loop{
		{"Scores" + name, n, func() { kernel.Scores(out, x, w) }},
		{"Epoch" + name, n, func() { kernel.Epoch(w, log, x, y, 1, 0) }},
		{"EpochIndexed" + name, n, func() { kernel.EpochIndexed(w, log, inOrder, indexes, x, 1, 0) }},
	}
}

func tile[T kernel.Float]() Loop {
	mr, nr := microkernel.TileShape[T]()
	k := 2 * elements[T]() / nr
	a, b, c := normals[T](mr*k), normals[T](nr*k), make([]T, mr*nr)
	return Loop{"Tile" + suffix[T](), mr * nr * k, func() { microkernel.Tile(c, nr, 0, a, b, false) }}
}

func rankKUpdate() Loop {
	const cols, k = microkernel.BlockCols, 32
	a, c := normals[float64](cols*k), make([]float64, cols*cols)
	return Loop{"RankKUpdateF64", cols * cols * k, func() { microkernel.RankKUpdate(c, a, a, cols, true) }}
}

func scaleRows[T kernel.Float]() Loop {
	const cols, n = microkernel.BlockCols, 32
	x, s, dst := normals[T](cols*n), make([]float64, n), make([]float64, cols*n)
	for i := range s {
		s[i] = float64(i + 2)
	}
	return Loop{"ScaleRows" + suffix[T](), n, func() { microkernel.ScaleRows(dst, x, s, cols, cols) }}
}

// bounds calls Bounds and BoundsWeighted by way of Candidates, which packs the rows before.
func bounds[T kernel.Float]() []Loop {
	const candidates, cols, n = 64, 29, 240
	stride := kernel.Stride[T](cols)
	padded := func(n int) []T {
		x := normals[T](n * stride)
		for i := range x {
			if i%stride >= cols {
				x[i] = 0
			}
		}
		return x
	}
	c := kernel.NewCandidates(padded(candidates), cols)
	x, y, counts := padded(n), make([]T, n), make([]int64, candidates)
	for i := range y {
		y[i] = T(1 - 2*(i%2))
	}
	weights := make([]int32, n)
	for i := range weights {
		weights[i] = int32(i)
	}
	return []Loop{
		{"Bounds" + suffix[T](), candidates * n, func() { c.Errors(counts, x, y) }},
		{"BoundsWeighted" + suffix[T](), candidates * n, func() { c.ErrorWeights(counts, x, y, weights) }},
	}
}

func transpose[T kernel.Float]() Loop {
	const cols = 32
	n := elements[T]() / cols
	x, columns := normals[T](cols*n), make([][]T, cols)
	for c := range columns {
		columns[c] = x[c*n:][:n]
	}
	dst := make([]T, n*cols)
	return Loop{"Transpose" + suffix[T](), n * cols, func() { kernel.Transpose(dst, cols, columns) }}
}
