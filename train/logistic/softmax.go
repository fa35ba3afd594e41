package logistic

import (
	"math"

	"halfspace/internal/dense"
	"halfspace/kernel"
)

// softmax adds up the losses of rows of more than two classes, and sets their factors in the gradients. Scores are dense.PanelRows
// for each class, and become the probabilities of the classes. With e_k = exp(s_k - s_m), s_m being the greatest score and rest the sum of e_k for k other than m, a
// row's loss is log(1 + rest) - (s_y - s_m), and class k's factor e_k/(1 + rest), less 1 if k is y, each times its weight.
func softmax[T kernel.Float](scores []float64, y []T, weights, factors []float64, r *sums) {
	const rows = dense.PanelRows
	var best [rows]int
	var own, rest [rows]float64
	classes := len(scores) / rows
	for i, y := range y {
		class := int(y)
		if class < 0 || class >= classes {
			r.noLabels = true
			class = 0
		}
		other, lowest := math.Inf(-1), math.Inf(1) // the greatest score of another class, the lowest of all
		for k := range classes {
			s := scores[k*rows+i]
			lowest = min(lowest, s)
			if s > scores[best[i]*rows+i] {
				best[i] = k
			}
			if k != class && s > other {
				other = s
			}
		}
		greatest := scores[best[i]*rows+i]
		own[i] = scores[class*rows+i] - greatest
		if weights == nil || weights[i] > 0 {
			r.margin = min(r.margin, scores[class*rows+i]-other)
			r.largest = max(r.largest, greatest-lowest)
		}
		for k := range classes {
			scores[k*rows+i] -= greatest
		}
	}
	n := len(y)
	for k := range classes {
		e := scores[k*rows:][:n]
		kernel.Exp(e, e)
		for i, v := range e {
			if k != best[i] {
				rest[i] += v
			}
		}
	}
	for k := range classes {
		at := k/dense.PanelCols*rows*dense.PanelCols + k%dense.PanelCols
		for i, v := range scores[k*rows:][:n] {
			sum := 1 + rest[i]
			v /= sum
			scores[k*rows+i] = v
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
