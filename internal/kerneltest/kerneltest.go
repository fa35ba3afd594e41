//go:build unix

// Package kerneltest tests the kernels of one instruction set against their pure-Go twins, bit for bit.
//
// Every slice that a kernel gets lies against a page that can't be touched, before it or behind it, so that a read or a
// write beyond it faults; between the slice and the far page lie canaries that must survive.
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
	"halfspace/internal/guard"
	"halfspace/kernel"
)

// A Set is the kernels for one element type.
type Set[T kernel.Float] struct {
	Dot            func(x, y []T) T
	Axpy           func(y []T, a T, x []T)
	Axpy4          func(y, a []T, x [][]T)
	FirstMistake   func(y, scores []T) int
	Scores         func(out, x, w []T)
	Epoch          func(w []T, log []uint32, x, y []T, eta T) (int, int)
	EpochIndexed   func(w []T, log []uint32, x, y [][]T, idx []uint32, ahead []T, eta T) (int, int)
	Transpose      func(dst []T, stride int, cols [][]T)
	MaxSquaredNorm func(x []T, stride int) float64
	Tile           func(c []T, ldc, grow int, a, b []T, add bool)
	MR, NR         int
	Pack           func(dst, x, y []T, stride, cols int) T
	Bounds         func(low, high []int64, x, w, limits []T, cols int)

	BoundsMR, BoundsNR int

	ScaleRows   func(dst []float64, x []T, s []float64, stride, cols int)
	RankKUpdate func(c, a, b []float64, rows int, square bool) // of the set for float64 alone
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
		EpochIndexed:   ref.EpochIndexedF32,
		Transpose:      ref.TransposeF32,
		MaxSquaredNorm: ref.MaxSquaredNormF32,
		Tile:           ref.TileF32,
		MR:             ref.MRF32, NR: ref.NRF32,
		Pack:     ref.PackF32,
		Bounds:   ref.BoundsF32,
		BoundsMR: ref.BoundsMRF32, BoundsNR: ref.BoundsNRF32,
		ScaleRows: ref.ScaleRowsF32,
	}
	F64 = Set[float64]{
		Dot:            ref.DotF64,
		Axpy:           ref.AxpyF64,
		Axpy4:          ref.Axpy4F64,
		FirstMistake:   ref.FirstMistakeF64,
		Scores:         ref.ScoresF64,
		Epoch:          ref.EpochF64,
		EpochIndexed:   ref.EpochIndexedF64,
		Transpose:      ref.TransposeF64,
		MaxSquaredNorm: ref.MaxSquaredNormF64,
		Tile:           ref.TileF64,
		MR:             ref.MRF64, NR: ref.NRF64,
		Pack:     ref.PackF64,
		Bounds:   ref.BoundsF64,
		BoundsMR: ref.BoundsMRF64, BoundsNR: ref.BoundsNRF64,
		ScaleRows:   ref.ScaleRowsF64,
		RankKUpdate: ref.RankKUpdateF64,
	}
)

// Need skips the test where the machine or the build lacks an instruction set, and fails it there if the environment
// variable HALFSPACE_TEST_REQUIRE names that set: a run that was to exercise it must not pass without.
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
func Run[T kernel.Float](t *testing.T, got, want Set[T]) {
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
		{"Zeros", got.Dot != nil && got.Scores != nil, h.zeros},
		{"Epoch", got.Epoch != nil, h.epoch},
		{"EpochIndexed", got.EpochIndexed != nil, h.epochIndexed},
		{"Transpose", got.Transpose != nil, h.transpose},
		{"MaxSquaredNorm", got.MaxSquaredNorm != nil, h.maxSquaredNorm},
		{"Tile", got.Tile != nil, h.tile},
		{"Pack", got.Pack != nil, h.pack},
		{"Bounds", got.Bounds != nil, h.bounds},
		{"ScaleRows", got.ScaleRows != nil, h.scaleRows},
		{"RankKUpdate", got.RankKUpdate != nil, h.rankKUpdate},
	} {
		if k.has {
			t.Run(k.name, k.test)
		}
	}
}

type harness[T kernel.Float] struct {
	got, want Set[T]
	rng       *rand.Rand
	buffers   [5]*guard.Buffer
	per       int // elements of 32 bytes
}

// bufferBytes is enough for the largest panel below.
const bufferBytes = 1 << 18

func newHarness[T kernel.Float](t *testing.T, got, want Set[T]) *harness[T] {
	h := &harness[T]{got: got, want: want, rng: rand.New(rand.NewPCG(1, 2)), per: kernel.Stride[T](1)}
	for i := range h.buffers {
		h.buffers[i] = guard.New(t, bufferBytes)
	}
	return h
}

// places are both edges, and every alignment of an element within a vector.
func (h *harness[T]) places() []guard.Place {
	p := []guard.Place{{}, {Back: true}}
	for shift := 1; shift < h.per; shift++ {
		p = append(p, guard.Place{Back: true, Shift: shift}, guard.Place{Shift: shift})
	}
	return p
}

// A flavour makes an element.
type flavour struct {
	name string
	make func(*rand.Rand) float64
}

// flavours are ordinary numbers, numbers whose sums are exact, and all that rounding and comparing can trip over.
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
		x[i] = T(f.make(h.rng))
	}
	return x
}

// rows returns n rows of a stride, their last columns padding. w gets zeros where the padding is.
func (h *harness[T]) rows(n, stride int, f flavour, w []T) []T {
	x := h.numbers(n*stride, f)
	pad := h.rng.IntN(min(h.per, stride))
	for r := range n {
		clear(x[(r+1)*stride-pad : (r+1)*stride])
	}
	clear(w[stride-pad:])
	return x
}

func (h *harness[T]) labels(n int) []T {
	y := make([]T, n)
	for i := range y {
		y[i] = []T{-1, 1, -0.75, 2.5}[h.rng.IntN(4)]
	}
	return y
}

// same tells whether a and b have the same bits, any NaN being equal to any other.
func same[T kernel.Float](a, b T) bool {
	if a != a || b != b {
		return a != a && b != b
	}
	return math.Float64bits(float64(a)) == math.Float64bits(float64(b))
}

func (h *harness[T]) equal(t *testing.T, what string, got, want []T) {
	t.Helper()
	for i := range want {
		if !same(got[i], want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func (h *harness[T]) intact(t *testing.T, what string) {
	t.Helper()
	for i, b := range h.buffers {
		if !b.Intact() {
			t.Fatalf("%s: wrote outside of slice %d", what, i)
		}
	}
}

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

// firstMistake: scores that are right but from one on, so that every position is found, and scores of any kind.
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

// strides are every number of vectors up to well beyond those that have code of their own, and a few long ones.
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

// zeros compares sums of products that all underflow to -0: such a sum is -0 where every lane is, and +0 where padding
// met a lane.
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

// A walk is what an epoch did.
type walk[T kernel.Float] struct {
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

// logs returns logs to try on n rows: one that fills at once, one that fills on the way, and one that never does.
func logs(n int) [][]uint32 {
	return [][]uint32{make([]uint32, 1), make([]uint32, 3), make([]uint32, n+1)}
}

func (h *harness[T]) epoch(t *testing.T) {
	for _, f := range flavours {
		for _, stride := range h.strides() {
			for _, n := range []int{0, 1, 2, 3, 13} {
				w := h.numbers(stride, f)
				x, y, eta := h.rows(n, stride, f, w), h.labels(n), []T{1, 0.1}[h.rng.IntN(2)]
				for _, log := range logs(n) {
					want := walk[T]{w: append([]T(nil), w...), log: append([]uint32(nil), log...)}
					want.visits, want.updates = h.want.Epoch(want.w, want.log, x, y, eta)
					for _, p := range h.places()[:4] {
						got := walk[T]{w: guard.Put(h.buffers[2], p, w), log: guard.Put(h.buffers[3], p, log)}
						got.visits, got.updates = h.got.Epoch(got.w, got.log,
							guard.Put(h.buffers[0], p, x), guard.Put(h.buffers[1], p, y), eta)
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
	x, y, eta := h.rows(n, stride, f, w), h.labels(n), []T{1, 0.1}[h.rng.IntN(2)]
	idx := make([]uint32, h.rng.IntN(60))
	for i := range idx {
		idx[i] = uint32(h.rng.IntN(n))
	}
	for _, log := range logs(len(idx)) {
		want := walk[T]{w: append([]T(nil), w...), log: append([]uint32(nil), log...)}
		want.visits, want.updates = h.want.EpochIndexed(want.w, want.log, chunks(x, stride), chunks(y, 1), idx, nil, eta)
		for _, p := range h.places()[:4] {
			got := walk[T]{w: guard.Put(h.buffers[2], p, w), log: guard.Put(h.buffers[3], p, log)}
			xs, ys := chunks(guard.Put(h.buffers[0], p, x), stride), chunks(guard.Put(h.buffers[1], p, y), 1)
			ahead := xs[h.rng.IntN(len(xs))]
			at := guard.Put(h.buffers[4], p, idx)
			got.visits, got.updates = h.got.EpochIndexed(got.w, got.log, xs, ys, at, ahead, eta)
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
				h.transposeOne(t, cols, n, kernel.Stride[T](cols)+extra)
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

// tile holds tiles of any shape against the definition, element by element, each the dot product of one column of both
// panels by the twin of Axpy, whose every step is one fma.
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

// pack holds groups of any size against the definition.
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
	stride, nr := kernel.Stride[T](cols), h.got.BoundsNR
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

// bounds holds tiles of any shape against the definition.
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

// equal64 is equal for float64, whatever T is.
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

// scaleRows: columns from cols on keep what they had. Most weights aren't negative.
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
