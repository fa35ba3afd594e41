//go:build unix

package kerneltest

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// lengths calls a test with each flavour and each length up to most.
func lengths(most int, test func(what string, f flavour, n int)) {
	for _, f := range flavours {
		for n := range most + 1 {
			test(fmt.Sprintf("%s n=%d", f.name, n), f, n)
		}
	}
}

func (h *harness[T]) dot(t *testing.T) {
	lengths(200, func(what string, f flavour, n int) {
		x, y := h.numbers(n, f), h.numbers(n, f)
		want := h.want.Dot(x, y)
		h.try(t, what, h.places(), func(what string, p Place) {
			if got := h.got.Dot(Put(h.buffers[0], p, x), Put(h.buffers[1], p, y)); !sameNumber(got, want) {
				t.Fatalf("%s: %v, want %v", what, got, want)
			}
		})
	})
}

func (h *harness[T]) axpy(t *testing.T) {
	lengths(100, func(what string, f flavour, n int) {
		a, x, y := T(f.number(h.rng)), h.numbers(n, f), h.numbers(n, f)
		want := slices.Clone(y)
		h.want.Axpy(want, a, x)
		h.try(t, what, h.places(), func(what string, p Place) {
			got := Put(h.buffers[1], p, y)
			h.got.Axpy(got, a, Put(h.buffers[0], p, x))
			compareSlices(t, what, got, want)
		})
	})
}

func (h *harness[T]) axpy4(t *testing.T) {
	lengths(100, func(what string, f flavour, n int) {
		a, x, y := h.numbers(4, f), h.numbers(4*n, f), h.numbers(n, f)
		want := slices.Clone(y)
		for k := range 4 {
			h.want.Axpy(want, a[k], x[k*n:(k+1)*n])
		}
		h.try(t, what, h.places(), func(what string, p Place) {
			got, vectors := Put(h.buffers[4], p, y), make([][]T, 4)
			for k := range vectors {
				vectors[k] = Put(h.buffers[k], p, x[k*n:(k+1)*n])
			}
			h.got.Axpy4(got, a, vectors)
			compareSlices(t, what, got, want)
		})
	})
}

func (h *harness[T]) standardize(t *testing.T) {
	lengths(40, func(what string, f flavour, n int) {
		x, center, scale := h.numbers(n, f), h.rng.NormFloat64(), h.rng.Float64()
		want := make([]float32, n)
		h.want.Standardize(want, x, center, scale)
		h.try(t, what, h.edges(), func(what string, p Place) {
			got := Put(h.buffers[0], p, make([]float32, n))
			h.got.Standardize(got, Put(h.buffers[1], p, x), center, scale)
			compareSlices(t, what, got, want)
		})
	})
}

func (h *harness[T]) narrow(t *testing.T) {
	lengths(40, func(what string, f flavour, n int) {
		x := make([]float64, n)
		for i, v := range h.numbers(n, f) {
			x[i] = float64(v) * []float64{1, 1, 0, 1 << 24, 0x1p-126, 0x1p-130, 0x1p200}[h.rng.IntN(7)]
			if h.rng.IntN(3) == 0 {
				x[i] = math.Copysign([]float64{0, 1, 1 << 24, 1<<24 - 1, 0x1p-126, 0x1p-127}[h.rng.IntN(6)], x[i])
			}
		}
		want := make([]float32, n)
		all := h.want.Narrow(want, x)
		h.try(t, what, h.edges(), func(what string, p Place) {
			got := Put(h.buffers[0], p, make([]float32, n))
			if bits := h.got.Narrow(got, Put(h.buffers[1], p, x)); bits != all {
				t.Fatalf("%s: the bits %x, want %x", what, bits, all)
			}
			compareSlices(t, what, got, want)
		})
	})
}

func (h *harness[T]) narrowWhole(t *testing.T) {
	lengths(40, func(what string, _ flavour, n int) {
		x := make([]int64, n)
		for i := range x {
			x[i] = h.rng.Int64() >> (13 + h.rng.IntN(51)) * (1 - 2*int64(h.rng.IntN(2)))
		}
		want := make([]float32, n)
		all := h.want.NarrowWhole(want, x)
		h.try(t, what, h.edges(), func(what string, p Place) {
			got := Put(h.buffers[0], p, make([]float32, n))
			if bits := h.got.NarrowWhole(got, Put(h.buffers[1], p, x)); bits != all {
				t.Fatalf("%s: the bits %x, want %x", what, bits, all)
			}
			compareSlices(t, what, got, want)
		})
	})
}

// firstMistake tests scores that are right up to a random position, and then are of any kind.
func (h *harness[T]) firstMistake(t *testing.T) {
	lengths(100, func(what string, f flavour, n int) {
		y, scores := h.labels(n), h.numbers(n, f)
		for i := range h.rng.IntN(n + 1) {
			scores[i] = T(math.Copysign(1+math.Abs(h.rng.NormFloat64()), float64(y[i])))
		}
		want := h.want.FirstMistake(y, scores)
		h.try(t, what, h.places(), func(what string, p Place) {
			if got := h.got.FirstMistake(Put(h.buffers[0], p, y), Put(h.buffers[1], p, scores)); got != want {
				t.Fatalf("%s: %d, want %d", what, got, want)
			}
		})
	})
}
