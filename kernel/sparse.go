package kernel

import (
	"math"
	"slices"

	"halfspace/internal/parallel"
)

// A SparseRows holds rows in CSR form: row r holds Val[k] in column Idx[k] for k from Ptr[r] to Ptr[r+1].
//
// A score is summed in the lanes and with the fold of Dot. So a result equals the result for the same rows in dense
// form, except for the sign of a score of zero.
//
// Methods don't trust Ptr and Idx. The kernels compare the bounds of a row with the length of Idx, and each column with
// the number of weights. A method panics with a constant at the first row that is out of bounds, after it has processed
// the rows before. The comparisons cost no measurable time, since the loads of an element take longer.
type SparseRows struct {
	Ptr []int64
	Idx []uint32
	Val []float32
}

const (
	sparsePanelRows     = 256     // largest number of rows in a kernel call
	sparsePanelElements = 1 << 14 // largest number of elements in a kernel call, unless one row has more
	sparseVisits        = 128     // largest number of visits in a kernel call by row numbers
)

// Len returns the number of rows.
func (s *SparseRows) Len() int { return max(0, len(s.Ptr)-1) }

// Row returns the columns and values of row r.
func (s *SparseRows) Row(r int) ([]uint32, []float32) {
	lo, hi := s.Ptr[r], s.Ptr[r+1]
	return s.Idx[lo:hi], s.Val[lo:hi]
}

// check panics unless Idx and Val have the same length.
func (s *SparseRows) check() {
	if len(s.Idx) != len(s.Val) {
		panic("kernel: Idx and Val of sparse rows have different lengths")
	}
}

func panicBeyond() {
	panic("kernel: a sparse row is beyond its elements or has a column beyond the weights")
}

// panel returns the end of the rows of one kernel call. The rows begin at row lo and end at row hi at most.
func (s *SparseRows) panel(lo, hi int) int {
	n := min(hi-lo, sparsePanelRows)
	for n > 1 && s.Ptr[lo+n]-s.Ptr[lo] > sparsePanelElements {
		n /= 2
	}
	return lo + n
}

// Scores computes the score of each row. out has Len elements.
//
//	for r := range out { out[r] = s.Score(r, w) }
func (s *SparseRows) Scores(out, w []float32) {
	s.check()
	if len(out) != s.Len() {
		panic("kernel: length of out is not the number of rows")
	}
	parallel.RaceWrite(out)
	parallel.RaceRead(w)
	parallel.RaceRead(s.Idx)
	parallel.RaceRead(s.Val)
	for lo := 0; lo < len(out); {
		hi := s.panel(lo, len(out))
		if s.scores(out[lo:hi], lo, w) < hi-lo {
			panicBeyond()
		}
		lo = hi
	}
}

// scores scores len(out) rows from row lo on, and returns the number of rows that it scored.
func (s *SparseRows) scores(out []float32, lo int, w []float32) int {
	ptr := slices.Clip(s.Ptr)[lo : lo+len(out)+1]
	return sparseScoresF32(out, ptr, s.Idx, s.Val, w)
}

// Score returns the dot product of row r with w.
//
//	for k := Ptr[r]; k < Ptr[r+1]; k++ { sum += Val[k] * w[Idx[k]] }
func (s *SparseRows) Score(r int, w []float32) float32 {
	s.check()
	parallel.RaceRead(w)
	var out [1]float32
	if s.scores(out[:], r, w) == 0 {
		panicBeyond()
	}
	return out[0]
}

// Add adds a times row r to w.
//
//	for k := Ptr[r]; k < Ptr[r+1]; k++ { w[Idx[k]] = fma(a, Val[k], w[Idx[k]]) }
func (s *SparseRows) Add(w []float32, a float32, r int) {
	idx, val := s.Row(r)
	AddSparse(w, a, idx, val)
}

// AddSparse adds a times a row to w. The row has as many values as columns: val[k] is in column idx[k]. AddSparse
// panics with a constant at a column that is beyond w.
//
//	for k := range idx { w[idx[k]] = fma(a, val[k], w[idx[k]]) }
func AddSparse(w []float32, a float32, idx []uint32, val []float32) {
	if len(idx) != len(val) {
		panic("kernel: a sparse row has different numbers of columns and values")
	}
	parallel.RaceWrite(w)
	if sparseAddF32(w, a, idx, val) < len(idx) {
		panicBeyond()
	}
}

// Epoch runs the function Epoch on the rows of s. y has Len elements.
func (s *SparseRows) Epoch(w []float32, log []uint32, y []float32, eta, margin float32) (rows, updates int) {
	s.check()
	if len(y) != s.Len() {
		panic("kernel: length of y is not the number of rows")
	}
	if len(y) == 0 {
		return 0, 0
	}
	if len(log) == 0 {
		panic("kernel: empty log")
	}
	parallel.RaceWrite(w)
	parallel.RaceWrite(log)
	parallel.RaceRead(y)
	parallel.RaceRead(s.Idx)
	parallel.RaceRead(s.Val)
	for rows < len(y) && updates < len(log) {
		hi := s.panel(rows, len(y))
		n, more := sparseEpochF32(w, log[updates:], slices.Clip(s.Ptr)[rows:hi+1], s.Idx, s.Val, y[rows:hi], eta, margin)
		for k := range log[updates : updates+more] {
			log[updates+k] += uint32(rows)
		}
		rows, updates = rows+n, updates+more
		if rows < hi && updates < len(log) {
			panicBeyond()
		}
	}
	return rows, updates
}

// MaxSquaredNorm returns the largest squared Euclidean norm of the rows. It sums in the order of the function
// MaxSquaredNorm.
func (s *SparseRows) MaxSquaredNorm() float64 {
	const lanes = 16
	largest := 0.0
	for r := range s.Len() {
		idx, val := s.Row(r)
		var lane [lanes]float64
		for k, c := range idx {
			lane[c%lanes] = math.FMA(float64(val[k]), float64(val[k]), lane[c%lanes])
		}
		for h := lanes / 2; h > 0; h /= 2 {
			for j := range h {
				lane[j] += lane[j+h]
			}
		}
		if lane[0] > largest {
			largest = lane[0]
		}
	}
	return largest
}

// SparseIndex addresses the sparse rows of a data set that lies in memory in groups of GroupRows rows. The last group
// may be shorter.
type SparseIndex struct {
	ptr    [][]int64
	idx    [][]uint32
	val, y [][]float32
	n      int
}

// NewSparseIndex returns the rows whose group c is x[c], with labels y[c]. It keeps the slices of the groups.
func NewSparseIndex(x []*SparseRows, y [][]float32) *SparseIndex {
	s := &SparseIndex{y: slices.Clone(y), n: checkGroups(y, len(x), func(c int) bool {
		x[c].check()
		return x[c].Len() == len(y[c]) && len(x[c].Ptr) > 0
	})}
	for _, rows := range x {
		s.ptr, s.idx, s.val = append(s.ptr, rows.Ptr), append(s.idx, rows.Idx), append(s.val, rows.Val)
	}
	return s
}

// Set replaces group c by the same number of rows x, with labels y. It keeps the slices of both. The rows that
// WithLabels returned change too.
func (s *SparseIndex) Set(c int, x *SparseRows, y []float32) {
	x.check()
	if x.Len() != len(s.y[c]) || len(y) != len(s.y[c]) {
		panic("kernel: a group has different numbers of rows and labels")
	}
	s.ptr[c], s.idx[c], s.val[c], s.y[c] = x.Ptr, x.Idx, x.Val, y
}

// WithLabels returns the same rows with other labels, in the same groups. It keeps the groups of y.
func (s *SparseIndex) WithLabels(y [][]float32) *SparseIndex {
	checkGroups(y, len(s.y), func(c int) bool { return len(y[c]) == len(s.y[c]) })
	t := *s
	t.y = slices.Clone(y)
	return &t
}

// Len returns the number of rows.
func (s *SparseIndex) Len() int { return s.n }

// Epoch runs the function EpochIndexed on the rows of s whose numbers are in rows. It prefetches rows that it visits
// soon.
func (s *SparseIndex) Epoch(w []float32, log []uint32, rows []uint32, eta, margin float32) (visits, updates int) {
	if !below(rows, uint(s.n)) {
		panic("kernel: row number out of range")
	}
	if len(rows) == 0 {
		return 0, 0
	}
	if len(log) == 0 {
		panic("kernel: empty log")
	}
	parallel.RaceWrite(w)
	parallel.RaceWrite(log)
	for visits < len(rows) && updates < len(log) {
		some := rows[visits:min(len(rows), visits+sparseVisits)]
		n, more := sparseEpochIndexedF32(w, log[updates:], s.ptr, s.idx, s.val, s.y, some, eta, margin)
		for k := range log[updates : updates+more] {
			log[updates+k] += uint32(visits)
		}
		visits, updates = visits+n, updates+more
		if n < len(some) && updates < len(log) {
			panicBeyond()
		}
	}
	return visits, updates
}

// interleaved is the number of weight vectors of one kernel call.
const interleaved = 8

// Interleaved holds weight vectors by column: the weights of a column stand one after the other. So one pass over the
// elements of sparse rows scores 8 vectors, and the 8 weights of a column lie in one cache line or two. It is safe for
// concurrent use.
type Interleaved struct {
	n, cols int
	w       []float32 // for each 8 vectors, column after column; zeros in place of missing vectors
}

// Interleave returns the vectors in w, each of stride elements, of which the first cols count. It copies them.
func Interleave(w []float32, cols, stride int) *Interleaved {
	v := new(Interleaved)
	v.set(w, cols, stride)
	return v
}

// set replaces the vectors. It reuses memory where it can.
func (v *Interleaved) set(w []float32, cols, stride int) {
	if cols <= 0 || stride < cols || len(w)%stride != 0 {
		panic("kernel: length of w is not vectors of the stride")
	}
	v.n, v.cols = len(w)/stride, cols
	v.w = resized(v.w, (v.n+interleaved-1)/interleaved*interleaved*cols)
	for i := range v.n {
		group, at := v.w[i/interleaved*interleaved*cols:], i%interleaved
		for c, x := range w[i*stride:][:cols] {
			group[c*interleaved+at] = x
		}
	}
}

// Len returns the number of vectors.
func (v *Interleaved) Len() int { return v.n }

// Scores computes the score of each row of s by each vector. It calls each with a row number, a vector number, and the
// scores of up to 8 vectors from that vector on. It makes one pass over the rows for each 8 vectors.
func (v *Interleaved) Scores(s *SparseRows, each func(row, vector int, scores []float32)) {
	s.check()
	parallel.RaceRead(s.Idx)
	parallel.RaceRead(s.Val)
	var out [sparsePanelRows * interleaved]float32
	for lo := 0; lo < s.Len(); {
		hi := s.panel(lo, s.Len())
		for first := 0; first < v.n; first += interleaved {
			w, n := v.w[first*v.cols:][:interleaved*v.cols], min(interleaved, v.n-first)
			scores := out[:(hi-lo)*interleaved]
			if sparseScores8F32(scores, slices.Clip(s.Ptr)[lo:hi+1], s.Idx, s.Val, w) < hi-lo {
				panicBeyond()
			}
			for r := range hi - lo {
				each(lo+r, first, scores[r*interleaved:][:n])
			}
		}
		lo = hi
	}
}
