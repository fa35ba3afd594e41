package kernel_test

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"halfspace/asm/ref"
	"halfspace/internal/kerneltest"
	"halfspace/internal/require"
	"halfspace/kernel"
)

// TestPanics calls every kernel with wrong lengths. It must panic with a constant, before it writes anything.
func TestPanics(t *testing.T) {
	x := slices.Repeat([]float32{1}, 4*16)
	kerneltest.CheckMisuses(t, len(x), append(misusedVectors(x), misusedRows(x)...))
}

func misusedVectors(x []float32) []kerneltest.Misuse[float32] {
	return []kerneltest.Misuse[float32]{
		{"kernel: short y", func(dst []float32) { kernel.Dot(x, x[1:]) }},
		{"kernel: short x", func(dst []float32) { kernel.Dot(x[1:], x) }},
		{"kernel: short y", func(dst []float32) { kernel.FirstMistake(x[1:], x) }},
		{"kernel: short scores", func(dst []float32) { kernel.FirstMistake(x, x[1:]) }},
		{"kernel: short forms", func(dst []float32) {
			kernel.Decimals(make([]float64, 2), make([]uint32, 1), make([]byte, 99), 32, ',', false)
		}},
		{"kernel: no room before the numbers", func(dst []float32) { kernel.Decimals(nil, nil, make([]byte, 99), 31, ',', false) }},
		{"kernel: no room before the numbers", func(dst []float32) { kernel.Decimals(nil, nil, make([]byte, 99), 100, ',', false) }},
		{"kernel: the comma may be in a number", func(dst []float32) { kernel.Decimals(nil, nil, make([]byte, 99), 32, '.', false) }},
		{"kernel: short y", func(dst []float32) { kernel.Axpy(dst[:len(x)-1], 1, x) }},
		{"kernel: short x", func(dst []float32) { kernel.Axpy(dst, 1, x[1:]) }},
		{"kernel: not four vectors", func(dst []float32) { kernel.Axpy4(dst[:1], x[:3], [][]float32{x, x, x, x}) }},
		{"kernel: not four vectors", func(dst []float32) { kernel.Axpy4(dst[:1], x[:4], [][]float32{x, x, x}) }},
		{"kernel: short x", func(dst []float32) { kernel.Axpy4(dst[:2], x[:4], [][]float32{x[:2], x[:2], x[:2], x[:1]}) }},
		{"kernel: short y", func(dst []float32) { kernel.Exp(dst[:len(x)-1], x) }},
		{"kernel: short x", func(dst []float32) { kernel.Exp(dst, x[1:]) }},
	}
}

// misusedRows takes x as 4 rows of 16 elements.
func misusedRows(x []float32) []kerneltest.Misuse[float32] {
	const stride, huge = 16, math.MaxInt / 8 / 32 * 32
	y, log := []float32{1, 1, 1, 1}, make([]uint32, 4)
	rows := kernel.NewRows([][]float32{x}, [][]float32{y}, stride)
	candidates := kernel.NewErrorCounter(x, stride)
	return []kerneltest.Misuse[float32]{
		{"kernel: stride is not a positive multiple of 32 bytes", func(dst []float32) { kernel.Scores(dst[:4], x, x[:stride-1]) }},
		{"kernel: stride is not a positive multiple of 32 bytes", func(dst []float32) { kernel.Scores(dst[:4], x, nil) }},
		{"kernel: length of x is not rows * stride", func(dst []float32) { kernel.Scores(dst[:4], x[1:], x[:stride]) }},
		{"kernel: length of x is not rows * stride", func(dst []float32) { kernel.Scores(dst[:3], x, x[:stride]) }},
		{"kernel: stride is not a positive multiple of 32 bytes", func(dst []float32) { kernel.Epoch(dst[:3], log, x, y, 1, 0) }},
		{"kernel: stride is not a positive multiple of 32 bytes", func(dst []float32) { kernel.EpochPassive(dst[:3], log, x, y, 1, 0) }},
		{"kernel: length of x is not rows * stride", func(dst []float32) { kernel.Epoch(dst[:stride], log, x[1:], y, 1, 0) }},
		{"kernel: length of x is not rows * stride", func(dst []float32) { kernel.EpochPassive(dst[:stride], log, x[1:], y, 1, 0) }},
		{"kernel: length of x is not rows * stride", func(dst []float32) { kernel.EpochAveraged(dst[:stride], dst[:stride], log, x, y[1:], 1, 0, 0) }},
		{"kernel: late has another length than the weights", func(dst []float32) { kernel.EpochAveraged(dst[:stride], dst[1:stride], log, x, y, 1, 0, 0) }},
		{"kernel: empty log", func(dst []float32) { kernel.EpochAveraged(dst[:stride], dst[:stride], nil, x, y, 1, 0, 0) }},
		{"kernel: length of x is not rows * stride", func(dst []float32) { kernel.Epoch(dst[:stride], log, x, y[1:], 1, 0) }},
		{"kernel: length of x is not rows * stride", func(dst []float32) { kernel.EpochPassive(dst[:stride], log, x, y[1:], 1, 0) }},
		{"kernel: empty log", func(dst []float32) { kernel.Epoch(dst[:stride], nil, x, y, 1, 0) }},
		{"kernel: a state has another length than the weights", func(dst []float32) { adaptive(8).Epoch(dst[:stride], log, x, y, nil) }},
		{"kernel: rows and sample weights differ in number", func(dst []float32) { adaptive(stride).Epoch(dst[:stride], log, x, y, make([]float64, 1)) }},
		{"kernel: length of x is not rows * stride", func(dst []float32) { adaptive(stride).Epoch(dst[:stride], log, x[1:], y, nil) }},
		{"kernel: empty log", func(dst []float32) { kernel.EpochPassive(dst[:stride], nil, x, y, 1, 0) }},
		{"kernel: length of w is not the stride", func(dst []float32) { kernel.EpochIndexed(dst, log, rows, []uint32{0}, nil, 1, 0) }},
		{"kernel: row number out of range", func(dst []float32) { kernel.EpochIndexed(dst[:stride], log, rows, []uint32{0, 4}, nil, 1, 0) }},
		{"kernel: row number out of range", func(dst []float32) {
			kernel.EpochIndexed(dst[:stride], log, rows, []uint32{0, 1, 2, 1 << 31, 0}, nil, 1, 0)
		}},
		{"kernel: length of ahead is not a multiple of the stride", func(dst []float32) { kernel.EpochIndexed(dst[:stride], log, rows, []uint32{0}, x[1:], 1, 0) }},
		{"kernel: empty log", func(dst []float32) { kernel.EpochIndexed(dst[:stride], nil, rows, []uint32{0}, nil, 1, 0) }},
		{"kernel: number of columns is not in 1..stride", func(dst []float32) { kernel.Transpose(dst[:stride], stride, [][]float32{}) }},
		{"kernel: number of columns is not in 1..stride", func(dst []float32) { kernel.Transpose(dst, 32, make([][]float32, 33)) }},
		{"kernel: columns differ in length", func(dst []float32) { kernel.Transpose(dst[:stride], stride, [][]float32{x[:1], x[:2]}) }},
		{"kernel: length of dst is not rows * stride", func(dst []float32) { kernel.Transpose(dst[:stride], stride, [][]float32{x[:2], x[:2]}) }},
		{"kernel: length of dst is not rows * stride", func(dst []float32) { kernel.Transpose(dst[:0], huge, [][]float32{x[:16]}) }},
		{"kernel: length of dst is not rows * stride", func(dst []float32) { kernel.Transpose(dst[:0], math.MaxInt/2+1, [][]float32{x[:4]}) }},
		{"kernel: length of x is not rows * stride", func(dst []float32) { kernel.Scores(make([]float32, 1), x[:0], make([]float32, stride)) }},
		{"kernel: no columns", func(dst []float32) { kernel.NewErrorCounter(x, 0) }},
		{"kernel: length of w is not a multiple of the stride", func(dst []float32) { kernel.NewErrorCounter(x[1:], stride) }},
		{"kernel: length of x is not rows * stride", func(dst []float32) { candidates.Errors(make([]int64, 4), x[1:], y) }},
		{"kernel: length of counts is not the number of candidates", func(dst []float32) { candidates.Errors(make([]int64, 3), x, y) }},
		{"kernel: length of x is not a multiple of the stride", func(dst []float32) { kernel.MaxSquaredNorm(x[1:], stride) }},
		{"kernel: x and y have different numbers of groups", func(dst []float32) { kernel.NewRows([][]float32{x}, nil, stride) }},
		{"kernel: a group has different numbers of rows and labels", func(dst []float32) { kernel.NewRows([][]float32{x}, [][]float32{y[1:]}, stride) }},
		{"kernel: a group before the last doesn't have GroupRows rows", func(dst []float32) { kernel.NewRows([][]float32{x, x}, [][]float32{y, y}, stride) }},
	}
}

func TestDotAccuracy(t *testing.T) { kerneltest.DotAccuracy(t, 32, 0x1p-24, kernel.Dot) }

// TestExp: Exp is that of package ref on every level, also in place, and on no elements.
func TestExp(t *testing.T) {
	kerneltest.OnLevels(t, func(t *testing.T) {
		x, y, want := []float32{-0.5, 0, 1, 2, 3}, make([]float32, 5), make([]float32, 5)
		kernel.Exp(nil, nil)
		kernel.Exp(y, x)
		ref.ExpF32(want, x)
		if kernel.Exp(x, x); !slices.Equal(y, want) || !slices.Equal(x, want) {
			t.Errorf("%v, in place %v, want %v", y, x, want)
		}
	})
}

// TestOddStart: an odd start is found at each place of short texts, and about the ends of the parts of a long one.
func TestOddStart(t *testing.T) {
	const part = 128 << 10
	for size := range 100 {
		for at := range size {
			text := bytes.Repeat([]byte("7"), size)
			copy(text[at:], ",-05")
			if got, want := kernel.OddStart(text, ','), ref.OddStartF32(text, ',') != 0; got != want || want != (at+3 < size) {
				t.Fatalf("%q: %t, want %t", text, got, want)
			}
		}
	}
	text := bytes.Repeat([]byte("7"), 2*part+50)
	for at := part - 80; at < len(text)-3; at++ {
		if at == part+80 {
			at = 2*part - 80
		}
		if copy(text[at:], ",-05"); !kernel.OddStart(text, ',') {
			t.Fatalf("none at %d", at)
		}
		if copy(text[at:], "7777"); kernel.OddStart(text, ',') {
			t.Fatalf("one at %d", at)
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
	require.Error(t, require.ErrorOf(kernel.ParseLevel("mmx")), `unknown instruction set "mmx"`)
	if got := kerneltest.PanicOf(func() { kernel.Use(kernel.Level(200)) }); got != "kernel: level not available on this machine" {
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
	for cols, want := range map[int]int{1: 8, 8: 8, 9: 16, 29: 32} {
		if got := kernel.Stride(cols); got != want {
			t.Errorf("the stride of %d columns is %d, want %d", cols, got, want)
		}
	}
	for _, stride := range []int{8, 32, 1000, 100000} {
		if n := kernel.PanelRows(stride); n < 1 || n > 4096 || n > 1 && n*stride*4 > 256<<10 {
			t.Errorf("a panel of stride %d has %d rows", stride, n)
		}
	}
}

func adaptive(columns int) *kernel.Adaptive {
	s := func() []float64 { return make([]float64, columns) }
	return &kernel.Adaptive{Z: s(), N: s(), Root: s(), L1: s(), L2: s(), Inverse: 10, Beta: 1}
}
