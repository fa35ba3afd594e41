package predict

import (
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/kernel"
	"halfspace/model"
)

// TestProbabilities holds the probabilities against their definitions in float64, for ordinary scores and extreme ones.
func TestProbabilities(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testProbabilities[float32](t, 1e-6) })
	t.Run("float64", func(t *testing.T) { testProbabilities[float64](t, 1e-14) })
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
			p := Probabilities(scores, 0, way)
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
	if p := Probabilities([][]T{{nan}, {1}, {2}}, 0, model.OneVersusRest); p[0][0] == p[0][0] {
		t.Errorf("a missing value has the probability %v", p[0][0])
	}
}
