//go:build unix

package kerneltest

import (
	"fmt"
	"math"
	"testing"

	"halfspace/internal/guard"
)

func (h *harness[T]) dot(t *testing.T) {
	for _, f := range flavours {
		for n := 0; n <= 200; n++ {
			x, y := h.numbers(n, f), h.numbers(n, f)
			want := h.want.Dot(x, y)
			for _, p := range h.places() {
				got := h.got.Dot(guard.Put(h.buffers[0], p, x), guard.Put(h.buffers[1], p, y))
				if what := fmt.Sprintf("%s n=%d %+v", f.name, n, p); !same(got, want) {
					t.Fatalf("%s: %v, want %v", what, got, want)
				}
			}
		}
	}
}

func (h *harness[T]) axpy(t *testing.T) {
	for _, f := range flavours {
		for n := 0; n <= 100; n++ {
			a, x, y := T(f.make(h.rng)), h.numbers(n, f), h.numbers(n, f)
			want := append([]T(nil), y...)
			h.want.Axpy(want, a, x)
			for _, p := range h.places() {
				what := fmt.Sprintf("%s n=%d %+v", f.name, n, p)
				got := guard.Put(h.buffers[1], p, y)
				h.got.Axpy(got, a, guard.Put(h.buffers[0], p, x))
				h.equal(t, what, got, want)
				h.intact(t, what)
			}
		}
	}
}

func (h *harness[T]) axpy4(t *testing.T) {
	for _, f := range flavours {
		for n := 0; n <= 100; n++ {
			a, x, y := h.numbers(4, f), h.numbers(4*n, f), h.numbers(n, f)
			want := append([]T(nil), y...)
			for k := range 4 {
				h.want.Axpy(want, a[k], x[k*n:(k+1)*n])
			}
			for _, p := range h.places() {
				what := fmt.Sprintf("%s n=%d %+v", f.name, n, p)
				got := guard.Put(h.buffers[4], p, y)
				vectors := make([][]T, 4)
				for k := range vectors {
					vectors[k] = guard.Put(h.buffers[k], p, x[k*n:(k+1)*n])
				}
				h.got.Axpy4(got, a, vectors)
				h.equal(t, what, got, want)
				h.intact(t, what)
			}
		}
	}
}

// firstMistake has scores that are right up to some position, for every position, and scores of any kind.
func (h *harness[T]) firstMistake(t *testing.T) {
	for _, f := range flavours {
		for n := 0; n <= 100; n++ {
			y, scores := h.labels(n), h.numbers(n, f)
			for i := range h.rng.IntN(n + 1) {
				scores[i] = T(math.Copysign(1+math.Abs(h.rng.NormFloat64()), float64(y[i])))
			}
			want := h.want.FirstMistake(y, scores)
			for _, p := range h.places() {
				got := h.got.FirstMistake(guard.Put(h.buffers[0], p, y), guard.Put(h.buffers[1], p, scores))
				if got != want {
					t.Fatalf("%s n=%d %+v: %d, want %d", f.name, n, p, got, want)
				}
			}
		}
	}
}
