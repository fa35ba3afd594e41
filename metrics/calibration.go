package metrics

import (
	"math"
)

// BrierLoss returns the Brier loss of row r, whose class is given. p has the probabilities of each class. For two
// classes the loss is (1-p)^2, where p is the probability of the row's class. For more classes it is the sum over all
// classes of (p-1)^2 for the row's class and p^2 for the other classes (Brier 1950).
func BrierLoss(p [][]float32, r, class int) float64 {
	if len(p) == 2 {
		off := 1 - float64(p[class][r])
		return float64(off * off)
	}
	sum := 0.0
	for k := range p {
		off := float64(p[k][r])
		if k == class {
			off--
		}
		sum += float64(off * off)
	}
	return sum
}

// Bins is the number of bins of a Calibration.
const Bins = 10

// edges are the upper ends of all bins but the last.
var edges = [Bins - 1]float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}

// Calibration compares predicted probabilities of the positive class with the share of positive rows, in ten bins of
// equal width. The zero value has no rows.
type Calibration struct {
	counts               *Confusion // of the bins, and 1 for positive rows or 0; nil without rows
	probabilities        [Bins]Sum  // sums of the probabilities times the weights, without those that wait
	waitingProbabilities [Bins][]float64
}

// Add adds a row with the predicted probability of the positive class. The weight is 1 if rows have no weights. A
// probability of NaN counts in no bin.
func (c *Calibration) Add(probability float64, positive bool, weight float64) {
	if probability != probability {
		return
	}
	i, is := 0, 0
	for _, edge := range edges { // no branch, because probabilities predict none
		above := 0
		if probability > edge {
			above = 1
		}
		i += above
	}
	if positive {
		is = 1
	}
	if c.counts == nil {
		c.counts = NewConfusion(Bins)
	}
	c.counts.Add(i, is, weight)
	c.waitingProbabilities[i] = append(c.waitingProbabilities[i], float64(probability*weight))
	if len(c.waitingProbabilities[i]) == mostNumbersAtOnce {
		c.addWaiting(i)
	}
}

// addWaiting adds the probabilities of a bin that wait.
func (c *Calibration) addWaiting(bin int) {
	c.probabilities[bin].addAll(c.waitingProbabilities[bin])
	c.waitingProbabilities[bin] = c.waitingProbabilities[bin][:0]
}

// A Bin is the rows whose predicted probability is above Low and at most High. The first bin also has rows with
// probability 0.
type Bin struct {
	Low, High   float64
	Rows        int64
	Weight      float64
	Probability float64  // mean predicted probability; NaN without weight
	Share       float64  // share of positive rows; NaN without weight
	Interval    Interval // interval of Share, computed like Confusion.AccuracyInterval
}

// Bins returns the bins, the lowest first.
func (c *Calibration) Bins() []Bin {
	counts := c.counts
	if counts == nil {
		counts = NewConfusion(Bins)
	}
	all, rows := make([]Bin, Bins), counts.Counts()
	for i := range all {
		c.addWaiting(i)
		in := counts.weightOfClass(i)
		all[i] = Bin{Low: float64(i) / Bins, High: float64(i+1) / Bins, Rows: rows[i], Weight: in.weight,
			Probability: c.probabilities[i].Value() / in.weight, Share: counts.weightAt(i, 1).weight / in.weight}
		all[i].Interval = interval(all[i].Share, in, counts.hasFractions)
	}
	return all
}

// Error returns the expected calibration error: the mean over the bins, by the weight of their rows, of the distance
// between the mean predicted probability and the share of positive rows (Naeini, Cooper and Hauskrecht 2015). It is NaN
// without rows.
func (c *Calibration) Error() float64 {
	sum, weight := 0.0, 0.0
	for _, b := range c.Bins() {
		if b.Weight > 0 {
			sum += float64(math.Abs(b.Probability-b.Share) * b.Weight)
			weight += b.Weight
		}
	}
	return sum / weight
}
