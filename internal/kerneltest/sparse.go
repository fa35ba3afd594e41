//go:build unix

package kerneltest

import (
	"fmt"
	"slices"
	"testing"

	"halfspace/asm/ref"
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
func (h *harness[T]) put(p Place, c csr[T]) csr[T] {
	return csr[T]{Put(h.buffers[2], p, c.ptr), Put(h.buffers[3], p, c.idx), Put(h.buffers[4], p, c.val)}
}

// sparse calls test with blocks of every shape, fault and flavour.
func (h *harness[T]) sparse(test func(what string, f flavour, n, cols int, c csr[T])) {
	for _, f := range flavours {
		for _, cols := range []int{1, 7, 40, 700} {
			for _, most := range []int{0, 1, 3, 7, 40} {
				for _, fault := range faults {
					n := []int{0, 1, 2, 13}[h.rng.IntN(4)]
					test(fmt.Sprintf("%s n=%d cols=%d most=%d fault=%s", f.name, n, cols, most, fault), f, n, cols,
						h.csr(n, cols, most, f, fault))
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

func (h *harness[T]) sparseScoring(t *testing.T, candidates int, gotScores,
	wantScores func(out []T, ptr []int64, idx []uint32, val, w []T) int) {
	stopped := 0
	h.sparse(func(what string, f flavour, n, cols int, c csr[T]) {
		w, out := h.numbers(candidates*cols, f), h.numbers(candidates*n, flavours[0])
		want := slices.Clone(out)
		scored := wantScores(want, c.ptr, c.idx, c.val, w)
		if scored < n {
			stopped++
		}
		h.try(t, what, h.edges(), func(what string, p Place) {
			at, got := h.put(p, c), Put(h.buffers[0], p, out)
			if n := gotScores(got, at.ptr, at.idx, at.val, Put(h.buffers[1], p, w)); n != scored {
				t.Fatalf("%s: %d rows scored, want %d", what, n, scored)
			}
			compareSlices(t, what, got, want)
		})
	})
	if stopped == 0 {
		t.Error("no row was wrong")
	}
}

func (h *harness[T]) sparseAdd(t *testing.T) {
	h.sparse(func(what string, f flavour, _, cols int, c csr[T]) {
		w, a := h.numbers(cols, f), T(f.number(h.rng))
		want := slices.Clone(w)
		added := h.want.SparseAdd(want, a, c.idx, c.val)
		h.try(t, what, h.edges(), func(what string, p Place) {
			at, got := h.put(p, c), Put(h.buffers[0], p, w)
			if n := h.got.SparseAdd(got, a, at.idx, at.val); n != added {
				t.Fatalf("%s: %d elements added, want %d", what, n, added)
			}
			compareSlices(t, what, got, want)
		})
	})
}

func (h *harness[T]) sparseEpoch(t *testing.T) {
	h.sparse(func(what string, f flavour, n, cols int, c csr[T]) {
		w, y := h.numbers(cols, f), h.steps(n)
		eta, margin := h.rates()
		h.walks(t, what, n, w, func(to *walk[T], p Place) {
			at := h.put(p, c)
			to.visits, to.updates = h.got.SparseEpoch(to.w, to.log, at.ptr, at.idx, at.val, Put(h.buffers[5], p, y), eta, margin)
		}, func(to *walk[T], _ Place) {
			to.visits, to.updates = h.want.SparseEpoch(to.w, to.log, c.ptr, c.idx, c.val, y, eta, margin)
		})
	})
}

func (h *harness[T]) sparseEpochIndexed(t *testing.T) {
	for _, f := range flavours {
		for _, n := range []int{1, 13, 2*ref.GroupRows + 7} {
			for _, fault := range faults {
				cols := []int{1, 7, 40}[h.rng.IntN(3)]
				c, w, y, rows := h.csr(n, cols, 9, f, fault), h.numbers(cols, f), h.steps(n), h.visits(n)
				eta, margin := h.rates()
				h.walks(t, fmt.Sprintf("%s n=%d fault=%s", f.name, n, fault), len(rows), w, func(to *walk[T], p Place) {
					ptr, idx, val, labels := h.put(p, c).groups(Put(h.buffers[5], p, y))
					to.visits, to.updates = h.got.SparseEpochIndexed(to.w, to.log, ptr, idx, val, labels, rows, eta, margin)
				}, func(to *walk[T], _ Place) {
					ptr, idx, val, labels := c.groups(y)
					to.visits, to.updates = h.want.SparseEpochIndexed(to.w, to.log, ptr, idx, val, labels, rows, eta, margin)
				})
			}
		}
	}
}

// groups cuts rows with labels into groups, whose elements are all in one block.
func (c csr[T]) groups(y []T) (ptr [][]int64, idx [][]uint32, val, labels [][]T) {
	for lo := 0; lo < len(y); lo += ref.GroupRows {
		hi := min(len(y), lo+ref.GroupRows)
		ptr, idx = append(ptr, c.ptr[lo:hi+1]), append(idx, c.idx)
		val, labels = append(val, c.val), append(labels, y[lo:hi])
	}
	return ptr, idx, val, labels
}
