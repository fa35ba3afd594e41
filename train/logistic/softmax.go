package logistic

import (
	"math"

	"halfspace/internal/dense"
	"halfspace/kernel"
)

// softmax adds the losses of rows of more than two classes to r, and sets the rows' factors in the gradients. scores
// has dense.PanelRows elements for each class; they become the probabilities of the classes.
//
// Let s_m be the greatest score of a row, e_k = exp(s_k - s_m), and rest the sum of e_k for k other than m. The loss is
// log(1 + rest) - (s_y - s_m). The factor of class k is e_k/(1 + rest), less 1 if k is y. Both are times the sample
// weight.
func softmax[T kernel.Float](scores []float64, y []T, weights, factors []float64, r *sums) {
	var best [softmaxRows]int
	var own, rest [softmaxRows]float64
	centreScores(scores, y, weights, best[:], own[:], r)
	n := len(y)
	for k := range len(scores) / softmaxRows {
		e := scores[k*softmaxRows:][:n]
		kernel.Exp(e, e)
		for i, v := range e {
			if k != best[i] {
				rest[i] += v
			}
		}
	}
	for k := range len(scores) / softmaxRows {
		at := k/dense.PanelCols*softmaxRows*dense.PanelCols + k%dense.PanelCols
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
			factors[at+i*dense.PanelCols] = v
		}
	}
	kernel.Log1p(rest[:n], rest[:n])
	for i, v := range rest[:n] {
		if v -= own[i]; weights != nil {
			v = float64(v * weights[i])
		}
		r.loss += v
	}
}

// softmaxRows is the most rows that softmax takes.
const softmaxRows = dense.PanelRows

// centreScores subtracts the greatest score of each row from all of its scores. It sets the class with that score in
// best, and what is left of the score of the row's own class in own. It updates r.margin and r.largest.
func centreScores[T kernel.Float](scores []float64, y []T, weights []float64, best []int, own []float64, r *sums) {
	classes := len(scores) / softmaxRows
	for i, y := range y {
		class := int(y)
		if class < 0 || class >= classes {
			r.noLabels = true
			class = 0
		}
		other, lowest := math.Inf(-1), math.Inf(1) // the greatest score of another class, the lowest of all
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
			r.margin = min(r.margin, scores[class*softmaxRows+i]-other)
			r.largest = max(r.largest, greatest-lowest)
		}
		for k := range classes {
			scores[k*softmaxRows+i] -= greatest
		}
	}
}
