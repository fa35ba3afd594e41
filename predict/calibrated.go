package predict

import (
	"math"
	"sort"

	"halfspace/internal/model"
	"halfspace/kernel/f64"
)

// logit returns the logarithm of the odds of a class with the given score. The calibration must not be isotonic.
func (o Odds) logit(class int, score float64) float64 {
	if o.Calibration == nil {
		return score
	}
	p := &o.Calibration.Classes[class]
	return -(float64(p.A*score) + p.B)
}

func (o Odds) isIsotonic() bool {
	return o.Calibration != nil && o.Calibration.Method == model.Isotonic
}

// interpolate returns the probability of a score by an isotonic calibration, or NaN if the score is NaN.
func interpolate(p *model.Mapping, score float64) float64 {
	last := len(p.Scores) - 1
	switch i := sort.SearchFloat64s(p.Scores, score); {
	case score != score:
		return score
	case i == 0:
		return p.Probabilities[0]
	case i > last:
		return p.Probabilities[last]
	default:
		low, high := p.Probabilities[i-1], p.Probabilities[i]
		share := (score/2 - p.Scores[i-1]/2) / (p.Scores[i]/2 - p.Scores[i-1]/2) // halves don't overflow
		return min(high, low+float64(share*(high-low)))
	}
}

// isotonicRow sets row to the probabilities of the classes for row i. With one vector of scores it sets only the
// probability of the positive class.
func isotonicRow(row []float64, scores [][]float32, i int, o Odds) {
	sum := 0.0
	for c, s := range scores {
		row[c] = interpolate(&o.Calibration.Classes[c], float64(s[i]))
		sum += row[c]
	}
	if len(scores) == 1 {
		return
	}
	for c := range row {
		if sum == 0 { // no class is likely
			row[c] = 1 / float64(len(row))
		} else {
			row[c] /= sum
		}
	}
}

// setIsotonic is setProbabilities with an isotonic calibration.
func setIsotonic(p, scores [][]float32, o Odds, row []float64) {
	for i := range scores[0] {
		isotonicRow(row, scores, i, o)
		if len(scores) == 1 {
			p[o.Positive][i], p[1-o.Positive][i] = float32(row[0]), float32(1-row[0])
			continue
		}
		for c, v := range row {
			p[c][i] = float32(v)
		}
	}
}

// isotonicLosses is logLosses with an isotonic calibration.
func isotonicLosses(scores [][]float32, labels []float32, o Odds) []float64 {
	losses, row := make([]float64, len(labels)), make([]float64, len(scores))
	for i, y := range labels {
		isotonicRow(row, scores, i, o)
		switch {
		case len(scores) == 1 && y*y == 1:
			losses[i] = row[0]
			if y < 0 {
				losses[i] = 1 - row[0]
			}
		case len(scores) > 1 && isClass(y, len(scores)):
			losses[i] = row[int(y)]
		default:
			losses[i] = math.NaN()
		}
	}
	negativeLogs(losses)
	return losses
}

// negativeLogs replaces each probability p by -log(max(p, 2^-52)). It writes p as m 2^e with m at least 1/2, so that m
// - 1 is exact.
func negativeLogs(p []float64) {
	exponents := make([]int, len(p))
	for i, v := range p {
		p[i], exponents[i] = math.Frexp(max(v, 0x1p-52))
		p[i]--
	}
	f64.Log1p(p, p)
	for i, v := range p {
		p[i] = -(v + float64(float64(exponents[i])*math.Ln2))
	}
}
