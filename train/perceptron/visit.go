package perceptron

import (
	"slices"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/train/internal/online"
)

// A stretch is rows to visit one after another: rows of a block in file order, or rows of an index by number. The first
// row has position 0.
type stretch struct {
	block  *block.Block // nil if rows are visited by number
	lo, hi int          // numbers of the first row and of the row after the last, in block

	index *block.Index
	from  *online.Window // window to which index belongs
	steps *steps         // steps of the rows of index; nil if they have no sample weights
	rows  []uint32       // row numbers in index
	ahead []float32      // features to prefetch; see kernel.EpochIndexed
}

func (s *stretch) len() int {
	if s.block != nil {
		return s.hi - s.lo
	}
	return len(s.rows)
}

// part returns the rows at positions lo to hi-1, with their share of ahead. stride is the number of elements of a row.
func (s *stretch) part(lo, hi, stride int) stretch {
	part := *s
	if s.block != nil {
		part.lo, part.hi = s.lo+lo, s.lo+hi
		return part
	}
	part.rows = s.rows[lo:hi]
	part.ahead = s.ahead[min(lo*stride, len(s.ahead)):min(hi*stride, len(s.ahead))]
	return part
}

// at returns the block that holds the row at position i, and the number of the row in that block.
func (s *stretch) at(i int) (b *block.Block, r int) {
	if s.block != nil {
		return s.block, s.lo + i
	}
	return s.index.At(s.rows[i])
}

// number returns the number of the row at position i among all rows.
func (s *stretch) number(i uint32) int64 {
	if s.block != nil {
		return s.block.First + int64(s.lo) + int64(i)
	}
	return s.from.Number(s.rows[i])
}

func (s *stretch) sparse() bool {
	if s.block != nil {
		return s.block.Sparse != nil
	}
	return s.index.Rows() == nil
}

func (s *stretch) weight(i uint32) float64 {
	b, r := s.at(int(i))
	return b.Weight(r)
}

// A rule says which rows update the weights, and how.
//
// With two classes, a row with label y, features x and sample weight c > 0 updates w if y (w.x) <= margin:
// w = w + eta c y x.
//
// With more classes, w holds one vector for each class, in class order. The rival of a row is the other class with the
// greatest score, the first of equal ones. The row updates w if its rival's score plus 2 margin is at least the score
// of its own class: eta c x is added to the vector of its class and subtracted from the vector of the rival.
type rule struct {
	eta, margin float32
	weighted    bool      // rows have sample weights
	stride      int       // length of a vector of weights
	steps       []float32 // signed steps of rows in file order, from row first on, if rows have sample weights
	first       int64
	scores      []float32 // scores of one row, by class; nil for two classes
	rivals      []uint32  // rivals of the updates of the last visit, for several classes; as long as the log
}

// visit visits the rows of a stretch in turn and updates w. It writes the positions of the updates to log. It ends
// after the last row, or when log is full. It returns the number of visits and of updates.
func (u *rule) visit(w []float32, log []uint32, s *stretch) (visits, updates int) {
	if u.scores == nil {
		visits, updates = u.epoch(w, log, s)
		if u.weighted {
			updates = s.dropWeightless(log[:updates])
		}
		return visits, updates
	}
	for i := range s.len() {
		b, r := s.at(i)
		rival, wrong := u.wrong(b, r, w)
		if !wrong || b.Weight(r) == 0 {
			continue
		}
		u.add(w, u.eta, b, r, rival)
		log[updates], u.rivals[updates] = uint32(i), uint32(rival)
		if updates++; updates == len(log) {
			return i + 1, updates
		}
	}
	return s.len(), updates
}

// epoch visits rows of two classes in one kernel call. With sample weights, the kernel gets the signed steps of the
// rows in place of labels.
func (u *rule) epoch(w []float32, log []uint32, s *stretch) (visits, updates int) {
	eta := u.eta
	if u.weighted {
		eta = 1
	}
	b := s.block
	if b == nil {
		return u.epochIndexed(w, log, s, eta)
	}
	y := b.Y[s.lo:s.hi]
	if u.weighted {
		y = u.stepsOf(b, s.lo, s.hi)
	}
	if b.Sparse != nil {
		rows := kernel.SparseRows{Ptr: b.Sparse.Ptr[s.lo : s.hi+1], Idx: b.Sparse.Idx, Val: b.Sparse.Val}
		return rows.Epoch(w, log, y, eta, u.margin)
	}
	return kernel.Epoch(w, log, b.X[s.lo*b.Stride:s.hi*b.Stride], y, eta, u.margin)
}

// epochIndexed is epoch for rows by number.
func (u *rule) epochIndexed(w []float32, log []uint32, s *stretch, eta float32) (visits, updates int) {
	sparse, dense := s.index.Sparse(), s.index.Rows()
	if u.weighted {
		sparse, dense = s.steps.sparse, s.steps.dense
	}
	if sparse != nil {
		return sparse.Epoch(w, log, s.rows, eta, u.margin)
	}
	return kernel.EpochIndexed(w, log, dense, s.rows, s.ahead, eta, u.margin)
}

// stepsOf returns the signed steps of rows lo to hi-1 of b. It keeps them for later visits to the same rows.
func (u *rule) stepsOf(b *block.Block, lo, hi int) []float32 {
	from := b.First + int64(lo) - u.first
	if from < 0 || from+int64(hi-lo) > int64(len(u.steps)) {
		u.steps = slices.Grow(u.steps[:0], hi-lo)[:hi-lo]
		signedSteps(u.steps, b.Y[lo:hi], b.W[lo:hi], u.eta)
		u.first, from = b.First+int64(lo), 0
	}
	return u.steps[from:][:hi-lo]
}

// dropWeightless removes the positions of rows with a sample weight of 0 from log; their updates changed nothing. It
// returns the number of positions left.
func (s *stretch) dropWeightless(log []uint32) (left int) {
	for _, p := range log {
		if s.weight(p) != 0 {
			log[left] = p
			left++
		}
	}
	return left
}

// signedSteps writes the factor of each row in its update to dst: eta times label times sample weight.
func signedSteps(dst, y []float32, weights []float64, eta float32) {
	for i, label := range y {
		dst[i] = times(eta*label, weights[i])
	}
}

// steps are the signed steps of rows with sample weights. Kernels take them in place of labels.
type steps struct {
	index  *block.Index
	eta    float32
	y      [][]float32         // signed steps by chunk
	dense  *kernel.Rows        // rows of index with y in place of labels; nil if they are sparse
	sparse *kernel.SparseIndex // the same for sparse rows
}

// newSteps returns the steps of the rows of an index. It returns nil if weighted is false or the index has no rows.
func newSteps(index *block.Index, eta float32, weighted bool) *steps {
	if !weighted || index.Rows() == nil && index.Sparse() == nil {
		return nil
	}
	s := &steps{index: index, eta: eta}
	left := 0
	if rows := index.Rows(); rows != nil {
		left = rows.Len()
	} else {
		left = index.Sparse().Len()
	}
	for ; left > 0; left -= kernel.EighthRows {
		s.y = append(s.y, make([]float32, min(left, kernel.EighthRows)))
	}
	if rows := index.Rows(); rows != nil {
		s.dense = rows.WithLabels(s.y)
	} else {
		s.sparse = index.Sparse().WithLabels(s.y)
	}
	s.update()
	return s
}

// update computes the steps again after labels or sample weights have changed.
func (s *steps) update() {
	if s == nil {
		return
	}
	for c, y := range s.y {
		b, r := s.index.At(uint32(c) * kernel.EighthRows)
		signedSteps(y, b.Y[r:r+len(y)], b.W[r:r+len(y)], s.eta)
	}
}

// wrong tells whether row r of b updates the weights, for more than two classes: its own score isn't above the rival's
// score by more than 2 margin. It returns false if a score is NaN or the label is no class.
func (u *rule) wrong(b *block.Block, r int, w []float32) (rival int, wrong bool) {
	b.RowScores(r, w, u.scores)
	own := int(b.Y[r])
	if own < 0 || own >= len(u.scores) {
		return 0, false
	}
	if own == 0 {
		rival = 1
	}
	for c, s := range u.scores {
		if c != own && s > u.scores[rival] {
			rival = c
		}
	}
	return rival, u.scores[rival] >= u.scores[own]-2*u.margin
}

// add makes the update of row r of b, with a in place of eta.
func (u *rule) add(w []float32, a float32, b *block.Block, r, rival int) {
	if u.scores == nil {
		b.Axpy(w, times(a*b.Y[r], b.Weight(r)), r)
		return
	}
	a = times(a, b.Weight(r))
	b.Axpy(w[int(b.Y[r])*u.stride:][:u.stride], a, r)
	b.Axpy(w[rival*u.stride:][:u.stride], -a, r)
}

// times returns a times a sample weight, computed in float64 and rounded once to float32.
func times(a float32, weight float64) float32 { return float32(float64(a) * weight) }

// repeat repeats updates of the last visit, with a[k] in place of eta. Update first+k was at position at[k]. Four dense
// rows at a time read w once.
func (u *rule) repeat(w, a []float32, s *stretch, first int, at []uint32) {
	k := 0
	if u.scores == nil && !s.sparse() {
		var x [4][]float32
		var by [4]float32
		for ; k+4 <= len(at); k += 4 {
			for j, p := range at[k : k+4] {
				b, r := s.at(int(p))
				x[j], by[j] = b.X[r*b.Stride:(r+1)*b.Stride], times(a[k+j]*b.Y[r], b.Weight(r))
			}
			kernel.Axpy4(w, by[:], x[:])
		}
	}
	for ; k < len(at); k++ {
		b, r := s.at(int(at[k]))
		rival := 0
		if u.scores != nil {
			rival = int(u.rivals[first+k])
		}
		u.add(w, a[k], b, r, rival)
	}
}
