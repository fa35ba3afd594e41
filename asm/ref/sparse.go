package ref

// sparseDot returns the dot product of w with the row that holds val[k] in column idx[k], with the lanes and the fold
// of dot. Elements that aren't stored would add a zero to their lane. So the result equals the dense result, except
// that a zero may differ in its sign. ok is false if a column is beyond w.
func sparseDot(idx []uint32, val, w []float32) (s float32, ok bool) {
	var lane [lanesF32]float32
	for k, c := range idx {
		if uint(c) >= uint(len(w)) {
			return 0, false
		}
		j := uint(c) % lanesF32
		lane[j] = fma(val[k], w[c], lane[j])
	}
	return fold(lane[:]), true
}

// sparseRow returns row r of a block. ok is false if the row lies beyond idx.
func sparseRow(ptr []int64, idx []uint32, val []float32, r int) (columns []uint32, values []float32, ok bool) {
	lo, hi := uint64(ptr[r]), uint64(ptr[r+1])
	if hi > uint64(len(idx)) || lo > hi {
		return nil, nil, false
	}
	return idx[lo:hi], val[lo:hi], true
}

func SparseScoresF32(out []float32, ptr []int64, idx []uint32, val, w []float32) int {
	for r := range out {
		columns, values, ok := sparseRow(ptr, idx, val, r)
		if !ok {
			return r
		}
		score, ok := sparseDot(columns, values, w)
		if !ok {
			return r
		}
		out[r] = score
	}
	return len(out)
}

// sparseGroup is the number of candidates of SparseScores8.
const sparseGroup = 8

func SparseScores8F32(out []float32, ptr []int64, idx []uint32, val, w []float32) int {
	cols := len(w) / sparseGroup
	for r := range len(out) / sparseGroup {
		columns, values, ok := sparseRow(ptr, idx, val, r)
		if !ok {
			return r
		}
		var lane [sparseGroup][lanesF32]float32
		for k, c := range columns {
			if uint(c) >= uint(cols) {
				return r
			}
			for i, weight := range w[int(c)*sparseGroup:][:sparseGroup] {
				at := &lane[i][uint(c)%lanesF32]
				*at = fma(values[k], weight, *at)
			}
		}
		for i := range sparseGroup {
			out[r*sparseGroup+i] = fold(lane[i][:])
		}
	}
	return len(out) / sparseGroup
}

func SparseAddF32(w []float32, a float32, idx []uint32, val []float32) int {
	for k, c := range idx {
		if uint(c) >= uint(len(w)) {
			return k
		}
		w[c] = fma(a, val[k], w[c])
	}
	return len(idx)
}

// sparseVisit scores row r of a block and updates w on a mistake. ok is false if the row lies beyond idx, or a column
// beyond w.
func sparseVisit(w []float32, ptr []int64, idx []uint32, val []float32, r int, label, eta, margin float32) (wrong, ok bool) {
	columns, values, ok := sparseRow(ptr, idx, val, r)
	if !ok {
		return false, false
	}
	score, ok := sparseDot(columns, values, w)
	if wrong = ok && mistake(label, score, margin); wrong {
		SparseAddF32(w, eta*label, columns, values)
	}
	return wrong, ok
}

func SparseEpochF32(w []float32, log []uint32, ptr []int64, idx []uint32, val, y []float32, eta, margin float32) (rows, updates int) {
	for r, label := range y {
		wrong, ok := sparseVisit(w, ptr, idx, val, r, label, eta, margin)
		if !ok {
			return r, updates
		}
		if wrong {
			log[updates] = uint32(r)
			if updates++; updates == len(log) {
				return r + 1, updates
			}
		}
	}
	return len(y), updates
}

func SparseEpochIndexedF32(w []float32, log []uint32, ptr [][]int64, idx [][]uint32, val, y [][]float32, rows []uint32,
	eta, margin float32) (visits, updates int) {
	for i, id := range rows {
		c, r := id/GroupRows, int(id%GroupRows)
		wrong, ok := sparseVisit(w, ptr[c], idx[c], val[c], r, y[c][r], eta, margin)
		if !ok {
			return i, updates
		}
		if wrong {
			log[updates] = uint32(i)
			if updates++; updates == len(log) {
				return i + 1, updates
			}
		}
	}
	return len(rows), updates
}
