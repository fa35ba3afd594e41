package console

import (
	"crypto/sha256"
	"math"
	"testing"

	"halfspace/train/learner"
)

func sum() (s [sha256.Size]byte) { return s }

// TestCurve: the curve of a perceptron is the updates of each epoch, that of a pocket its fewest errors, that of a solver its objective. What
// comes between two epochs is no part of it.
func TestCurve(t *testing.T) {
	perceptron := []learner.Progress{{BestErrors: -1}, {Updates: 50, BestErrors: -1}, {Updates: 80, BestErrors: -1, Sum: sum}, {Updates: 90, BestErrors: -1}, {Updates: 90, BestErrors: -1, Sum: sum}, {Updates: 90, BestErrors: -1, Sum: sum}}
	resumed := []learner.Progress{{Updates: 1000, BestErrors: -1}, {Updates: 1080, BestErrors: -1, Sum: sum}, {Updates: 1090, BestErrors: -1, Sum: sum}}
	pocket := []learner.Progress{{BestErrors: 5000, Sum: sum}, {BestErrors: 10, Sum: sum}}
	solver := []learner.Progress{{Sum: sum, Measure: &learner.Measure{Objective: 7.5}}, {Sum: sum, Measure: &learner.Measure{Objective: 2.5}}}
	restarted := append([]learner.Progress{solver[0], solver[1]}, learner.Progress{Sum: sum, Measure: &learner.Measure{Objective: 7.5}}, learner.Progress{Sum: sum, Measure: &learner.Measure{Objective: 1.5}})
	for _, c := range []struct {
		of   []learner.Progress
		most int
		want string
	}{
		{perceptron, 80, "█▂▁ updates per epoch, 80 to 0"},
		{perceptron, 29, "█▁ updates per epoch, 80 to 0"},
		{perceptron, 28, ""},
		{resumed, 80, "█▁ updates per epoch, 80 to 10"},
		{pocket, 80, "█▁ fewest errors so far, 5,000 to 10"},
		{solver, 80, "█▁ objective, 7.5 to 2.5"},
		{restarted, 80, "█▁ objective, 7.5 to 1.5"},
		{pocket[:1], 80, ""},
		{nil, 80, ""},
	} {
		w := Training{curve: curve{epochsPerValue: 1}}
		for _, p := range c.of {
			w.curve.follow(&p)
		}
		if got := w.Sparkline(c.most); got != c.want {
			t.Errorf("%q in %d characters, want %q", got, c.most, c.want)
		}
	}
}

// TestCurveBounded: a curve of a million epochs keeps its shape in a few values.
func TestCurveBounded(t *testing.T) {
	c := curve{epochsPerValue: 1}
	const epochs = 1 << 20
	for i := range epochs {
		c.add(float64(i))
	}
	if n := len(c.values); n < mostValues/2 || n > mostValues || c.epochsPerValue*n != epochs {
		t.Fatalf("%d values of %d epochs each", n, c.epochsPerValue)
	}
	for i, v := range c.values {
		if want := float64(i*c.epochsPerValue) + float64(c.epochsPerValue-1)/2; v != want {
			t.Fatalf("value %d is %v, want %v", i, v, want)
		}
	}
}

// TestSparkline: the greatest mean is the highest block, the least the lowest.
func TestSparkline(t *testing.T) {
	for _, c := range []struct {
		values []float64
		most   int
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 80, "▁▂▃▄▅▆▇█"},
		{[]float64{100, 50, 25, 12, 6, 3, 0}, 80, "█▅▃▁▁▁▁"},
		{[]float64{9, 9, 1, 1, 5, 5}, 3, "█▁▅"},
		{[]float64{9, 8, 7, 1}, 3, "█▇▁"},
		{[]float64{-1e308, 1e308}, 9, ""},
		{[]float64{3, 3, 3}, 80, ""},
		{[]float64{3, math.NaN()}, 80, ""},
		{[]float64{3}, 80, ""},
		{[]float64{1, 2}, 1, ""},
		{nil, 80, ""},
	} {
		if got := sparkline(c.values, c.most); got != c.want {
			t.Errorf("%v in %d characters: %q, want %q", c.values, c.most, got, c.want)
		}
	}
}
