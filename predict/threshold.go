package predict

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"halfspace/internal/decimal"
	"halfspace/internal/say"
	"halfspace/metrics"
	"halfspace/model"
)

// A Threshold says how the score is chosen above which a model of two classes predicts the positive class. The zero value is no choice.
type Threshold struct {
	By                           string  // ByScore, ByProbability, ByF1 or ByCost; "": no choice
	Value                        float64 // the score, finite, or the probability, above 0 and below 1
	FalsePositive, FalseNegative float64 // the costs of a wrong row, from 0 to mostCost; one of them is above 0
}

// How a threshold is chosen.
const (
	ByScore       = "score"       // it is given
	ByProbability = "probability" // it is the score of a given probability of the positive class
	ByF1          = "f1"          // it has the best F1 of the positive class on some rows
	ByCost        = "cost"        // it has the least cost on some rows
)

// mostCost is the greatest cost. Sums of costs don't overflow then, unless sample weights are enormous.
const mostCost = 1e100

// ErrNoPositiveRows tells that no row of the positive class has a weight, so that no threshold has a best F1.
var ErrNoPositiveRows = errors.New("no row of the positive class has a weight, so that no threshold has the best F1")

// ParseThreshold reads a threshold: a number, p=NUMBER for a probability, f1, or the costs of a false positive and a false negative, such as
// cost=1:5.
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
			return Threshold{}, errors.New("write the cost of a false positive and that of a false negative, each at most 1e100, such as cost=1:5")
		}
		return t, nil
	}
	if p, ok := strings.CutPrefix(text, "p="); ok {
		v, err := decimal.Parse(p)
		if err != nil || !(v > 0 && v < 1) {
			return Threshold{}, errors.New("write a probability above 0 and below 1, such as p=0.3")
		}
		return Threshold{By: ByProbability, Value: v}, nil
	}
	v, err := decimal.Parse(text)
	if err != nil || v-v != 0 {
		return Threshold{}, errors.New("use a score such as 0.5, a probability such as p=0.3, f1, or costs such as cost=1:5")
	}
	return Threshold{By: ByScore, Value: v}, nil
}

// cost reads a cost, a number from 0 to mostCost.
func cost(text string) (float64, bool) {
	v, err := decimal.Parse(text)
	return v, err == nil && v >= 0 && v <= mostCost
}

// String returns the text that ParseThreshold reads; "" for no choice.
func (t Threshold) String() string {
	switch t.By {
	case ByScore:
		return say.Exact(t.Value)
	case ByProbability:
		return "p=" + say.Exact(t.Value)
	case ByCost:
		return "cost=" + say.Exact(t.FalsePositive) + ":" + say.Exact(t.FalseNegative)
	}
	return t.By
}

// NeedsRows tells whether rows with labels choose the threshold.
func (t Threshold) NeedsRows() bool { return t.By == ByF1 || t.By == ByCost }

// Of returns the score that the threshold stands for in a model. It is an error if the model has not two classes, or has no probabilities
// where t is one. t doesn't need rows.
func (t Threshold) Of(m *model.Model) (float64, error) {
	if n := len(m.Classes); n != 2 {
		return 0, fmt.Errorf("the model has %d classes: a threshold needs a model of two classes", n)
	}
	if t.By == ByScore {
		return t.Value, nil
	}
	if !m.HasProbabilities() {
		return 0, fmt.Errorf("the threshold %v is a probability, and a model of %s has none: calibrate the model with train --calibrate, or give a score", t, m.Algorithm)
	}
	return OddsOf(m).ScoreAt(t.Value)
}

// ChooseThreshold returns the score that the threshold stands for in a model: a number that the text of the threshold tells, or else a short
// decimal between two neighbours of the scores, which are those of the model. The error is ErrNoPositiveRows, or one of Threshold.Of.
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

// ProbabilityBetween returns a short decimal that stands, as a probability, for a threshold from low on and below high in a model of two
// classes. ok is false where there is none, and for a model without probabilities.
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
