package scoring

import (
	"errors"
	"strings"

	"halfspace/internal/decimal"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/metrics"
)

// A threshold is the value of --threshold: a number, or how to choose one.
type threshold struct {
	typed                        string
	kind                         string // number, f1 or cost; "" if none was given
	number                       float64
	falsePositive, falseNegative float64 // costs
}

// String returns the threshold as it was typed.
func (t *threshold) String() string { return t.typed }

// Type names the type for pflag.
func (t *threshold) Type() string { return "threshold" }

// Set reads a threshold.
func (t *threshold) Set(text string) error {
	*t = threshold{typed: text}
	if text == "f1" {
		t.kind = "f1"
		return nil
	}
	if costs, ok := strings.CutPrefix(text, "cost="); ok {
		a, b, _ := strings.Cut(costs, ":")
		var falsePositive, falseNegative bool
		t.kind = "cost"
		t.falsePositive, falsePositive = cost(a)
		t.falseNegative, falseNegative = cost(b)
		if !falsePositive || !falseNegative || t.falsePositive+t.falseNegative == 0 {
			return errors.New("write the cost of a false positive and that of a false negative, each at most 1e100, such as cost=1:5")
		}
		return nil
	}
	var err error
	if t.number, err = decimal.Parse(text); err != nil || t.number-t.number != 0 {
		return errors.New("use a number, f1 or costs such as cost=1:5")
	}
	t.kind = "number"
	return nil
}

// thresholdOf returns the threshold for the scores of rows. It returns NaN for the best F1 if no row of the positive class
// has a sample weight above 0.
func thresholdOf[T kernel.Float](t *threshold, scores *metrics.Scores[T]) float64 {
	at := t.number
	switch t.kind {
	case "f1":
		at, _ = scores.BestF1()
	case "cost":
		at, _ = scores.LeastCost(t.falsePositive, t.falseNegative)
	}
	return at
}

// mostCost is the greatest cost. Sums of costs don't overflow then, unless sample weights are enormous.
const mostCost = 1e100

// cost reads a cost, a number from 0 to mostCost.
func cost(text string) (float64, bool) {
	v, err := decimal.Parse(text)
	return v, err == nil && v >= 0 && v <= mostCost
}

// told returns the threshold of a report for people.
func (t *threshold) told(r *evalReport) string {
	at := say.Real(*r.Threshold)
	switch {
	case t.kind == "cost" && r.Cost == nil: // sample weights are enormous
		return at + ", of the least cost on these rows, which is infinite"
	case t.kind == "cost":
		return at + ", of the least cost on these rows: " + say.Real(*r.Cost)
	case t.kind == "f1":
		return at + ", of the best F1 on these rows: " + fixed(r.PerClass[r.positive].F1, 4)
	}
	return at
}
