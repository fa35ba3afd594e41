package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/model"
)

// defined returns the probability of each class for row i by their definitions in float64. Of two classes the first is positive.
func defined(scores [][]float32, i int, way string) []float64 {
	p, sum, most := make([]float64, max(2, len(scores))), 0.0, math.Inf(-1)
	for c := range scores {
		most = max(most, float64(scores[c][i]))
	}
	for c := range p {
		switch {
		case len(scores) == 1:
			p[c] = 1 / (1 + math.Exp(float64(scores[0][i])*float64(2*c-1)))
		case way == model.Joint:
			p[c] = math.Exp(float64(scores[c][i]) - most)
		default: // times e^-most where that is large, so that it doesn't underflow
			p[c] = math.Exp(float64(scores[c][i])-min(0, most)) / (1 + math.Exp(float64(scores[c][i])))
		}
		sum += p[c]
	}
	for c := range p {
		p[c] /= sum
	}
	return p
}

// TestProbabilities compares the probabilities with their definitions in float64, for ordinary and extreme scores.
func TestProbabilities(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 1000
	for _, classes := range []int{1, 3, 5} {
		scores := make([][]float32, classes)
		for c := range scores {
			for i := range n {
				scores[c] = append(scores[c], float32(rng.NormFloat64()*math.Pow(2, float64(i%10))-float64(i%7)*20))
			}
		}
		for _, way := range []string{"", model.OneVersusRest, model.Joint} {
			p := Probabilities(scores, Odds{Way: way})
			if len(p) != max(2, classes) {
				t.Fatalf("%d columns of %d vectors", len(p), classes)
			}
			for i := range n {
				for c, want := range defined(scores, i, way) {
					// Both have roundings in float64. Then one to float32 follows, which has no numbers between 0 and 2^-149.
					if got := float64(p[c][i]); math.Abs(got-want) > (0x1p-24+1e-12)*want+0x1p-150 {
						t.Fatalf("%d vectors, %q, row %d: class %d has %v, want %v", classes, way, i, c, got, want)
					}
				}
			}
		}
	}
	nan := float32(math.NaN())
	if p := Probabilities([][]float32{{nan}, {1}, {2}}, Odds{Way: model.OneVersusRest}); p[0][0] == p[0][0] {
		t.Errorf("a missing value has the probability %v", p[0][0])
	}
}

// TestLogLosses compares the losses with the logarithms of the probabilities by their definitions, which are at least 2^-52. If these
// round to 0 or 1 in float64, it takes the logarithms of the definitions.
func TestLogLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 1000
	for _, classes := range []int{1, 3, 5} {
		scores, labels := make([][]float32, classes), make([]float32, n)
		for i := range n {
			for c := range scores {
				scores[c] = append(scores[c], float32(rng.NormFloat64()*math.Pow(2, float64(i%5))-float64(i%7)))
			}
			if labels[i] = float32(rng.IntN(classes)); classes == 1 {
				labels[i] = float32(2*rng.IntN(2) - 1)
			}
		}
		for _, way := range []string{model.OneVersusRest, model.Joint} {
			for i, loss := range LogLosses(scores, labels, Odds{Way: way}) {
				if want := -math.Log(max(0x1p-52, defined(scores, i, way)[LabelClass(labels[i], classes, 0)])); math.Abs(loss-want) > 1e-14+1e-14*want {
					t.Fatalf("%d vectors, %q, row %d: %v, want %v", classes, way, i, loss, want)
				}
			}
		}
	}
	for _, c := range []struct {
		way    string
		scores []float32
		label  float32
		want   float64
	}{
		{"", []float32{30}, -1, 30},
		{"", []float32{800}, -1, 52 * math.Ln2},
		{"", []float32{-1e30}, 1, 52 * math.Ln2},
		{"", []float32{1e30}, 1, 0},
		{"", []float32{-70}, -1, math.Exp(-70)},
		{model.Joint, []float32{1000, -1000, 0}, 1, 52 * math.Ln2},
		{model.Joint, []float32{1000, 970, 0}, 1, 30},
		{model.Joint, []float32{-1000, -1000, -950}, 2, 2 * math.Exp(-50)},
		{model.OneVersusRest, []float32{-800, -801, -900}, 0, math.Log1p(math.Exp(-1))}, // probabilities e^s
		{model.OneVersusRest, []float32{-30, 3, -900}, 0, 30 - math.Log1p(math.Exp(-3))},
		{model.OneVersusRest, []float32{5, -60, -60}, 0, 2 * math.Exp(-60) * (1 + math.Exp(-5))},
	} {
		var scores [][]float32
		for _, s := range c.scores {
			scores = append(scores, []float32{s})
		}
		if got := LogLosses(scores, []float32{c.label}, Odds{Positive: 1, Way: c.way})[0]; !(math.Abs(got-c.want) <= 1e-14*c.want) || math.Signbit(got) {
			t.Errorf("%q, scores %v: the loss of label %v is %v, want %v", c.way, c.scores, c.label, got, c.want)
		}
	}
}

// TestLogLossPublished has the example of scikit-learn's documentation of log_loss, 0.21616, and the result of version
// 1.2.1 for three classes.
func TestLogLossPublished(t *testing.T) {
	var two []float32
	for _, p := range []float64{0.9, 0.1, 0.2, 0.65} {
		two = append(two, float32(math.Log(p/(1-p))))
	}
	three := make([][]float32, 3)
	for _, p := range [][]float64{{0.7, 0.2, 0.1}, {0.1, 0.3, 0.6}, {0.25, 0.25, 0.5}, {0.05, 0.05, 0.9}} {
		for c := range three {
			three[c] = append(three[c], float32(math.Log(p[c])))
		}
	}
	for want, losses := range map[float64][]float64{
		0.21616187468057912: LogLosses([][]float32{two}, []float32{1, -1, -1, 1}, Odds{Positive: 1}),
		0.58978886112061:    LogLosses(three, []float32{0, 2, 1, 2}, Odds{Way: model.Joint}),
	} {
		// Scores are at most 3 and rounded by up to 2^-23. Such shifts move the loss of a row by their size times twice the probability of
		// the other classes. The mean of that over these rows is below 1.
		if got := (losses[0] + losses[1] + losses[2] + losses[3]) / 4; math.Abs(got-want) > 0x1p-23 {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestLogLossesOfNoClass: the loss of a label that stands for no class is NaN.
func TestLogLossesOfNoClass(t *testing.T) {
	for i, v := range LogLosses([][]float32{{1, 1, 1, 1}}, []float32{1, -1, 0, 2}, Odds{Positive: 1}) {
		if math.IsNaN(v) != (i >= 2) {
			t.Errorf("two classes, row %d: %v", i, v)
		}
	}
	three := [][]float32{{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}
	for i, v := range LogLosses(three, []float32{0, 3, -1, 0.5}, Odds{Way: model.Joint}) {
		if math.IsNaN(v) != (i >= 1) {
			t.Errorf("three classes, row %d: %v", i, v)
		}
	}
}
