//go:build unix

package kerneltest

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"

	"halfspace/asm/ref"
)

// strides returns every number of vectors up to well beyond those with code of their own, and a few long ones.
func (h *harness[T]) strides() []int {
	s := []int{}
	for v := 1; v <= 21; v++ {
		s = append(s, v*h.elementsPer32)
	}
	return append(s, 98*h.elementsPer32, 99*h.elementsPer32)
}

// panels calls a test with each flavour and stride, and some numbers of rows.
func (h *harness[T]) panels(rows []int, test func(what string, f flavour, stride, n int)) {
	for _, f := range flavours {
		for _, stride := range h.strides() {
			for _, n := range rows {
				if n*stride*int(unsafe.Sizeof(T(0))) <= bufferBytes {
					test(fmt.Sprintf("%s stride=%d n=%d", f.name, stride, n), f, stride, n)
				}
			}
		}
	}
}

func (h *harness[T]) scores(t *testing.T) {
	h.panels([]int{0, 1, 2, 5, 19}, func(what string, f flavour, stride, n int) {
		w := h.numbers(stride, f)
		x, want := h.rows(n, stride, f, w), make([]T, n)
		h.want.Scores(want, x, w)
		h.try(t, what, h.places(), func(what string, p Place) {
			got := Put(h.buffers[2], p, make([]T, n))
			h.got.Scores(got, Put(h.buffers[0], p, x), Put(h.buffers[1], p, w))
			compareSlices(t, what, got, want)
		})
	})
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
	constant := func(n int, v T) []T { return slices.Repeat([]T{tiny * v}, n) }
	for n := 0; n <= 200 && h.got.Dot != nil; n++ {
		x, y := constant(n, -1), constant(n, 1)
		want := h.want.Dot(x, y)
		count(want)
		if got := h.got.Dot(x, y); !sameNumber(got, want) {
			t.Fatalf("Dot n=%d: %v, want %v", n, got, want)
		}
	}
	for _, stride := range h.strides() {
		const rows = 10
		x, w, got, want := constant(rows*stride, -1), constant(stride, 1), make([]T, rows), make([]T, rows)
		h.want.Scores(want, x, w)
		count(want[0])
		h.got.Scores(got, x, w)
		compareSlices(t, fmt.Sprintf("Scores stride=%d", stride), got, want)
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
	compareSlices(t, what+" w", got.w, want.w)
	if !slices.Equal(got.log, want.log) {
		t.Fatalf("%s: the log is %v, want %v", what, got.log, want.log)
	}
}

// walks compares epochs of a log that is full at once, of one that becomes full on the way, and of one that never does.
func (h *harness[T]) walks(t *testing.T, what string, n int, w []T, got, want func(to *walk[T], p Place)) {
	t.Helper()
	for _, length := range []int{1, 3, n + 1} {
		expected := walk[T]{w: slices.Clone(w), log: make([]uint32, length)}
		want(&expected, Place{})
		h.try(t, fmt.Sprintf("%s log=%d", what, length), h.edges(), func(what string, p Place) {
			walked := walk[T]{w: Put(h.buffers[0], p, w), log: Put(h.buffers[1], p, make([]uint32, length))}
			got(&walked, p)
			h.compareWalks(t, what, walked, expected)
		})
	}
}

// rates draws a learning rate and a margin.
func (h *harness[T]) rates() (eta, margin T) {
	return []T{1, 0.1}[h.rng.IntN(2)], []T{0, 0.5}[h.rng.IntN(2)]
}

// classes are labels without a size.
func (h *harness[T]) classes(n int) []T {
	y := h.labels(n)
	for i := range y {
		y[i] = T(math.Copysign(1, float64(y[i])))
	}
	return y
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

func (h *harness[T]) epoch(t *testing.T) {
	h.panels([]int{0, 1, 2, 3, 13}, func(what string, f flavour, stride, n int) {
		w := h.numbers(stride, f)
		x, y := h.rows(n, stride, f, w), h.steps(n)
		eta, margin := h.rates()
		h.walks(t, what, n, w, func(to *walk[T], p Place) {
			to.visits, to.updates = h.got.Epoch(to.w, to.log, Put(h.buffers[2], p, x), Put(h.buffers[3], p, y), eta, margin)
		}, func(to *walk[T], _ Place) {
			to.visits, to.updates = h.want.Epoch(to.w, to.log, x, y, eta, margin)
		})
	})
}

// epochAveraged compares late as a part of w's walk: both are one slice.
func (h *harness[T]) epochAveraged(t *testing.T) {
	h.panels([]int{0, 1, 2, 3, 13}, func(what string, f flavour, stride, n int) {
		w := h.numbers(2*stride, f)
		x, y, visits := h.rows(n, stride, f, w[:stride]), h.steps(n), h.rng.IntN(1<<24)
		eta, margin := h.rates()
		for _, late := range []int{0, stride} { // the place of late: before w, or behind it
			h.walks(t, fmt.Sprintf("%s late at %d", what, late), n, w, func(to *walk[T], p Place) {
				to.visits, to.updates = h.got.EpochAveraged(to.w[stride-late:][:stride], to.w[late:][:stride], to.log,
					Put(h.buffers[2], p, x), Put(h.buffers[3], p, y), eta, margin, visits)
			}, func(to *walk[T], _ Place) {
				to.visits, to.updates = h.want.EpochAveraged(to.w[stride-late:][:stride], to.w[late:][:stride], to.log, x, y,
					eta, margin, visits)
			})
		}
	})
}

func (h *harness[T]) epochPassive(t *testing.T) {
	h.panels([]int{0, 1, 2, 3, 13}, func(what string, f flavour, stride, n int) {
		w := h.numbers(stride, f)
		x, y := h.rows(n, stride, f, w), h.classes(n)
		if n > 1 {
			clear(x[stride : 2*stride]) // a row without a norm makes no update
		}
		most, slack := []float64{1, 1e-3, math.Inf(1)}[h.rng.IntN(3)], []float64{0, 0.5}[h.rng.IntN(2)]
		h.walks(t, what, n, w, func(to *walk[T], p Place) {
			to.visits, to.updates = h.got.EpochPassive(to.w, to.log, Put(h.buffers[2], p, x), Put(h.buffers[3], p, y), most, slack)
		}, func(to *walk[T], _ Place) {
			to.visits, to.updates = h.want.EpochPassive(to.w, to.log, x, y, most, slack)
		})
	})
}

func (h *harness[T]) epochAdaptive(t *testing.T) {
	h.panels([]int{0, 1, 2, 3, 13}, func(what string, f flavour, stride, n int) {
		x, y, weights := h.rows(n, stride, f, h.numbers(stride, f)), h.classes(n), h.doubles(n, flavours[0])
		for i := range x {
			if h.rng.IntN(3) == 0 {
				x[i] = 0
			}
		}
		if h.rng.IntN(2) == 0 {
			weights = nil
		}
		state := [5][]float64{h.doubles(stride, f), h.doubles(stride, f), h.doubles(stride, f), make([]float64, stride),
			make([]float64, stride)}
		for c := range stride { // z, n, root, l1, l2
			state[2][c], state[3][c], state[4][c] = math.Sqrt(state[1][c]), float64(h.rng.IntN(2))*h.rng.Float64(), float64(h.rng.IntN(2))
		}
		inverse, beta, hinge := 1/h.rng.Float64(), h.rng.Float64(), h.rng.IntN(2) == 0
		for _, length := range []int{1, 3, n + 1} {
			w, all := h.numbers(stride, f), state
			want := walk[T]{w: slices.Clone(w), log: make([]uint32, length)}
			for i := range all {
				all[i] = slices.Clone(state[i])
			}
			want.visits, want.updates = h.want.EpochAdaptive(want.w, want.log, all[0], all[1], all[2], x, y, weights,
				all[3], all[4], inverse, beta, hinge)
			h.try(t, fmt.Sprintf("%s log=%d", what, length), h.edges(), func(what string, p Place) {
				got, own := walk[T]{w: Put(h.buffers[0], p, w), log: make([]uint32, length)}, state
				for i := range 3 {
					own[i] = Put(h.buffers[1+i], p, state[i])
				}
				got.visits, got.updates = h.got.EpochAdaptive(got.w, got.log, own[0], own[1], own[2],
					Put(h.buffers[4], p, x), Put(h.buffers[5], p, y), weights, own[3], own[4], inverse, beta, hinge)
				h.compareWalks(t, what, got, want)
				for i, part := range []string{"z", "n", "root"} {
					compareSlices(t, what+" "+part, own[i], all[i])
				}
			})
		}
	})
}

func (h *harness[T]) epochIndexed(t *testing.T) {
	h.panels([]int{1, 13, 2*ref.GroupRows + 7}, func(what string, f flavour, stride, n int) {
		w := h.numbers(stride, f)
		x, y, idx := h.rows(n, stride, f, w), h.steps(n), h.visits(n)
		eta, margin := h.rates()
		h.walks(t, what, len(idx), w, func(to *walk[T], p Place) {
			xs, ys := groups(Put(h.buffers[2], p, x), stride), groups(Put(h.buffers[3], p, y), 1)
			to.visits, to.updates = h.got.EpochIndexed(to.w, to.log, xs, ys, Put(h.buffers[4], p, idx),
				xs[h.rng.IntN(len(xs))], eta, margin)
		}, func(to *walk[T], _ Place) {
			to.visits, to.updates = h.want.EpochIndexed(to.w, to.log, groups(x, stride), groups(y, 1), idx, nil, eta, margin)
		})
	})
}

// visits draws up to 59 numbers of n rows.
func (h *harness[T]) visits(n int) []uint32 {
	rows := make([]uint32, h.rng.IntN(60))
	for i := range rows {
		rows[i] = uint32(h.rng.IntN(n))
	}
	return rows
}

// groups cuts rows of a stride into groups.
func groups[T any](x []T, stride int) (c [][]T) {
	for size := ref.GroupRows * stride; len(x) > 0; {
		n := min(size, len(x))
		c = append(c, x[:n:n])
		x = x[n:]
	}
	return c
}

func (h *harness[T]) transpose(t *testing.T) {
	for _, cols := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 28, 31} {
		for n := 0; n <= 3*h.elementsPer32+1; n++ {
			for _, extra := range []int{0, h.elementsPer32} {
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
	h.try(t, fmt.Sprintf("cols=%d n=%d stride=%d", cols, n, stride), h.places(), func(what string, p Place) {
		got := Put(h.buffers[1], p, make([]T, n*stride))
		h.got.Transpose(got, stride, split(Put(h.buffers[0], p, all)))
		compareSlices(t, what, got, want)
	})
}

func (h *harness[T]) maxSquaredNorm(t *testing.T) {
	h.panels([]int{0, 1, 4}, func(what string, f flavour, stride, n int) {
		x := h.rows(n, stride, f, make([]T, stride))
		want := h.want.MaxSquaredNorm(x, stride)
		h.try(t, what, h.places(), func(what string, p Place) {
			if got := h.got.MaxSquaredNorm(Put(h.buffers[0], p, x), stride); !sameNumber(got, want) {
				t.Fatalf("%s: %v, want %v", what, got, want)
			}
		})
	})
}
