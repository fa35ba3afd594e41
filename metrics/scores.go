package metrics

import (
	"iter"
	"math"
	"slices"
	"sort"

	"golang.org/x/sync/errgroup"
)

// Scores keeps every score of rows of two classes, for the figures that depend on the order of scores: the area under
// the ROC curve, average precision, both curves, and the threshold that is best. A score of NaN ranks below every other.
// Rows may have weights. A row of the weight 2 counts as two rows. The zero value has no rows.
type Scores struct {
	positive, negative side
	sorted             bool
}

// Add adds rows by their scores, as many labels and as many weights. A label above zero is a positive row. Without
// weights, nil, each row counts once.
func (s *Scores) Add(scores, labels []float32, weights []float64) {
	if len(scores) != len(labels) || weights != nil && len(weights) != len(scores) {
		panic("metrics: the numbers of scores, labels and weights differ")
	}
	s.sorted = false
	for i, score := range scores {
		to := &s.negative
		if labels[i] > 0 {
			to = &s.positive
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

// Bytes returns the most bytes that the scores take. A slice that grows is in memory twice for a while, and grows by a
// quarter.
func (s *Scores) Bytes() int64 {
	const share = 9 // fourths
	rows, weights := len(s.positive.scores)+len(s.negative.scores), len(s.positive.weights)+len(s.negative.weights)
	return (int64(rows)*4 + 8*int64(weights)) * share / 4
}

// sort sorts the rows of each class by their scores, in place.
func (s *Scores) sort() {
	if s.sorted {
		return
	}
	var g errgroup.Group
	for _, side := range []*side{&s.positive, &s.negative} {
		g.Go(func() error { side.sort(); return nil })
	}
	g.Wait() // no error
	s.sorted = true
}

// A side is the rows of one class.
type side struct {
	scores  []float32
	weights []float64 // nil: all are 1
}

func (s *side) sort() {
	if s.weights == nil {
		slices.Sort(s.scores)
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

// A prefix is the rows of a side from the highest score down to some score.
type prefix struct {
	*side
	left int // rows that aren't taken
	sum  Sum // of the weights, where rows have some
}

// take takes the rows whose score is at least that one.
func (t *prefix) take(at float32) {
	for ; t.left > 0 && !less(t.scores[t.left-1], at); t.left-- {
		if t.weights != nil {
			t.sum.Add(t.weights[t.left-1])
		}
	}
}

// weight returns the weight of the rows that are taken.
func (t *prefix) weight() float64 {
	if t.weights == nil {
		return float64(len(t.scores) - t.left)
	}
	return t.sum.Value()
}

// less orders scores as slices.Sort does.
func less(a, b float32) bool {
	return a < b || a != a && b == b
}

// A Point of a curve is a threshold, and the weights of the rows of either class whose score is that or more: their
// numbers if rows have no weights.
type Point struct{ Threshold, FalsePositives, TruePositives float64 }

// Precision returns the share of positive rows among those of a point, NaN if it has no rows.
func (p Point) Precision() float64 { return p.TruePositives / (p.TruePositives + p.FalsePositives) }

// points returns a point of no rows, whose threshold is infinite, and one for each different score, from the highest to
// the lowest.
func (s *Scores) points() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		s.sort()
		p, n := &prefix{side: &s.positive, left: len(s.positive.scores)}, &prefix{side: &s.negative, left: len(s.negative.scores)}
		for point := (Point{Threshold: math.Inf(1)}); yield(point) && (p.left > 0 || n.left > 0); {
			var at float32
			if n.left == 0 || p.left > 0 && less(n.scores[n.left-1], p.scores[p.left-1]) {
				at = p.scores[p.left-1]
			} else {
				at = n.scores[n.left-1]
			}
			p.take(at)
			n.take(at)
			point = Point{float64(at), n.weight(), p.weight()}
		}
	}
}

// last returns the point of all rows.
func (s *Scores) last() Point { return Point{math.NaN(), s.negative.weight(), s.positive.weight()} }

// AUC returns the area under the ROC curve: the probability that a random positive row has a higher score than a random
// negative one. Equal scores count half (Mann and Whitney 1947; Hanley and McNeil 1982). It is NaN unless there are rows
// of both classes. It is the exact area, rounded once, while 2*P*N < 2^53 for P positive and N negative rows without
// weights. Otherwise there are some roundings more.
func (s *Scores) AUC() float64 {
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

// AveragePrecision returns the mean of the precisions at each different score as a threshold, each with the weight of
// the positive rows that have this score. It is NaN without positive rows.
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

// ROC returns the corners of the ROC curve, from the point of no rows to that of all rows. Points on the straight line
// between two others are left out, which leaves the area as it is. It sorts the scores in place.
func (s *Scores) ROC() []Point { return slices.Collect(s.roc()) }

func (s *Scores) roc() iter.Seq[Point] {
	return thinned(s.points(), func(a, b, c Point) bool {
		return equalProducts(b.FalsePositives-a.FalsePositives, c.TruePositives-b.TruePositives, b.TruePositives-a.TruePositives, c.FalsePositives-b.FalsePositives)
	})
}

// PrecisionRecall returns the points of the precision-recall curve, from the highest threshold to the lowest. The recall
// of a point is its true positives over those of the last point. Points between two others of the same precision, or of
// the same recall, are left out. So are points whose rows all have the weight 0: they have no precision. It is nil without
// positive rows. It sorts the scores in place.
func (s *Scores) PrecisionRecall() []Point { return slices.Collect(s.precisionRecall()) }

func (s *Scores) precisionRecall() iter.Seq[Point] {
	points := func(yield func(Point) bool) {
		if s.last().TruePositives == 0 {
			return
		}
		for p := range s.points() {
			if p.TruePositives+p.FalsePositives > 0 && !yield(p) {
				return
			}
		}
	}
	return thinned(points, func(a, b, c Point) bool {
		same := func(x, y Point) bool { // precision
			return equalProducts(x.TruePositives, y.FalsePositives, y.TruePositives, x.FalsePositives)
		}
		return a.TruePositives == c.TruePositives && a.FalsePositives > 0 || same(a, b) && same(b, c)
	})
}

// CurvePoints returns the numbers of points of ROC and of PrecisionRecall, without the memory that these take. It sorts
// the scores in place.
func (s *Scores) CurvePoints() (roc, precisionRecall int) {
	for range s.roc() {
		roc++
	}
	for range s.precisionRecall() {
		precisionRecall++
	}
	return roc, precisionRecall
}

// Outline returns points of ROC and of PrecisionRecall for pictures, at most that many of each, 3 or more. For each point that is left
// out, one stays whose rate of false positives and whose recall differ by less than 2/(most-2). It sorts the scores in place.
func (s *Scores) Outline(most int) (roc, precisionRecall []Point) {
	all := s.last()
	share := func(v, of float64) float64 {
		if of > 0 {
			return v / of
		}
		return 0
	}
	cells := float64(most-2) / 2 // of the way from no rows to all: both rates grow from 0 to 1
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

// thinned returns points without those that are between the points beside them. The first two stay.
func thinned(points iter.Seq[Point], between func(a, b, c Point) bool) iter.Seq[Point] {
	return func(yield func(Point) bool) {
		var last [2]Point // the last points that stay so far
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

// equalProducts tells whether a*b is c*d, exactly.
func equalProducts(a, b, c, d float64) bool {
	p, q := float64(a*b), float64(c*d)
	return p == q && math.FMA(a, b, -p) == math.FMA(c, d, -q)
}
