package train_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/kernel"
	"halfspace/schema"
	"halfspace/train/kernelperceptron"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/svm"
)

// pathRows returns rows of which two features tell the class, with exceptions.
func pathRows(n, features int) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(4, uint64(n)))
	for range n {
		row := make([]float64, features)
		for i := range row {
			row[i] = rng.NormFloat64()
		}
		x, y = append(x, row), append(y, math.Copysign(1, row[0]-row[1]/2+0.3+rng.NormFloat64()))
	}
	return x, y
}

// TestPath: each point of a path is what a training with its penalty learns. The losses of the folds are those of
// trainings on the other folds. Workers change nothing.
func TestPath(t *testing.T) {
	x, y := pathRows(400, 6)
	d := testproblems.Dense(x, y, true)
	for _, l := range []struct {
		of   func(l1, l2 float64, workers int) train.Learner
		loss func(margin float64) float64
	}{
		{func(l1, l2 float64, workers int) train.Learner {
			return logistic.New(logistic.Options{L1: l1, L2: l2, NoPenalty: true}).WithRun(learner.Run{Seed: 1, Workers: workers})
		}, func(m float64) float64 { return math.Log1p(math.Exp(-m)) }},
		{func(l1, l2 float64, workers int) train.Learner {
			return svm.New(svm.Options{L1: l1, L2: l2}).WithRun(learner.Run{Seed: 1, Workers: workers})
		}, func(m float64) float64 { return math.Pow(max(0, 1-m), 2) }},
	} {
		path := require.Value(followPath(t.Context(), d, l.of(1, 0.5, 2), 12, train.CV{Folds: 3}, train.Options{}))(t)
		if again, err := followPath(t.Context(), d, l.of(1, 0.5, 1), 12, train.CV{Folds: 3}, train.Options{}); err != nil || !reflect.DeepEqual(path.Path, again.Path) || !reflect.DeepEqual(path.Weights, again.Weights) {
			t.Errorf("with another worker: %v, error %v, want %v", again, err, path)
		}
		if p := path.Points; len(p) != 12 || p[0].NonzeroWeights != 0 || p[1].NonzeroWeights == 0 || p[11].NonzeroWeights != 6 || path.ChosenPoint == 0 || path.PointWithinError > path.ChosenPoint {
			t.Errorf("path %v", path)
		}
		for _, i := range []int{0, 3, 8} {
			point := path.Points[i]
			f := require.Value(train.Run(t.Context(), d, l.of(point.L1, 0.5, 2), train.Options{}))(t)
			optimum := f.Model.Training.Optimum
			if off := point.Objective - optimum.Objective; !(math.Abs(off) <= point.Gap+optimum.Gap+1e-9*point.Objective && point.Gap <= 1e-6*point.Objective) {
				t.Errorf("l1 %v: objective %v with a gap of %v, alone %v", point.L1, point.Objective, point.Gap, optimum)
			}
			if want := heldLoss(t, x, y, 3, func(share float64) train.Learner { return l.of(point.L1*share, 0.5*share, 2) }, l.loss); !(math.Abs(point.Loss-want) <= 1e-3*want) {
				t.Errorf("l1 %v: loss %v in the folds, by trainings %v", point.L1, point.Loss, want)
			}
		}
		if got := path.CrossValidation.Best().Text("l1"); got != l.of(path.Points[path.ChosenPoint].L1, 0.5, 2).Text("l1") {
			t.Errorf("the chosen l1 is %s, want %v", got, path.Points[path.ChosenPoint])
		}
	}
	if _, err := followPath(t.Context(), d, kernelperceptron.Dual(kernelperceptron.Options{}), 5, train.CV{Folds: 3}, train.Options{}); !errors.Is(err, train.ErrNoPath) {
		t.Errorf("error %v, want %v", err, train.ErrNoPath)
	}
}

// heldLoss returns the mean loss of rows, each by a model of the other folds.
func heldLoss(t *testing.T, x [][]float64, y []float64, folds int, of func(share float64) train.Learner, loss func(float64) float64) float64 {
	sum, counts := 0.0, make([]int64, 2)
	for _, y := range y {
		counts[int(y+1)/2]++
	}
	for f := range folds {
		is := train.Fold(1, folds, counts, f)()
		var kept, held [2][][]float64 // rows, and their labels as rows
		for r, row := range x {
			to := &kept
			if is(int(y[r]+1) / 2) {
				to = &held
			}
			to[0], to[1] = append(to[0], row), append(to[1], []float64{y[r]})
		}
		var labels []float64
		for _, y := range kept[1] {
			labels = append(labels, y[0])
		}
		fitted := require.Value(train.Run(t.Context(), testproblems.Dense(kept[0], labels, true), of(float64(len(labels))/float64(len(x))), train.Options{}))(t)
		for r, row := range held[0] {
			score := fitted.Model.Bias[0]
			for i, v := range row {
				score += v * fitted.Model.Weights[0][i]
			}
			sum += loss(held[1][r][0] * score)
		}
	}
	return sum / float64(len(x))
}

// TestPathPasses: a path of 100 penalties takes at most 200 passes over the rows.
func TestPathPasses(t *testing.T) {
	rows, features := 20_000, 28
	if require.Small() {
		rows, features = 3000, 12
	}
	x, y := pathRows(rows, features)
	d := testproblems.Dense(x, y, true)
	for _, l := range []train.Learner{logistic.New(logistic.Options{NoPenalty: true}), svm.New(svm.Options{L1: 1})} {
		path := require.Value(followPath(t.Context(), d, l, 100, train.CV{Folds: 2}, train.Options{}))(t)
		if len(path.Points) != 100 || path.Passes > 200 {
			t.Errorf("%s: %d points in %d passes", l.Name, len(path.Points), path.Passes)
		}
	}
}

// widePathRows returns sparse rows of more columns than a Hessian may have. The first features tell the class, with exceptions.
func widePathRows(n int) *block.Data {
	const features = 16_384
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	spec := &schema.Spec{Bias: true, Label: "y", Classes: []schema.Class{schema.IntClass(-1), schema.IntClass(1)}, Positive: 1}
	for c := range features {
		spec.Features = append(spec.Features, "x"+strconv.Itoa(c))
	}
	s, y := &kernel.SparseRows{Ptr: []int64{0}}, make([]float32, n)
	for r := range y {
		score := 0.5 + rng.NormFloat64()
		for c := uint32(0); c < features; c += 1 + rng.Uint32N(2+20*c) {
			v := rng.NormFloat64()
			s.Idx, s.Val = append(s.Idx, c), append(s.Val, float32(v))
			score += 2 * v / float64(1+c)
		}
		s.Idx, s.Val = append(s.Idx, features), append(s.Val, 1)
		s.Ptr = append(s.Ptr, int64(len(s.Idx)))
		y[r] = float32(math.Copysign(1, score))
	}
	return block.NewData(spec, []*block.Block{{Cols: features + 1, Stride: kernel.Stride(features + 1), Sparse: s, Y: y}})
}

// TestWidePath: each point of a path over many columns is what a training with its penalty learns.
func TestWidePath(t *testing.T) {
	d := widePathRows(250)
	for _, of := range []func(l1 float64) train.Learner{
		func(l1 float64) train.Learner {
			return logistic.New(logistic.Options{L1: l1}).WithRun(learner.Run{Workers: 2})
		},
		func(l1 float64) train.Learner {
			return svm.New(svm.Options{L1: l1}).WithRun(learner.Run{Workers: 2})
		},
	} {
		path := require.Value(followPath(t.Context(), d, of(1), 6, train.CV{Folds: 3}, train.Options{}))(t)
		if len(path.Points) != 6 || path.Points[0].NonzeroWeights != 0 ||
			path.Points[1].NonzeroWeights == 0 || path.ChosenPoint == 0 {
			t.Errorf("path %v", path)
		}
		for i, point := range path.Points {
			f := require.Value(train.Run(t.Context(), d, of(point.L1), train.Options{}))(t)
			optimum := f.Model.Training.Optimum
			if off := math.Abs(point.Objective - optimum.Objective); !(off <= point.Gap+optimum.Gap+1e-9*point.Objective && point.Gap <= 1e-6*point.Objective) {
				t.Errorf("point %d: objective %v with a gap of %v, alone %v", i, point.Objective, point.Gap, optimum)
			}
			if i > 0 && !(point.Loss < path.Points[0].Loss) {
				t.Errorf("point %d: the loss in the folds is %v, and %v without features", i, point.Loss, path.Points[0].Loss)
			}
		}
	}
}

// followPath returns the path of n penalties.
func followPath(ctx context.Context, src block.Source, l train.Learner, n int, cv train.CV, opt train.Options) (*train.Path, error) {
	opt.CV, opt.CV.Path = cv, n
	s := &train.Session{Options: opt, Rows: src, Learner: l}
	err := s.FollowPath(ctx)
	return s.Path, err
}

func configure(l *learner.Learner, s learner.Settings) train.Learner { return learner.Configure(l, s) }
