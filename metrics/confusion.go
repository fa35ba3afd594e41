// Package metrics measures how good predictions are. Its accumulators take predictions in blocks of any size and in any
// order, with the same result, because their sums are exact. Rows may have weights. A row of weight 2 counts as two
// rows.
package metrics

import (
	"encoding/json"
	"math"

	"halfspace/internal/stats"
)

// Confusion counts rows by their class and their predicted class. Rows may have weights. A row of weight 2 counts as
// two rows. Sums of weights are exact, so they don't depend on the order of the rows.
type Confusion struct {
	classes          int
	rows             []int64 // row counts; element actual*classes + predicted
	weights, squares []Sum   // sums of the weights and of their squares; nil while all weights are 1
	hasFractions     bool    // some weight isn't a whole number
}

// NewConfusion returns the confusion of no rows. classes is the number of classes.
func NewConfusion(classes int) *Confusion {
	return &Confusion{classes: classes, rows: make([]int64, classes*classes)}
}

// Add adds a row. Its weight is 0 or more; it is 1 if rows have no weights.
func (c *Confusion) Add(actual, predicted int, weight float64) {
	i := actual*c.classes + predicted
	if weight != 1 && c.weights == nil {
		c.weights, c.squares = make([]Sum, len(c.rows)), make([]Sum, len(c.rows))
		for k, n := range c.rows {
			c.weights[k].Add(float64(n))
			c.squares[k].Add(float64(n))
		}
	}
	c.rows[i]++
	if c.weights != nil {
		c.weights[i].Add(weight)
		c.squares[i].Add(float64(weight * weight))
		c.hasFractions = c.hasFractions || weight != math.Trunc(weight)
	}
}

// Rows returns the number of rows.
func (c *Confusion) Rows() (n int64) {
	for _, count := range c.rows {
		n += count
	}
	return n
}

// Errors returns the number of rows whose prediction isn't their class.
func (c *Confusion) Errors() int64 {
	n := c.Rows()
	for k := range c.classes {
		n -= c.rows[k*c.classes+k]
	}
	return n
}

// Count returns the number of rows of class actual that were predicted to be of class predicted.
func (c *Confusion) Count(actual, predicted int) int64 { return c.rows[actual*c.classes+predicted] }

// Counts returns the number of rows of each class.
func (c *Confusion) Counts() []int64 {
	counts := make([]int64, c.classes)
	for i, n := range c.rows {
		counts[i/c.classes] += n
	}
	return counts
}

// HasWeights tells whether any row has a weight other than 1.
func (c *Confusion) HasWeights() bool { return c.weights != nil }

// Weight returns the weight of the rows of class actual that were predicted to be of class predicted. Without weights
// it is their number.
func (c *Confusion) Weight(actual, predicted int) float64 {
	return c.weightAt(actual, predicted).weight
}

// weightSums are the sum of the weights of some rows, and the sum of the squares of these weights.
type weightSums struct{ weight, squares float64 }

func (p weightSums) plus(o weightSums) weightSums {
	return weightSums{p.weight + o.weight, p.squares + o.squares}
}

func (c *Confusion) weightAt(actual, predicted int) weightSums {
	i := actual*c.classes + predicted
	if c.weights == nil {
		return weightSums{float64(c.rows[i]), float64(c.rows[i])}
	}
	return weightSums{c.weights[i].Value(), c.squares[i].Value()}
}

func (c *Confusion) correctWeight() (p weightSums) {
	for k := range c.classes {
		p = p.plus(c.weightAt(k, k))
	}
	return p
}

func (c *Confusion) weightOfClass(class int) (p weightSums) {
	for k := range c.classes {
		p = p.plus(c.weightAt(class, k))
	}
	return p
}

func (c *Confusion) weightPredicted(class int) (p weightSums) {
	for k := range c.classes {
		p = p.plus(c.weightAt(k, class))
	}
	return p
}

func (c *Confusion) totalWeight() (p weightSums) {
	for k := range c.classes {
		p = p.plus(c.weightOfClass(k))
	}
	return p
}

// Total returns the weight of all rows.
func (c *Confusion) Total() float64 { return c.totalWeight().weight }

// ActualWeight returns the weight of the rows of a class.
func (c *Confusion) ActualWeight(class int) float64 { return c.weightOfClass(class).weight }

// ErrorWeight returns the weight of the rows whose prediction isn't their class.
func (c *Confusion) ErrorWeight() float64 {
	wrong := 0.0
	for i := range c.rows {
		if actual, predicted := i/c.classes, i%c.classes; actual != predicted {
			wrong += c.weightAt(actual, predicted).weight
		}
	}
	return wrong
}

// Accuracy returns the share of rows whose prediction is their class; NaN without rows.
func (c *Confusion) Accuracy() float64 { return c.correctWeight().weight / c.totalWeight().weight }

// Precision returns the share of correct predictions among the predictions of a class; NaN if the class was never
// predicted.
func (c *Confusion) Precision(class int) float64 {
	return c.weightAt(class, class).weight / c.weightPredicted(class).weight
}

// Recall returns the share of correctly predicted rows among the rows of a class; NaN if the class has no rows.
func (c *Confusion) Recall(class int) float64 {
	return c.weightAt(class, class).weight / c.weightOfClass(class).weight
}

// F1 returns the harmonic mean of the precision and the recall of a class; NaN if it has no rows and was never
// predicted.
func (c *Confusion) F1(class int) float64 {
	return 2 * c.weightAt(class, class).weight / (c.weightPredicted(class).weight + c.weightOfClass(class).weight)
}

// MacroF1 returns the mean of F1 over the classes that have rows or were predicted.
func (c *Confusion) MacroF1() float64 { return mean(c.classes, c.F1, equalWeight) }

func equalWeight(int) float64 { return 1 }

// mean returns the weighted mean of a figure over the classes for which it isn't NaN.
func mean(classes int, figure, weight func(class int) float64) float64 {
	sum, all := 0.0, 0.0
	for k := range classes {
		if f := figure(k); f == f {
			w := weight(k)
			sum, all = sum+float64(f*w), all+w
		}
	}
	return sum / all
}

// WeightedF1 returns the mean of F1 over the classes, weighted by the weight of their rows. It is NaN without rows.
func (c *Confusion) WeightedF1() float64 { return mean(c.classes, c.F1, c.ActualWeight) }

// BalancedAccuracy returns the mean of the recall over the classes that have rows (Brodersen et al. 2010, "The balanced
// accuracy and its posterior distribution"). It is NaN without rows.
func (c *Confusion) BalancedAccuracy() float64 { return mean(c.classes, c.Recall, equalWeight) }

// AccuracyInterval returns the Wilson interval of the accuracy.
func (c *Confusion) AccuracyInterval() Interval {
	return interval(c.Accuracy(), c.totalWeight(), c.hasFractions)
}

// PrecisionInterval returns the Wilson interval of the precision of a class.
func (c *Confusion) PrecisionInterval(class int) Interval {
	return interval(c.Precision(class), c.weightPredicted(class), c.hasFractions)
}

// RecallInterval returns the Wilson interval of the recall of a class.
func (c *Confusion) RecallInterval(class int) Interval {
	return interval(c.Recall(class), c.weightOfClass(class), c.hasFractions)
}

// interval returns the Wilson interval of a share of rows. Whole weights are numbers of equal rows. With fractions, the
// rows are worth (sum of weights)^2 / (sum of squared weights) rows of equal weight (Kish 1965, "Survey Sampling").
func interval(share float64, of weightSums, fractions bool) Interval {
	n := of.weight
	if fractions {
		n = of.weight * of.weight / of.squares
	}
	return Wilson(share, n)
}

// MarshalJSON writes the weights of rows by their class and predicted class: [class][predicted class].
func (c *Confusion) MarshalJSON() ([]byte, error) {
	table := make([][]float64, c.classes)
	for k := range table {
		for p := range c.classes {
			table[k] = append(table[k], c.Weight(k, p))
		}
	}
	return json.Marshal(table)
}

// An Interval is the lowest and the highest share that are compatible with a sample.
type Interval [2]float64

// Wilson returns the 95 % interval of a share that was found among n rows (Wilson 1927, "Probable inference, the law of
// succession, and statistical inference"). Both ends are NaN if n is 0.
func Wilson(share, n float64) Interval {
	const z = stats.Quantile975
	center, half := share+z*z/(2*n), z*math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	ends := Interval{max(0, (center-half)/scale), min(1, (center+half)/scale)}
	// For 0 and 1, half equals center-0 or scale-center up to rounding.
	switch share {
	case 0:
		ends[0] = 0
	case 1:
		ends[1] = 1
	}
	return ends
}
