package kernelperceptron

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"halfspace/gram"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/predict"
	"halfspace/schema"
	"halfspace/train/learner"
)

// A literalTraining follows Freund and Schapire's listing: a list of classifiers v_k, each with the number c_k of
// visits that it survived. Predictions sum over all of them.
type literalTraining struct {
	k        func(x, z []float64) float64
	x        [][]float64
	y        []float64
	weight   func(row int) float64
	mistakes []int // rows, in order
	survived []float64
}

func (l *literalTraining) train(epochs int) {
	for range epochs {
		for i, x := range l.x {
			s := 0.0
			for _, j := range l.mistakes {
				s += l.weight(j) * l.y[j] * l.k(l.x[j], x)
			}
			if l.y[i]*s <= 0 && l.weight(i) > 0 {
				l.mistakes, l.survived = append(l.mistakes, i), append(l.survived, 1)
			} else if len(l.survived) > 0 {
				l.survived[len(l.survived)-1]++
			}
		}
	}
}

func (l *literalTraining) score(form learner.Form, x []float64) float64 {
	s, score, visits := 0.0, 0.0, 0.0
	for k, j := range l.mistakes {
		s += l.weight(j) * l.y[j] * l.k(l.x[j], x)
		visits += l.survived[k]
		switch {
		case form == learner.Averaged:
			score += l.survived[k] * s
		case s > 0:
			score += l.survived[k]
		default:
			score -= l.survived[k]
		}
	}
	if form == learner.Last {
		return s
	}
	return score / visits
}

func dot(x, z []float64) (s float64) {
	for i, v := range x {
		s += v * z[i]
	}
	return s
}

// TestForms compares every form and kernel with the literal training. Polynomials of integers are exact in both. With
// radial functions, no score is so near to zero that rounding decides.
func TestForms(t *testing.T) {
	x, y := noisyRows(200, 4, 0.1, 11)
	probes, _ := noisyRows(50, 4, 0, 12)
	testproblems.Round(x)
	testproblems.Round(probes)
	for i := range 4 {
		bias, weighted, one := i%2 == 0, i > 1, 0.0
		if bias {
			one = 1
		}
		d, weight := testproblems.Dense(x, y, bias), func(int) float64 { return 1 }
		if weighted {
			weight = func(r int) float64 { return wholeWeight(r + 1) } // the first row counts from the first visit on
			d = testproblems.Weighted(d, weight)
		}
		for _, c := range []struct {
			kernel gram.Kernel
			k      func(x, z []float64) float64
		}{
			{gram.Kernel{}, func(x, z []float64) float64 { return dot(x, z) + one }},
			{gram.Kernel{Kind: "poly", Degree: 2, Gamma: 1, Coef0: 1}, func(x, z []float64) float64 { return math.Pow(dot(x, z)+1, 2) + one }},
			{gram.Kernel{Kind: "poly"}, func(x, z []float64) float64 { return math.Pow(dot(x, z)/4, 3) + one }},
			{gram.Kernel{Kind: "rbf", Gamma: 0.3}, func(x, z []float64) float64 {
				return math.Exp(-0.3*(dot(x, x)+dot(z, z)-2*dot(x, z))) + one
			}},
		} {
			l := &literalTraining{k: c.k, x: x, y: y, weight: weight}
			l.train(3)
			n := make([]int64, len(x))
			for _, j := range l.mistakes {
				n[j]++
			}
			for _, form := range learner.Forms {
				r := mustTrain(t, d, Settings{Options: Options{Epochs: 3, Form: form, Kernel: c.kernel}})
				what := fmt.Sprintf("%+v, bias %v, %s", c.kernel, bias, form)
				if !slices.Equal(r.Mistakes, n) || r.Visits != int64(3*len(x)) {
					t.Fatalf("%s: n is %v, want %v", what, r.Mistakes, n)
				}
				errors, loss := int64(0), 0.0
				for i := range x {
					s := l.score(form, x[i])
					if (s > 0) != (y[i] > 0) {
						errors++
					}
					loss += weight(i) * max(0, -y[i]*s)
				}
				if r.Errors != errors || form != learner.Voted && math.Abs(r.Loss-loss) > 1e-5*loss {
					t.Errorf("%s: %d errors, loss %v, want %d, %v", what, r.Errors, r.Loss, errors, loss)
				}
				for i, got := range scores(t, r, d.Spec(), probes)[0] {
					tol := 1e-4
					if form == learner.Voted && c.kernel.Kind == "rbf" {
						tol = 0.03 // a voter whose score is nearly 0 may vote otherwise in float32
					}
					if want := l.score(form, probes[i]); math.Abs(float64(got)-want) > tol*math.Max(1, math.Abs(want)) {
						t.Fatalf("%s: score %d is %v, want %v", what, i, got, want)
					}
				}
				l.checkNorm(t, what, form, r)
			}
		}
	}
}

// checkNorm compares the norm, if there is one, with the double sum over mistakes.
func (l *literalTraining) checkNorm(t *testing.T, what string, form learner.Form, r *Result) {
	t.Helper()
	want, radius := 0.0, 0.0
	for _, i := range l.mistakes {
		for _, j := range l.mistakes {
			want += l.weight(i) * l.weight(j) * l.y[i] * l.y[j] * l.k(l.x[i], l.x[j])
		}
	}
	for _, x := range l.x {
		radius = max(radius, l.k(x, x))
	}
	if form == learner.Last && math.Abs(r.Norm-math.Sqrt(want)) > 1e-6*math.Sqrt(want) || form == learner.Voted && r.Norm != 0 {
		t.Errorf("%s: norm %v, want %v", what, r.Norm, math.Sqrt(want))
	}
	if form == learner.Last && math.Abs(r.Radius-math.Sqrt(radius)) > 1e-6*r.Radius {
		t.Errorf("%s: radius %v, want %v", what, r.Radius, math.Sqrt(radius))
	}
}

// scores scores rows by the model of a result, after it went through its file.
func scores(t *testing.T, r *Result, spec *schema.Spec, x [][]float64) [][]float32 {
	t.Helper()
	m := r.Model(spec)
	m.Algorithm = "test"
	var file strings.Builder
	require.Value(m.WriteTo(&file))(t)
	m = require.Value(model.Read(strings.NewReader(file.String())))(t)
	s := require.Value(predict.NewScorer(m, 2))(t)
	for b := range testproblems.Dense(x, make([]float64, len(x)), spec.Bias).Blocks(context.Background()) {
		out := require.Value(s.Scores(context.Background(), b))(t)
		return out
	}
	return nil
}
