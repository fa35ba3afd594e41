package train_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/pocket"
	"halfspace/separability"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
)

// separableRows returns rows that a plane separates.
func separableRows(seed uint64) *block.Data {
	rng := rand.New(rand.NewPCG(seed, 1))
	var x [][]float64
	var y []float64
	for len(x) < 200 {
		row := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		s := row[0] - 2*row[1] + 0.5*row[2] + 0.3
		if math.Abs(s) > 0.3 {
			x, y = append(x, row), append(y, math.Copysign(1, s))
		}
	}
	return testproblems.Dense(x, y, true)
}

// TestTheorem: with the separator of the largest margin, every point lies between the two bounds of Novikoff's theorem
// (1962), also with a margin, a learning rate and weights to begin with. The updates end before the bounds meet.
func TestTheorem(t *testing.T) {
	ctx := context.Background()
	points := 0
	for seed := range uint64(4) {
		data := separableRows(seed)
		found, err := separability.Check(ctx, block.Source(data), separability.Options{})
		if err != nil || found.OriginPlane == nil {
			t.Fatalf("not separable: %v, %v", found, err)
		}
		other, err := train.Run(ctx, separableRows(seed+100), svm.New(svm.Options{L2: 1}), train.Options{})
		require.NoError(t, err)
		for k, o := range []perceptron.Options{{}, {Margin: 2}, {Eta: 0.25, Order: learner.Shuffle}, {Form: learner.Averaged}} {
			opt := train.Options{}
			if k%2 == int(seed%2) {
				opt.Init = other.Model
			}
			last, ends := int64(0), math.Inf(1)
			opt.Trace = &train.Trace{Reference: found.OriginPlane.Weights, Point: func(p train.TracePoint) {
				points++
				last = p.Update
				const slack = 1e-9
				if !(p.LowerBound <= p.Dot+slack) || !(p.Dot <= p.Norm+slack) || !(p.Norm <= p.UpperBound+slack) || p.Class != -1 {
					t.Fatalf("seed %d, case %d: %+v isn't between its bounds", seed, k, p)
				}
				if p.LowerBound > p.UpperBound {
					ends = float64(p.Update)
				}
			}}
			o.Epochs = 1000
			f, err := train.Run(ctx, data, perceptron.New(o), opt)
			if err != nil || !f.Result.Converged || last != f.Result.Updates || float64(last) > ends {
				t.Errorf("seed %d, case %d: %d updates, the last traced is %d, the bounds crossed at %v: %v", seed, k, f.Result.Updates, last, ends, err)
			}
		}
	}
	if points < 100 {
		t.Errorf("%d points", points)
	}
}

// TestTraceErrors: the traced errors of a pocket are those of its curve, and each class versus the rest is told alone, in
// turn.
func TestTraceErrors(t *testing.T) {
	ctx := context.Background()
	data := testproblems.RandomClasses(400, 3, 3, 0.2)
	least, class := map[[2]int64]int64{}, 0
	opt := train.Options{Watch: train.Watch{Trace: &train.Trace{Point: func(p train.TracePoint) {
		if p.Class < class {
			t.Fatalf("class %d after class %d", p.Class, class)
		}
		class = p.Class
		least[[2]int64{int64(p.Class), p.Update}] = p.Errors
	}}}}
	l := perceptron.New(perceptron.Options{MaxUpdates: 100, Pocket: pocket.Exact}).WithRun(learner.Run{Workers: 2})
	if _, err := train.Run(ctx, data, l, opt); err != nil {
		t.Fatal(err)
	}
	if class != 2 || len(least) != 300 {
		t.Fatalf("%d points, the last class is %d", len(least), class)
	}
	for c := range 3 {
		one := learner.VersusRest(data, c)
		r, err := perceptron.Train(ctx, one, perceptron.Settings{Options: perceptron.Options{MaxUpdates: 100, Pocket: pocket.Exact}})
		require.NoError(t, err)
		for _, p := range r.Curve[1:] {
			if got := least[[2]int64{int64(c), p.Update}]; got != p.Errors {
				t.Errorf("class %d, update %d: %d errors, the pocket found %d", c, p.Update, got, p.Errors)
			}
		}
	}
}

// TestInterrupted: where the training's context ends before or within a count, Flush counts the updates that wait, and the points come
// once and in order. A training that is interrupted so has its weights.
func TestInterrupted(t *testing.T) {
	data := separableRows(1)
	for _, at := range []int64{60, 100, 127, 128, 129} {
		ctx, cancel := context.WithCancel(t.Context())
		next := int64(1)
		opt := &train.Trace{Point: func(p train.TracePoint) {
			if p.Update != next || p.Errors < 0 {
				t.Errorf("stopped at %d: update %d has %d errors", at, p.Update, p.Errors)
			}
			next = p.Update + 1
		}}
		r, err := train.NewRecorder(ctx, block.Source(data), opt, train.RecorderOptions{Class: -1, Eta: 1, CountsErrors: true, Workers: 1})
		require.NoError(t, err)
		for n := range int64(130) {
			if n+1 == at {
				cancel()
			}
			r.Update(learner.Update{Number: n + 1, Visit: n + 1, Vector: []float64{1, -2, 0.5, 0.1 * float64(n)}})
		}
		if err := r.Flush(t.Context()); err != nil || next != 131 {
			t.Errorf("stopped at %d: the next update is %d, error %v", at, next, err)
		}
		cancel()
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	opt := train.Options{Watch: train.Watch{Trace: &train.Trace{Point: func(train.TracePoint) { cancel() }}}}
	rows := learner.VersusRest(testproblems.RandomClasses(400, 3, 3, 0.2), 0)
	f, err := train.Run(ctx, rows, perceptron.New(perceptron.Options{Epochs: 1000, Pocket: pocket.Exact}), opt)
	if f == nil || !f.Result.Interrupted || !errors.Is(err, context.Canceled) {
		t.Errorf("the weights are %v, error %v", f, err)
	}
}

// TestReference: a reference of another number of weights is an error that has both numbers.
func TestReference(t *testing.T) {
	for _, n := range []int{0, 3, 5} {
		_, err := train.NewRecorder(t.Context(), block.Source(separableRows(1)), &train.Trace{Reference: make([]float64, n)}, train.RecorderOptions{Workers: 1})
		if want := fmt.Sprintf("the reference has %d weights, and the training has 4", n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d weights: %v", n, err)
		}
	}
}

// zerosAndOnes returns rows of five features that are 0 or 1. A row is positive if the first or the second is 1.
func zerosAndOnes(n int) *block.Data {
	rng := rand.New(rand.NewPCG(7, 1))
	var x [][]float64
	var y []float64
	for range n {
		row := make([]float64, 5)
		for i := range row {
			row[i] = float64(rng.IntN(2))
		}
		x, y = append(x, row), append(y, 2*max(row[0], row[1])-1)
	}
	return testproblems.Dense(x, y, true)
}

// TestPasses: learners that solve for an optimum tell their objective, which falls to that of the result.
func TestPasses(t *testing.T) {
	ctx := context.Background()
	data, binary := testproblems.Logistic(800, 5), zerosAndOnes(300)
	for _, name := range []string{"svm", "logistic", "winnow", "dual", "ftrl", "passive-aggressive"} {
		l, err := train.LearnerNamed(name)
		require.NoError(t, err)
		if l.Has("l2") {
			if l, err = l.With("l2", "1"); err != nil {
				t.Fatal(err)
			}
		}
		src := block.Source(data)
		if name == "winnow" {
			src = binary
		}
		var all []train.TracePoint
		f, err := train.Run(ctx, src, l, train.Options{Watch: train.Watch{Trace: &train.Trace{Point: func(p train.TracePoint) { all = append(all, p) }}}})
		if err != nil || len(all) == 0 || all[len(all)-1].Row != -1 {
			t.Fatalf("%s: %d points, %v", name, len(all), err)
		}
		if o := f.Model.Training.Optimum; o != nil {
			last := all[len(all)-1]
			if !(math.Abs(last.Objective-o.Objective) < 1e-3*o.Objective) || !(last.Objective <= all[0].Objective) {
				t.Errorf("%s: the last objective is %v, that of the result %v", name, last.Objective, o.Objective)
			}
		}
	}
}
