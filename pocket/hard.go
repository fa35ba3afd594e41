package pocket

import (
	"cmp"
	"context"
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel"
)

// hardRows finds the rows that most candidates predict wrongly. Candidates are judged on these hard rows first. Most
// candidates reach the errors of the best candidate there and are dropped, so the other rows need no scores for them.
//
// Rows are ranked by y(w.x), where w is the sum of all candidates so far. The first rows are on the wrong side of w's
// plane, and most candidates predict them wrongly; the rows near the plane follow. hardRows judges a few candidates on
// a sample of the rows to find the best rank to cut at.
//
// The choice of hard rows affects only speed, because all rows are judged: the hard rows first, then the others.
type hardRows struct {
	src     block.Source
	workers int
	stride  int
	// sample is rows from all blocks of src. It is empty if rows are sparse and have sample weights; then no rows are
	// marked.
	sample           *block.Block
	sum              []float32 // sum of the candidates
	total            float64   // sum of the sample weights of all rows
	judgedCandidates int64     // number of candidates judged
	judgedAtMarking  int64     // value of judgedCandidates when rows were last marked
	easyScores       int64     // rows scored since then that aren't hard, times candidates
	marks            []uint64  // one bit for each row; nil if judging some rows first saves no time
	markMemory       []uint64  // memory of marks
}

const (
	sampleBytes = 1 << 20 // approximate bytes of the sample
	sampleRows  = 256     // least number of rows of the sample
	probes      = 16      // number of candidates that are judged on the sample

	// fewCandidates is the number of candidates below which all rows are judged in one pass, because two passes take as
	// long.
	fewCandidates = 32
	// passesPerMarking is the number of times that all rows that aren't hard are scored before the hard rows are marked
	// again. Marking costs about as much: one pass over memory.
	passesPerMarking = 16
)

// newUnmarkedRows returns hardRows with an empty sample, so that no row is marked as hard.
func newUnmarkedRows(src block.Source, workers int) *hardRows {
	cols := src.Spec().Cols()
	h := &hardRows{src: src, workers: workers, stride: kernel.Stride(cols), sample: block.New(0, 0, cols)}
	h.sum = make([]float32, h.stride)
	return h
}

// newHardRows samples the rows of src, and counts the rows with the label +1. It also returns the quantum of the
// features; see kernel.ErrorCounter.SetQuantum.
func newHardRows(ctx context.Context, src block.Source, workers int) (h *hardRows, positive int64, quantum float64, err error) {
	h = newUnmarkedRows(src, workers)
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
			quantum = min(quantum, kernel.FixedPointScale(b.X, leastQuantum))
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

// take adds row r of b to the sample. It skips sparse rows with sample weights, which are judged all at once; see
// judge.screen.
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

// leastQuantum is the least quantum of features that newHardRows looks for. With a smaller quantum, few scores are
// exact.
const leastQuantum = 1.0 / 256

// selections returns all rows in the order in which the candidates in w are judged: the hard rows first, if that saves time.
// It marks the hard rows again from time to time. limit is the sum of the sample weights of wrong rows at which a
// candidate is dropped.
func (h *hardRows) selections(ctx context.Context, w []float32, limit float64) ([]selection, error) {
	n := len(w) / h.stride
	h.judgedCandidates += int64(n)
	for i := range n {
		kernel.Axpy(h.sum, 1, w[i*h.stride:(i+1)*h.stride])
	}
	if n < fewCandidates || h.sample.Len() == 0 {
		return []selection{{}}, nil
	}
	if h.judgedCandidates >= 4*h.judgedAtMarking || h.easyScores >= passesPerMarking*h.src.Rows() {
		h.judgedAtMarking, h.easyScores, h.marks = h.judgedCandidates, 0, nil
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

// cut returns the rank up to which rows are hard: the rank with which the probes need the fewest scores. A probe is
// dropped in the hard rows if its errors reach the limit's share there. Other probes need all rows. ok is false if no
// rank saves scores.
func (h *hardRows) cut(w []float32, limit float64) (rank float32, ok bool) {
	n, y := h.sample.Len(), h.sample.Y
	ranks, scores, order := make([]float32, n), make([]float32, n), make([]int, n)
	h.sample.Scores(h.sum, scores)
	for i, s := range scores {
		ranks[i], order[i] = rankOf(s, y[i]), i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(ranks[a], ranks[b]) })
	total := 0.0
	for r := range n {
		total += h.sample.Weight(r)
	}
	share := limit / h.total * total
	// reached has, for each probe that reaches the limit, the number of sample rows that it needs.
	var reached []int
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

// rankOf returns the rank of a row with the given score and label.
func rankOf(score, y float32) float32 {
	if y > 0 {
		return score
	}
	return -score
}

// mark marks the rows up to rank last as hard.
func (h *hardRows) mark(ctx context.Context, last float32) error {
	if h.markMemory == nil {
		h.markMemory = make([]uint64, (h.src.Rows()+63)/64)
	}
	err := block.ReduceChunks(ctx, h.src, h.workers, func(r block.Chunk) struct{} {
		h.markChunk(r, last)
		return struct{}{}
	}, func(struct{}) {})
	if err != nil {
		return err
	}
	h.marks = h.markMemory
	return nil
}

func (h *hardRows) markChunk(r block.Chunk, last float32) {
	var buf [block.ChunkRows]float32
	scores := buf[:r.Len()]
	r.Scores(h.sum, scores)
	for lo := 0; lo < len(scores); lo += 64 {
		word := uint64(0)
		for i, s := range scores[lo:min(lo+64, len(scores))] {
			if rankOf(s, r.Y[lo+i]) <= last {
				word |= 1 << i
			}
		}
		h.markMemory[(int(r.First)+lo)/64] = word
	}
}
