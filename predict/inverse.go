package predict

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"halfspace/kernel/f64"
)

// ProbabilityAt returns the probability of the positive class of two classes at a score.
func (o Odds) ProbabilityAt(score float64) float64 {
	if o.isIsotonic() {
		return interpolate(&o.Calibration.Classes[0], score)
	}
	p := []float64{o.logit(0, score)}
	f64.Sigmoid(p, p)
	return p[0]
}

// ScoreAt returns the score at which the probability of the positive class of two classes is p, up to rounding. If
// several scores have this probability by an isotonic calibration, it returns the greatest of them. It returns an error
// if no score has the probability p, or if probabilities don't grow with scores.
func (o Odds) ScoreAt(p float64) (float64, error) {
	if !(p > 0 && p < 1) {
		return 0, fmt.Errorf("the probability %v: use one above 0 and below 1", p)
	}
	if o.isIsotonic() {
		return o.isotonicScore(p)
	}
	score := logOdds(p)
	if c := o.Calibration; c != nil {
		if !(c.Classes[0].A < 0) {
			return 0, errors.New("by its calibration, the model's probabilities don't grow with its scores: give the threshold as a score")
		}
		score = -(score + c.Classes[0].B) / c.Classes[0].A
	}
	if score-score != 0 {
		return 0, fmt.Errorf("the score whose probability is %v is too large: give the threshold as a score", p)
	}
	return score, nil
}

// logOdds returns log(p/(1-p)) with the same bits on every computer. It returns 0 for 0.5.
func logOdds(p float64) float64 {
	m, e := math.Frexp(p) // p = m 2^e, and m-1 is exact
	logs := []float64{m - 1, -p}
	f64.Log1p(logs, logs)
	return (logs[0] + float64(float64(e)*math.Ln2)) - logs[1]
}

// isotonicScore is ScoreAt with an isotonic calibration.
func (o Odds) isotonicScore(p float64) (float64, error) {
	c := &o.Calibration.Classes[0]
	last := len(c.Scores) - 1
	above := sort.Search(last+1, func(i int) bool { return c.Probabilities[i] > p })
	if above == 0 || above > last {
		return 0, fmt.Errorf("no score has the probability %v: by its calibration, the model's probabilities are "+
			"from %v to %v", p, c.Probabilities[0], c.Probabilities[last])
	}
	low, high := c.Probabilities[above-1], c.Probabilities[above]
	share := (p - low) / (high - low)
	score := float64(c.Scores[above-1]*(1-share)) + float64(c.Scores[above]*share)
	return max(c.Scores[above-1], min(score, math.Nextafter(c.Scores[above], math.Inf(-1)))), nil
}
