//go:build unix

package kerneltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"halfspace/asm/ref"
	"halfspace/internal/require"
)

// arguments returns numbers of all sizes, as exponentials and logarithms get them, and the numbers of the other tests.
func (h *harness[T]) arguments() []flavour {
	return append([]flavour{
		{"ordinary", func(r *rand.Rand) float64 { return 10 * r.NormFloat64() }},
		{"wide", func(r *rand.Rand) float64 { return 1000 * (2*r.Float64() - 1) }},
		{"bits", func(r *rand.Rand) float64 {
			if h.elementsPer32 == 8 {
				return float64(math.Float32frombits(r.Uint32()))
			}
			return math.Float64frombits(r.Uint64())
		}},
		{"boundary", boundary},
		{"corner", func(r *rand.Rand) float64 { return corners[r.IntN(len(corners))] }},
	}, flavours...)
}

// boundary draws a number near one at which exp or log1p reduces its argument by another multiple of ln 2.
func boundary(r *rand.Rand) float64 {
	x := (float64(r.IntN(2200)) - 1100 + 0.5) * math.Ln2
	if r.IntN(2) == 0 {
		x = math.Ldexp(0.75, r.IntN(1130)-100) - 1
	}
	return x * (1 + (r.Float64()-0.5)*0x1p-20)
}

var corners = []float64{
	0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, math.Nextafter(-1, 0), math.Nextafter(-1, -2),
	float64(math.Nextafter32(-1, 0)), float64(math.Nextafter32(-1, -2)), -2, 0.5, -0.25, math.MaxFloat64, -math.MaxFloat64,
	math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64,
	math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 0x1p-1022, -0x1p-1022, 0x1p-126, -0x1p-126,
	709.78, 709.79, -708.39, -708.4, -745.13, -745.14, -746, -747, 710, 711, 88.72, 88.73, -87.33, -87.34, -103.97, -103.98,
	-104, -105, 89, 90, 0x1.8p1023, 0x1p127, 0x1.8p127, 0x1p-54, -0x1p-54, 0x1p-25, -0x1p-25,
}

func (h *harness[T]) elementwise(t *testing.T, got, want func(y, x []T)) {
	bulk := 1 << 15
	if require.Small() {
		bulk = 1 << 11
	}
	for _, f := range h.arguments() {
		for n := 0; n <= 70; n++ {
			x, expected := h.numbers(n, f), make([]T, n)
			want(expected, x)
			h.try(t, fmt.Sprintf("%s n=%d", f.name, n), h.places(), func(what string, p Place) {
				in, out := Put(h.buffers[0], p, x), Put(h.buffers[1], p, make([]T, n))
				got(out, in)
				compareApplied(t, what, x, out, expected)
				compareSlices(t, what+" x", in, x)
				got(in, in)
				compareApplied(t, what+" in place", x, in, expected)
			})
		}
		x, out, expected := h.numbers(bulk, f), make([]T, bulk), make([]T, bulk)
		got(out, x)
		want(expected, x)
		compareApplied(t, f.name, x, out, expected)
	}
}

func (h *harness[T]) logistic(t *testing.T) {
	for _, f := range h.arguments() {
		for n := 0; n <= 40; n++ {
			z, y := h.doubles(n, f), make([]float64, n)
			for i := range y {
				y[i] = float64(2*h.rng.IntN(2) - 1)
			}
			expected := [5][]float64{slices.Clone(z), make([]float64, n), make([]float64, n), make([]float64, n), y}
			h.want.Logistic(expected[0], expected[1], expected[2], expected[3], expected[4])
			h.try(t, fmt.Sprintf("%s n=%d", f.name, n), h.edges(), func(what string, p Place) {
				var out [5][]float64
				for i := range out {
					out[i] = Put(h.buffers[i], p, [][]float64{z, y, y, y, y}[i])
				}
				h.got.Logistic(out[0], out[1], out[2], out[3], out[4])
				for i, part := range []string{"margin", "factor", "curvature", "loss", "sign"} {
					compareSlices(t, what+", "+part, out[i], expected[i])
				}
			})
		}
	}
}

// compareApplied fails if got differs from want, and names the argument.
func compareApplied[E Float](t *testing.T, what string, x, got, want []E) {
	t.Helper()
	for i := range want {
		if !sameNumber(got[i], want[i]) {
			t.Fatalf("%s: f(%x) is %x, want %x", what, x[i], got[i], want[i])
		}
	}
}

// ExpAllF32 compares Exp on every float32, if the environment variable HALFSPACE_TEST_LONG is set.
func ExpAllF32(t *testing.T, exp func(y, x []float32)) {
	if os.Getenv("HALFSPACE_TEST_LONG") == "" {
		t.Skip("set HALFSPACE_TEST_LONG=1 to try every float32, which takes minutes")
	}
	const parts, chunk = 16, 1 << 16
	for part := range uint32(parts) {
		t.Run(fmt.Sprintf("%x", part), func(t *testing.T) {
			t.Parallel()
			x, y, expected := make([]float32, chunk), make([]float32, chunk), make([]float32, chunk)
			for at := range uint32(1 << 32 / parts / chunk) {
				for i := range x {
					x[i] = math.Float32frombits(part<<28 | at*chunk | uint32(i))
				}
				exp(y, x)
				ref.ExpF32(expected, x)
				compareApplied(t, "exp", x, y, expected)
			}
		})
	}
}
