package logistic

import (
	"math"

	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
)

type sums struct {
	Loss      float64
	Objective float64   // loss plus penalty
	Gradient  []float64 // gradient of the objective, in the layout of the weights
	// Margin is the smallest y (w.x), or difference between the score of a row's class and the greatest score of
	// another class.
	Margin float64
	// LargestScore is the largest |w.x|, or difference between a row's greatest and least score.
	LargestScore float64
	Weight       float64 // the sum of sample weights
	LeastWeight  float64 // the least sample weight above 0
	// Hessian is the Hessian of the objective in the order of compact: the rows of its lower triangle.
	Hessian       []float64
	LargestValues []float64 // the greatest absolute value of each column; nil if the pass doesn't compute it
}

func (s *sums) add(t sums) {
	s.Loss += t.Loss
	f64.Axpy(s.Gradient, 1, t.Gradient)
	s.Margin, s.LargestScore = min(s.Margin, t.Margin), max(s.LargestScore, t.LargestScore)
	s.Weight, s.LeastWeight = s.Weight+t.Weight, min(s.LeastWeight, t.LeastWeight)
	for i, v := range t.LargestValues {
		s.LargestValues[i] = max(s.LargestValues[i], v)
	}
}

// addWeights adds the sample weights of n rows. w is nil if all are 1.
func (s *sums) addWeights(w []float64, n int) {
	if w == nil {
		s.Weight, s.LeastWeight = float64(n), 1
		return
	}
	for _, v := range w {
		if s.Weight += v; v > 0 {
			s.LeastWeight = min(s.LeastWeight, v)
		}
	}
}

// A scratch is work memory for the rows of a problem.
type scratch struct {
	cols   int
	panel  *linalg.Panel
	rows   block.Block // of the panel
	reader linalg.WideReader
	scores []float64 // scores of a panel's rows, for each vector
	s      [block.ChunkRows]float64

	ones, y, factors, losses [linalg.PanelRows]float64 // one element for each row of a panel
}

// logistic adds the losses of rows of two classes. It sets the rows' factors in the gradient and, in s, their factors
// in the Hessian. Losses and factors are multiplied by the sample weights.
func (c *scratch) logistic(rows *block.Block, scores, s []float64, r *sums) {
	n := len(scores)
	for i, y := range rows.Y {
		c.y[i] = float64(y)
	}
	f64.Logistic(scores, c.factors[:n], s, c.losses[:n], c.y[:n])
	weights := c.ones[:n]
	if rows.W != nil {
		weights = rows.W
		c.multiply(weights, scores, s)
	}
	r.Loss += f64.Dot(c.losses[:n], weights)
	for _, m := range scores {
		if size := math.Abs(m); size > r.LargestScore {
			r.LargestScore = size
		}
		if m < r.Margin {
			r.Margin = m
		}
	}
	factors := c.panel.Factors()
	for i, f := range c.factors[:n] {
		factors[i*linalg.PanelCols] = f
	}
}

// multiply multiplies the factors of rows by their sample weights. A row with a sample weight of 0 adds nothing to any
// sum, even if its margin is NaN or infinite.
func (c *scratch) multiply(weights, margins, s []float64) {
	for i, weight := range weights {
		if weight == 0 {
			margins[i], s[i], c.factors[i], c.losses[i] = math.NaN(), 0, 0, 0
			continue
		}
		s[i] *= weight
		c.factors[i] *= weight
	}
}

// softmax sets losses to the losses of rows of more than two classes, and adds them to r one after another. It sets the
// rows' factors in the gradients. scores has linalg.PanelRows elements for each class. softmax replaces the scores by
// the probabilities of the classes.
//
// Let s_m be the greatest score of a row, e_k = exp(s_k - s_m), and rest the sum of e_k over the k other than m. The
// loss is log(1 + rest) - (s_y - s_m). The factor of class k is e_k/(1 + rest), minus 1 if k is y. Loss and factor are
// multiplied by the sample weight.
func softmax(scores []float64, y []float32, weights, factors, losses []float64, r *sums) {
	var best [softmaxRows]int
	var own, rest [softmaxRows]float64
	centreScores(scores, y, weights, best[:], own[:], r)
	n := len(y)
	for k := range len(scores) / softmaxRows {
		e := scores[k*softmaxRows:][:n]
		f64.Exp(e, e)
		for i, v := range e {
			if k != best[i] {
				rest[i] += v
			}
		}
	}
	for k := range len(scores) / softmaxRows {
		at := k/linalg.PanelCols*softmaxRows*linalg.PanelCols + k%linalg.PanelCols
		for i, v := range scores[k*softmaxRows:][:n] {
			sum := 1 + rest[i]
			v /= sum
			scores[k*softmaxRows+i] = v
			switch {
			case int(y[i]) != k:
			case best[i] == k: // 1/sum - 1
				v = -rest[i] / sum
			default:
				v--
			}
			if weights != nil {
				v *= weights[i]
			}
			factors[at+i*linalg.PanelCols] = v
		}
	}
	f64.Log1p(rest[:n], rest[:n])
	for i, v := range rest[:n] {
		if v -= own[i]; weights != nil {
			v = float64(v * weights[i])
		}
		losses[i] = v
		r.Loss += v
	}
}

// softmaxRows is the largest number of rows in one call of softmax.
const softmaxRows = linalg.PanelRows

// centreScores subtracts the greatest score of each row from all scores of the row. It sets best to the class with that
// score, and own to the remaining score of the row's own class. It updates r.Margin and r.LargestScore.
func centreScores(scores []float64, y []float32, weights []float64, best []int, own []float64, r *sums) {
	classes := len(scores) / softmaxRows
	for i, y := range y {
		class := int(y)
		other, lowest := math.Inf(-1), math.Inf(1) // the greatest score of another class, and the least score of all classes
		for k := range classes {
			s := scores[k*softmaxRows+i]
			lowest = min(lowest, s)
			if s > scores[best[i]*softmaxRows+i] {
				best[i] = k
			}
			if k != class && s > other {
				other = s
			}
		}
		greatest := scores[best[i]*softmaxRows+i]
		own[i] = scores[class*softmaxRows+i] - greatest
		if weights == nil || weights[i] > 0 {
			r.Margin = min(r.Margin, scores[class*softmaxRows+i]-other)
			r.LargestScore = max(r.LargestScore, greatest-lowest)
		}
		for k := range classes {
			scores[k*softmaxRows+i] -= greatest
		}
	}
}
