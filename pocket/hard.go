package pocket

import (
	"cmp"
	"context"
	"slices"

	"halfspace/block"
	"halfspace/kernel"
)

// hardRows finds the rows that most candidates predict wrong. Candidates are judged on these rows first. Most reach the
// errors of the best candidate there and are dropped. They need no scores of the other rows.
//
// Rows are ranked by y(w.x), with w the sum of all candidates so far. The first are on the wrong side of w's plane and
// are mostly wrong for every candidate; then come the rows near the plane. A few candidates are judged on a sample of
// the rows to find the best rank to cut at.
//
// The choice of hard rows affects speed alone, since every row is hard or not.
type hardRows struct {
	src     block.Source
	workers int
	stride  int
	sample  *block.Block // rows from everywhere; none if rows are sparse and have sample weights, and then none are marked
	sum     []float32    // of the candidates
	total   float64      // sample weights of all rows: their number if all are 1
	judged  int64        // number of those
	marked  int64        // the number when rows were marked
	easy    int64        // rows scored since then, other than hard ones, times candidates
	marks   []uint64     // a bit for each row; nil if it saves no time to judge some rows first
	bits    []uint64     // memory for marks
}

const (
	sampleBytes = 1 << 20 // of the sample, about
	sampleRows  = 256     // in it at least
	probes      = 16      // candidates that are judged on the sample

	// fewCandidates are judged on all rows in one pass, since two take as long.
	fewCandidates = 32
	// remark is how often all of the other rows are scored before the hard ones are marked again. Marking costs about
	// as much: it takes one pass over memory.
	remark = 16
)

// unmarked returns hard rows with an empty sample. So no row is marked as hard.
func unmarked(src block.Source, workers int) *hardRows {
	cols := src.Spec().Cols()
	h := &hardRows{src: src, workers: workers, stride: kernel.Stride(cols), sample: block.New(0, 0, cols)}
	h.sum = make([]float32, h.stride)
	return h
}

// newHardRows samples the rows of src, and counts those with the label +1. It returns the quantum of the features too;
// see kernel.Candidates.SetQuantum.
func newHardRows(ctx context.Context, src block.Source, workers int) (h *hardRows, positive int64, quantum float64, err error) {
	h = unmarked(src, workers)
	size := max(sampleRows, sampleBytes/int64(h.stride)/4)
	step := (src.Rows() + size - 1) / size
	quantum = 1
	if !src.Spec().Bias {
		quantum = 0
	}
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, 0, 0, err
		}
		if b.Y == nil {
			return nil, 0, 0, block.ErrNoLabels
		}
		if quantum > 0 {
			quantum = min(quantum, kernel.Quantum(b.X, leastQuantum))
		}
		for r, y := range b.Y {
			if y > 0 {
				positive++
			}
			h.total += b.Weight(r)
			if (b.First+int64(r))%step == 0 {
				h.take(b, r)
			}
		}
	}
	return h, positive, quantum, nil
}

// take adds row r of b to the sample. Sparse rows with sample weights are judged all at once; see judge.screen.
func (h *hardRows) take(b *block.Block, r int) {
	switch {
	case b.Sparse == nil:
		h.sample.X = append(h.sample.X, b.X[r*b.Stride:(r+1)*b.Stride]...)
		h.sample.Y = append(h.sample.Y, b.Y[r])
		h.sample.W = append(h.sample.W, b.Weight(r))
	case b.W == nil:
		if h.sample.Sparse == nil {
			h.sample = block.NewSparse(0, 0, 0, b.Cols)
		}
		h.sample.AppendRow(b, r)
	}
}

// leastQuantum is the least quantum of features that is looked for. With a smaller one, few scores are exact.
const leastQuantum = 1.0 / 256

// parts returns all rows in the order in which to judge the candidates in w: the hard rows first, if that saves time.
// It marks them again from time to time. limit is the sum of sample weights over errors at which a candidate is dropped.
func (h *hardRows) parts(ctx context.Context, w []float32, limit float64) ([]selection, error) {
	n := len(w) / h.stride
	h.judged += int64(n)
	for i := range n {
		kernel.Axpy(h.sum, 1, w[i*h.stride:(i+1)*h.stride])
	}
	if n < fewCandidates || h.sample.Len() == 0 {
		return []selection{{}}, nil
	}
	if h.judged >= 4*h.marked || h.easy >= remark*h.src.Rows() {
		h.marked, h.easy, h.marks = h.judged, 0, nil
		if cut, ok := h.cut(w, limit); ok {
			if err := h.mark(ctx, cut); err != nil {
				return nil, err
			}
		}
	}
	if h.marks == nil {
		return []selection{{}}, nil
	}
	return []selection{{marks: h.marks}, {marks: h.marks, flip: ^uint64(0)}}, nil
}

// cut returns the rank up to which rows are hard: the one with which the probes need the fewest scores. A probe with
// the limit's share of errors in the hard rows is dropped there. Others need all rows. ok is false if no rank saves
// scores.
func (h *hardRows) cut(w []float32, limit float64) (rank float32, ok bool) {
	n, y := h.sample.Len(), h.sample.Y
	ranks, scores, order := make([]float32, n), make([]float32, n), make([]int, n)
	h.sample.Scores(h.sum, scores)
	for i, s := range scores {
		ranks[i], order[i] = ranked(s, y[i]), i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	total := 0.0
	for r := range n {
		total += h.sample.Weight(r)
	}
	share := limit / h.total * total
	var reached []int // how many rows of the sample a probe needs to reach the limit, for those that do
	for p := range probes {
		i := p * (len(w) / h.stride) / probes
		h.sample.Scores(w[i*h.stride:(i+1)*h.stride], scores)
		errors := 0.0
		for at, r := range order {
			if (scores[r] > 0) != (y[r] > 0) {
				errors += h.sample.Weight(r)
			}
			if errors >= share {
				reached = append(reached, at)
				break
			}
		}
	}
	slices.Sort(reached)
	fewest := probes * n
	for k, at := range reached {
		if cost := (k+1)*at + (probes-k-1)*n; cost < fewest {
			fewest, rank, ok = cost, ranks[order[at]], true
		}
	}
	return rank, ok
}

// ranked returns the rank of a row with that score and label.
func ranked(score, y float32) float32 {
	if y > 0 {
		return score
	}
	return -score
}

// mark marks the rows up to a rank.
func (h *hardRows) mark(ctx context.Context, last float32) error {
	if h.bits == nil {
		h.bits = make([]uint64, (h.src.Rows()+63)/64)
	}
	err := block.ReduceRuns(ctx, h.src, h.workers, func(r block.Run) struct{} {
		h.markRun(r, last)
		return struct{}{}
	}, func(struct{}) {})
	if err != nil {
		return err
	}
	h.marks = h.bits
	return nil
}

func (h *hardRows) markRun(r block.Run, last float32) {
	var buf [block.RunRows]float32
	scores := buf[:r.Len()]
	r.Scores(h.sum, scores)
	for lo := 0; lo < len(scores); lo += 64 {
		word := uint64(0)
		for i, s := range scores[lo:min(lo+64, len(scores))] {
			if ranked(s, r.Y[lo+i]) <= last {
				word |= 1 << i
			}
		}
		h.bits[(int(r.First)+lo)/64] = word
	}
}
