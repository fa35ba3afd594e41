package ftrl

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/train/learner"
	"halfspace/train/logistic"
)

// clicks returns rows with a bias and features of very different frequencies, 0 or normal.
func clicks(rows, features int) *block.Data {
	rng := rand.New(rand.NewPCG(uint64(rows), uint64(features)))
	var x [][]float64
	var y []float64
	for range rows {
		row, score := make([]float64, features), 0.3
		for i := range row {
			if rng.IntN(1+i) == 0 {
				row[i] = float64(float32(rng.NormFloat64()))
				score += row[i] * float64(i%3-1)
			}
		}
		label := -1.0
		if rng.Float64() < 1/(1+math.Exp(-2*score)) {
			label = 1
		}
		x, y = append(x, row), append(y, label)
	}
	return testproblems.Dense(x, y, true)
}

// weightOf is a weight of each row, some of them 0.
func weightOf(r int) float64 { return float64(r%4) / 2 }

// slopeOf is the derivative of a loss by the score, by math.Exp.
func slopeOf(loss Loss, y, score float64) float64 {
	switch {
	case loss == Logistic:
		return -y / (1 + math.Exp(y*score))
	case y*score < 1:
		return -y
	}
	return 0
}

// near fails unless weights agree but for rounding.
func near(t *testing.T, name string, got, want []float64) {
	t.Helper()
	for i, v := range want {
		if len(got) != len(want) || !(math.Abs(got[i]-v) <= 1e-6*(1+math.Abs(v))) {
			t.Fatalf("%s: weights %v, want %v", name, got, want)
		}
	}
}

// TestFTRLLiteral compares with algorithm 1 of the paper, said literally. It computes the weights of a row's features
// when the row comes.
func TestFTRLLiteral(t *testing.T) {
	data := clicks(400, 8)
	for _, src := range []*block.Data{data, testproblems.Weighted(data, weightOf)} {
		for _, o := range []Settings{{}, {Options: Options{Alpha: 0.5, Beta: 0.3, L1: 2, L2: 3}}, {Options: Options{Alpha: 2, L1: 10}}} {
			o.Epochs = 3
			r := require.Value(TrainFTRL(context.Background(), src, o))(t)
			alpha, beta := 0.1, 1.0
			if o.Alpha > 0 {
				alpha = o.Alpha
			}
			if o.Beta > 0 {
				beta = o.Beta
			}
			z, n := make([]float64, 9), make([]float64, 9)
			weight := func(i int) float64 {
				l1, l2 := o.L1, o.L2
				if i == 8 {
					l1, l2 = 0, 0
				}
				if math.Abs(z[i]) <= l1 {
					return 0
				}
				return -1 / ((beta+math.Sqrt(n[i]))/alpha + l2) * (z[i] - math.Copysign(l1, z[i]))
			}
			for range o.Epochs {
				for b := range src.Blocks(context.Background()) {
					for row, y := range b.Y {
						w, score := make([]float64, 9), 0.0
						for i, v := range testproblems.Float64s(b.X[row*b.Stride:][:9]) {
							w[i] = weight(i)
							score += w[i] * v
						}
						for i, v := range testproblems.Float64s(b.X[row*b.Stride:][:9]) {
							g := slopeOf(Logistic, float64(y), score) * v * b.Weight(row)
							sigma := 1 / alpha * (math.Sqrt(n[i]+g*g) - math.Sqrt(n[i]))
							z[i] += g - sigma*w[i]
							n[i] += g * g
						}
					}
				}
			}
			want, zeros := make([]float64, 9), 0
			for i := range want {
				if want[i] = weight(i); want[i] == 0 {
					zeros++
				}
			}
			near(t, "ftrl", testproblems.Float64s(r.Weights), want)
			if o.L1 == 10 && (zeros == 0 || zeros == 9) {
				t.Errorf("%d weights are 0 with l1 10", zeros)
			}
		}
	}
}

// TestAdaGradLiteral compares with the gradient steps of the paper, said literally.
func TestAdaGradLiteral(t *testing.T) {
	data := clicks(400, 8)
	for _, src := range []*block.Data{data, testproblems.Weighted(data, weightOf)} {
		for _, loss := range Losses {
			o := AdaGradSettings{AdaGradOptions: AdaGradOptions{Epochs: 3, Eta: 0.4, Loss: loss}}
			r := require.Value(TrainAdaGrad(context.Background(), src, o))(t)
			w, n, updates := make([]float64, 9), make([]float64, 9), int64(0)
			for range o.Epochs {
				for b := range src.Blocks(context.Background()) {
					for row, y := range b.Y {
						score := 0.0
						for i, v := range testproblems.Float64s(b.X[row*b.Stride:][:9]) {
							score += w[i] * v
						}
						slope := slopeOf(loss, float64(y), score) * b.Weight(row)
						if slope != 0 {
							updates++
						}
						for i, v := range testproblems.Float64s(b.X[row*b.Stride:][:9]) {
							g := slope * v
							n[i] += g * g
							w[i] -= o.Eta * g / (1e-10 + math.Sqrt(n[i]))
						}
					}
				}
			}
			near(t, string(loss), testproblems.Float64s(r.Weights), w)
			if r.Updates != updates {
				t.Errorf("%s: %d updates, want %d", loss, r.Updates, updates)
			}
		}
	}
}

// TestOptimum: after many epochs, the loss is near the optimum of logistic regression, and above it.
func TestOptimum(t *testing.T) {
	src := clicks(2000, 8)
	best := require.Value(logistic.Train(context.Background(), src, logistic.Settings{Options: logistic.Options{NoPenalty: true}}))(t)
	ftrl := require.Value(TrainFTRL(context.Background(), src, Settings{Options: Options{Epochs: 60, Order: learner.Shuffle, Alpha: 0.3}}))(t)
	ada := require.Value(TrainAdaGrad(context.Background(), src, AdaGradSettings{AdaGradOptions: AdaGradOptions{Epochs: 60, Order: learner.Shuffle, Eta: 0.3}}))(t)
	for name, r := range map[string]*learner.Result{"ftrl": ftrl, "adagrad": ada} {
		if r.Loss < best.Loss*(1-1e-9) || r.Loss > best.Loss*1.01 {
			t.Errorf("%s: loss %v, and the optimum is %v", name, r.Loss, best.Loss)
		}
	}
}

// TestBegin: weights that another training made are kept, whatever the rates, with its n or without.
func TestBegin(t *testing.T) {
	spec := clicks(2, 3).Spec()
	w := block.Alloc[float32](kernel.Stride(4))
	copy(w, []float32{0.25, -3, 0, 7})
	for _, r := range [][4]float64{{0.1, 1, 2, 0.5}, {0.3, delta, 0, 0}} {
		for _, state := range []map[string][]float64{nil, {"z": {1, 2, 3, 4}, "n": {5, 6, 0, 8}}} {
			s := require.Value(newStepper(spec, Logistic, r[0], r[1], r[2], r[3]))(t)
			s.Begin(w, state)
			for c, v := range w[:4] {
				if got := s.weight(c); math.Abs(float64(got-v)) > 1e-6*math.Abs(float64(v)) || s.w[c] != v {
					t.Errorf("column %d: weight %v follows from the state, want %v", c, got, v)
				}
			}
			if state != nil && !slices.Equal(s.State()["n"], state["n"]) {
				t.Errorf("n is %v", s.State()["n"])
			}
		}
	}
}
