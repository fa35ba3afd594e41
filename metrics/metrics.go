// Package metrics measures how good predictions are. Its accumulators take predictions in pieces of any size with the
// same result. Except for LogLoss, their order doesn't matter.
package metrics

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"golang.org/x/sync/errgroup"

	"halfspace/block"
	"halfspace/kernel"
)

// Confusion counts rows by their class and the class predicted for them: Confusion[actual][predicted].
type Confusion [][]int64

// NewConfusion returns the confusion of no rows among that many classes.
func NewConfusion(classes int) Confusion {
	c := make(Confusion, classes)
	for i := range c {
		c[i] = make([]int64, classes)
	}
	return c
}

// Add counts a row.
func (c Confusion) Add(actual, predicted int) { c[actual][predicted]++ }

// Rows returns the number of rows counted.
func (c Confusion) Rows() int64 {
	n := int64(0)
	for i := range c {
		n += c.Actual(i)
	}
	return n
}

// Actual returns the number of rows of a class.
func (c Confusion) Actual(class int) int64 {
	n := int64(0)
	for _, count := range c[class] {
		n += count
	}
	return n
}

// Predicted returns the number of rows that a class was predicted for.
func (c Confusion) Predicted(class int) int64 {
	n := int64(0)
	for i := range c {
		n += c[i][class]
	}
	return n
}

// Errors returns the number of rows whose prediction is not their class.
func (c Confusion) Errors() int64 {
	n := c.Rows()
	for i := range c {
		n -= c[i][i]
	}
	return n
}

// Accuracy returns the share of rows whose prediction is their class, NaN without rows.
func (c Confusion) Accuracy() float64 {
	rows := c.Rows()
	return float64(rows-c.Errors()) / float64(rows)
}

// Precision returns the share of right ones among the predictions of a class, NaN if it was never predicted.
func (c Confusion) Precision(class int) float64 {
	return float64(c[class][class]) / float64(c.Predicted(class))
}

// Recall returns the share of the rows of a class for which it was predicted, NaN if the class has no rows.
func (c Confusion) Recall(class int) float64 {
	return float64(c[class][class]) / float64(c.Actual(class))
}

// F1 returns the harmonic mean of a class's precision and recall, NaN if it has no rows and was never predicted.
func (c Confusion) F1(class int) float64 {
	return float64(2*c[class][class]) / float64(c.Predicted(class)+c.Actual(class))
}

// LogLoss accumulates the mean loss of rows, such as minus the logarithm of the probability that was predicted for a
// row's class. It adds up within runs of block.RunRows rows, then over runs.
type LogLoss struct {
	run, sum float64
	rows     int64
}

// Add takes the losses of the next rows.
func (l *LogLoss) Add(losses []float64) {
	for _, v := range losses {
		l.run += v
		if l.rows++; l.rows%block.RunRows == 0 {
			l.sum += l.run
			l.run = 0
		}
	}
}

// Value returns the mean, NaN without rows.
func (l *LogLoss) Value() float64 { return (l.sum + l.run) / float64(l.rows) }

// AUC accumulates the ROC curve and the area under it. The area is the probability that a random positive row has a
// higher score than a random negative one. Equal scores count half (Mann and Whitney 1947; Hanley and McNeil 1982). It
// keeps every score.
type AUC[T kernel.Float] struct {
	positive, negative []T
}

// Add adds rows by their scores and as many labels. A label above zero is a positive row.
func (a *AUC[T]) Add(scores, labels []T) {
	if len(scores) != len(labels) {
		panic("metrics: the numbers of scores and labels differ")
	}
	for i, s := range scores {
		if labels[i] > 0 {
			a.positive = append(a.positive, s)
		} else {
			a.negative = append(a.negative, s)
		}
	}
}

// Bytes returns the most bytes that the scores take. A slice that grows is in memory twice for a while, and grows by a
// quarter.
func (a *AUC[T]) Bytes() int64 {
	const share = 9 // fourths
	return int64(len(a.positive)+len(a.negative)) * int64(unsafe.Sizeof(T(0))) * share / 4
}

// Value returns the area, NaN unless there are rows of both classes. A score of NaN ranks below every other. It sorts
// the scores in place.
//
// With P positive and N negative rows the result is the exact area, rounded once, while 2*P*N < 2^53 (134 million rows
// for certain). Beyond, the counts are rounded too, which makes three roundings. It holds up to 4e9 rows: twice the
// number of pairs is counted in 64 bits.
func (a *AUC[T]) Value() float64 {
	if len(a.positive) == 0 || len(a.negative) == 0 {
		return math.NaN()
	}
	a.sort()
	below, upTo := 0, 0
	halves := uint64(0)
	for _, p := range a.positive {
		for below < len(a.negative) && less(a.negative[below], p) {
			below++
		}
		for upTo < len(a.negative) && !less(p, a.negative[upTo]) {
			upTo++
		}
		halves += uint64(below) + uint64(upTo)
	}
	return float64(halves) / 2 / (float64(len(a.positive)) * float64(len(a.negative)))
}

func (a *AUC[T]) sort() {
	var g errgroup.Group
	g.Go(func() error { slices.Sort(a.positive); return nil })
	g.Go(func() error { slices.Sort(a.negative); return nil })
	g.Wait() // no error
}

// A Point is one of the ROC curve: how many rows of either class have a score of Threshold or more.
type Point[T kernel.Float] struct {
	Threshold                     T
	FalsePositives, TruePositives int64
}

// Curve returns the corners of the ROC curve. The curve has a point of no rows, whose threshold is infinite, and one
// for each different score, from the highest to the lowest. Points on the straight line between two others are left
// out, which leaves the area as it is. A score of NaN ranks below every other. Curve sorts the scores in place.
func (a *AUC[T]) Curve() []Point[T] {
	a.sort()
	curve := []Point[T]{{Threshold: T(math.Inf(1))}}
	p, n := len(a.positive), len(a.negative)
	for p > 0 || n > 0 {
		var at T
		if n == 0 || p > 0 && less(a.negative[n-1], a.positive[p-1]) {
			at = a.positive[p-1]
		} else {
			at = a.negative[n-1]
		}
		for ; p > 0 && !less(a.positive[p-1], at); p-- {
		}
		for ; n > 0 && !less(a.negative[n-1], at); n-- {
		}
		next := Point[T]{at, int64(len(a.negative) - n), int64(len(a.positive) - p)}
		if last := len(curve) - 1; last > 0 && between(curve[last-1], curve[last], next) {
			curve = curve[:last]
		}
		curve = append(curve, next)
	}
	return curve
}

// between tells whether b is on the straight line from a to c, exactly.
func between[T kernel.Float](a, b, c Point[T]) bool {
	high, low := bits.Mul64(uint64(b.FalsePositives-a.FalsePositives), uint64(c.TruePositives-b.TruePositives))
	otherHigh, otherLow := bits.Mul64(uint64(b.TruePositives-a.TruePositives), uint64(c.FalsePositives-b.FalsePositives))
	return high == otherHigh && low == otherLow
}

// less orders scores as slices.Sort does.
func less[T kernel.Float](a, b T) bool {
	return a < b || a != a && b == b
}
