package learner_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/train/lda"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/svm"
)

// A solution is what a learner that solves for an optimum returns.
type solution struct {
	exact  []float64
	loss   float64
	others [][]float64 // numbers that don't depend on how often rows are there in place of their weights
}

// A solver trains with a penalty; scale multiplies the sum of losses, and so the penalty keeps its size. classes are those it takes.
type solver struct {
	name      string
	classes   []int
	penalty   bool    // it has one
	tol       float64 // of weights, where only the order of sums differs
	copiesTol float64 // of weights, where rows are copies or have sample weights; an objective that is 1e-6 off leaves the hinge's some 1e-3
	learn     func(src block.Source, scale float64) (*solution, error)
}

func solvers(t *testing.T) (all []solver) {
	for _, o := range []lda.Settings{{}, {Options: lda.Options{Solver: lda.Eigen}}, {Options: lda.Options{Shrinkage: lda.LedoitWolf}}} {
		all = append(all, solver{fmt.Sprintf("lda %+v", o), []int{2, 3}, false, 1e-10, 1e-8, func(src block.Source, _ float64) (*solution, error) {
			r, err := lda.Train(t.Context(), src, o)
			if err != nil {
				return nil, err
			}
			return &solution{r.ExactWeights, 1, append([][]float64{r.Shrinkage}, r.Projection...)}, nil
		}})
	}
	for _, s := range []logistic.Solver{logistic.Newton, logistic.LBFGS} {
		classes := []int{2, 3}
		if s == logistic.Newton {
			classes = classes[:1]
		}
		all = append(all, solver{"logistic " + string(s), classes, true, 1e-8, 1e-8, func(src block.Source, scale float64) (*solution, error) {
			r, err := logistic.Train(t.Context(), src, logistic.Settings{Options: logistic.Options{L2: 2 * scale, Solver: s}})
			if err != nil {
				return nil, err
			}
			var others [][]float64
			if scale == 1 {
				others = append(others, r.StdErrors)
			}
			return &solution{r.ExactWeights, r.Loss, others}, nil
		}})
	}
	for _, loss := range svm.Losses {
		all = append(all, solver{"svm " + string(loss), []int{2}, true, 1e-6, 5e-3, func(src block.Source, scale float64) (*solution, error) {
			r, err := svm.Train(t.Context(), src, svm.Settings{Options: svm.Options{L2: 3 * scale, Loss: loss}})
			if err != nil {
				return nil, err
			}
			return &solution{r.ExactWeights, r.Loss, nil}, nil
		}})
	}
	return all
}

// TestProperties: the order of rows changes only rounding. Twice the rows is half the penalty. Swapped labels swap signs. Columns in
// other units scale their weights where there is no penalty, and their zero changes the bias alone. A sample weight of k is k copies of the row, 0 leaves the row out, and
// weights of 1 change no bit.
func TestProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range solvers(t) {
		for _, classes := range s.classes {
			for _, bias := range []bool{true, false} {
				data := func(x [][]float64, y []float64) *block.Data {
					if classes > 2 {
						return testproblems.Classes(x, y, classes, bias)
					}
					return testproblems.Dense(x, y, bias)
				}
				learn := func(src block.Source, scale float64) *solution {
					t.Helper()
					r, err := s.learn(src, scale)
					if err != nil {
						t.Fatal(s.name, err)
					}
					return r
				}
				var x, scaled, moved, permuted, twice, copies [][]float64
				var y, swapped, permutedY, twiceY, copiesY []float64
				for r := range 400 {
					row, score := make([]float64, 4), rng.NormFloat64()
					for i := range row {
						row[i] = math.Round(256*(rng.NormFloat64()+float64(i)/8)) / 256
						score += row[i] * float64(i%3-1)
					}
					label := math.Copysign(1, score)
					if classes > 2 {
						label = float64((2 + int(math.Round(score))%classes + classes) % classes)
					}
					x, y = append(x, row), append(y, label)
					moved = append(moved, []float64{row[0] + 8192, row[1], row[2] - 4096, row[3]})
					scaled, swapped = append(scaled, []float64{row[0] * 0x1p20, row[1] * 0x1p-20, row[2], row[3]}), append(swapped, -label)
					twice, twiceY = append(twice, row, row), append(twiceY, label, label)
					for range r % 4 {
						copies, copiesY = append(copies, row), append(copiesY, label)
					}
				}
				for _, r := range rng.Perm(len(x)) {
					permuted, permutedY = append(permuted, x[r]), append(permutedY, y[r])
				}
				name, want := fmt.Sprintf("%s, %d classes, bias %t, ", s.name, classes, bias), learn(data(x, y), 1)
				require.NearNumbers(t, name+"permuted", learn(data(permuted, permutedY), 1).exact, want.exact, s.tol)
				if s.name != fmt.Sprintf("lda %+v", lda.Settings{Options: lda.Options{Shrinkage: lda.LedoitWolf}}) { // which shrinks more rows less
					require.NearNumbers(t, name+"twice", learn(data(twice, twiceY), 2).exact, want.exact, s.copiesTol)
				}
				if classes == 2 {
					got := learn(data(x, swapped), 1).exact
					for i := range got {
						got[i] = -got[i]
					}
					require.NearNumbers(t, name+"swapped", got, want.exact, s.tol)
				}
				if !s.penalty && classes == 2 {
					got := learn(data(scaled, y), 1).exact
					got[0], got[1] = got[0]*0x1p20, got[1]*0x1p-20
					require.NearNumbers(t, name+"scaled", got, want.exact, s.tol)
					require.NearNumbers(t, name+"moved", learn(data(moved, y), 1).exact[:4], want.exact[:4], 10*s.tol)
				}
				if got := learn(testproblems.Weighted(data(x, y), func(int) float64 { return 1 }), 1); !slices.Equal(got.exact, want.exact) {
					t.Errorf("%sweights of 1: %v, want %v", name, got.exact, want.exact)
				}
				got, want := learn(testproblems.Weighted(data(x, y), func(r int) float64 { return float64(r % 4) }), 1), learn(data(copies, copiesY), 1)
				require.NearNumbers(t, name+"copies", got.exact, want.exact, s.copiesTol)
				require.NearNumbers(t, name+"loss of copies", []float64{got.loss}, []float64{want.loss}, s.copiesTol)
				for i, v := range want.others {
					require.NearNumbers(t, name+"numbers of copies", got.others[i], v, 100*s.copiesTol)
				}
			}
		}
	}
}

// TestScaledLogistic: without a penalty, columns in other units scale their weights.
func TestScaledLogistic(t *testing.T) {
	x, y := make([][]float64, 300), make([]float64, 300)
	rng := rand.New(rand.NewPCG(5, 7))
	for r := range x {
		x[r] = []float64{math.Round(256*rng.NormFloat64()) / 256, math.Round(256*rng.NormFloat64()) / 256}
		y[r] = math.Copysign(1, x[r][0]-x[r][1]+2*rng.NormFloat64())
	}
	learn := func() []float64 {
		r := require.Value(logistic.Train(t.Context(), testproblems.Dense(x, y, true), logistic.Settings{Options: logistic.Options{NoPenalty: true}, Run: learner.Run{Workers: 2}}))(t)
		return r.ExactWeights
	}
	want := learn()
	for r := range x {
		x[r][0], x[r][1] = x[r][0]*0x1p20, x[r][1]*0x1p-20
	}
	got := learn()
	require.NearNumbers(t, "scaled", []float64{got[0] * 0x1p20, got[1] * 0x1p-20, got[2]}, want, 1e-8)
}
