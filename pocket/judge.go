package pocket

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// A judge counts the errors of candidates on the rows of a source, and drops candidates on the way.
type judge struct {
	src      block.Source
	workers  int
	stride   int
	rounding float64 // more than the relative errors of sums in float64 over all rows
	scored   int64   // rows scored, times the candidates that they were scored for

	alive      []int     // numbers of the candidates that aren't dropped, ascending
	w          []float32 // their weights
	candidates *kernel.Candidates
	mu         sync.Mutex
	counts     []int64   // errors found, for all candidates
	weights    []float64 // the sums of their sample weights, which passWeighted computes
	scratch    sync.Pool
}

// A scratch is what judging rows needs.
type scratch struct {
	counts  []int64
	x, y    []float32 // rows that were selected from the run
	weights []int32   // their sample weights as integers, or those of the run

	sparse *block.Block // sparse rows that were selected; nil before the first
}

func newJudge(src block.Source, workers int) *judge {
	j := &judge{src: src, workers: workers, stride: kernel.Stride(src.Spec().Cols())}
	j.rounding = float64(src.Rows()+1000) * 0x1p-50
	j.candidates = kernel.NewCandidates(nil, src.Spec().Cols())
	j.scratch.New = func() any {
		rows := kernel.PanelRows(j.stride)
		return &scratch{x: make([]float32, rows*j.stride), y: make([]float32, rows), weights: make([]int32, max(rows, taskRows))}
	}
	return j
}

// A selection is the rows whose bit in marks, xor flip, is set; all rows if marks is nil.
type selection struct {
	marks []uint64
	flip  uint64
}

// begin begins to judge the candidates in w.
func (j *judge) begin(w []float32) {
	j.w = append(j.w[:0], w...)
	j.alive, j.counts, j.weights = j.alive[:0], j.counts[:0], j.weights[:0]
	for i := range len(w) / j.stride {
		j.alive, j.counts, j.weights = append(j.alive, i), append(j.counts, 0), append(j.weights, 0)
	}
	j.candidates.Reset(j.w)
}

// pass adds the errors on some rows to the counts, and drops a candidate once it has limit errors. It ends when no
// candidate is left. It drops candidates only at the ends of blocks, so that neither the counts nor j.scored depend on
// the workers.
func (j *judge) pass(ctx context.Context, rows selection, limit int64) error {
	reached := func(i int) bool { return j.counts[i] >= limit }
	if j.drop(reached); len(j.alive) == 0 {
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
		if j.drop(reached); len(j.alive) == 0 {
			return nil
		}
	}
	return nil
}

// screen adds lower bounds of the sample weights of errors on some rows to the weights. It drops a candidate once the sum
// for all its rows, which passWeighted makes, can't be less than limit. It ends when no candidate is left.
//
// Sums are made in the order of rows, so that the candidates left don't depend on the workers.
func (j *judge) screen(ctx context.Context, rows selection, limit float64) error {
	reached := func(i int) bool { return j.weights[i]*(1-j.rounding) >= limit }
	if j.drop(reached); len(j.alive) == 0 {
		return nil
	}
	for b, err := range j.src.Blocks(ctx) {
		if err != nil || b.Sparse != nil {
			return err // bounds need dense rows
		}
		tasks := make([][]float64, (b.Len()+taskRows-1)/taskRows)
		err := parallel.For(ctx, j.workers, len(tasks), func(_, task int) {
			lo := task * taskRows
			tasks[task] = j.least(b.Slice(lo, min(b.Len(), lo+taskRows)), rows)
		})
		if err != nil {
			return err
		}
		for _, sums := range tasks {
			for k, i := range j.alive {
				j.weights[i] += sums[k]
			}
		}
		if j.drop(reached); len(j.alive) == 0 {
			return nil
		}
	}
	return nil
}

// least returns lower bounds of the sample weights of errors on some rows of b, for each candidate that is left. Sample
// weights are rounded down to integers, in a unit that depends on the rows of b alone.
func (j *judge) least(b *block.Block, rows selection) []float64 {
	s := j.scratch.Get().(*scratch)
	defer j.scratch.Put(s)
	s.counts = slices.Grow(s.counts[:0], len(j.alive))[:len(j.alive)]
	clear(s.counts)
	_, exponent := math.Frexp(slices.Max(b.W))
	exponent = max(exponent, -900) // smaller weights count as 0
	unit := math.Ldexp(1, exponent-weightBits)
	n := j.count(b, rows, s, 1/unit)
	j.mu.Lock()
	j.scored += int64(n * len(j.alive))
	j.mu.Unlock()
	sums := make([]float64, len(j.alive))
	for k, c := range s.counts {
		sums[k] = float64(c) * unit
	}
	return sums
}

// weightBits is the number of bits of an integer sample weight.
const weightBits = 20

// best computes the counts and the weights of the candidates in w that may have the smallest weight of those up to
// them, and less than limit. The weights of others become infinite. Only candidates for which hides is true hide later
// ones. It is called after screen.
//
// Most candidates that aren't the best so far by their lower bounds aren't by their weights. So it first computes those
// that are, and then which of the others are in doubt.
func (j *judge) best(ctx context.Context, w []float32, limit float64, hides func(i int) bool) error {
	bounds, left := slices.Clone(j.weights), slices.Clone(j.alive)
	for i := range j.weights {
		j.weights[i] = math.Inf(1)
	}
	for known := make([]bool, len(bounds)); ; {
		least := limit
		j.alive, j.w = j.alive[:0], j.w[:0]
		for _, i := range left {
			bound := bounds[i] * (1 - j.rounding)
			switch {
			case known[i]:
				bound = j.weights[i]
			case bound < least:
				known[i] = true
				j.alive, j.w = append(j.alive, i), append(j.w, w[i*j.stride:(i+1)*j.stride]...)
			}
			if bound > 0 && hides(i) { // no bound is known if it is 0
				least = min(least, bound)
			}
		}
		if len(j.alive) == 0 {
			return nil
		}
		if err := j.passWeighted(ctx, limit); err != nil {
			return err
		}
	}
}

// passWeighted computes the counts and the weights of the candidates that are left, over all rows. It drops a candidate
// once the sum of the sample weights of its errors is limit.
func (j *judge) passWeighted(ctx context.Context, limit float64) error {
	for _, i := range j.alive {
		j.counts[i], j.weights[i] = 0, 0
	}
	j.candidates.Reset(j.w)
	for b, err := range j.src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if b.Y == nil {
			return block.ErrNoLabels
		}
		runs := make([][]tally, (b.Len()+block.RunRows-1)/block.RunRows)
		err := parallel.For(ctx, j.workers, len(runs), func(_, n int) {
			runs[n] = j.wrongRows(b.Slice(n*block.RunRows, min(b.Len(), (n+1)*block.RunRows)))
		})
		if err != nil {
			return err
		}
		for _, run := range runs {
			for k, i := range j.alive {
				j.counts[i] += run[k].rows
				j.weights[i] += run[k].weight
			}
		}
		if b.Sparse != nil { // otherwise screen has counted them
			j.scored += int64(b.Len() * len(j.alive))
		}
		if j.drop(func(i int) bool { return j.weights[i] >= limit }); len(j.alive) == 0 {
			return nil
		}
	}
	return nil
}

// A tally is the number of rows of a run that a candidate predicts wrong, and the sum of their sample weights.
type tally struct {
	rows   int64
	weight float64
}

// wrongRows returns the tally of each candidate that is left.
func (j *judge) wrongRows(run *block.Block) []tally {
	all := make([]tally, len(j.alive))
	if run.Sparse != nil {
		j.candidates.Interleaved().Scores(run.Sparse, func(r, first int, scores []float32) {
			for k, s := range scores {
				add(&all[first+k], s, run.Y[r], run.W[r])
			}
		})
		return all
	}
	var buf [block.RunRows]float32
	scores := buf[:run.Len()]
	for k := range all {
		run.Scores(j.w[k*j.stride:(k+1)*j.stride], scores)
		for i, s := range scores {
			add(&all[k], s, run.Y[i], run.W[i])
		}
	}
	return all
}

// add adds a row with that score, label and sample weight to a tally. It has no branch on the prediction, which would be
// mispredicted.
func add(t *tally, score, y float32, weight float64) {
	wrong := uint64(0)
	if (score > 0) != (y > 0) {
		wrong = 1
	}
	t.rows += int64(wrong)
	t.weight += math.Float64frombits(math.Float64bits(weight) & -wrong)
}

// drop drops the candidates that have reached a limit.
func (j *judge) drop(reached func(i int) bool) {
	kept := 0
	for k, i := range j.alive {
		if !reached(i) {
			copy(j.w[kept*j.stride:], j.w[k*j.stride:(k+1)*j.stride])
			j.alive[kept] = i
			kept++
		}
	}
	if kept < len(j.alive) {
		j.alive, j.w = j.alive[:kept], j.w[:kept*j.stride]
		j.candidates.Reset(j.w)
	}
}

// taskRows is how many rows a worker judges at a time: a quarter of a run, so that workers end together, and a multiple
// of the rows in a word of marks.
const taskRows = block.RunRows / 4

// rows adds the errors on some rows of b to the counts.
func (j *judge) rows(b *block.Block, rows selection) {
	s := j.scratch.Get().(*scratch)
	defer j.scratch.Put(s)
	s.counts = slices.Grow(s.counts[:0], len(j.alive))[:len(j.alive)]
	clear(s.counts)
	n := j.count(b, rows, s, 0)
	j.mu.Lock()
	defer j.mu.Unlock()
	for k, i := range j.alive {
		j.counts[i] += s.counts[k]
	}
	j.scored += int64(n * len(j.alive))
}

// count adds the errors on some rows of b to s.counts and returns how many rows it scored. It copies selected rows,
// since the kernel needs them contiguous. If scale isn't 0, it adds lower bounds of the sample weights of errors, times
// scale.
func (j *judge) count(b *block.Block, rows selection, s *scratch, scale float64) (scored int) {
	if rows.marks == nil {
		j.countAll(b, s, scale)
		return b.Len()
	}
	if b.Sparse != nil {
		return j.countSparse(b, rows, s)
	}
	panel := func(n int) {
		if scale == 0 {
			j.candidates.Errors(s.counts, s.x[:n*j.stride], s.y[:n])
		} else {
			j.candidates.ErrorWeights(s.counts, s.x[:n*j.stride], s.y[:n], s.weights[:n])
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

// word returns the bits of 64 rows of a block, from row lo on. They are 0 beyond its last row.
func (s selection) word(first int64, rows, lo int) uint64 {
	word := s.marks[(int(first)+lo)/64] ^ s.flip
	if left := rows - lo; left < 64 {
		word &= 1<<left - 1
	}
	return word
}

// countSparse is count on some sparse rows without sample weights.
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
	s.sparse.Errors(j.candidates, s.counts)
	return s.sparse.Len()
}

// countAll is count on all rows.
func (j *judge) countAll(b *block.Block, s *scratch, scale float64) {
	if scale == 0 {
		b.Errors(j.candidates, s.counts)
		return
	}
	integers(s.weights, b.W, scale)
	j.candidates.ErrorWeights(s.counts, b.X, b.Y, s.weights[:b.Len()])
}

// integers rounds sample weights times scale down.
func integers(dst []int32, weights []float64, scale float64) {
	for i, w := range weights {
		dst[i] = int32(w * scale)
	}
}
