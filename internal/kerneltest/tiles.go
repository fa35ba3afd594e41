//go:build unix

package kerneltest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"halfspace/asm/ref"
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
	written, added := slices.Clone(c), slices.Clone(c)
	for i := range panels * mr {
		row := written[at(i):][:nr]
		clear(row)
		for k := range kc {
			h.want.Axpy(row, a[(i/mr*kc+k)*mr+i%mr], b[k*nr:][:nr])
		}
		for j, v := range row {
			added[at(i)+j] = v + c[at(i)+j]
		}
	}
	for add, want := range map[bool][]T{false: written, true: added} {
		what := fmt.Sprintf("%s kc=%d panels=%d ldc=%d grow=%d add=%v", f.name, kc, panels, ldc, grow, add)
		h.try(t, what, h.places(), func(what string, p Place) {
			got := Put(h.buffers[2], p, c)
			h.got.Tile(got, ldc, grow, Put(h.buffers[0], p, a), Put(h.buffers[1], p, b), add)
			compareSlices(t, what, got, want)
		})
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
	h.try(t, fmt.Sprintf("%s cols=%d n=%d", f.name, cols, n), h.edges(), func(what string, p Place) {
		dst := Put(h.buffers[2], p, make([]T, n*cols))
		if got := h.got.Pack(dst, Put(h.buffers[0], p, x), Put(h.buffers[1], p, y), stride, cols); !sameNumber(got, largest) {
			t.Fatalf("%s: largest squared norm %v, want %v", what, got, largest)
		}
		compareSlices(t, what, dst, want)
	})
}

// bounds compares tiles of any shape, and their sums of sample weights, with the definition.
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
	limits, weights := make([]T, n), make([]int32, groups*nr)
	low, high, sums := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range n {
		limits[i] = []T{0, T(math.Abs(f.number(h.rng))), T(math.Inf(1)), T(math.NaN())}[h.rng.IntN(4)]
		low[i], high[i], sums[i] = int64(i), int64(1000*i), int64(1001*i)
	}
	for r := range weights {
		weights[r] = h.rng.Int32N(math.MaxInt32 / int32(max(1, len(weights))))
	}
	wantLow, wantHigh, wantSums := slices.Clone(low), slices.Clone(high), slices.Clone(sums)
	for i, limit := range limits {
		for r, weight := range weights {
			score := T(0)
			for c := range cols {
				score = h.fma(x[(r/nr*cols+c)*nr+r%nr], w[(i/mr*cols+c)*mr+i%mr], score)
			}
			if score < -limit {
				wantLow[i]++
				wantSums[i] += int64(weight)
			}
			if !(score > limit) {
				wantHigh[i]++
			}
		}
	}
	h.try(t, fmt.Sprintf("%s cols=%d rows=%d candidates=%d", f.name, cols, groups*nr, n), h.edges(), func(what string, p Place) {
		gotLow, gotHigh := Put(h.buffers[3], p, low), Put(h.buffers[4], p, high)
		rows, candidates, most := Put(h.buffers[0], p, x), Put(h.buffers[1], p, w), Put(h.buffers[2], p, limits)
		h.got.Bounds(gotLow, gotHigh, rows, candidates, most, cols)
		if !slices.Equal(gotLow, wantLow) || !slices.Equal(gotHigh, wantHigh) {
			t.Fatalf("%s: bounds %v and %v, want %v and %v", what, gotLow, gotHigh, wantLow, wantHigh)
		}
		got := Put(h.buffers[5], p, sums)
		h.got.BoundsWeighted(got, rows, Put(h.buffers[4], p, weights), candidates, most, cols)
		if !slices.Equal(got, wantSums) {
			t.Fatalf("%s: sums %v, want %v", what, got, wantSums)
		}
	})
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
				want := slices.Clone(dst)
				h.want.ScaleRows(want, x, s, stride, cols)
				h.try(t, fmt.Sprintf("%s cols=%d n=%d", f.name, cols, n), h.edges(), func(what string, p Place) {
					got := Put(h.buffers[0], p, dst)
					h.got.ScaleRows(got, Put(h.buffers[1], p, x), Put(h.buffers[2], p, s), stride, cols)
					compareSlices(t, what, got, want)
				})
			}
		}
	}
}

// rankKUpdate compares the elements that are defined. A single row leaves the others as they are.
func (h *harness[T]) rankKUpdate(t *testing.T) {
	const cols = ref.BlockCols
	for _, f := range flavours {
		for _, rows := range []int{1, 4, 8, 12, 16, 20, 24, 28, 32} {
			for _, n := range []int{1, 2, 7} {
				a, b, c := h.doubles(n*cols, f), h.doubles(n*cols, f), h.doubles(cols*cols, f)
				for _, square := range []bool{false, true} {
					want := slices.Clone(c)
					h.want.RankKUpdate(want, a, b, rows, square)
					h.try(t, fmt.Sprintf("%s rows=%d n=%d square=%v", f.name, rows, n, square), h.edges(), func(what string, p Place) {
						got := Put(h.buffers[2], p, c)
						h.got.RankKUpdate(got, Put(h.buffers[0], p, a), Put(h.buffers[1], p, b), rows, square)
						for i := range rows {
							defined := i + 1
							if square {
								defined = cols
							}
							compareSlices(t, what, got[i*cols:][:defined], want[i*cols:][:defined])
						}
						if rows == 1 {
							compareSlices(t, what, got[cols:], c[cols:])
						}
					})
				}
			}
		}
	}
}
