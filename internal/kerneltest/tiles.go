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

// tile compares tiles of any shape with the definition. An element is the dot product of a column of both panels by the
// twin of Axpy, whose every step is one fma.
func (h *harness[T]) tile(t *testing.T) {
	for _, f := range flavours {
		for _, kc := range []int{1, 2, 3, 4, 7, 33} {
			for _, panels := range []int{1, 3} {
				for _, ldc := range []int{h.got.NR, h.got.NR + 3} {
					for _, grow := range []int{0, 1, 5} {
						h.tileOne(t, f, kc, panels, ldc, grow)
					}
				}
			}
		}
	}
}

func (h *harness[T]) tileOne(t *testing.T, f flavour, kc, panels, ldc, grow int) {
	mr, nr := h.got.MR, h.got.NR
	at := func(i int) int { return i*ldc + i*(i-1)/2*grow }
	a, b, c := h.numbers(panels*kc*mr, f), h.numbers(kc*nr, f), h.numbers(at(panels*mr-1)+nr, f)
	for _, add := range []bool{false, true} {
		want := append([]T(nil), c...)
		for i := range panels * mr {
			for j := range nr {
				acc := T(0)
				for k := range kc {
					acc = h.fma(a[(i/mr*kc+k)*mr+i%mr], b[k*nr+j], acc)
				}
				if add {
					acc += c[at(i)+j]
				}
				want[at(i)+j] = acc
			}
		}
		for _, p := range h.places() {
			what := fmt.Sprintf("%s kc=%d panels=%d ldc=%d grow=%d add=%v %+v", f.name, kc, panels, ldc, grow, add, p)
			got := guard.Put(h.buffers[2], p, c)
			h.got.Tile(got, ldc, grow, guard.Put(h.buffers[0], p, a), guard.Put(h.buffers[1], p, b), add)
			h.equal(t, what, got, want)
			h.intact(t, what)
		}
	}
}

// fma returns x*y + z by the twin of Axpy.
func (h *harness[T]) fma(x, y, z T) T {
	acc := [1]T{z}
	h.want.Axpy(acc[:], x, []T{y})
	return acc[0]
}

// pack compares groups of any size with the definition.
func (h *harness[T]) pack(t *testing.T) {
	for _, f := range flavours {
		for _, cols := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 29, 70} {
			for groups := range 3 {
				h.packOne(t, f, cols, groups*h.got.BoundsNR)
			}
		}
	}
}

func (h *harness[T]) packOne(t *testing.T, f flavour, cols, n int) {
	stride, nr := stride[T](cols), h.got.BoundsNR
	if n*stride*int(unsafe.Sizeof(T(0))) > bufferBytes {
		return
	}
	x, y := h.numbers(n*stride, f), h.labels(n)
	want, largest := make([]T, n*cols), T(0)
	for r, label := range y {
		norm := T(0)
		for c := range cols {
			v := x[r*stride+c]
			if label < 0 {
				v = -v
			}
			want[(r/nr*cols+c)*nr+r%nr] = v
			norm = h.fma(v, v, norm)
		}
		if norm > largest {
			largest = norm
		}
	}
	for _, p := range h.places()[:4] {
		what := fmt.Sprintf("%s cols=%d n=%d %+v", f.name, cols, n, p)
		dst := guard.Put(h.buffers[2], p, make([]T, n*cols))
		got := h.got.Pack(dst, guard.Put(h.buffers[0], p, x), guard.Put(h.buffers[1], p, y), stride, cols)
		if !same(got, largest) {
			t.Fatalf("%s: largest squared norm %v, want %v", what, got, largest)
		}
		h.equal(t, what, dst, want)
		h.intact(t, what)
	}
}

// bounds compares tiles of any shape with the definition.
func (h *harness[T]) bounds(t *testing.T) {
	for _, f := range flavours {
		for _, cols := range []int{1, 2, 3, 8, 29} {
			for _, tiles := range []int{1, 2, 64 / h.got.BoundsMR} {
				for groups := range 3 {
					h.boundsOne(t, f, cols, groups, tiles*h.got.BoundsMR)
				}
			}
		}
	}
}

func (h *harness[T]) boundsOne(t *testing.T, f flavour, cols, groups, n int) {
	mr, nr := h.got.BoundsMR, h.got.BoundsNR
	x, w := h.numbers(groups*nr*cols, f), h.numbers(n*cols, f)
	limits := make([]T, n)
	for i := range limits {
		limits[i] = []T{0, T(math.Abs(f.make(h.rng))), T(math.Inf(1)), T(math.NaN())}[h.rng.IntN(4)]
	}
	low, high := make([]int64, n), make([]int64, n)
	for i := range n {
		low[i], high[i] = int64(i), int64(1000*i)
	}
	wantLow, wantHigh := append([]int64(nil), low...), append([]int64(nil), high...)
	for i, limit := range limits {
		for r := range groups * nr {
			score := T(0)
			for c := range cols {
				score = h.fma(x[(r/nr*cols+c)*nr+r%nr], w[(i/mr*cols+c)*mr+i%mr], score)
			}
			if score < -limit {
				wantLow[i]++
			}
			if !(score > limit) {
				wantHigh[i]++
			}
		}
	}
	for _, p := range h.places()[:4] {
		what := fmt.Sprintf("%s cols=%d rows=%d candidates=%d %+v", f.name, cols, groups*nr, n, p)
		gotLow, gotHigh := guard.Put(h.buffers[3], p, low), guard.Put(h.buffers[4], p, high)
		h.got.Bounds(gotLow, gotHigh, guard.Put(h.buffers[0], p, x), guard.Put(h.buffers[1], p, w),
			guard.Put(h.buffers[2], p, limits), cols)
		for i := range wantLow {
			if gotLow[i] != wantLow[i] || gotHigh[i] != wantHigh[i] {
				t.Fatalf("%s: candidate %d has bounds %d and %d, want %d and %d", what, i, gotLow[i], gotHigh[i],
					wantLow[i], wantHigh[i])
			}
		}
		h.intact(t, what)
	}
}

// boundsWeighted compares sums of sample weights with the definition.
func (h *harness[T]) boundsWeighted(t *testing.T) {
	for _, f := range flavours {
		for _, cols := range []int{1, 3, 29} {
			for _, tiles := range []int{1, 2, 64 / h.got.BoundsMR} {
				for groups := range 3 {
					h.boundsWeightedOne(t, f, cols, groups, tiles*h.got.BoundsMR)
				}
			}
		}
	}
}

func (h *harness[T]) boundsWeightedOne(t *testing.T, f flavour, cols, groups, n int) {
	mr, nr := h.got.BoundsMR, h.got.BoundsNR
	x, w := h.numbers(groups*nr*cols, f), h.numbers(n*cols, f)
	limits, low := make([]T, n), make([]int64, n)
	for i := range limits {
		limits[i] = []T{0, T(math.Abs(f.make(h.rng))), T(math.Inf(1)), T(math.NaN())}[h.rng.IntN(4)]
		low[i] = int64(1000 * i)
	}
	weights := make([]int32, groups*nr)
	for r := range weights {
		weights[r] = h.rng.Int32N(math.MaxInt32 / int32(max(1, len(weights))))
	}
	want := append([]int64(nil), low...)
	for i, limit := range limits {
		for r, weight := range weights {
			score := T(0)
			for c := range cols {
				score = h.fma(x[(r/nr*cols+c)*nr+r%nr], w[(i/mr*cols+c)*mr+i%mr], score)
			}
			if score < -limit {
				want[i] += int64(weight)
			}
		}
	}
	for _, p := range h.places()[:4] {
		what := fmt.Sprintf("%s cols=%d rows=%d candidates=%d %+v", f.name, cols, groups*nr, n, p)
		got := guard.Put(h.buffers[3], p, low)
		h.got.BoundsWeighted(got, guard.Put(h.buffers[0], p, x), guard.Put(h.buffers[4], p, weights), guard.Put(h.buffers[1], p, w),
			guard.Put(h.buffers[2], p, limits), cols)
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s: candidate %d has the sum %d, want %d", what, i, got[i], want[i])
			}
		}
		h.intact(t, what)
	}
}

// equal64 fails the test unless numbers of float64 are the same.
func equal64(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if !same(got[i], want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func (h *harness[T]) doubles(n int, f flavour) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = f.make(h.rng)
	}
	return x
}

// scaleRows tests that columns from cols on aren't written. Most weights aren't negative.
func (h *harness[T]) scaleRows(t *testing.T) {
	for _, f := range flavours {
		for cols := 4; cols <= ref.BlockCols; cols += 4 {
			for _, n := range []int{0, 1, 2, 5} {
				stride := cols + h.rng.IntN(3)
				x, s := h.numbers(max(0, (n-1)*stride+cols), f), h.doubles(n, f)
				for i := range s {
					if i != 1 {
						s[i] = math.Abs(s[i])
					}
				}
				dst := h.doubles(n*ref.BlockCols, f)
				want := append([]float64(nil), dst...)
				h.want.ScaleRows(want, x, s, stride, cols)
				for _, p := range h.places()[:4] {
					what := fmt.Sprintf("%s cols=%d n=%d %+v", f.name, cols, n, p)
					got := guard.Put(h.buffers[0], p, dst)
					h.got.ScaleRows(got, guard.Put(h.buffers[1], p, x), guard.Put(h.buffers[2], p, s), stride, cols)
					equal64(t, what, got, want)
					h.intact(t, what)
				}
			}
		}
	}
}

// rankKUpdate compares the elements that are defined.
func (h *harness[T]) rankKUpdate(t *testing.T) {
	const cols = ref.BlockCols
	for _, f := range flavours {
		for _, rows := range []int{1, 4, 8, 12, 16, 20, 24, 28, 32} {
			for _, n := range []int{1, 2, 7} {
				a, b, c := h.doubles(n*cols, f), h.doubles(n*cols, f), h.doubles(cols*cols, f)
				for _, square := range []bool{false, true} {
					want := append([]float64(nil), c...)
					h.want.RankKUpdate(want, a, b, rows, square)
					for _, p := range h.places()[:4] {
						what := fmt.Sprintf("%s rows=%d n=%d square=%v %+v", f.name, rows, n, square, p)
						got := guard.Put(h.buffers[2], p, c)
						h.got.RankKUpdate(got, guard.Put(h.buffers[0], p, a), guard.Put(h.buffers[1], p, b), rows, square)
						for i := range rows {
							defined := i + 1
							if square {
								defined = cols
							}
							equal64(t, fmt.Sprintf("%s i=%d", what, i), got[i*cols:][:defined], want[i*cols:][:defined])
						}
						h.intact(t, what)
					}
				}
			}
		}
	}
}
