package kernel

import (
	"iter"
	"math"
	"sync"

	"halfspace/internal/parallel"
)

// ErrorCounter are weight vectors whose errors are counted, arranged for the kernels. They are safe for concurrent use.
//
// The counts of Errors are exactly the counts of Dot's scores. Errors mostly finds them from scores that sum in another
// order, which costs one fused multiply-add for each product. A known bound holds for the error of both sums (Higham,
// "Accuracy and Stability of Numerical Algorithms", 2002, section 3.1). Let each element of a sum go through at most k
// roundings, and u be half the distance from 1 to the next number. The error is at most gamma(k) sum |x[i] w[i]|, with
// gamma(k) = k u / (1 - k u), and that sum is at most |x| |w|. So a score beyond gamma |x| |w| has the sign of Dot's
// score. If a candidate has a score nearer to zero, Errors scores the panel's rows for that candidate again, by Scores.
type ErrorCounter struct {
	cols, stride int
	n            int
	level        Level     // the level whose tile shape packed has
	w            []float32 // the candidates, as NewErrorCounter or Reset got them
	packed       []float32 // groups of a tile's candidates, column after column; zeros fill the last group
	limits       []float64 // bounds of each candidate's rounding error on rows of norm 1; see roundings.limit
	norm         float64   // at least the largest Euclidean norm of a candidate
	roundings    roundings
	quantum      float64   // see SetQuantum; 0 if features aren't known to be multiples of a power of two
	shifts       []float64 // by how much the packed bias of each candidate is less than its bias
	exactTo      []float64 // for each candidate, the largest row norm without rounding errors in shifted scores
	buffers      sync.Pool // holds *judgement

	arranged    sync.Once // packed, limits, norm, shifts and exactTo are set; dense rows need them
	interleaved sync.Once // sparse is set
	sparse      Interleaved
}

// A judgement is the working memory of one count over a panel.
type judgement struct {
	packed, limits, scores, rest, restY []float32
	low, high                           []int64
	weights                             []int32 // for weightRows rows and padding
}

const (
	// fewCandidates is the least number of candidates for which rows are packed.
	fewCandidates = 3
	// judgedTogether is the largest number of candidates of one kernel call.
	judgedTogether = 64
	// judgedBytes bounds the packed rows of one kernel call, so that they stay in the first-level cache. A call takes
	// at least one group.
	judgedBytes = 32 << 10
)

// NewErrorCounter returns the candidates in w, each a vector of Stride(cols) elements with zeros from cols on. It keeps w.
func NewErrorCounter(w []float32, cols int) *ErrorCounter {
	if cols <= 0 {
		panic("kernel: no columns")
	}
	c := &ErrorCounter{cols: cols, stride: Stride(cols), level: level, roundings: newRoundings(cols)}
	c.buffers.New = func() any { return c.newJudgement() }
	c.Reset(w)
	return c
}

// Reset replaces the candidates by the candidates in w, laid out as for NewErrorCounter. It reuses memory where it can.
// No other method may run meanwhile.
func (c *ErrorCounter) Reset(w []float32) {
	if len(w)%c.stride != 0 {
		panic("kernel: length of w is not a multiple of the stride")
	}
	c.checkLevel()
	c.w, c.n = w, len(w)/c.stride
	c.arranged, c.interleaved = sync.Once{}, sync.Once{}
}

// arrange packs the candidates for dense rows, and computes the bounds of their rounding errors.
func (c *ErrorCounter) arrange() {
	mr, _ := boundsShapeF32()
	c.norm = 0
	groups := (c.n + mr - 1) / mr
	c.packed, c.limits = resized(c.packed, groups*mr*c.cols), resized(c.limits, groups*mr)
	c.shifts, c.exactTo = resized(c.shifts, groups*mr), resized(c.exactTo, groups*mr)
	for i := range c.n {
		squares := 0.0
		for k, v := range c.Weights(i)[:c.cols] {
			c.packed[(i/mr*c.cols+k)*mr+i%mr] = v
			squares += float64(v) * float64(v)
		}
		norm := c.roundings.norm(squares, 0x1p-53)
		c.limits[i] = c.roundings.limit(norm)
		c.shift(i, norm, &c.packed[(i/mr*c.cols+c.cols-1)*mr+i%mr])
		if norm > c.norm { // a NaN doesn't matter here: no score of its candidate is beyond a limit
			c.norm = norm
		}
	}
}

// resized returns n zeros. It reuses the memory of s if s has the capacity.
func resized[E any](s []E, n int) []E {
	if n > cap(s) {
		return make([]E, n)
	}
	clear(s[:n])
	return s[:n]
}

func (c *ErrorCounter) checkLevel() {
	if level != c.level {
		panic("kernel: the candidates were made at another level")
	}
}

func (c *ErrorCounter) newJudgement() *judgement {
	_, nr := boundsShapeF32()
	rows := max(1, judgedBytes/(nr*c.cols*4)) * nr
	most := max(rows, (c.weightRows()+nr-1)/nr*nr)
	return &judgement{packed: make([]float32, most*c.cols), limits: make([]float32, judgedTogether), scores: make([]float32, rows),
		rest: make([]float32, nr*c.stride), restY: make([]float32, nr), low: make([]int64, judgedTogether),
		high: make([]int64, judgedTogether), weights: make([]int32, most)}
}

// Len returns the number of candidates.
func (c *ErrorCounter) Len() int { return c.n }

// Cols returns the number of columns.
func (c *ErrorCounter) Cols() int { return c.cols }

// Weights returns candidate i.
func (c *ErrorCounter) Weights(i int) []float32 { return c.w[i*c.stride : (i+1)*c.stride] }

// Interleaved returns the candidates for sparse rows, until the next Reset.
func (c *ErrorCounter) Interleaved() *Interleaved {
	c.interleaved.Do(func() { c.sparse.set(c.w, c.cols, c.stride) })
	return &c.sparse
}

// Errors adds the errors of each candidate to counts, which has Len elements. The prediction of a row is +1 if its
// score is > 0, and -1 otherwise; the row is an error if the prediction isn't its label. x has len(y) rows of
// Stride(cols) elements, zeros from cols on. y has no zeros. If there are no rows or no candidates, nothing changes.
//
//	for i := range counts { for r := range y { if (Dot(row r of x, Weights(i)) > 0) != (y[r] > 0) { counts[i]++ } } }
func (c *ErrorCounter) Errors(counts []int64, x, y []float32) {
	if len(counts) != c.n {
		panic("kernel: length of counts is not the number of candidates")
	}
	checkRows(x, len(y), c.stride)
	c.checkLevel()
	parallel.RaceWrite(counts)
	parallel.RaceRead(x)
	parallel.RaceRead(y)
	if c.n == 0 {
		return
	}
	j := c.buffers.Get().(*judgement)
	defer c.buffers.Put(j)
	for len(y) > 0 {
		rows := min(len(y), len(j.scores))
		c.judge(j, x[:rows*c.stride], y[:rows], counts)
		x, y = x[rows*c.stride:], y[rows:]
	}
}

// ErrorWeights adds to sums[i] a lower bound of the sum of weights over the rows that candidate i predicts wrong. It
// leaves out rows whose score is so near to zero that rounding might change its sign. Weights are integers from 0 to
// MaxErrorWeight; x and y are as for Errors. The bound is the same at every level. If there are no rows or no
// candidates, nothing changes.
func (c *ErrorCounter) ErrorWeights(sums []int64, x, y []float32, weights []int32) {
	if len(sums) != c.n {
		panic("kernel: length of sums is not the number of candidates")
	}
	if len(weights) != len(y) {
		panic("kernel: length of weights is not the number of rows")
	}
	checkRows(x, len(y), c.stride)
	c.checkLevel()
	parallel.RaceWrite(sums)
	parallel.RaceRead(x)
	parallel.RaceRead(y)
	parallel.RaceRead(weights)
	if c.n == 0 {
		return
	}
	j := c.buffers.Get().(*judgement)
	defer c.buffers.Put(j)
	for len(y) > 0 {
		rows := min(len(y), c.weightRows())
		c.addWeights(j, x[:rows*c.stride], y[:rows], weights[:rows], sums)
		x, y, weights = x[rows*c.stride:], y[rows:], weights[rows:]
	}
}

// MaxErrorWeight is the largest weight that ErrorWeights takes. The sum of the weights of a panel fits 31 bits.
const MaxErrorWeight = 1<<20 - 1

// weightRows returns the number of rows of a panel of ErrorWeights: the same at every level, since limits follow from the
// largest norm of the panel.
func (c *ErrorCounter) weightRows() int {
	const most, multiple = 1 << 11, 96 // multiple is a multiple of the group size of every level
	return max(1, min(most, judgedBytes/(c.cols*4))/multiple) * multiple
}

// addWeights adds the bounds of a panel.
func (c *ErrorCounter) addWeights(j *judgement, x, y []float32, weights []int32, sums []int64) {
	c.arranged.Do(c.arrange)
	rows, norm := c.pack(j, x, y)
	clear(j.weights[copy(j.weights, weights):rows])
	for first, limits := range c.tiles(j, norm) {
		bounds := j.low[:len(limits)]
		clear(bounds)
		boundsWeightedF32(bounds, j.packed[:rows*c.cols], j.weights[:rows],
			c.packed[first*c.cols:(first+len(limits))*c.cols], limits, c.cols)
		for i := first; i < min(first+len(limits), c.n); i++ {
			sums[i] += bounds[i-first]
		}
	}
}

// tiles yields, for one kernel call after the other, the number of the call's first candidate and the limits of its
// candidates. No row has a norm above norm.
func (c *ErrorCounter) tiles(j *judgement, norm float64) iter.Seq2[int, []float32] {
	if !(norm*c.norm <= c.roundings.most/4) {
		norm = math.Inf(1) // a sum might overflow, so that no score is beyond its limit
	}
	return func(yield func(int, []float32) bool) {
		for first := 0; first < c.n; first += judgedTogether {
			limits := j.limits[:min(len(c.limits)-first, judgedTogether)]
			for i := range limits {
				if norm <= c.exactTo[first+i] {
					limits[i] = 0
					continue
				}
				limits[i] = float32((c.limits[first+i]*norm + c.roundings.least + c.shifts[first+i]) * (1 + 0x1p-20))
			}
			if !yield(first, limits) {
				return
			}
		}
	}
}

// judge adds the errors of each candidate on a panel to counts.
func (c *ErrorCounter) judge(j *judgement, x, y []float32, counts []int64) {
	if c.n < fewCandidates {
		for i := range c.n {
			counts[i] += c.exactErrors(j, x, y, i)
		}
		return
	}
	c.arranged.Do(c.arrange)
	rows, norm := c.pack(j, x, y)
	for first, limits := range c.tiles(j, norm) {
		n := len(limits)
		low, high := j.low[:n], j.high[:n]
		clear(low)
		clear(high)
		boundsF32(low, high, j.packed[:rows*c.cols], c.packed[first*c.cols:(first+n)*c.cols], limits, c.cols)
		padding := int64(rows - len(y)) // rows of zeros, whose score is never above a limit
		for i := first; i < min(first+n, c.n); i++ {
			if n := low[i-first]; n == high[i-first]-padding {
				counts[i] += n
			} else {
				counts[i] += c.exactErrors(j, x, y, i)
			}
		}
	}
}

// pack packs the rows of a panel for the kernel, and fills the last group with rows of zeros. It returns the number of
// rows, including the rows of zeros, and an upper bound of the largest norm of a row.
func (c *ErrorCounter) pack(j *judgement, x, y []float32) (rows int, norm float64) {
	_, nr := boundsShapeF32()
	rows = len(y) / nr * nr
	squares := float64(packF32(j.packed, x[:rows*c.stride], y[:rows], c.stride, c.cols))
	if rest := len(y) - rows; rest > 0 {
		clear(j.rest[copy(j.rest, x[rows*c.stride:]):])
		copy(j.restY, y[rows:])
		squares = max(squares, float64(packF32(j.packed[rows*c.cols:], j.rest, j.restY, c.stride, c.cols)))
		rows += nr
	}
	return rows, c.roundings.norm(squares, c.roundings.u)
}

// exactErrors counts the errors of candidate i from the scores of Scores.
func (c *ErrorCounter) exactErrors(j *judgement, x, y []float32, i int) (errors int64) {
	scores := j.scores[:len(y)]
	Scores(scores, x, c.Weights(i))
	for r, s := range scores {
		errors += one((s > 0) != (y[r] > 0))
	}
	return errors
}

// one returns 1 for true and 0 for false. It has no branch, which would be mispredicted.
func one(b bool) (n int64) {
	if b {
		n = 1
	}
	return n
}

// roundings computes bounds of the rounding errors of dot products of n elements.
type roundings struct {
	n     float64
	u     float64 // the largest relative error of an operation
	tiny  float64 // twice the largest absolute error of an operation with a subnormal result
	least float64 // more than all that subnormal results add to the difference between the two sums
	most  float64 // the largest finite float32

	integers float64 // every integer up to this is a float32
}

func newRoundings(n int) roundings {
	r := roundings{n: float64(n), u: 0x1p-24, tiny: math.SmallestNonzeroFloat32, most: math.MaxFloat32, integers: 1 << 24}
	r.least = 2 * (r.n + 4) * r.tiny
	return r
}

// gamma bounds the relative error of k roundings of at most u each. It is +Inf if the roundings may leave no correct
// digit.
func gamma(k, u float64) float64 {
	if k*u >= 0.5 {
		return math.Inf(1)
	}
	return k * u / (1 - k*u)
}

// norm returns an upper bound of the norm of n elements. squares is the sum of their squares, from n operations with an
// error of at most u each. The last factor exceeds the rounding errors of norm itself.
func (r roundings) norm(squares, u float64) float64 {
	return math.Sqrt((squares+r.n*r.tiny)/(1-gamma(r.n, u))) * (1 + 0x1p-30)
}

// limit returns an upper bound of the difference between the two sums, without r.least, for a candidate with that norm
// and rows of norm 1. The kernel's chain has n roundings. A lane of Dot has at most one rounding for each 16 elements,
// and the fold has five. The last factor allows for rounding the limit down to a float32.
func (r roundings) limit(norm float64) float64 {
	return gamma(r.n+math.Ceil(r.n/16)+5, r.u) * norm * (1 + 0x1p-20)
}
