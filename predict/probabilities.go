package predict

import (
	"math"
	"slices"

	"halfspace/internal/model"
	"halfspace/kernel/f64"
)

// Odds maps scores to probabilities. OddsOf returns the Odds of a model.
type Odds struct {
	Positive    int                // number of the +1 class, for two classes
	Way         string             // model.OneVersusRest or model.Joint, for more than two classes
	Calibration *model.Calibration // nil: scores are logarithms of odds
}

// OddsOf returns the map from the scores of a model to probabilities; see model.Model.HasProbabilities.
func OddsOf(m *model.Model) Odds {
	return Odds{m.Spec().PositiveClass(), m.Options.Multiclass, m.Calibration}
}

// isJoint tells whether the scores of all classes are logarithms of joint odds.
func (o Odds) isJoint() bool { return o.Way == model.Joint && o.Calibration == nil }

// Probabilities returns the probability of each class for each row, in the order of the classes. They sum to 1.
//
// With one vector of scores s, the +1 class has 1/(1 + e^-s). If each class was learned separately, these probabilities
// are divided by their sum. If all vectors were learned together, class c has e^s_c / sum over k of e^s_k. Separately
// learned classes have this limit too if all probabilities are near 0. A calibration replaces 1/(1 + e^-s), for classes
// learned separately or together.
func Probabilities(scores [][]float32, o Odds) [][]float32 {
	p := make([][]float32, max(2, len(scores)))
	for c := range p {
		p[c] = make([]float32, len(scores[0]))
	}
	setProbabilities(p, scores, o, make([]float64, 2*len(scores)))
	return p
}

// setProbabilities writes the result of Probabilities to p. row is work memory of two numbers for each vector of
// scores.
func setProbabilities(p, scores [][]float32, o Odds, row []float64) {
	switch {
	case o.isIsotonic():
		setIsotonic(p, scores, o, row[:len(scores)])
		return
	case len(scores) == 1:
		var z [2][128]float64 // for the class of each sign
		for lo := 0; lo < len(scores[0]); lo += len(z[0]) {
			n := min(len(scores[0])-lo, len(z[0]))
			for i, s := range scores[0][lo:][:n] {
				v := o.logit(0, float64(s))
				z[0][i], z[1][i] = v, -v
			}
			for sign, class := range [2]int{o.Positive, 1 - o.Positive} {
				f64.Sigmoid(z[sign][:n], z[sign][:n])
				for i, v := range z[sign][:n] {
					p[class][lo+i] = float32(v)
				}
			}
		}
		return
	}
	row, odds := row[:len(scores)], row[len(scores):]
	for i := range scores[0] {
		for c, s := range scores {
			row[c] = o.logit(c, float64(s[i]))
		}
		if o.isJoint() {
			softmax(row)
		} else {
			normalise(row, odds)
		}
		for c, v := range row {
			p[c][i] = float32(v)
		}
	}
}

// subnormalSum is a sum of probabilities below which each probability is e^s up to rounding. Such small probabilities
// may be subnormal numbers, which have lost digits.
const subnormalSum = 1e-290

// normalise replaces the scores s by their probabilities, divided by the sum of the probabilities. p is work memory of
// the length of s.
func normalise(s, p []float64) {
	f64.Sigmoid(p, s)
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	if sum < subnormalSum {
		softmax(s)
		return
	}
	for c, v := range p {
		s[c] = v / sum
	}
}

// softmax replaces the scores s by e^s divided by the sum of all e^s.
func softmax(s []float64) {
	largest := slices.Max(s)
	for c := range s {
		s[c] -= largest
	}
	f64.Exp(s, s)
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	for c := range s {
		s[c] /= sum
	}
}

// LogLosses returns minus the logarithm of the probability of each row's class. labels are the labels of a block; see
// Probabilities for the other arguments. A probability below 2^-52 counts as 2^-52, as in scikit-learn, so one row
// costs at most 36.04. LogLosses computes losses from scores, so they are exact to a few ULP even if a probability is
// nearly 1. The loss of a row is NaN if its label stands for no class.
func LogLosses(scores [][]float32, labels []float32, o Odds) []float64 {
	const most = 52 * math.Ln2
	losses := logLosses(scores, labels, o)
	for i, v := range losses {
		losses[i] = max(0, min(v, most)) // max makes -0 a 0
	}
	return losses
}

// logLosses returns the losses without an upper bound, except for isotonic calibrations, whose losses are bounded.
func logLosses(scores [][]float32, labels []float32, o Odds) []float64 {
	if o.isIsotonic() {
		return isotonicLosses(scores, labels, o)
	}
	n := len(labels)
	losses, logs := make([]float64, n), make([][]float64, len(scores))
	if len(scores) == 1 {
		for i, s := range scores[0] {
			losses[i] = o.logit(0, float64(s)) * float64(labels[i])
		}
		logSigmoid(losses)
		for i, y := range labels {
			if losses[i] = -losses[i]; y*y != 1 {
				losses[i] = math.NaN()
			}
		}
		return losses
	}
	for c := range scores {
		logs[c] = make([]float64, n)
		for i, s := range scores[c] {
			logs[c][i] = o.logit(c, float64(s))
		}
		if !o.isJoint() {
			logSigmoid(logs[c])
		}
	}
	row := make([]float64, len(scores))
	for i, y := range labels {
		for c := range logs {
			row[c] = logs[c][i]
		}
		if !isClass(y, len(scores)) {
			losses[i] = math.NaN()
			continue
		}
		losses[i] = logLoss(row, int(y))
	}
	return losses
}

// isClass tells whether a label is the number of a class, from 0 to classes-1.
func isClass(y float32, classes int) bool {
	return y >= 0 && y < float32(classes) && y == float32(int(y))
}

// logSigmoid replaces each score s by log(1/(1 + e^-s)) = min(s, 0) - log(1 + e^-|s|).
func logSigmoid(s []float64) {
	tail := make([]float64, len(s))
	for i, v := range s {
		tail[i] = -math.Abs(v)
	}
	f64.Exp(tail, tail)
	f64.Log1p(tail, tail)
	for i, v := range s {
		s[i] = min(v, 0) - tail[i]
	}
}

// logLoss returns log(sum over k of e^s_k) - s_class. It overwrites the scores s.
func logLoss(s []float64, class int) float64 {
	best := 0
	for c := range s {
		if s[c] > s[best] {
			best = c
		}
	}
	largest, own := s[best], s[class]
	for c := range s {
		s[c] -= largest
	}
	s[best] = math.Inf(-1) // log1p adds 1 for it
	f64.Exp(s, s)
	rest := s[:1]
	for _, v := range s[1:] {
		rest[0] += v
	}
	f64.Log1p(rest, rest)
	return (largest - own) + rest[0]
}
