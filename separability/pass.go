package separability

import (
	"context"
	"errors"
	"math"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/kernel"
)

// A searcher looks for separators and witnesses among the rows of a source, one pass at a time.
type searcher struct {
	src    block.Source
	opt    Options
	cols   int
	radius float64
	// group is a number of rows, a divisor of block.ChunkRows. A pass returns at most one row of each class from each
	// group of rows.
	group       int
	removedRows map[int64]bool // rows that passes skip
	passes      int64
	mostPasses  int64  // number of passes after which the search for a plane ends
	effort      effort // effort left for exact arithmetic
	refineWork  int64  // most multiplications of a search for a larger margin among many columns
}

// groups returns the approximate largest number of rows of each class that a pass returns, for rows of cols columns.
// For wide rows it is at most the number of rows that a pool keeps.
func groups(cols int) int { return min(1024, poolCapacity(cols)) }

func newSearcher(src block.Source, opt Options, radius float64) *searcher {
	s := &searcher{src: src, opt: opt, cols: src.Spec().Cols(), radius: radius, group: 1,
		removedRows: map[int64]bool{}, refineWork: refineWork}
	for s.group < block.ChunkRows && int64(s.group)*int64(groups(s.cols)) < src.Rows() {
		s.group *= 2
	}
	return s
}

// isWide tells whether memory for rows may not hold a corral, which has up to one row more than there are columns.
func (s *searcher) isWide() bool { return poolCapacity(s.cols) <= s.cols }

type passResult struct {
	lowestScores [2]float64 // smallest y (w.x) of each class; +Inf without rows
	rows         []row      // in row order: the row with the smallest y (w.x) of each group and class, if below the limit
}

// pass finds the rows with the smallest y (w.x) that are below a limit. w has one weight for each column. The kernels
// compute scores in float32; rows that could have the smallest score are scored again in float64.
func (s *searcher) pass(ctx context.Context, w []float64, below float64) (*passResult, error) {
	s.passes++
	if s.opt.Progress != nil {
		s.opt.Progress(s.passes)
	}
	sc := newScorer(w, s.radius)
	all := &passResult{lowestScores: [2]float64{math.Inf(1), math.Inf(1)}}
	err := block.ReduceChunks(ctx, s.src, s.opt.Workers,
		func(r block.Chunk) *passResult { return s.chunk(r, sc, w, below) },
		func(part *passResult) {
			for class, low := range part.lowestScores {
				all.lowestScores[class] = min(all.lowestScores[class], low)
			}
			all.rows = append(all.rows, part.rows...)
		})
	return all, err
}

// chunk is pass for one run.
func (s *searcher) chunk(r block.Chunk, sc *scorer, w []float64, below float64) *passResult {
	var scores [block.ChunkRows]float32
	var least [block.ChunkRows][2]float64 // smallest y (w.x) of each group and class
	n := r.Len()
	r.Scores(sc.w, scores[:n])
	found := &passResult{lowestScores: [2]float64{math.Inf(1), math.Inf(1)}}
	lowest := found.lowestScores
	for lo, g := 0, 0; lo < n; lo, g = lo+s.group, g+1 {
		m := [2]float64{math.Inf(1), math.Inf(1)}
		for i := lo; i < min(n, lo+s.group); i++ {
			c, v := 0, -float64(scores[i])
			if r.Y[i] > 0 {
				c, v = 1, -v
			}
			if math.IsInf(sc.limit, 1) { // every row is scored again
				v = -math.MaxFloat64
			}
			if v < m[c] && !s.isRemoved(r.First+int64(i)) {
				m[c] = v
			}
		}
		least[g] = m
		lowest[0], lowest[1] = min(lowest[0], m[0]), min(lowest[1], m[1])
	}
	x := make([]float64, s.cols)
	for lo, g := 0, 0; lo < n; lo, g = lo+s.group, g+1 {
		for c, m := range least[g] {
			if m-sc.limit >= below*sc.scale && m-float64(2*sc.limit) > lowest[c] || math.IsInf(m, 1) {
				continue
			}
			y := float64(2*c - 1)
			at, score := -1, math.Inf(1)
			for i := lo; i < min(n, lo+s.group); i++ {
				if float64(r.Y[i]) != y || float64(y*float64(scores[i]))-float64(2*sc.limit) > m || s.isRemoved(r.First+int64(i)) {
					continue
				}
				linalg.Widen(r.Block, i, x)
				if v, _ := dot(x, w); at < 0 || y*v < score {
					at, score = i, y*v
				}
			}
			found.lowestScores[c] = min(found.lowestScores[c], score)
			if score < below {
				z := make([]float64, s.cols)
				linalg.Widen(r.Block, at, z)
				for j := range z {
					z[j] *= y
				}
				found.rows = append(found.rows, row{r.First + int64(at), c, z})
			}
		}
	}
	return found
}

// judge makes a pass with the pool's point as weights. It returns the rows that contradict the point, and sets f.plane
// to the point's plane if that plane has the larger margin.
func (s *searcher) judge(ctx context.Context, f *finding) (*passResult, error) {
	p, length := f.pool, f.pool.length()
	w, parts := p.plane(), float64(p.parts)
	off := float64(max(precision*length, roundingLength*s.radius) * length)
	swept, err := s.pass(ctx, w, (float64(length*length)-off)/parts)
	if err != nil {
		return nil, err
	}
	if f.plane = betterPlane(f.plane, w, swept.lowestScores, p.parts); f.plane != nil {
		f.plane.MarginBound = max(f.plane.Margin, length/parts) // rounding may make MarginBound less than Margin
	}
	return swept, nil
}

func (s *searcher) isRemoved(number int64) bool {
	return len(s.removedRows) > 0 && s.removedRows[number]
}

// dot returns the dot product of x and w, and a bound of its error.
func dot(x, w []float64) (sum, off float64) {
	size, largest := 0.0, 1.0
	for i, v := range x {
		largest = max(largest, math.Abs(v))
		product := float64(v * w[i])
		sum += product
		size += math.Abs(product)
	}
	// Each product has at most as many roundings of 2^-53 as there are elements, and w may be rounded. The same holds
	// for size. A tiny product or element of w has an error of half the least number.
	return sum, float64(roundings(len(x))*size) + float64(float64(len(x)+2)*math.SmallestNonzeroFloat64*largest)
}

// roundings returns a bound of the float64 error of a dot product of n columns, relative to the sum of its products'
// magnitudes.
func roundings(n int) float64 { return float64(n+2) * 0x1p-52 }

// A scorer is weights in the form for a block's Scores, and a bound of the error of the scores.
type scorer struct {
	w     []float32 // with the stride of a block, scaled by a power of two
	limit float64   // bound of |score - exact score| for the scaled w; +Inf: a score decides nothing
	scale float64   // factor by which w was multiplied
}

// newScorer returns the scorer of the weights w for rows whose norm is at most radius. It scales the weights to a
// largest magnitude below 1, so that they neither overflow nor vanish.
func newScorer(w []float64, radius float64) *scorer {
	largest, squares := 0.0, 0.0
	for _, v := range w {
		largest = max(largest, math.Abs(v))
	}
	s := &scorer{w: block.Alloc[float32](kernel.Stride(len(w))), scale: 1}
	if largest > 0 {
		_, e := math.Frexp(largest)
		s.scale = math.Ldexp(1, -max(-1000, min(1000, e)))
	}
	for i, v := range w {
		v *= s.scale
		s.w[i] = float32(v)
		squares += float64(v * v)
	}
	const unit, lanes = 0x1p-24, 32.0
	// A score has k roundings: the fused multiply-adds of its lane, the fold of the lanes, and two roundings of w. The
	// errors of radius and squares are far smaller than one of these; so is the square of k u.
	n := float64(len(w))
	k := math.Ceil(n/lanes) + math.Log2(lanes) + 4
	s.limit = float64(k*unit*radius*math.Sqrt(squares)) + float64(math.SmallestNonzeroFloat32*(n+1)*(1+radius))
	if !(radius*math.Sqrt(squares) < math.MaxFloat32/4) { // a sum may overflow
		s.limit = math.Inf(1)
	}
	return s
}

// largestNorm returns the largest norm of a row. It returns an error if there are no rows, or more than two classes.
func largestNorm(ctx context.Context, src block.Source, workers int) (float64, error) {
	if src.Rows() == 0 {
		return 0, errors.New("there are no rows to check")
	}
	if src.Spec().Vectors() > 1 {
		return 0, errors.New("the labels aren't -1 and +1: take rows of two classes")
	}
	norm := 0.0
	err := block.ReduceChunks(ctx, src, workers, func(r block.Chunk) float64 { return math.Sqrt(r.MaxSquaredNorm()) },
		func(n float64) { norm = max(norm, n) })
	return norm, err
}
