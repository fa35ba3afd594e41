package perceptron

import (
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/train/internal/online"
)

// A rule says which rows update the weights, and how.
//
// With two classes, a row with label y, features x and sample weight c > 0 updates w if y (w.x) <= margin:
// w = w + eta c y x.
//
// With more classes, w holds one vector for each class, in class order. The rival of a row is the other class with the
// greatest score, the first of equal ones. The row updates w if its rival's score plus 2 margin is at least the score
// of its own class: eta c x is added to the vector of its class and subtracted from the vector of the rival.
type rule struct {
	eta, margin      float32
	hasSampleWeights bool      // rows have sample weights
	stride           int       // length of a vector of weights
	steps            []float32 // signed steps of rows in file order, from row first on, if rows have sample weights
	first            int64
	scores           []float32 // scores of one row, by class; nil for two classes
	rivals           []uint32  // rivals of the updates of the last visit, for several classes; as long as the log
}

// visit visits the rows of a panel in turn and updates w. It writes the positions of the updates to log. It ends after
// the last row, or when log is full. It returns the number of visits and of updates.
func (u *rule) visit(w []float32, log []uint32, p *online.Panel) (visits, updates int) {
	if u.scores == nil {
		visits, updates = u.epoch(w, log, p)
		if u.hasSampleWeights {
			updates = len(slices.DeleteFunc(log[:updates], func(i uint32) bool { // their updates changed nothing
				b, r := p.At(int(i))
				return b.Weight(r) == 0
			}))
		}
		return visits, updates
	}
	for i := range p.Len() {
		b, r := p.At(i)
		rival, wrong := u.isWrong(b, r, w)
		if !wrong || b.Weight(r) == 0 {
			continue
		}
		u.add(w, u.eta, b, r, rival)
		log[updates], u.rivals[updates] = uint32(i), uint32(rival)
		if updates++; updates == len(log) {
			return i + 1, updates
		}
	}
	return p.Len(), updates
}

// epoch visits rows of two classes in one kernel call. With sample weights, the kernel gets the signed steps of the
// rows in place of labels.
func (u *rule) epoch(w []float32, log []uint32, p *online.Panel) (visits, updates int) {
	eta := u.eta
	if u.hasSampleWeights {
		eta = 1
	}
	b := p.Block
	if b == nil {
		sparse, dense := p.Index.Sparse(), p.Index.Rows()
		if u.hasSampleWeights {
			s := p.Cached.(*steps)
			sparse, dense = s.sparse, s.dense
		}
		if sparse != nil {
			return sparse.Epoch(w, log, p.Rows, eta, u.margin)
		}
		return kernel.EpochIndexed(w, log, dense, p.Rows, p.Prefetch, eta, u.margin)
	}
	y := b.Y[p.Lo:p.Hi]
	if u.hasSampleWeights {
		y = u.stepsOf(b, p.Lo, p.Hi)
	}
	if b.Sparse != nil {
		rows := kernel.SparseRows{Ptr: b.Sparse.Ptr[p.Lo : p.Hi+1], Idx: b.Sparse.Idx, Val: b.Sparse.Val}
		return rows.Epoch(w, log, y, eta, u.margin)
	}
	return kernel.Epoch(w, log, b.X[p.Lo*b.Stride:p.Hi*b.Stride], y, eta, u.margin)
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

// signedSteps writes the factor of each row in its update to dst: eta times label times sample weight.
func signedSteps(dst, y []float32, weights []float64, eta float32) {
	for i, label := range y {
		dst[i] = timesWeight(eta*label, weights[i])
	}
}

// steps are the signed steps of rows with sample weights. Kernels take them in place of labels.
type steps struct {
	index  *block.Index
	eta    float32
	y      [][]float32         // signed steps by group
	dense  *kernel.Rows        // rows of index with y in place of labels; nil if they are sparse
	sparse *kernel.SparseIndex // the same for sparse rows
}

// newSteps returns the steps of the rows of an index.
func newSteps(index *block.Index, eta float32) *steps {
	s := &steps{index: index, eta: eta}
	labels := func(rows int) [][]float32 {
		for ; rows > 0; rows -= kernel.GroupRows {
			s.y = append(s.y, make([]float32, min(rows, kernel.GroupRows)))
		}
		return s.y
	}
	if rows := index.Rows(); rows != nil {
		s.dense = rows.WithLabels(labels(rows.Len()))
	} else if rows := index.Sparse(); rows != nil {
		s.sparse = rows.WithLabels(labels(rows.Len()))
	}
	s.update()
	return s
}

// update computes the steps again after labels or sample weights have changed.
func (s *steps) update() {
	for e, y := range s.y {
		b, r := s.index.At(uint32(e) * kernel.GroupRows)
		signedSteps(y, b.Y[r:r+len(y)], b.W[r:r+len(y)], s.eta)
	}
}

// isWrong tells whether row r of b updates the weights, for more than two classes: its own score isn't above the
// rival's score by more than 2 margin. It returns false if a score is NaN.
func (u *rule) isWrong(b *block.Block, r int, w []float32) (rival int, wrong bool) {
	b.RowScores(r, w, u.scores)
	own := int(b.Y[r])
	rival = online.Rival(u.scores, own)
	return rival, u.scores[rival] >= u.scores[own]-2*u.margin
}

// add makes the update of row r of b, with a in place of eta.
func (u *rule) add(w []float32, a float32, b *block.Block, r, rival int) {
	if u.scores == nil {
		b.Axpy(w, timesWeight(a*b.Y[r], b.Weight(r)), r)
		return
	}
	a = timesWeight(a, b.Weight(r))
	b.Axpy(w[int(b.Y[r])*u.stride:][:u.stride], a, r)
	b.Axpy(w[rival*u.stride:][:u.stride], -a, r)
}

// timesWeight returns a times a sample weight, computed in float64 and rounded once to float32.
func timesWeight(a float32, weight float64) float32 { return float32(float64(a) * weight) }

// repeatUpdates repeats updates of the last visit, with a[k] in place of eta. Update first+k was at position at[k].
// Four dense rows at a time read w once.
func (u *rule) repeatUpdates(w, a []float32, p *online.Panel, first int, at []uint32) {
	k := 0
	if u.scores == nil && !p.Sparse() {
		var x [4][]float32
		var by [4]float32
		for ; k+4 <= len(at); k += 4 {
			for j, i := range at[k : k+4] {
				b, r := p.At(int(i))
				x[j], by[j] = b.X[r*b.Stride:(r+1)*b.Stride], a[k+j]*b.Y[r]
				if b.W != nil {
					by[j] = timesWeight(by[j], b.W[r])
				}
			}
			kernel.Axpy4(w, by[:], x[:])
		}
	}
	for ; k < len(at); k++ {
		b, r := p.At(int(at[k]))
		rival := 0
		if u.scores != nil {
			rival = int(u.rivals[first+k])
		}
		u.add(w, a[k], b, r, rival)
	}
}
