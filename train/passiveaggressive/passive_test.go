package passiveaggressive

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/train/learner"
)

func mustTrain(t *testing.T, src block.Source, opt Settings) *learner.Result {
	t.Helper()
	r := require.Value(Train(context.Background(), src, opt))(t)
	return r
}

// near fails unless weights agree but for the rounding of sums.
func near(t *testing.T, name string, got, want []float64) {
	t.Helper()
	scale := 1.0
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	for i, v := range want {
		if len(got) != len(want) || !(math.Abs(got[i]-v) <= 1e-6*scale) {
			t.Fatalf("%s: weights %v, want %v", name, got, want)
		}
	}
}

// TestScikitLearn: five epochs in file order give the weights of scikit-learn's PassiveAggressiveClassifier.
// testdata/sklearn_passive.py made the fixture.
func TestScikitLearn(t *testing.T) {
	data := require.Value(os.ReadFile("testdata/sklearn_passive.json"))(t)
	var fixture struct {
		Epochs int64
		Cases  []struct {
			Loss       Loss
			C          float64
			Bias       bool
			X          [][]float64
			Y, Weights []float64
		}
	}
	if err := json.Unmarshal(data, &fixture); err != nil || len(fixture.Cases) != 12 {
		t.Fatalf("%d cases, error %v", len(fixture.Cases), err)
	}
	for _, c := range fixture.Cases {
		r := mustTrain(t, testproblems.Dense(c.X, c.Y, c.Bias), Settings{Options: Options{Epochs: fixture.Epochs, Loss: c.Loss, C: c.C}})
		near(t, string(c.Loss), testproblems.Float64s(r.Weights), c.Weights)
	}
}

// twoClasses returns normal rows with a bias and a share of wrong labels; without those, a plane separates them.
func twoClasses(rows, features int, wrong float64) *block.Data {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(features)))
	var x [][]float64
	var y []float64
	for range rows {
		row, sum := make([]float64, features), 0.5
		for i := range row {
			row[i] = float64(float32(rng.NormFloat64()))
			sum += row[i] * float64(i%3-1)
		}
		label := math.Copysign(1, sum)
		row[0] -= label / 4 // a gap
		if rng.Float64() < wrong {
			label = -label
		}
		x, y = append(x, row), append(y, label)
	}
	return testproblems.Dense(x, y, true)
}

// TestBounds: sums of losses and numbers of mistakes keep the bounds of the paper, theorems 2, 4 and 5, for the plane
// that made the labels, and for others.
func TestBounds(t *testing.T) {
	for _, wrong := range []float64{0, 0.15} {
		src := twoClasses(2000, 6, wrong)
		for b := range src.Blocks(context.Background()) {
			radius := b.MaxSquaredNorm()
			for _, opt := range []Settings{{Options: Options{C: 1e9}}, {Options: Options{C: 0.1}}, {Options: Options{C: 10}}, {Options: Options{C: 0.1, Loss: SquaredHinge}}, {Options: Options{C: 10, Loss: SquaredHinge}}} {
				s := require.Value(newStepper(src.Spec(), opt))(t)
				squares, mistakes, scores := 0.0, 0.0, make([]float32, 1)
				for r, y := range b.Y {
					s.Step(scores, b, r, y)
					squares += math.Pow(max(0, 1-float64(y)*float64(scores[0])), 2)
					if y*scores[0] <= 0 {
						mistakes++
					}
				}
				for _, scale := range []float64{0.5, 1, 4, 8} {
					u := block.Alloc[float32](b.Stride)
					for i := range 6 {
						u[i] = float32(scale) * float32(i%3-1)
					}
					u[6] = float32(scale / 2)
					norm, losses, squared := float64(kernel.Dot(u, u)), 0.0, 0.0
					for r, y := range b.Y {
						l := max(0, 1-float64(y)*float64(b.Dot(r, u)))
						losses, squared = losses+l, squared+l*l
					}
					switch {
					case opt.Loss == SquaredHinge:
						if bound := (radius + 1/(2*opt.C)) * (norm + 2*opt.C*squared); squares > bound {
							t.Errorf("%+v: squared losses %v, bound %v", opt, squares, bound)
						}
					case max(radius, 1/opt.C)*(norm+2*opt.C*losses) < mistakes:
						t.Errorf("%+v: %v mistakes, bound %v", opt, mistakes, max(radius, 1/opt.C)*(norm+2*opt.C*losses))
					case opt.C == 1e9 && losses == 0 && squares > radius*norm:
						t.Errorf("squared losses %v, bound %v", squares, radius*norm)
					}
				}
			}
		}
	}
}

// TestConverges: once no row has a loss, the training stops. A separable set that the first epoch solves shows that.
func TestConverges(t *testing.T) {
	src := testproblems.Dense([][]float64{{2, 0}, {0, -2}, {4, 1}}, []float64{1, -1, 1}, false)
	r := mustTrain(t, src, Settings{Options: Options{C: 1000}})
	if !r.Converged || r.Epochs != 2 || r.Errors != 0 || r.Updates != 2 || !slices.Equal(r.Weights, []float32{0.5, 0.5}) {
		t.Errorf("%+v", r)
	}
}
