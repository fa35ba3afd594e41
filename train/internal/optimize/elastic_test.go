package optimize_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/linalg"
	"halfspace/internal/require"
	"halfspace/train/internal/optimize"
)

// quadraticOf returns the point at w of the quadratic function with the gradient g at zeros and the Hessian X'X.
func quadraticOf(x [][]float64, g, w []float64) *optimize.Point {
	n := len(g)
	p := &optimize.Point{W: w, Gradient: make([]float64, n)}
	for i := range n {
		for j := range i + 1 {
			sum := 0.0
			for _, row := range x {
				sum += row[i] * row[j]
			}
			p.Hessian = append(p.Hessian, sum)
		}
	}
	at := func(i, j int) float64 { return p.Hessian[max(i, j)*(max(i, j)+1)/2+min(i, j)] }
	for i := range n {
		p.Gradient[i] = g[i]
		for j, v := range w {
			p.Gradient[i] += at(i, j) * v
			p.Loss += at(i, j) * v * w[i] / 2
		}
		p.Loss += g[i] * w[i]
	}
	p.Dual = func(*optimize.Step) *optimize.Dual { return nil }
	return p
}

// orthants returns the least objective of a quadratic function with a penalty. It takes each pattern of signs, finds the
// stationary point with these signs, and keeps the best of those that have them.
func orthants(t *testing.T, s *optimize.Search, x [][]float64, g []float64) float64 {
	n, best := len(g), math.Inf(1)
	features := n
	if s.Bias {
		features--
	}
	for pattern := range int(math.Pow(3, float64(features))) {
		signs, out := make([]float64, n), make([]bool, n)
		for i := range features {
			signs[i] = float64(pattern%3 - 1)
			out[i] = signs[i] == 0
			pattern /= 3
		}
		p := quadraticOf(x, g, make([]float64, n))
		b := make([]float64, n)
		for i := range n {
			b[i] = -g[i]
			if i < features {
				b[i] -= s.L1 * signs[i]
				p.Hessian[i*(i+1)/2+i] += s.L2
			}
		}
		f, _, err := linalg.FactoriseWithout(t.Context(), p.Hessian, n, out)
		if err != nil {
			t.Fatal(err)
		}
		w, fits := f.Solve(b), true
		for i := range features {
			fits = fits && w[i]*signs[i] >= 0 && !(s.NonNegative && w[i] < 0)
		}
		if fits {
			s.Point = quadraticOf(x, g, w)
			best = min(best, s.Objective(s.Point))
		}
	}
	return best
}

// TestQuadratic: one step from any weights leads to the minimum of a quadratic function, the best of all patterns of
// signs. Columns may be equal, nearly equal, constant or zero.
func TestQuadratic(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	for problem := range 300 {
		n := 1 + rng.IntN(5)
		s := &optimize.Search{Penalty: optimize.Penalty{L1: math.Exp(rng.NormFloat64()), L2: float64(rng.IntN(2)) * rng.Float64(), NonNegative: problem%3 == 0}, Bias: problem%2 == 0}
		x, g, start := make([][]float64, 12), make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = make([]float64, n)
			for j := range n {
				x[i][j] = rng.NormFloat64() + 3
			}
			switch problem % 7 {
			case 1:
				x[i][0] = x[i][n-1] // of two equal columns the optimum may use either
			case 2:
				x[i][0] = x[i][n/2] + 1e-6*rng.NormFloat64()
			case 3:
				x[i][0] = 2
			case 4:
				x[i][0] = 0
			}
			if s.Bias {
				x[i][n-1] = 1
			}
			y := 3 * rng.NormFloat64()
			for j := range n {
				g[j] -= y * x[i][j]
			}
		}
		for j := range start {
			start[j] = float64(rng.IntN(3)) * rng.NormFloat64()
			if s.NonNegative {
				start[j] = math.Abs(start[j])
			}
		}
		want := orthants(t, s, x, g)
		s.Point = quadraticOf(x, g, start)
		step := require.Value(s.Step(context.Background()))(t)
		at := slices.Clone(start)
		for j, d := range step.D {
			at[j] += d
		}
		end := quadraticOf(x, g, at)
		s.Point = end
		if got := s.Objective(end); !(math.Abs(got-want) <= 1e-9*(1+math.Abs(want))) {
			t.Errorf("problem %d of %d columns, penalty %v: objective %v, best of all signs %v", problem, n, s.Penalty, got, want)
		}
		for j, v := range step.Slope {
			if !(math.Abs(v-end.Gradient[j]) <= 1e-9*(1+math.Abs(v)+math.Abs(g[j]))) {
				t.Errorf("problem %d: gradient %v at the end of the step, want %v", problem, v, end.Gradient[j])
			}
		}
	}
}

// TestDampedBias: damping shortens the bias's step too. All rows of class +1 have the loss 0 at the start, so that the model's best
// bias is the one of the single other row, and far worse for all together.
func TestDampedBias(t *testing.T) {
	const most = 100
	s := &optimize.Search{Penalty: optimize.Penalty{L2: 1}, Bias: true, MostPasses: 1000}
	s.PointAt = func(_ context.Context, w []float64) (*optimize.Point, error) {
		p := &optimize.Point{W: slices.Clone(w), Gradient: make([]float64, 2), Hessian: make([]float64, 3)}
		p.Dual = func(*optimize.Step) *optimize.Dual { return nil }
		for r := range most + 1 {
			y := 1.0
			if r == most {
				y = -1
			}
			if u := 1 - y*w[1]; u > 0 {
				p.Loss += u * u
				p.Gradient[1] -= 2 * y * u
				p.Hessian[2] += 2
			}
		}
		return p, nil
	}
	require.NoError(t, s.Begin(t.Context(), []float64{0, 2}))
	require.Value(s.Minimise(t.Context(), 0))(t)
	if want := float64(most-1) / (most + 1); !(math.Abs(s.Point.W[1]-want) < 1e-6) {
		t.Errorf("bias %v after %d passes, want %v", s.Point.W[1], s.Passes, want)
	}
}
