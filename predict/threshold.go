package predict

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/metrics"
)

// A Threshold says how to choose the score above which a model of two classes predicts the positive class. The zero
// value makes no choice.
type Threshold struct {
	By                           string  // ByScore, ByProbability, ByF1 or ByCost; "": no choice
	Value                        float64 // score, finite, or probability, above 0 and below 1
	FalsePositive, FalseNegative float64 // costs of a wrong row, from 0 to mostCost; one of them is above 0
}

// The ways to choose a threshold.
const (
	ByScore       = "score"       // a given score
	ByProbability = "probability" // the score with a given probability of the positive class
	ByF1          = "f1"          // the score with the best F1 of the positive class on given rows
	ByCost        = "cost"        // the score with the least cost on given rows
)

// mostCost is the greatest cost. With it, sums of costs don't overflow unless sample weights are enormous.
const mostCost = 1e100

// ErrNoPositiveRows is the error if no row of the positive class has a weight above 0, so that no threshold has a best
// F1.
var ErrNoPositiveRows = errors.New("no row of the positive class has a weight, so that no threshold has the best F1")

// ParseThreshold reads a threshold: a number, p=NUMBER for a probability, f1, or the costs of a false positive and a
// false negative, for example cost=1:5.
func ParseThreshold(text string) (Threshold, error) {
	if text == ByF1 {
		return Threshold{By: ByF1}, nil
	}
	if costs, ok := strings.CutPrefix(text, "cost="); ok {
		a, b, _ := strings.Cut(costs, ":")
		t := Threshold{By: ByCost}
		var falsePositive, falseNegative bool
		t.FalsePositive, falsePositive = cost(a)
		t.FalseNegative, falseNegative = cost(b)
		if !falsePositive || !falseNegative || t.FalsePositive+t.FalseNegative == 0 {
			return Threshold{}, errors.New("write the cost of a false positive and that of a false negative, each at " +
				"most 1e100, such as cost=1:5")
		}
		return t, nil
	}
	if p, ok := strings.CutPrefix(text, "p="); ok {
		v, err := humanize.ParseNumber(p)
		if err != nil || !(v > 0 && v < 1) {
			return Threshold{}, errors.New("write a probability above 0 and below 1, such as p=0.3")
		}
		return Threshold{By: ByProbability, Value: v}, nil
	}
	v, err := humanize.ParseNumber(text)
	if err != nil || v-v != 0 {
		return Threshold{}, errors.New("use a score such as 0.5, a probability such as p=0.3, f1, or costs such as cost=1:5")
	}
	return Threshold{By: ByScore, Value: v}, nil
}

// cost reads a cost, a number from 0 to mostCost.
func cost(text string) (float64, bool) {
	v, err := humanize.ParseNumber(text)
	return v, err == nil && v >= 0 && v <= mostCost
}

// String returns the text that ParseThreshold reads, or "" for no choice.
func (t Threshold) String() string {
	switch t.By {
	case ByScore:
		return humanize.Exact(t.Value)
	case ByProbability:
		return "p=" + humanize.Exact(t.Value)
	case ByCost:
		return "cost=" + humanize.Exact(t.FalsePositive) + ":" + humanize.Exact(t.FalseNegative)
	}
	return t.By
}

// NeedsRows tells whether labelled rows choose the threshold.
func (t Threshold) NeedsRows() bool { return t.By == ByF1 || t.By == ByCost }

// Of returns the score of the threshold in a model. t must not need rows. Of returns an error if the model doesn't have
// two classes, or if t is a probability and the model has no probabilities.
func (t Threshold) Of(m *model.Model) (float64, error) {
	if n := len(m.Classes); n != 2 {
		return 0, fmt.Errorf("the model has %d classes: a threshold needs a model of two classes", n)
	}
	if t.By == ByScore {
		return t.Value, nil
	}
	if !m.HasProbabilities() {
		return 0, message.Errorf("the threshold %v is a probability, and a model of %s has none: calibrate the model with "+
			"train --calibrate, or give a score", t, m.Algorithm)
	}
	return OddsOf(m).ScoreAt(t.Value)
}

// ChooseThreshold returns the score of the threshold in a model. If t needs rows, scores must be the model's scores,
// and the result is a short decimal between two neighbouring scores. Otherwise the result is t.Of(m). Errors:
// ErrNoPositiveRows, and the errors of Threshold.Of.
func ChooseThreshold(t Threshold, m *model.Model, scores *metrics.Scores) (float64, error) {
	switch t.By {
	case ByF1:
		at, _ := scores.BestF1()
		if at != at {
			return 0, ErrNoPositiveRows
		}
		return at, nil
	case ByCost:
		at, _ := scores.LeastCost(t.FalsePositive, t.FalseNegative)
		return at, nil
	}
	return t.Of(m)
}

// ProbabilityBetween returns a short decimal p: as a probability, it stands for a threshold of at least low and below
// high in a model of two classes. ok is false if there is no such decimal, or if the model has no probabilities.
func ProbabilityBetween(m *model.Model, low, high float64) (p float64, ok bool) {
	if !m.HasProbabilities() || len(m.Classes) != 2 {
		return 0, false
	}
	odds := OddsOf(m)
	least, most := 0.0, 1.0
	if !math.IsInf(low, -1) {
		least = odds.ProbabilityAt(low)
	}
	if !math.IsInf(high, 1) {
		most = odds.ProbabilityAt(high)
	}
	metrics.Decimals(least, most, func(v float64) bool {
		if at, err := odds.ScoreAt(v); err == nil && at >= low && at < high {
			p, ok = v, true
		}
		return !ok
	})
	return p, ok
}
