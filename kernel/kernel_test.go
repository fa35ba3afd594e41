package kernel_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"halfspace/kernel"
)

// TestPanics calls every kernel with wrong lengths. It must panic with a constant, before it writes anything.
func TestPanics(t *testing.T) {
	testPanics[float32](t)
	testPanics[float64](t)
}

// A misuse is a call that must panic with a message.
type misuse[T kernel.Float] struct {
	want string
	call func(dst []T)
}

func testPanics[T kernel.Float](t *testing.T) {
	x := make([]T, 4*16)
	for i := range x {
		x[i] = 1
	}
	for _, c := range append(misusedVectors(x), misusedRows(x)...) {
		dst := make([]T, len(x))
		for i := range dst {
			dst[i] = -7
		}
		before := slices.Clone(dst)
		if got := panicOf(func() { c.call(dst) }); got != c.want {
			t.Errorf("panic %q, want %q", got, c.want)
		}
		if !slices.Equal(dst, before) {
			t.Errorf("%s: the destination was written before the panic", c.want)
		}
	}
}

func misusedVectors[T kernel.Float](x []T) []misuse[T] {
	wide := make([]float64, 2)
	return []misuse[T]{
		{"kernel: short y", func(dst []T) { kernel.Dot(x, x[1:]) }},
		{"kernel: short x", func(dst []T) { kernel.Dot(x[1:], x) }},
		{"kernel: short y", func(dst []T) { kernel.FirstMistake(x[1:], x) }},
		{"kernel: short scores", func(dst []T) { kernel.FirstMistake(x, x[1:]) }},
		{"kernel: short y", func(dst []T) { kernel.Axpy(dst[:len(x)-1], 1, x) }},
		{"kernel: short x", func(dst []T) { kernel.Axpy(dst, 1, x[1:]) }},
		{"kernel: not four vectors", func(dst []T) { kernel.Axpy4(dst[:1], x[:3], [][]T{x, x, x, x}) }},
		{"kernel: not four vectors", func(dst []T) { kernel.Axpy4(dst[:1], x[:4], [][]T{x, x, x}) }},
		{"kernel: short x", func(dst []T) { kernel.Axpy4(dst[:2], x[:4], [][]T{x[:2], x[:2], x[:2], x[:1]}) }},
		{"kernel: slices of different lengths", func(dst []T) { kernel.Logistic(wide[:2], wide[:1], wide[:2], wide[:2], wide[:2]) }},
	}
}

// misusedRows takes x as 4 rows of 16 elements.
func misusedRows[T kernel.Float](x []T) []misuse[T] {
	const stride, huge = 16, math.MaxInt / 8 / 32 * 32
	y, log := []T{1, 1, 1, 1}, make([]uint32, 4)
	rows := kernel.NewRows([][]T{x}, [][]T{y}, stride)
	candidates := kernel.NewCandidates(x, stride)
	return []misuse[T]{
		{"kernel: stride is not a positive multiple of 32 bytes", func(dst []T) { kernel.Scores(dst[:4], x, x[:stride-1]) }},
		{"kernel: stride is not a positive multiple of 32 bytes", func(dst []T) { kernel.Scores(dst[:4], x, nil) }},
		{"kernel: length of x is not rows * stride", func(dst []T) { kernel.Scores(dst[:4], x[1:], x[:stride]) }},
		{"kernel: length of x is not rows * stride", func(dst []T) { kernel.Scores(dst[:3], x, x[:stride]) }},
		{"kernel: stride is not a positive multiple of 32 bytes", func(dst []T) { kernel.Epoch(dst[:3], log, x, y, 1, 0) }},
		{"kernel: length of x is not rows * stride", func(dst []T) { kernel.Epoch(dst[:stride], log, x[1:], y, 1, 0) }},
		{"kernel: length of x is not rows * stride", func(dst []T) { kernel.Epoch(dst[:stride], log, x, y[1:], 1, 0) }},
		{"kernel: empty log", func(dst []T) { kernel.Epoch(dst[:stride], nil, x, y, 1, 0) }},
		{"kernel: length of w is not the stride", func(dst []T) { kernel.EpochIndexed(dst, log, rows, []uint32{0}, nil, 1, 0) }},
		{"kernel: row number out of range", func(dst []T) { kernel.EpochIndexed(dst[:stride], log, rows, []uint32{0, 4}, nil, 1, 0) }},
		{"kernel: row number out of range", func(dst []T) { kernel.EpochIndexed(dst[:stride], log, rows, []uint32{0, 1, 2, 1 << 31, 0}, nil, 1, 0) }},
		{"kernel: length of ahead is not a multiple of the stride", func(dst []T) { kernel.EpochIndexed(dst[:stride], log, rows, []uint32{0}, x[1:], 1, 0) }},
		{"kernel: empty log", func(dst []T) { kernel.EpochIndexed(dst[:stride], nil, rows, []uint32{0}, nil, 1, 0) }},
		{"kernel: number of columns is not in 1..stride", func(dst []T) { kernel.Transpose(dst[:stride], stride, [][]T{}) }},
		{"kernel: number of columns is not in 1..stride", func(dst []T) { kernel.Transpose(dst, 32, make([][]T, 33)) }},
		{"kernel: columns differ in length", func(dst []T) { kernel.Transpose(dst[:stride], stride, [][]T{x[:1], x[:2]}) }},
		{"kernel: length of dst is not rows * stride", func(dst []T) { kernel.Transpose(dst[:stride], stride, [][]T{x[:2], x[:2]}) }},
		{"kernel: length of dst is not rows * stride", func(dst []T) { kernel.Transpose(dst[:0], huge, [][]T{x[:16]}) }},
		{"kernel: stride is not a positive multiple of 32 bytes", func(dst []T) { kernel.Transpose(dst[:0], math.MaxInt/2+1, [][]T{x[:4]}) }},
		{"kernel: length of x is not rows * stride", func(dst []T) { kernel.Scores(make([]T, 1), x[:0], make([]T, stride)) }},
		{"kernel: no columns", func(dst []T) { kernel.NewCandidates(x, 0) }},
		{"kernel: length of w is not a multiple of the stride", func(dst []T) { kernel.NewCandidates(x[1:], stride) }},
		{"kernel: length of x is not rows * stride", func(dst []T) { candidates.Errors(make([]int64, 4), x[1:], y) }},
		{"kernel: length of counts is not the number of candidates", func(dst []T) { candidates.Errors(make([]int64, 3), x, y) }},
		{"kernel: length of x is not a multiple of the stride", func(dst []T) { kernel.MaxSquaredNorm(x[1:], stride) }},
		{"kernel: x and y have different numbers of chunks", func(dst []T) { kernel.NewRows([][]T{x}, nil, stride) }},
		{"kernel: a chunk has different numbers of rows and labels", func(dst []T) { kernel.NewRows([][]T{x}, [][]T{y[1:]}, stride) }},
		{"kernel: a chunk before the last doesn't have ChunkRows rows", func(dst []T) { kernel.NewRows([][]T{x, x}, [][]T{y, y}, stride) }},
	}
}

func panicOf(f func()) (message string) {
	defer func() { message = fmt.Sprint(recover()) }()
	f()
	return ""
}

// TestDotAccuracy compares Dot with exact arithmetic. The error of L lanes stays below (n/L + log2 L + 1) u sum|x y| to
// first order. u is half a unit in the last place (Higham, "Accuracy and stability of numerical algorithms", 2002,
// section 3.1).
func TestDotAccuracy(t *testing.T) {
	testDotAccuracy[float32](t, 32, 0x1p-24)
	testDotAccuracy[float64](t, 16, 0x1p-53)
}

func testDotAccuracy[T kernel.Float](t *testing.T, lanes int, u float64) {
	rng := rand.New(rand.NewPCG(5, 6))
	for n := 1; n < 3000; n = n*5/4 + 1 {
		x, y := make([]T, n), make([]T, n)
		exact, size := new(big.Float).SetPrec(2000), 0.0
		for i := range x {
			x[i], y[i] = T(math.Ldexp(rng.NormFloat64(), rng.IntN(20))), T(rng.NormFloat64())
			p := new(big.Float).SetPrec(2000).Mul(big.NewFloat(float64(x[i])), big.NewFloat(float64(y[i])))
			exact.Add(exact, p)
			size += math.Abs(float64(x[i]) * float64(y[i]))
		}
		diff, _ := exact.Sub(exact, big.NewFloat(float64(kernel.Dot(x, y)))).Float64()
		bound := (float64(n)/float64(lanes) + math.Log2(float64(lanes)) + 1) * u * size * 1.01
		if math.Abs(diff) > bound {
			t.Errorf("n=%d: error %g is above the bound %g", n, diff, bound)
		}
	}
}

func TestLevels(t *testing.T) {
	best := kernel.Active()
	defer kernel.Use(best)
	levels := kernel.Levels()
	if levels[0] != kernel.Generic {
		t.Errorf("the first level is %s, not generic", levels[0])
	}
	for _, l := range levels {
		got, err := kernel.ParseLevel(l.String())
		if err != nil || got != l {
			t.Errorf("ParseLevel(%q) is %v, %v", l.String(), got, err)
		}
		kernel.Use(l)
		if kernel.Active() != l {
			t.Errorf("the active level is %s after Use(%s)", kernel.Active(), l)
		}
	}
	if _, err := kernel.ParseLevel("mmx"); err == nil || !strings.Contains(err.Error(), `unknown instruction set "mmx"`) {
		t.Errorf("ParseLevel of an unknown name gives error %v", err)
	}
	if got := panicOf(func() { kernel.Use(kernel.Level(200)) }); got != "kernel: level not available on this machine" {
		t.Errorf("Use of a level that doesn't exist panics with %q", got)
	}
}

// TestRequired: a run that requires an instruction set fails if the machine or the build lacks it.
func TestRequired(t *testing.T) {
	for _, name := range strings.Split(os.Getenv("HALFSPACE_TEST_REQUIRE"), ",") {
		if _, err := kernel.ParseLevel(name); name != "" && err != nil {
			t.Errorf("HALFSPACE_TEST_REQUIRE: %v", err)
		}
	}
}

func TestStride(t *testing.T) {
	for _, c := range [][3]int{{1, 8, 4}, {8, 8, 8}, {9, 16, 12}, {29, 32, 32}} {
		if f32, f64 := kernel.Stride[float32](c[0]), kernel.Stride[float64](c[0]); f32 != c[1] || f64 != c[2] {
			t.Errorf("strides of %d columns are %d and %d, want %d and %d", c[0], f32, f64, c[1], c[2])
		}
	}
	for _, stride := range []int{8, 32, 1000, 100000} {
		if n := kernel.PanelRows[float32](stride); n < 1 || n > 4096 || n > 1 && n*stride*4 > 256<<10 {
			t.Errorf("a panel of stride %d has %d rows", stride, n)
		}
	}
}
