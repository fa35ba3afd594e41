//go:build unix

package kerneltest

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"halfspace/asm/ref"
	"halfspace/internal/guard"
)

// strides returns every number of vectors up to well beyond those with code of their own, and a few long ones.
func (h *harness[T]) strides() []int {
	s := []int{}
	for v := 1; v <= 21; v++ {
		s = append(s, v*h.per)
	}
	return append(s, 98*h.per, 99*h.per)
}

func (h *harness[T]) scores(t *testing.T) {
	for _, f := range flavours {
		for _, stride := range h.strides() {
			for _, n := range []int{0, 1, 2, 5} {
				w := h.numbers(stride, f)
				x := h.rows(n, stride, f, w)
				want := make([]T, n)
				h.want.Scores(want, x, w)
				for _, p := range h.places() {
					what := fmt.Sprintf("%s stride=%d n=%d %+v", f.name, stride, n, p)
					got := guard.Put(h.buffers[2], p, make([]T, n))
					h.got.Scores(got, guard.Put(h.buffers[0], p, x), guard.Put(h.buffers[1], p, w))
					h.equal(t, what, got, want)
					h.intact(t, what)
				}
			}
		}
	}
}

// zeros compares sums of products that all underflow to -0. Such a sum is -0 if every lane is, and +0 if padding was
// added to a lane.
func (h *harness[T]) zeros(t *testing.T) {
	tiny := T(1) // its square underflows
	for tiny*tiny != 0 {
		tiny /= 2
	}
	negative := 0
	count := func(s T) {
		if math.Signbit(float64(s)) {
			negative++
		}
	}
	constant := func(n int, v T) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = tiny * v
		}
		return x
	}
	for n := 0; n <= 200; n++ {
		x, y := constant(n, -1), constant(n, 1)
		want := h.want.Dot(x, y)
		count(want)
		if got := h.got.Dot(x, y); !same(got, want) {
			t.Fatalf("Dot n=%d: %v, want %v", n, got, want)
		}
	}
	for _, stride := range h.strides() {
		x, w, got, want := constant(2*stride, -1), constant(stride, 1), make([]T, 2), make([]T, 2)
		h.want.Scores(want, x, w)
		count(want[0])
		h.got.Scores(got, x, w)
		h.equal(t, fmt.Sprintf("Scores stride=%d", stride), got, want)
	}
	if negative == 0 {
		t.Error("no sum was -0")
	}
}

// A walk is the result of an epoch.
type walk[T Float] struct {
	visits, updates int
	w               []T
	log             []uint32
}

func (h *harness[T]) compareWalks(t *testing.T, what string, got, want walk[T]) {
	t.Helper()
	if got.visits != want.visits || got.updates != want.updates {
		t.Fatalf("%s: %d visits and %d updates, want %d and %d", what, got.visits, got.updates, want.visits, want.updates)
	}
	h.equal(t, what+" w", got.w, want.w)
	for i := range want.log {
		if got.log[i] != want.log[i] {
			t.Fatalf("%s: log[%d] is %d, want %d", what, i, got.log[i], want.log[i])
		}
	}
	h.intact(t, what)
}

// steps are labels of which some are zeros of either sign.
func (h *harness[T]) steps(n int) []T {
	y := h.labels(n)
	for i := range y {
		if h.rng.IntN(4) == 0 {
			y[i] = T(math.Copysign(0, float64(y[i])))
		}
	}
	return y
}

// logs returns logs for n rows: one is full at once, one becomes full on the way, and one never does.
func logs(n int) [][]uint32 {
	return [][]uint32{make([]uint32, 1), make([]uint32, 3), make([]uint32, n+1)}
}

func (h *harness[T]) epoch(t *testing.T) {
	for _, f := range flavours {
		for _, stride := range h.strides() {
			for _, n := range []int{0, 1, 2, 3, 13} {
				w := h.numbers(stride, f)
				x, y, eta, margin := h.rows(n, stride, f, w), h.steps(n), []T{1, 0.1}[h.rng.IntN(2)], []T{0, 0.5}[h.rng.IntN(2)]
				for _, log := range logs(n) {
					want := walk[T]{w: append([]T(nil), w...), log: append([]uint32(nil), log...)}
					want.visits, want.updates = h.want.Epoch(want.w, want.log, x, y, eta, margin)
					for _, p := range h.places()[:4] {
						got := walk[T]{w: guard.Put(h.buffers[2], p, w), log: guard.Put(h.buffers[3], p, log)}
						got.visits, got.updates = h.got.Epoch(got.w, got.log,
							guard.Put(h.buffers[0], p, x), guard.Put(h.buffers[1], p, y), eta, margin)
						h.compareWalks(t, fmt.Sprintf("%s stride=%d n=%d log=%d %+v", f.name, stride, n, len(log), p), got, want)
					}
				}
			}
		}
	}
}

func (h *harness[T]) epochIndexed(t *testing.T) {
	for _, f := range flavours {
		for _, stride := range h.strides() {
			for _, n := range []int{1, 13, 2*ref.ChunkRows + 7} {
				if n*stride*int(unsafe.Sizeof(T(0))) > bufferBytes {
					continue
				}
				h.indexedWalks(t, f, stride, n)
			}
		}
	}
}

func (h *harness[T]) indexedWalks(t *testing.T, f flavour, stride, n int) {
	w := h.numbers(stride, f)
	x, y, eta, margin := h.rows(n, stride, f, w), h.steps(n), []T{1, 0.1}[h.rng.IntN(2)], []T{0, 0.5}[h.rng.IntN(2)]
	idx := make([]uint32, h.rng.IntN(60))
	for i := range idx {
		idx[i] = uint32(h.rng.IntN(n))
	}
	for _, log := range logs(len(idx)) {
		want := walk[T]{w: append([]T(nil), w...), log: append([]uint32(nil), log...)}
		want.visits, want.updates = h.want.EpochIndexed(want.w, want.log, chunks(x, stride), chunks(y, 1), idx, nil, eta, margin)
		for _, p := range h.places()[:4] {
			got := walk[T]{w: guard.Put(h.buffers[2], p, w), log: guard.Put(h.buffers[3], p, log)}
			xs, ys := chunks(guard.Put(h.buffers[0], p, x), stride), chunks(guard.Put(h.buffers[1], p, y), 1)
			ahead := xs[h.rng.IntN(len(xs))]
			at := guard.Put(h.buffers[4], p, idx)
			got.visits, got.updates = h.got.EpochIndexed(got.w, got.log, xs, ys, at, ahead, eta, margin)
			h.compareWalks(t, fmt.Sprintf("%s stride=%d n=%d log=%d %+v", f.name, stride, n, len(log), p), got, want)
		}
	}
}

// chunks cuts rows of a stride into chunks.
func chunks[T any](x []T, stride int) (c [][]T) {
	for size := ref.ChunkRows * stride; len(x) > 0; {
		n := min(size, len(x))
		c = append(c, x[:n:n])
		x = x[n:]
	}
	return c
}

func (h *harness[T]) transpose(t *testing.T) {
	for _, cols := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 28, 31} {
		for n := 0; n <= 3*h.per+1; n++ {
			for _, extra := range []int{0, h.per} {
				h.transposeOne(t, cols, n, stride[T](cols)+extra)
			}
		}
	}
}

func (h *harness[T]) transposeOne(t *testing.T, cols, n, stride int) {
	all := h.numbers(cols*n, flavours[0])
	split := func(all []T) (c [][]T) {
		for k := range cols {
			c = append(c, all[k*n:(k+1)*n:(k+1)*n])
		}
		return c
	}
	want := h.numbers(n*stride, flavours[0])
	h.want.Transpose(want, stride, split(all))
	for _, p := range h.places() {
		what := fmt.Sprintf("cols=%d n=%d stride=%d %+v", cols, n, stride, p)
		got := guard.Put(h.buffers[1], p, make([]T, n*stride))
		h.got.Transpose(got, stride, split(guard.Put(h.buffers[0], p, all)))
		h.equal(t, what, got, want)
		h.intact(t, what)
	}
}

func (h *harness[T]) maxSquaredNorm(t *testing.T) {
	for _, f := range flavours {
		for _, stride := range h.strides() {
			for _, n := range []int{0, 1, 4} {
				x := h.rows(n, stride, f, make([]T, stride))
				want := h.want.MaxSquaredNorm(x, stride)
				for _, p := range h.places() {
					if got := h.got.MaxSquaredNorm(guard.Put(h.buffers[0], p, x), stride); !same(got, want) {
						t.Fatalf("%s stride=%d n=%d %+v: %v, want %v", f.name, stride, n, p, got, want)
					}
				}
			}
		}
	}
}
