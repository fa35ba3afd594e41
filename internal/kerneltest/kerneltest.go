//go:build unix

package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unsafe"

	"halfspace/asm/ref"
	"halfspace/kernel"
)

// A Set is the kernels for one element type. Few exist for float64; the other fields are nil then.
type Set[T Float] struct {
	Dot           func(x, y []T) T
	Axpy          func(y []T, a T, x []T)
	Axpy4         func(y, a []T, x [][]T)
	FirstMistake  func(y, scores []T) int
	Scores        func(out, x, w []T)
	Epoch         func(w []T, log []uint32, x, y []T, eta, margin T) (int, int)
	EpochAveraged func(w, late []T, log []uint32, x, y []T, eta, margin T, visits int) (int, int)
	EpochPassive  func(w []T, log []uint32, x, y []T, most, slack float64) (int, int)
	EpochAdaptive func(w []T, log []uint32, z, n, root []float64, x, y []T, weights, l1, l2 []float64, inverse,
		beta float64, hinge bool) (int, int)
	EpochIndexed   func(w []T, log []uint32, x, y [][]T, idx []uint32, ahead []T, eta, margin T) (int, int)
	Transpose      func(dst []T, stride int, cols [][]T)
	MaxSquaredNorm func(x []T, stride int) float64

	SparseScores       func(out []T, ptr []int64, idx []uint32, val, w []T) int
	SparseScores8      func(out []T, ptr []int64, idx []uint32, val, w []T) int
	SparseEpoch        func(w []T, log []uint32, ptr []int64, idx []uint32, val, y []T, eta, margin T) (int, int)
	SparseEpochIndexed func(w []T, log []uint32, ptr [][]int64, idx [][]uint32, val, y [][]T, rows []uint32, eta, margin T) (int, int)
	SparseAdd          func(w []T, a T, idx []uint32, val []T) int

	Tile           func(c []T, ldc, grow int, a, b []T, add bool)
	MR, NR         int
	Pack           func(dst, x, y []T, stride, cols int) T
	Bounds         func(low, high []int64, x, w, limits []T, cols int)
	BoundsWeighted func(low []int64, x []T, weights []int32, w, limits []T, cols int)

	BoundsMR, BoundsNR int

	ScaleRows   func(dst []float64, x []T, s []float64, stride, cols int)
	RankKUpdate func(c, a, b []float64, rows int, square bool) // float64 alone

	Standardize         func(dst []float32, x []T, center, scale float64)
	Narrow              func(dst []float32, x []float64) uint64       // for float64 alone
	NarrowWhole         func(dst []float32, x []int64) uint64         // for float32 alone
	Exp, Sigmoid, Log1p func(y, x []T)                                // Sigmoid and Log1p for float64 alone
	Logistic            func(z, factor, curvature, loss, y []float64) // for float64 alone

	Decimals func(values []float64, forms []uint32, text []byte, at int, comma uint8, stop uint64) (int, int) // for float32 alone
	OddStart func(text []byte, comma uint8) uint64                                                            // for float32 alone
}

// F32 and F64 are the pure-Go twins.
var (
	F32 = Set[float32]{
		Dot:            ref.DotF32,
		Axpy:           ref.AxpyF32,
		Axpy4:          ref.Axpy4F32,
		FirstMistake:   ref.FirstMistakeF32,
		Scores:         ref.ScoresF32,
		Epoch:          ref.EpochF32,
		EpochAveraged:  ref.EpochAveragedF32,
		EpochPassive:   ref.EpochPassiveF32,
		EpochAdaptive:  ref.EpochAdaptiveF32,
		EpochIndexed:   ref.EpochIndexedF32,
		Transpose:      ref.TransposeF32,
		MaxSquaredNorm: ref.MaxSquaredNormF32,

		SparseScores:       ref.SparseScoresF32,
		SparseScores8:      ref.SparseScores8F32,
		SparseEpoch:        ref.SparseEpochF32,
		SparseEpochIndexed: ref.SparseEpochIndexedF32,
		SparseAdd:          ref.SparseAddF32,

		Tile: ref.TileF32,
		MR:   ref.MRF32, NR: ref.NRF32,
		Pack:     ref.PackF32,
		Bounds:   ref.BoundsF32,
		BoundsMR: ref.BoundsMRF32, BoundsNR: ref.BoundsNRF32,
		BoundsWeighted: ref.BoundsWeightedF32,
		ScaleRows:      ref.ScaleRowsF32,
		Standardize:    ref.StandardizeF32,
		NarrowWhole:    ref.NarrowWholeF32,
		Exp:            ref.ExpF32,
		Decimals:       ref.DecimalsF32,
		OddStart:       ref.OddStartF32,
	}
	F64 = Set[float64]{
		Dot:         ref.DotF64,
		Axpy:        ref.AxpyF64,
		Scores:      ref.ScoresF64,
		RankKUpdate: ref.RankKUpdateF64,
		Standardize: ref.StandardizeF64,
		Narrow:      ref.NarrowF64,
		Exp:         ref.ExpF64,
		Sigmoid:     ref.SigmoidF64,
		Log1p:       ref.Log1pF64,
		Logistic:    ref.LogisticF64,
	}
)

// stride returns the length of a row of cols columns: the next multiple of 32 bytes.
func stride[T Float](cols int) int {
	per := 32 / int(unsafe.Sizeof(T(0)))
	return (cols + per - 1) / per * per
}

// Need skips the test if the machine or the build lacks an instruction set. It fails instead if the environment
// variable HALFSPACE_TEST_REQUIRE names that set.
func Need(t testing.TB, level string) {
	if _, err := kernel.ParseLevel(level); err == nil {
		return
	}
	for _, name := range strings.Split(os.Getenv("HALFSPACE_TEST_REQUIRE"), ",") {
		if name == level {
			t.Fatalf("HALFSPACE_TEST_REQUIRE asks for %s, which this machine or build lacks", level)
		}
	}
	t.Skipf("no %s here", level)
}

// Run compares every kernel of got with its twin in want. An instruction set needn't have all of them.
func Run[T Float](t *testing.T, got, want Set[T]) {
	h := newHarness(t, got, want)
	for _, k := range []struct {
		name string
		has  bool
		test func(*testing.T)
	}{
		{"Dot", got.Dot != nil, h.dot},
		{"Axpy", got.Axpy != nil, h.axpy},
		{"Axpy4", got.Axpy4 != nil, h.axpy4},
		{"FirstMistake", got.FirstMistake != nil, h.firstMistake},
		{"Scores", got.Scores != nil, h.scores},
		{"Zeros", got.Scores != nil, h.zeros},
		{"Epoch", got.Epoch != nil, h.epoch},
		{"EpochAveraged", got.EpochAveraged != nil, h.epochAveraged},
		{"EpochPassive", got.EpochPassive != nil, h.epochPassive},
		{"EpochAdaptive", got.EpochAdaptive != nil, h.epochAdaptive},
		{"EpochIndexed", got.EpochIndexed != nil, h.epochIndexed},
		{"Transpose", got.Transpose != nil, h.transpose},
		{"MaxSquaredNorm", got.MaxSquaredNorm != nil, h.maxSquaredNorm},
		{"SparseScores", got.SparseScores != nil, h.sparseScores},
		{"SparseScores8", got.SparseScores8 != nil, h.sparseScores8},
		{"SparseEpoch", got.SparseEpoch != nil, h.sparseEpoch},
		{"SparseEpochIndexed", got.SparseEpochIndexed != nil, h.sparseEpochIndexed},
		{"SparseAdd", got.SparseAdd != nil, h.sparseAdd},
		{"Tile", got.Tile != nil, h.tile},
		{"Pack", got.Pack != nil, h.pack},
		{"Bounds", got.Bounds != nil, h.bounds},
		{"ScaleRows", got.ScaleRows != nil, h.scaleRows},
		{"RankKUpdate", got.RankKUpdate != nil, h.rankKUpdate},
		{"Standardize", got.Standardize != nil, h.standardize},
		{"Narrow", got.Narrow != nil, h.narrow},
		{"NarrowWhole", got.NarrowWhole != nil, h.narrowWhole},
		{"Decimals", got.Decimals != nil, h.decimals},
		{"OddStart", got.OddStart != nil, h.oddStart},
		{"Exp", got.Exp != nil, func(t *testing.T) { h.elementwise(t, got.Exp, want.Exp) }},
		{"Sigmoid", got.Sigmoid != nil, func(t *testing.T) { h.elementwise(t, got.Sigmoid, want.Sigmoid) }},
		{"Log1p", got.Log1p != nil, func(t *testing.T) { h.elementwise(t, got.Log1p, want.Log1p) }},
		{"Logistic", got.Logistic != nil, h.logistic},
	} {
		if k.has {
			t.Run(k.name, k.test)
		}
	}
}

type harness[T Float] struct {
	got, want     Set[T]
	rng           *rand.Rand
	buffers       [6]*GuardedBuffer
	elementsPer32 int // elements of 32 bytes
}

// bufferBytes is enough for the largest panel below.
const bufferBytes = 1 << 18

func newHarness[T Float](t *testing.T, got, want Set[T]) *harness[T] {
	h := &harness[T]{got: got, want: want, rng: rand.New(rand.NewPCG(1, 2)), elementsPer32: stride[T](1)}
	for i := range h.buffers {
		h.buffers[i] = NewGuardedBuffer(t, bufferBytes)
	}
	return h
}

// places returns both edges, and every alignment of an element within a vector.
func (h *harness[T]) places() []Place {
	p := []Place{{}, {Back: true}}
	for shift := 1; shift < h.elementsPer32; shift++ {
		p = append(p, Place{Back: true, Shift: shift}, Place{Shift: shift})
	}
	return p
}

// edges returns both edges, and one element away from each.
func (h *harness[T]) edges() []Place { return h.places()[:4] }

// try calls a test with each place and a description of it. It fails if the test wrote outside of the slices.
func (h *harness[T]) try(t *testing.T, what string, places []Place, test func(what string, p Place)) {
	t.Helper()
	for _, p := range places {
		at := fmt.Sprintf("%s %+v", what, p)
		test(at, p)
		for i, b := range h.buffers {
			if !b.IsIntact() {
				t.Fatalf("%s: wrote outside of slice %d", at, i)
			}
		}
	}
}

// A flavour makes an element.
type flavour struct {
	name   string
	number func(*rand.Rand) float64
}

// flavours are ordinary numbers, numbers whose sums are exact, and every hard case of rounding and comparing.
var flavours = []flavour{
	{"normal", func(r *rand.Rand) float64 { return r.NormFloat64() }},
	{"integer", func(r *rand.Rand) float64 { return float64(r.IntN(21) - 10) }},
	{"mixed", func(r *rand.Rand) float64 { return math.Ldexp(r.NormFloat64(), r.IntN(80)-40) }},
	{"tiny", func(r *rand.Rand) float64 { return math.Ldexp(r.NormFloat64(), -70-r.IntN(80)) }},
	{"tiny64", func(r *rand.Rand) float64 { return math.Ldexp(r.NormFloat64(), -520-r.IntN(560)) }},
	{"zeros", func(r *rand.Rand) float64 { return []float64{0, math.Copysign(0, -1), 1, -1}[r.IntN(4)] }},
	{"special", func(r *rand.Rand) float64 {
		special := []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat32, -math.MaxFloat32, 1e-45, -1e-45, 0}
		if i := r.IntN(40); i < len(special) {
			return special[i]
		}
		return r.NormFloat64()
	}},
}

func (h *harness[T]) numbers(n int, f flavour) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(f.number(h.rng))
	}
	return x
}

// rows returns n rows of a stride, whose last columns are padding. It sets w to zeros there.
func (h *harness[T]) rows(n, stride int, f flavour, w []T) []T {
	x := h.numbers(n*stride, f)
	pad := h.rng.IntN(min(h.elementsPer32, stride))
	for r := range n {
		clear(x[(r+1)*stride-pad : (r+1)*stride])
	}
	clear(w[stride-pad:])
	return x
}

// doubles returns numbers of float64.
func (h *harness[T]) doubles(n int, f flavour) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f.number(h.rng)
	}
	return x
}

func (h *harness[T]) labels(n int) []T {
	y := make([]T, n)
	for i := range y {
		y[i] = []T{-1, 1, -0.75, 2.5}[h.rng.IntN(4)]
	}
	return y
}

// sameNumber tells whether a and b have the same bits. Any NaN equals any other.
func sameNumber[T Float](a, b T) bool {
	if a != a || b != b {
		return a != a && b != b
	}
	return math.Float64bits(float64(a)) == math.Float64bits(float64(b))
}

func compareSlices[E Float](t *testing.T, what string, got, want []E) {
	t.Helper()
	for i := range want {
		if !sameNumber(got[i], want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}
