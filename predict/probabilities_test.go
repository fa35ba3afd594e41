package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/kernel"
	"halfspace/model"
)

// TestProbabilities compares the probabilities with their definitions in float64, for ordinary and extreme scores.
func TestProbabilities(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testProbabilities[float32](t, 1e-6) })
}

func testProbabilities[T kernel.Float](t *testing.T, tolerance float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 1000
	for _, classes := range []int{1, 3, 5} {
		scores := make([][]T, classes)
		for c := range scores {
			for i := range n {
				scores[c] = append(scores[c], T(rng.NormFloat64()*math.Pow(2, float64(i%10))-float64(i%7)*20))
			}
		}
		for _, way := range []string{"", model.OneVersusRest, model.Joint} {
			p := Probabilities(scores, Odds{Way: way})
			if len(p) != max(2, classes) {
				t.Fatalf("%d columns of %d vectors", len(p), classes)
			}
			for i := range n {
				want, sum, most := make([]float64, len(p)), 0.0, math.Inf(-1)
				for c := range scores {
					most = max(most, float64(scores[c][i]))
				}
				for c := range want {
					switch {
					case classes == 1:
						want[c] = 1 / (1 + math.Exp(float64(scores[0][i])*float64(2*c-1)))
					case way == model.Joint:
						want[c] = math.Exp(float64(scores[c][i]) - most)
					default: // times e^-most where that is large, so that it doesn't underflow
						want[c] = math.Exp(float64(scores[c][i])-min(0, most)) / (1 + math.Exp(float64(scores[c][i])))
					}
					sum += want[c]
				}
				for c := range want {
					if got := float64(p[c][i]); math.Abs(got-want[c]/sum) > tolerance*(want[c]/sum)+1e-37 {
						t.Fatalf("%d vectors, %q, row %d: class %d has %v, want %v", classes, way, i, c, got, want[c]/sum)
					}
				}
			}
		}
	}
	nan := T(math.NaN())
	if p := Probabilities([][]T{{nan}, {1}, {2}}, Odds{Way: model.OneVersusRest}); p[0][0] == p[0][0] {
		t.Errorf("a missing value has the probability %v", p[0][0])
	}
}

// TestLogLosses compares the losses with the logarithms of the probabilities, which are at least 2^-52. If these round to 0 or 1, it
// takes the logarithms of the definitions.
func TestLogLosses(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 1000
	for _, classes := range []int{1, 3, 5} {
		scores, labels := make([][]float64, classes), make([]float64, n)
		for i := range n {
			for c := range scores {
				scores[c] = append(scores[c], rng.NormFloat64()*math.Pow(2, float64(i%5))-float64(i%7))
			}
			if labels[i] = float64(rng.IntN(classes)); classes == 1 {
				labels[i] = float64(2*rng.IntN(2) - 1)
			}
		}
		for _, way := range []string{model.OneVersusRest, model.Joint} {
			p := Probabilities(scores, Odds{Way: way})
			for i, loss := range LogLosses(scores, labels, Odds{Way: way}) {
				if want := -math.Log(max(0x1p-52, p[Labelled(labels[i], classes, 0)][i])); math.Abs(loss-want) > 1e-14+1e-14*want {
					t.Fatalf("%d vectors, %q, row %d: %v, want %v", classes, way, i, loss, want)
				}
			}
		}
	}
	for _, c := range []struct {
		way    string
		scores []float64
		label  float64
		want   float64
	}{
		{"", []float64{30}, -1, 30},
		{"", []float64{800}, -1, 52 * math.Ln2},
		{"", []float64{-1e30}, 1, 52 * math.Ln2},
		{"", []float64{1e30}, 1, 0},
		{"", []float64{-70}, -1, math.Exp(-70)},
		{model.Joint, []float64{1000, -1000, 0}, 1, 52 * math.Ln2},
		{model.Joint, []float64{1000, 970, 0}, 1, 30},
		{model.Joint, []float64{-1000, -1000, -950}, 2, 2 * math.Exp(-50)},
		{model.OneVersusRest, []float64{-800, -801, -900}, 0, math.Log1p(math.Exp(-1))}, // probabilities e^s
		{model.OneVersusRest, []float64{-30, 3, -900}, 0, 30 - math.Log1p(math.Exp(-3))},
		{model.OneVersusRest, []float64{5, -60, -60}, 0, 2 * math.Exp(-60) * (1 + math.Exp(-5))},
	} {
		var scores [][]float64
		for _, s := range c.scores {
			scores = append(scores, []float64{s})
		}
		if got := LogLosses(scores, []float64{c.label}, Odds{Positive: 1, Way: c.way})[0]; !(math.Abs(got-c.want) <= 1e-14*c.want) || math.Signbit(got) {
			t.Errorf("%q, scores %v: the loss of label %v is %v, want %v", c.way, c.scores, c.label, got, c.want)
		}
	}
}

// TestLogLossPublished has the example of scikit-learn's documentation of log_loss, 0.21616, and the result of version
// 1.2.1 for three classes.
func TestLogLossPublished(t *testing.T) {
	var two []float64
	for _, p := range []float64{0.9, 0.1, 0.2, 0.65} {
		two = append(two, math.Log(p/(1-p)))
	}
	three := make([][]float64, 3)
	for _, p := range [][]float64{{0.7, 0.2, 0.1}, {0.1, 0.3, 0.6}, {0.25, 0.25, 0.5}, {0.05, 0.05, 0.9}} {
		for c := range three {
			three[c] = append(three[c], math.Log(p[c]))
		}
	}
	for want, losses := range map[float64][]float64{
		0.21616187468057912: LogLosses([][]float64{two}, []float64{1, -1, -1, 1}, Odds{Positive: 1}),
		0.58978886112061:    LogLosses(three, []float64{0, 2, 1, 2}, Odds{Way: model.Joint}),
	} {
		if got := (losses[0] + losses[1] + losses[2] + losses[3]) / 4; math.Abs(got-want) > 1e-15 {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestLogLossesOfNoClass: the loss of a label that stands for no class is NaN.
func TestLogLossesOfNoClass(t *testing.T) {
	for i, v := range LogLosses([][]float64{{1, 1, 1, 1}}, []float64{1, -1, 0, 2}, Odds{Positive: 1}) {
		if math.IsNaN(v) != (i >= 2) {
			t.Errorf("two classes, row %d: %v", i, v)
		}
	}
	three := [][]float64{{1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}
	for i, v := range LogLosses(three, []float64{0, 3, -1, 0.5}, Odds{Way: model.Joint}) {
		if math.IsNaN(v) != (i >= 1) {
			t.Errorf("three classes, row %d: %v", i, v)
		}
	}
}
