package ref

import "math"

// sparseDot is the dot product of w with the row that holds val[k] in column idx[k], with the lanes and the fold of
// dot. Elements that aren't stored would add a zero to their lane. So the result equals the dense one, except that a
// zero may differ in its sign.
func sparseDot[T float](idx []uint32, val, w []T) T {
	if is32[T]() {
		var lane [lanesF32]T
		for k, c := range idx {
			lane[c%lanesF32] = fma(val[k], w[c], lane[c%lanesF32])
		}
		return fold(lane[:])
	}
	var lane [lanesF64]T
	for k, c := range idx {
		lane[c%lanesF64] = fma(val[k], w[c], lane[c%lanesF64])
	}
	return fold(lane[:])
}

// A SparseRows is rows in CSR form: row r holds Val[k] in column Idx[k] for k from Ptr[r] to Ptr[r+1].
type SparseRows[T float] struct {
	Ptr []int64
	Idx []uint32
	Val []T
}

// Row returns the columns and values of row r.
func (s SparseRows[T]) Row(r int) ([]uint32, []T) {
	lo, hi := s.Ptr[r], s.Ptr[r+1]
	return s.Idx[lo:hi], s.Val[lo:hi]
}

// Score returns the dot product of row r with w.
func (s SparseRows[T]) Score(r int, w []T) T {
	idx, val := s.Row(r)
	return sparseDot(idx, val, w)
}

// Add adds a times row r to w.
func (s SparseRows[T]) Add(w []T, a T, r int) {
	idx, val := s.Row(r)
	for k, c := range idx {
		w[c] = fma(a, val[k], w[c])
	}
}

// MaxSquaredNorm returns the largest squared Euclidean norm of the rows, in the order of the dense kernel.
func (s SparseRows[T]) MaxSquaredNorm() float64 {
	largest := 0.0
	for r := range len(s.Ptr) - 1 {
		idx, val := s.Row(r)
		var lane [lanesF64]float64
		for k, c := range idx {
			lane[c%lanesF64] = math.FMA(float64(val[k]), float64(val[k]), lane[c%lanesF64])
		}
		if n := fold(lane[:]); n > largest {
			largest = n
		}
	}
	return largest
}
