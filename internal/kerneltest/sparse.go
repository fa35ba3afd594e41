//go:build unix

package kerneltest

import (
	"fmt"
	"testing"

	"halfspace/asm/ref"
	"halfspace/internal/guard"
)

// csr is a block of rows in CSR form.
type csr[T Float] struct {
	ptr []int64
	idx []uint32
	val []T
}

// faults are the ways in which a block of rows may be wrong. The kernels stop at a wrong row.
var faults = []string{"none", "column", "wide column", "beyond", "descending", "negative"}

// csr returns n rows of up to most elements each, with a fault in one of them. Columns come in any order, and twice.
func (h *harness[T]) csr(n, cols, most int, f flavour, fault string) csr[T] {
	c := csr[T]{ptr: []int64{int64(h.rng.IntN(3))}}
	for range n {
		c.ptr = append(c.ptr, c.ptr[len(c.ptr)-1]+int64(h.rng.IntN(most+1)))
	}
	c.val = h.numbers(int(c.ptr[n])+h.rng.IntN(3), f)
	for range c.val {
		c.idx = append(c.idx, uint32(h.rng.IntN(cols)))
	}
	at := h.rng.IntN(n + 1)
	switch {
	case fault == "column" && len(c.idx) > 0:
		c.idx[h.rng.IntN(len(c.idx))] = uint32(cols)
	case fault == "wide column" && len(c.idx) > 0:
		c.idx[h.rng.IntN(len(c.idx))] = 1<<31 + 5
	case fault == "beyond":
		c.ptr[at] = int64(len(c.idx) + 1)
	case fault == "descending" && at > 0:
		c.ptr[at] = c.ptr[at-1] - 1
	case fault == "negative":
		c.ptr[at] = -1
	}
	return c
}

// put puts the slices of c at a place in buffers 2, 3 and 4.
func (h *harness[T]) put(p guard.Place, c csr[T]) csr[T] {
	return csr[T]{guard.Put(h.buffers[2], p, c.ptr), guard.Put(h.buffers[3], p, c.idx), guard.Put(h.buffers[4], p, c.val)}
}

// sparse calls test with blocks of every shape, fault and flavour.
func (h *harness[T]) sparse(test func(what string, f flavour, n, cols int, c csr[T])) {
	for _, f := range flavours {
		for _, cols := range []int{1, 7, 40, 700} {
			for _, most := range []int{0, 1, 3, 7, 40} {
				for _, fault := range faults {
					n := []int{0, 1, 2, 13}[h.rng.IntN(4)]
					test(fmt.Sprintf("%s n=%d cols=%d most=%d fault=%s", f.name, n, cols, most, fault), f, n, cols, h.csr(n, cols, most, f, fault))
				}
			}
		}
	}
}

func (h *harness[T]) sparseScores(t *testing.T) {
	h.sparseScoring(t, 1, h.got.SparseScores, h.want.SparseScores)
}

func (h *harness[T]) sparseScores8(t *testing.T) {
	h.sparseScoring(t, 8, h.got.SparseScores8, h.want.SparseScores8)
}

func (h *harness[T]) sparseScoring(t *testing.T, candidates int, gotScores, wantScores func(out []T, ptr []int64, idx []uint32, val, w []T) int) {
	stopped := 0
	h.sparse(func(what string, f flavour, n, cols int, c csr[T]) {
		w, out := h.numbers(candidates*cols, f), h.numbers(candidates*n, flavours[0])
		want := append([]T(nil), out...)
		scored := wantScores(want, c.ptr, c.idx, c.val, w)
		if scored < n {
			stopped++
		}
		for _, p := range h.places()[:4] {
			at, got := h.put(p, c), guard.Put(h.buffers[0], p, out)
			if n := gotScores(got, at.ptr, at.idx, at.val, guard.Put(h.buffers[1], p, w)); n != scored {
				t.Fatalf("%s %+v: %d rows scored, want %d", what, p, n, scored)
			}
			h.equal(t, fmt.Sprintf("%s %+v", what, p), got, want)
			h.intact(t, what)
		}
	})
	if stopped == 0 {
		t.Error("no row was wrong")
	}
}

func (h *harness[T]) sparseAdd(t *testing.T) {
	h.sparse(func(what string, f flavour, _, cols int, c csr[T]) {
		w, a := h.numbers(cols, f), T(f.make(h.rng))
		want := append([]T(nil), w...)
		added := h.want.SparseAdd(want, a, c.idx, c.val)
		for _, p := range h.places()[:4] {
			at, got := h.put(p, c), guard.Put(h.buffers[0], p, w)
			if n := h.got.SparseAdd(got, a, at.idx, at.val); n != added {
				t.Fatalf("%s %+v: %d elements added, want %d", what, p, n, added)
			}
			h.equal(t, fmt.Sprintf("%s %+v", what, p), got, want)
			h.intact(t, what)
		}
	})
}

func (h *harness[T]) sparseEpoch(t *testing.T) {
	h.sparse(func(what string, f flavour, n, cols int, c csr[T]) {
		w, y := h.numbers(cols, f), h.steps(n)
		eta, margin := []T{1, 0.1}[h.rng.IntN(2)], []T{0, 0.5}[h.rng.IntN(2)]
		for _, log := range logs(n) {
			want := walk[T]{w: append([]T(nil), w...), log: append([]uint32(nil), log...)}
			want.visits, want.updates = h.want.SparseEpoch(want.w, want.log, c.ptr, c.idx, c.val, y, eta, margin)
			for _, p := range h.places()[:4] {
				at, got := h.put(p, c), walk[T]{w: guard.Put(h.buffers[0], p, w), log: guard.Put(h.buffers[1], p, log)}
				got.visits, got.updates = h.got.SparseEpoch(got.w, got.log, at.ptr, at.idx, at.val, guard.Put(h.buffers[5], p, y), eta, margin)
				h.compareWalks(t, fmt.Sprintf("%s log=%d %+v", what, len(log), p), got, want)
			}
		}
	})
}

func (h *harness[T]) sparseEpochIndexed(t *testing.T) {
	for _, f := range flavours {
		for _, n := range []int{1, 13, 2*ref.ChunkRows + 7} {
			for _, fault := range faults {
				h.sparseWalks(t, f, n, fault)
			}
		}
	}
}

func (h *harness[T]) sparseWalks(t *testing.T, f flavour, n int, fault string) {
	cols := []int{1, 7, 40}[h.rng.IntN(3)]
	c := h.csr(n, cols, 9, f, fault)
	w, y, eta, margin := h.numbers(cols, f), h.steps(n), []T{1, 0.1}[h.rng.IntN(2)], []T{0, 0.5}[h.rng.IntN(2)]
	rows := make([]uint32, h.rng.IntN(60))
	for i := range rows {
		rows[i] = uint32(h.rng.IntN(n))
	}
	// split cuts rows into chunks, whose elements are all in one block.
	split := func(c csr[T], y []T) (ptr [][]int64, idx [][]uint32, val, labels [][]T) {
		for lo := 0; lo < n; lo += ref.ChunkRows {
			hi := min(n, lo+ref.ChunkRows)
			ptr, idx = append(ptr, c.ptr[lo:hi+1]), append(idx, c.idx)
			val, labels = append(val, c.val), append(labels, y[lo:hi])
		}
		return ptr, idx, val, labels
	}
	for _, log := range logs(len(rows)) {
		want := walk[T]{w: append([]T(nil), w...), log: append([]uint32(nil), log...)}
		ptr, idx, val, labels := split(c, y)
		want.visits, want.updates = h.want.SparseEpochIndexed(want.w, want.log, ptr, idx, val, labels, rows, eta, margin)
		for _, p := range h.places()[:4] {
			got := walk[T]{w: guard.Put(h.buffers[0], p, w), log: guard.Put(h.buffers[1], p, log)}
			ptr, idx, val, labels := split(h.put(p, c), guard.Put(h.buffers[5], p, y))
			got.visits, got.updates = h.got.SparseEpochIndexed(got.w, got.log, ptr, idx, val, labels, rows, eta, margin)
			h.compareWalks(t, fmt.Sprintf("%s n=%d fault=%s log=%d %+v", f.name, n, fault, len(log), p), got, want)
		}
	}
}
