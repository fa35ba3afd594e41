package metrics

import (
	"iter"
	"math"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"
)

// Scores keeps every score of rows of two classes, for figures that depend on the order of scores: the area under the
// ROC curve, average precision, both curves, and the best threshold. A score of NaN ranks below every other score. Rows
// may have weights. A row of weight 2 counts as two rows. The zero value has no rows.
type Scores struct {
	positive, negative side
	isSorted           bool
	isBinned           bool
}

// Bin makes s keep a histogram in place of every score, so that its memory doesn't grow with the rows: scores are
// rounded toward 0 to ten binary digits, and rows of equal scores are counted together. Figures then differ by the rows
// whose order is lost: rows whose scores differ by less than 0.2 %. Call Bin before Add.
func (s *Scores) Bin() {
	s.isBinned = true
	s.positive.bins, s.negative.bins = map[float32]float64{}, map[float32]float64{}
}

// binDigits is the number of binary digits of a float32 that Bin drops.
const binDigits = 14

// Add adds rows with their scores, labels and weights. A label above zero marks a positive row. If weights is nil, each
// row counts once. Add panics if the lengths differ.
func (s *Scores) Add(scores, labels []float32, weights []float64) {
	if len(scores) != len(labels) || weights != nil && len(weights) != len(scores) {
		panic("metrics: the numbers of scores, labels and weights differ")
	}
	s.isSorted = false
	if !s.isBinned && weights == nil && s.positive.weights == nil && s.negative.weights == nil {
		s.split(scores, labels)
		return
	}
	for i, score := range scores {
		to := &s.negative
		if labels[i] > 0 {
			to = &s.positive
		}
		if s.isBinned {
			weight := 1.0
			if weights != nil {
				weight = weights[i]
			}
			to.count(score, weight)
			continue
		}
		if weights != nil && to.weights == nil {
			to.weights = slices.Repeat([]float64{1}, len(to.scores))
		}
		to.scores = append(to.scores, score)
		if weights != nil {
			to.weights = append(to.weights, weights[i])
		} else if to.weights != nil {
			to.weights = append(to.weights, 1)
		}
	}
}

// split adds scores without weights. It writes each score to both sides, and lengthens only the side of the label: a branch on
// labels would often be predicted wrong.
func (s *Scores) split(scores, labels []float32) {
	p, n := len(s.positive.scores), len(s.negative.scores)
	positive, negative := lengthen(s.positive.scores, len(scores)), lengthen(s.negative.scores, len(scores))
	for i, score := range scores {
		positive[p], negative[n] = score, score
		is := 0
		if labels[i] > 0 {
			is = 1
		}
		p, n = p+is, n+1-is
	}
	s.positive.scores, s.negative.scores = positive[:p], negative[:n]
}

// lengthen returns scores with n more elements. If memory has to be copied, it grows to twice its size.
func lengthen(scores []float32, n int) []float32 {
	if cap(scores)-len(scores) < n {
		// slices.Grow would clear the new elements too, which brings in their pages
		bigger := make([]float32, len(scores), len(scores)+max(n, len(scores)))
		copy(bigger, scores)
		scores = bigger
	}
	return scores[:len(scores)+n]
}

// Bytes returns the most bytes of memory of the scores. A growing slice is in memory twice for a while, and grows to
// twice its size.
func (s *Scores) Bytes() int64 {
	const share = 3
	rows, weights := len(s.positive.scores)+len(s.negative.scores), len(s.positive.weights)+len(s.negative.weights)
	return (int64(rows)*4 + 8*int64(weights)) * share
}

// sort sorts the rows of each class by their scores, in place.
func (s *Scores) sort() {
	if s.isSorted {
		return
	}
	var g errgroup.Group
	for _, side := range []*side{&s.positive, &s.negative} {
		g.Go(func() error {
			if s.isBinned {
				side.list()
			}
			side.sort()
			return nil
		})
	}
	g.Wait() // no error
	s.isSorted = true
}

// A side is the rows of one class.
type side struct {
	scores    []float32
	weights   []float64           // nil: all are 1
	bins      map[float32]float64 // weight of the rows by rounded score; see Scores.Bin
	weightNaN float64             // weight of the rows whose score is NaN, with bins
}

// count adds a row to the bins.
func (s *side) count(score float32, weight float64) {
	if score != score { // a NaN is no key
		s.weightNaN += weight
		return
	}
	s.bins[math.Float32frombits(math.Float32bits(score)>>binDigits<<binDigits)] += weight
}

// list writes the bins to scores and weights.
func (s *side) list() {
	s.scores, s.weights = s.scores[:0], s.weights[:0]
	for score, weight := range s.bins {
		s.scores, s.weights = append(s.scores, score), append(s.weights, weight)
	}
	if s.weightNaN > 0 {
		s.scores, s.weights = append(s.scores, float32(math.NaN())), append(s.weights, s.weightNaN)
	}
}

func (s *side) sort() {
	if s.weights == nil {
		s.scores = sortScores(s.scores)
	} else {
		sort.Sort(s)
	}
}

func (s *side) Len() int           { return len(s.scores) }
func (s *side) Less(i, k int) bool { return less(s.scores[i], s.scores[k]) }
func (s *side) Swap(i, k int) {
	s.scores[i], s.scores[k] = s.scores[k], s.scores[i]
	s.weights[i], s.weights[k] = s.weights[k], s.weights[i]
}

// weight returns the weight of all rows.
func (s *side) weight() float64 {
	if s.weights == nil {
		return float64(len(s.scores))
	}
	var sum Sum
	for _, w := range s.weights {
		sum.Add(w)
	}
	return sum.Value()
}

// A prefix is the rows of a side from the highest score down to a score.
type prefix struct {
	*side
	rowsLeft int // number of rows that aren't taken
	sum      Sum // sum of the weights of the taken rows, if rows have weights
}

// take takes the rows whose score is at least at.
func (t *prefix) take(at float32) {
	for ; t.rowsLeft > 0 && !less(t.scores[t.rowsLeft-1], at); t.rowsLeft-- {
		if t.weights != nil {
			t.sum.Add(t.weights[t.rowsLeft-1])
		}
	}
}

// weight returns the weight of the taken rows.
func (t *prefix) weight() float64 {
	if t.weights == nil {
		return float64(len(t.scores) - t.rowsLeft)
	}
	return t.sum.Value()
}

// less orders scores as sorted does.
func less(a, b float32) bool {
	return a < b || a != a && b == b
}

// A Point of a curve is a threshold, and the weights of the rows of each class whose score is at least the threshold.
// Without weights they are numbers of rows.
type Point struct{ Threshold, FalsePositives, TruePositives float64 }

// Precision returns the share of positive rows among the rows of a point; NaN if the point has no rows.
func (p Point) Precision() float64 { return p.TruePositives / (p.TruePositives + p.FalsePositives) }

// points yields a point of no rows, whose threshold is infinite, and then one point for each different score, from the
// highest to the lowest.
func (s *Scores) points() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		s.sort()
		p, n := &prefix{side: &s.positive, rowsLeft: len(s.positive.scores)}, &prefix{side: &s.negative, rowsLeft: len(s.negative.scores)}
		for point := (Point{Threshold: math.Inf(1)}); yield(point) && (p.rowsLeft > 0 || n.rowsLeft > 0); {
			var at float32
			if n.rowsLeft == 0 || p.rowsLeft > 0 && less(n.scores[n.rowsLeft-1], p.scores[p.rowsLeft-1]) {
				at = p.scores[p.rowsLeft-1]
			} else {
				at = n.scores[n.rowsLeft-1]
			}
			p.take(at)
			n.take(at)
			point = Point{float64(at), n.weight(), p.weight()}
		}
	}
}

// lastPoint returns the point of all rows.
func (s *Scores) lastPoint() Point {
	s.sort()
	return Point{math.NaN(), s.negative.weight(), s.positive.weight()}
}

// AUC returns the area under the ROC curve: the probability that a random positive row has a higher score than a random
// negative row. Equal scores count half (Mann and Whitney 1947; Hanley and McNeil 1982). It is NaN unless both classes
// have rows. Without weights, and while 2*P*N < 2^53 for P positive and N negative rows, it is the exact area, rounded
// once. Otherwise there are a few more roundings.
func (s *Scores) AUC() float64 {
	s.sort()
	const most = 1 << 31 // rows of a class whose pairs an integer of 64 bits counts
	if p, n := &s.positive, &s.negative; p.weights == nil && n.weights == nil && max(uint64(len(p.scores)), uint64(len(n.scores))) < most {
		return s.pairs()
	}
	var area Sum
	var before Point
	for p := range s.points() {
		width, heights := p.FalsePositives-before.FalsePositives, p.TruePositives+before.TruePositives
		if width > 0 {
			product := float64(width * heights)
			area.Add(product)
			area.Add(math.FMA(width, heights, -product))
		}
		before = p
	}
	return area.Value() / 2 / (before.FalsePositives * before.TruePositives)
}

// pairs returns the share of pairs of a positive and a negative row in which the positive row has the higher score, without
// weights. Pairs of equal scores count half. NaN is below every other score.
func (s *Scores) pairs() float64 {
	positive, positiveNaN := withoutNaN(s.positive.scores)
	negative, negativeNaN := withoutNaN(s.negative.scores)
	var below, above uint64 // pairs without NaN in which the negative score is lower, and in which the negative score is higher
	var g errgroup.Group
	g.Go(func() error { below = inversions(positive, negative); return nil })
	g.Go(func() error { above = inversions(negative, positive); return nil })
	g.Wait() // no error
	p, n := uint64(len(positive)), uint64(len(negative))
	twice := below + (p*n - above) + uint64(positiveNaN)*uint64(negativeNaN) + 2*p*uint64(negativeNaN)
	return float64(twice) / 2 / (float64(len(s.positive.scores)) * float64(len(s.negative.scores)))
}

// withoutNaN returns sorted scores without NaN, and the number of NaN.
func withoutNaN(scores []float32) ([]float32, int) {
	n, _ := slices.BinarySearchFunc(scores, 0, func(score float32, _ int) int {
		if score != score {
			return -1
		}
		return 1
	})
	return scores[n:], n
}

// inversions returns how many pairs of a high and a low score have the low one below the high one. Both are ascending. No
// branch depends on a score, because the order of the merged scores is random.
func inversions(high, low []float32) (n uint64) {
	i, j := 0, 0
	for i < len(high) && j < len(low) {
		is := 0
		if low[j] < high[i] {
			is = 1
		}
		n += uint64(j & (is - 1)) // high[i] is above the first j
		i, j = i+1-is, j+is
	}
	return n + uint64(len(high)-i)*uint64(j)
}

// AveragePrecision returns the mean of the precisions at each different score as a threshold, weighted by the weight of
// the positive rows with this score. It is NaN without positive rows.
func (s *Scores) AveragePrecision() float64 {
	var sum Sum
	var before Point
	for p := range s.points() {
		if more := p.TruePositives - before.TruePositives; more > 0 {
			sum.Add(float64(more * p.Precision()))
		}
		before = p
	}
	return sum.Value() / before.TruePositives
}

// ROC returns the corners of the ROC curve, from the point of no rows to the point of all rows. It leaves out points on
// the straight line between two other points, which doesn't change the area. It sorts the scores in place.
func (s *Scores) ROC() []Point { return slices.Collect(s.roc()) }

func (s *Scores) roc() iter.Seq[Point] {
	return thin(s.points(), func(a, b, c Point) bool {
		return equalProducts(b.FalsePositives-a.FalsePositives, c.TruePositives-b.TruePositives,
			b.TruePositives-a.TruePositives, c.FalsePositives-b.FalsePositives)
	})
}

// PrecisionRecall returns the points of the precision-recall curve, from the highest threshold to the lowest. The
// recall of a point is its true positives divided by the true positives of the last point. Points between two other
// points of the same precision, or of the same recall, are left out. Points whose rows all have the weight 0 are left
// out too, because they have no precision. The result is nil without positive rows. PrecisionRecall sorts the scores in
// place.
func (s *Scores) PrecisionRecall() []Point { return slices.Collect(s.precisionRecall()) }

func (s *Scores) precisionRecall() iter.Seq[Point] {
	points := func(yield func(Point) bool) {
		if s.lastPoint().TruePositives == 0 {
			return
		}
		for p := range s.points() {
			if p.TruePositives+p.FalsePositives > 0 && !yield(p) {
				return
			}
		}
	}
	return thin(points, func(a, b, c Point) bool {
		same := func(x, y Point) bool { // equal precision
			return equalProducts(x.TruePositives, y.FalsePositives, y.TruePositives, x.FalsePositives)
		}
		return a.TruePositives == c.TruePositives && a.FalsePositives > 0 || same(a, b) && same(b, c)
	})
}

// CurvePoints returns the numbers of points of ROC and of PrecisionRecall, without allocating the points. It sorts the
// scores in place.
func (s *Scores) CurvePoints() (roc, precisionRecall int) {
	for range s.roc() {
		roc++
	}
	for range s.precisionRecall() {
		precisionRecall++
	}
	return roc, precisionRecall
}

// Outline returns points of ROC and of PrecisionRecall for pictures. It returns at most the given number of points of
// each, which must be 3 or more. For each point that it leaves out, it keeps a point whose false-positive rate and
// recall differ by less than 2/(most-2). It sorts the scores in place.
func (s *Scores) Outline(most int) (roc, precisionRecall []Point) {
	all := s.lastPoint()
	share := func(v, of float64) float64 {
		if of > 0 {
			return v / of
		}
		return 0
	}
	cells := float64(most-2) / 2 // cells of the way from no rows to all rows: both rates grow from 0 to 1
	coarse := func(points iter.Seq[Point]) (kept []Point) {
		var last Point
		cell, skipped := math.Inf(-1), false
		for p := range points {
			at := math.Floor(cells * (share(p.FalsePositives, all.FalsePositives) + share(p.TruePositives, all.TruePositives)))
			if last, skipped = p, at == cell; !skipped {
				cell, kept = at, append(kept, p)
			}
		}
		if skipped {
			kept = append(kept, last)
		}
		return kept
	}
	return coarse(s.roc()), coarse(s.precisionRecall())
}

// thin yields the points without points that lie between their neighbours. The first two points stay.
func thin(points iter.Seq[Point], between func(a, b, c Point) bool) iter.Seq[Point] {
	return func(yield func(Point) bool) {
		var last [2]Point // the last two points that stay so far
		n := 0
		for next := range points {
			switch {
			case n == 2 && between(last[0], last[1], next):
				last[1] = next
				continue
			case n == 2 && !yield(last[0]):
				return
			}
			last, n = [2]Point{last[1], next}, min(n+1, 2)
		}
		for _, p := range last[2-n:] {
			if !yield(p) {
				return
			}
		}
	}
}

// equalProducts tells whether a*b equals c*d exactly.
func equalProducts(a, b, c, d float64) bool {
	p, q := float64(a*b), float64(c*d)
	return p == q && math.FMA(a, b, -p) == math.FMA(c, d, -q)
}
