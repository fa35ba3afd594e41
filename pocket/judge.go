package pocket

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"

	"halfspace/internal/block"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// A judge counts the errors of candidates on the rows of a source, and drops candidates during the passes.
type judge struct {
	src           block.Source
	workers       int
	stride        int
	roundingError float64 // upper bound of the relative errors of float64 sums over all rows
	scoreCount    int64   // sum over the rows scored of the number of candidates they were scored for

	remainingCandidates []int     // numbers of the candidates that aren't dropped, ascending
	w                   []float32 // weights of these candidates
	errorCounter        *kernel.ErrorCounter
	mu                  sync.Mutex
	counts              []int64   // errors found, for every candidate
	weights             []float64 // sample weights of these errors, which passWeighted sums
	scratch             sync.Pool
}

// A scratch is the work memory for judging rows.
type scratch struct {
	counts  []int64
	x, y    []float32 // selected dense rows of the chunk; x is nil before the first
	weights []int32   // their sample weights as integers, or the sample weights of all rows of the chunk

	sparse *block.Block // selected sparse rows; nil before the first
}

func newJudge(src block.Source, workers int) *judge {
	j := &judge{src: src, workers: workers, stride: kernel.Stride(src.Spec().Cols())}
	j.roundingError = float64(src.Rows()+1000) * 0x1p-50
	j.errorCounter = kernel.NewErrorCounter(nil, src.Spec().Cols())
	j.scratch.New = func() any {
		rows := kernel.PanelRows(j.stride)
		return &scratch{y: make([]float32, rows), weights: make([]int32, max(rows, taskRows))}
	}
	return j
}

// A selection is the rows whose bit in marks, xor flip, is set. If marks is nil, it is all rows.
type selection struct {
	marks []uint64
	flip  uint64
}

// begin sets the candidates to the vectors in w, with no errors counted.
func (j *judge) begin(w []float32) {
	j.w = append(j.w[:0], w...)
	j.remainingCandidates, j.counts, j.weights = j.remainingCandidates[:0], j.counts[:0], j.weights[:0]
	for i := range len(w) / j.stride {
		j.remainingCandidates = append(j.remainingCandidates, i)
		j.counts, j.weights = append(j.counts, 0), append(j.weights, 0)
	}
	j.errorCounter.Reset(j.w)
}

// pass adds the errors on the selected rows to the counts, and drops each candidate that reaches limit errors. It ends
// when no candidate is left. It drops candidates only at the ends of blocks, so that neither the counts nor
// j.scoreCount depend on the workers.
func (j *judge) pass(ctx context.Context, rows selection, limit int64) error {
	reached := func(i int) bool { return j.counts[i] >= limit }
	if j.drop(reached); len(j.remainingCandidates) == 0 {
		return nil
	}
	for b, err := range j.src.Blocks(ctx) {
		if err != nil {
			return err
		}
		err := parallel.For(ctx, j.workers, (b.Len()+taskRows-1)/taskRows, func(_, task int) {
			lo := task * taskRows
			j.rows(b.Slice(lo, min(b.Len(), lo+taskRows)), rows)
		})
		if err != nil {
			return err
		}
		if j.drop(reached); len(j.remainingCandidates) == 0 {
			return nil
		}
	}
	return nil
}

// screen adds lower bounds of the sample weights of errors on the selected rows to the weights. It drops a candidate
// once the sum over all rows, which passWeighted computes, can't be below limit. It ends when no candidate is left.
//
// Sums are made in row order, so that the remaining candidates don't depend on the workers.
func (j *judge) screen(ctx context.Context, rows selection, limit float64) error {
	reached := func(i int) bool { return j.weights[i]*(1-j.roundingError) >= limit }
	if j.drop(reached); len(j.remainingCandidates) == 0 {
		return nil
	}
	for b, err := range j.src.Blocks(ctx) {
		if err != nil || b.Sparse != nil {
			return err // the bounds need dense rows
		}
		tasks := make([][]float64, (b.Len()+taskRows-1)/taskRows)
		err := parallel.For(ctx, j.workers, len(tasks), func(_, task int) {
			lo := task * taskRows
			tasks[task] = j.leastErrorWeights(b.Slice(lo, min(b.Len(), lo+taskRows)), rows)
		})
		if err != nil {
			return err
		}
		for _, sums := range tasks {
			for k, i := range j.remainingCandidates {
				j.weights[i] += sums[k]
			}
		}
		if j.drop(reached); len(j.remainingCandidates) == 0 {
			return nil
		}
	}
	return nil
}

// leastErrorWeights returns lower bounds of the sample weights of errors on the selected rows of b, one for each
// remaining candidate. It rounds sample weights down to integers, in a unit that depends only on the rows of b.
func (j *judge) leastErrorWeights(b *block.Block, rows selection) []float64 {
	s := j.scratch.Get().(*scratch)
	defer j.scratch.Put(s)
	s.counts = slices.Grow(s.counts[:0], len(j.remainingCandidates))[:len(j.remainingCandidates)]
	clear(s.counts)
	_, exponent := math.Frexp(slices.Max(b.W))
	exponent = max(exponent, -900) // smaller weights count as 0
	unit := math.Ldexp(1, exponent-weightBits)
	n := j.count(b, rows, s, 1/unit)
	j.mu.Lock()
	j.scoreCount += int64(n * len(j.remainingCandidates))
	j.mu.Unlock()
	sums := make([]float64, len(j.remainingCandidates))
	for k, c := range s.counts {
		sums[k] = float64(c) * unit
	}
	return sums
}

// weightBits is the number of bits of an integer sample weight.
const weightBits = 20

// countBest computes the counts and the weights of the candidates in w that may have a smaller weight than limit and
// than all candidates before them. The weights of other candidates become infinite. Only candidates for which hides
// returns true exclude later candidates. Call countBest after screen.
//
// Most candidates that aren't the best so far by their lower bounds aren't the best so far by their weights either. So
// countBest first computes the weights of candidates that are the best so far by their bounds, and then of the other
// candidates that are still in doubt.
func (j *judge) countBest(ctx context.Context, w []float32, limit float64, hides func(i int) bool) error {
	bounds, left := slices.Clone(j.weights), slices.Clone(j.remainingCandidates)
	for i := range j.weights {
		j.weights[i] = math.Inf(1)
	}
	for known := make([]bool, len(bounds)); ; {
		least := limit
		j.remainingCandidates, j.w = j.remainingCandidates[:0], j.w[:0]
		for _, i := range left {
			bound := bounds[i] * (1 - j.roundingError)
			switch {
			case known[i]:
				bound = j.weights[i]
			case bound < least:
				known[i] = true
				j.remainingCandidates, j.w = append(j.remainingCandidates, i), append(j.w, w[i*j.stride:(i+1)*j.stride]...)
			}
			if bound > 0 && hides(i) { // a bound of 0 tells nothing
				least = min(least, bound)
			}
		}
		if len(j.remainingCandidates) == 0 {
			return nil
		}
		if err := j.passWeighted(ctx, limit); err != nil {
			return err
		}
	}
}

// passWeighted computes the counts and the weights of the remaining candidates over all rows. It drops a candidate once
// the sum of the sample weights of its errors reaches limit.
func (j *judge) passWeighted(ctx context.Context, limit float64) error {
	for _, i := range j.remainingCandidates {
		j.counts[i], j.weights[i] = 0, 0
	}
	j.errorCounter.Reset(j.w)
	for b, err := range j.src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if b.Y == nil {
			return block.ErrNoLabels
		}
		chunks := make([][]tally, (b.Len()+block.ChunkRows-1)/block.ChunkRows)
		err := parallel.For(ctx, j.workers, len(chunks), func(_, n int) {
			chunks[n] = j.wrongRows(b.Slice(n*block.ChunkRows, min(b.Len(), (n+1)*block.ChunkRows)))
		})
		if err != nil {
			return err
		}
		for _, chunk := range chunks {
			for k, i := range j.remainingCandidates {
				j.counts[i] += chunk[k].rows
				j.weights[i] += chunk[k].weight
			}
		}
		if b.Sparse != nil { // screen has counted dense rows
			j.scoreCount += int64(b.Len() * len(j.remainingCandidates))
		}
		if j.drop(func(i int) bool { return j.weights[i] >= limit }); len(j.remainingCandidates) == 0 {
			return nil
		}
	}
	return nil
}

// A tally is the number of rows of a chunk that a candidate predicts wrongly, and the sum of their sample weights.
type tally struct {
	rows   int64
	weight float64
}

func (t *tally) Fields() []any { return []any{&t.rows, &t.weight} }

// wrongRows returns the tally of each remaining candidate.
func (j *judge) wrongRows(chunk *block.Block) []tally {
	all := make([]tally, len(j.remainingCandidates))
	if chunk.Sparse != nil {
		j.errorCounter.Interleaved().Scores(chunk.Sparse, func(r, first int, scores []float32) {
			for k, s := range scores {
				add(&all[first+k], s, chunk.Y[r], chunk.W[r])
			}
		})
		return all
	}
	var buf [block.ChunkRows]float32
	scores := buf[:chunk.Len()]
	for k := range all {
		chunk.Scores(j.w[k*j.stride:(k+1)*j.stride], scores)
		for i, s := range scores {
			add(&all[k], s, chunk.Y[i], chunk.W[i])
		}
	}
	return all
}

// add adds a row with the given score, label and sample weight to a tally. It has no branch on the prediction, because
// the CPU would mispredict it.
func add(t *tally, score, y float32, weight float64) {
	wrong := uint64(0)
	if (score > 0) != (y > 0) {
		wrong = 1
	}
	t.rows += int64(wrong)
	t.weight += math.Float64frombits(math.Float64bits(weight) & -wrong)
}

// drop drops the candidates for which reached returns true.
func (j *judge) drop(reached func(i int) bool) {
	kept := 0
	for k, i := range j.remainingCandidates {
		if !reached(i) {
			copy(j.w[kept*j.stride:], j.w[k*j.stride:(k+1)*j.stride])
			j.remainingCandidates[kept] = i
			kept++
		}
	}
	if kept < len(j.remainingCandidates) {
		j.remainingCandidates, j.w = j.remainingCandidates[:kept], j.w[:kept*j.stride]
		j.errorCounter.Reset(j.w)
	}
}

// taskRows is the number of rows of one task of a worker: a quarter of a chunk, so that workers end at about the same
// time, and a multiple of the rows in a word of marks.
const taskRows = block.ChunkRows / 4

// rows adds the errors on the selected rows of b to the counts.
func (j *judge) rows(b *block.Block, rows selection) {
	s := j.scratch.Get().(*scratch)
	defer j.scratch.Put(s)
	s.counts = slices.Grow(s.counts[:0], len(j.remainingCandidates))[:len(j.remainingCandidates)]
	clear(s.counts)
	n := j.count(b, rows, s, 0)
	j.mu.Lock()
	defer j.mu.Unlock()
	for k, i := range j.remainingCandidates {
		j.counts[i] += s.counts[k]
	}
	j.scoreCount += int64(n * len(j.remainingCandidates))
}

// count adds the errors on the selected rows of b to s.counts, and returns the number of rows that it scored. It copies
// selected rows, because the kernel needs contiguous rows. If scale isn't 0, it adds lower bounds of the sample weights
// of errors, times scale, in place of the numbers of errors.
func (j *judge) count(b *block.Block, rows selection, s *scratch, scale float64) (scored int) {
	if rows.marks == nil {
		j.countAll(b, s, scale)
		return b.Len()
	}
	if b.Sparse != nil {
		return j.countSparse(b, rows, s)
	}
	if s.x == nil {
		s.x = make([]float32, len(s.y)*j.stride)
	}
	panel := func(n int) {
		if scale == 0 {
			j.errorCounter.Errors(s.counts, s.x[:n*j.stride], s.y[:n])
		} else {
			j.errorCounter.ErrorWeights(s.counts, s.x[:n*j.stride], s.y[:n], s.weights[:n])
		}
	}
	n := 0
	for lo := 0; lo < b.Len(); lo += 64 {
		word := rows.word(b.First, b.Len(), lo)
		for word != 0 {
			skip := bits.TrailingZeros64(word)
			k := min(bits.TrailingZeros64(^(word >> skip)), len(s.y)-n)
			copy(s.x[n*j.stride:], b.X[(lo+skip)*j.stride:][:k*j.stride])
			copy(s.y[n:], b.Y[lo+skip:][:k])
			if scale != 0 {
				integers(s.weights[n:], b.W[lo+skip:][:k], scale)
			}
			word &^= (1<<k - 1) << skip
			if n += k; n == len(s.y) {
				panel(n)
				scored += n
				n = 0
			}
		}
	}
	panel(n)
	return scored + n
}

// word returns the bits of 64 rows of a block, from row lo on. The bits after the block's last row are 0.
func (s selection) word(first int64, rows, lo int) uint64 {
	word := s.marks[(int(first)+lo)/64] ^ s.flip
	if left := rows - lo; left < 64 {
		word &= 1<<left - 1
	}
	return word
}

// countSparse is count for sparse rows without sample weights.
func (j *judge) countSparse(b *block.Block, rows selection, s *scratch) (scored int) {
	if s.sparse == nil {
		s.sparse = block.NewSparse(0, taskRows, 0, b.Cols)
	}
	s.sparse.Clear(0)
	for lo := 0; lo < b.Len(); lo += 64 {
		for word := rows.word(b.First, b.Len(), lo); word != 0; word &= word - 1 {
			s.sparse.AppendRow(b, lo+bits.TrailingZeros64(word))
		}
	}
	s.sparse.Errors(j.errorCounter, s.counts)
	return s.sparse.Len()
}

// countAll is count for all rows.
func (j *judge) countAll(b *block.Block, s *scratch, scale float64) {
	if scale == 0 {
		b.Errors(j.errorCounter, s.counts)
		return
	}
	integers(s.weights, b.W, scale)
	j.errorCounter.ErrorWeights(s.counts, b.X, b.Y, s.weights[:b.Len()])
}

// integers sets dst to the sample weights times scale, rounded down.
func integers(dst []int32, weights []float64, scale float64) {
	for i, w := range weights {
		dst[i] = int32(w * scale)
	}
}
