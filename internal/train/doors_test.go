package train_test

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/internal/train"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/predict"
	"halfspace/separability"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
)

// An entryPoint is an exported entry that returns an error.
type entryPoint = func() error

func errorOf[A any](_ A, err error) error { return err }

// TestZeroValues: a source or a learner that is nil or a zero value is an error of every entry.
func TestZeroValues(t *testing.T) {
	ctx, data := t.Context(), testproblems.Logistic(100, 3)
	l, opt, cv := logistic.New(logistic.Options{}), train.Options{}, train.CV{Folds: 2}
	doors := map[string]entryPoint{}
	for name, src := range map[string]block.Source{"nil": nil, "nil data": (*block.Data)(nil), "zero data": new(block.Data)} {
		maps.Copy(doors, map[string]entryPoint{
			name + " Run":                 func() error { return errorOf(train.Run(ctx, src, l, opt)) },
			name + " hold-out":            func() error { return errorOf(train.Run(ctx, src, l, train.Options{HoldOut: 0.5})) },
			name + " Run with Validation": func() error { return errorOf(train.Run(ctx, src, l, train.Options{Validation: data})) },
			name + " CrossValidate":       func() error { return errorOf(train.CrossValidate(ctx, src, l, train.Options{CV: cv})) },
			name + " Compare":             func() error { return errorOf(train.Compare(ctx, src, train.Options{CV: cv}, l)) },
			name + " Calibrate": func() error {
				return errorOf(train.Run(ctx, src, perceptron.New(perceptron.Options{}), train.Options{Output: train.Output{Calibrate: model.Platt}}))
			},
			name + " FollowPath": func() error { return errorOf(followPath(ctx, src, l, 3, cv, opt)) },
			name + " HoldOut":    func() error { return errorOf(train.HoldOutRows(ctx, src, l, train.Options{HoldOut: 0.5})) },
			name + " Run with Online": func() error {
				return errorOf(train.Run(ctx, src, perceptron.New(perceptron.Options{}), train.Options{Online: &train.Online{}}))
			},
			name + " NewDataProfile": func() error { return errorOf(train.NewDataProfile(ctx, src)) },
			name + " SumRows":        func() error { return errorOf(train.SumRows(ctx, src, 1)) },
			name + " Evaluate":       func() error { return errorOf(train.Evaluate(ctx, fittedModel(t, data), src, 1)) },
			name + " CountErrors":    func() error { return errorOf(train.CountErrors(ctx, fittedModel(t, data), src, 1)) },
			name + " pocket":         func() error { return errorOf(pocket.New(ctx, src, pocket.Exact, 1)) },
			name + " errors":         func() error { return errorOf(pocket.Errors(ctx, src, nil, 1)) },
			name + " scatter":        func() error { return gram.Scatter(ctx, new(gram.Triangle), src, nil, 1) },
			name + " separable":      func() error { return errorOf(separability.Check(ctx, src, separability.Options{})) },
			name + " trusted":        func() error { return errorOf(train.Run(ctx, block.AssumeValid(src), l, opt)) },
		})
	}
	for name, l := range map[string]train.Learner{"empty": {}, "of nil": learner.Configure(nil, nil), "without options": {Learner: logistic.Learner},
		"nil options": {Learner: logistic.Learner, Settings: (*logistic.Settings)(nil)}, "other options": {Learner: logistic.Learner, Settings: &perceptron.Settings{}},
		"zero learner": {Learner: &learner.Learner{}, Settings: &perceptron.Settings{}}} {
		maps.Copy(doors, map[string]entryPoint{
			name + " Run":           func() error { return errorOf(train.Run(ctx, data, l, opt)) },
			name + " CrossValidate": func() error { return errorOf(train.CrossValidate(ctx, data, l, train.Options{CV: cv})) },
			name + " Compare":       func() error { return errorOf(train.Compare(ctx, data, train.Options{CV: cv}, l, l)) },
			name + " Calibrate": func() error {
				return errorOf(train.Run(ctx, data, l, train.Options{Output: train.Output{Calibrate: model.Platt}}))
			},
			name + " FollowPath":      func() error { return errorOf(followPath(ctx, data, l, 3, cv, opt)) },
			name + " Run with Online": func() error { return errorOf(train.Run(ctx, data, l, train.Options{Online: &train.Online{}})) },
			name + " With":            func() error { return errorOf(l.With("l2", "1")) },
			name + " Grid":            func() error { return errorOf(l.Grid(nil)) },
		})
		if l.Has("l2") || l.Text("l2") != "" || l.VariedText() != "" {
			t.Errorf("the learner %s has an l2", name)
		}
	}
	var rows *gram.Rows
	some, matrix := gram.Dense([]float32{1, 2}, 1, 2, 2), new(gram.Symmetric)
	maps.Copy(doors, map[string]entryPoint{
		"no learners":         func() error { return errorOf(train.Compare(ctx, data, opt)) },
		"nil model scorer":    func() error { return errorOf(predict.NewScorer(nil, 1)) },
		"zero model scorer":   func() error { return errorOf(predict.NewScorer(new(model.Model), 1)) },
		"zero scorer":         func() error { return errorOf(new(predict.Scorer).Scores(ctx, block.New(0, 1, 1))) },
		"nil model predictor": func() error { return errorOf(predict.New(nil)) },
		"zero predictor":      func() error { return errorOf(new(predict.Predictor).Class(nil)) },
		"zero probabilities":  func() error { return new(predict.Predictor).Probabilities(nil, nil) },
		"zero scores":         func() error { return new(predict.Predictor).Scores(nil, nil) },
		"zero score":          func() error { return errorOf(new(predict.Predictor).Score(nil)) },
		"zero append":         func() error { return errorOf(new(predict.Predictor).AppendRow(nil)) },
		"nil evaluation":      func() error { return errorOf(train.NewEvaluation(nil, 1)) },
		"zero evaluation":     func() error { return new(train.Evaluation).Add(ctx, block.New(0, 1, 1)) },
		"nil model count":     func() error { return errorOf(train.CountErrors(ctx, nil, data, 1)) },
		"nil weights":         func() error { return errorOf(train.WeightsFor(nil, data.Spec())) },
		"zero updated":        func() error { return new(pocket.Pocket).AfterUpdate(ctx, nil, 1, 1) },
		"zero epoch":          func() error { return new(pocket.Pocket).AfterEpoch(ctx, nil, 1, 1) },
		"zero end":            func() error { return new(pocket.Pocket).AfterTraining(ctx, nil, 1, 1) },
		"zero settle":         func() error { return new(pocket.Pocket).JudgeBatch(ctx) },
		"zero judge":          func() error { return new(pocket.Pocket).Judge(ctx) },
		"nil gram":            func() error { return gram.Gram(ctx, matrix, rows, gram.Kernel{}, 1) },
		"nil matrix":          func() error { return gram.Gram(ctx, nil, some, gram.Kernel{}, 1) },
		"nil cross":           func() error { return gram.Cross(ctx, nil, 1, rows, some, gram.Kernel{}, 1) },
		"nil other":           func() error { return gram.Cross(ctx, nil, 1, some, rows, gram.Kernel{}, 1) },
		"nil products":        func() error { return gram.Products(ctx, some, rows, 1, nil) },
		"nil lower":           func() error { return gram.LowerProducts(ctx, rows, 1, nil) },
		"nil expand":          func() error { return gram.Expand(ctx, nil, rows, some, nil, gram.Kernel{}, 1) },
		"nil cache":           func() error { return errorOf(gram.NewRowCache(t.Context(), rows, gram.Kernel{}, 1, 1)) },
		"zero cache":          func() error { return errorOf(new(gram.RowCache).Row(ctx, 0, slices.Values([]uint32{}))) },
		"nil support":         func() error { return errorOf(gram.NewSupport(rows, gram.Kernel{})) },
		"nil diagonal":        func() error { return errorOf(gram.Diagonal(rows, gram.Kernel{})) },
		"nil scatter":         func() error { return gram.Scatter(ctx, nil, data, nil, 1) },
		"rows of nil":         func() error { return gram.LowerProducts(ctx, gram.RowsOf(nil), 1, nil) },
		"features of nil":     func() error { return gram.LowerProducts(ctx, gram.FeaturesOf(nil), 1, nil) },
		"block of nil":        func() error { return gram.LowerProducts(ctx, gram.BlockRows(nil, 1), 1, nil) },
	})
	for name, door := range doors {
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: panic: %v", name, p)
				}
			}()
			if err := door(); err == nil {
				t.Errorf("%s: no error", name)
			}
		}()
	}
}

// fittedModel returns a model of rows.
func fittedModel(t *testing.T, data *block.Data) *model.Model {
	t.Helper()
	f := require.Value(train.Run(t.Context(), data, logistic.New(logistic.Options{L2: 1}), train.Options{}))(t)
	return f.Model
}

// TestWorkers: for every entry that takes a number of workers, 0 is every core, and a negative number is an error.
func TestWorkers(t *testing.T) {
	ctx, data := t.Context(), testproblems.Logistic(100, 3)
	cols := data.Spec().Cols()
	m, rows := fittedModel(t, data), gram.RowsOf(data)
	x, y := testproblems.Circle(60)
	judged := rowsOf(t, x, y)
	judge := fittedModel(t, judged)
	l2 := logistic.Settings{Options: logistic.Options{L2: 1}}
	doors := map[string]func(workers int) error{
		"Run": func(n int) error {
			return errorOf(train.Run(ctx, data, logistic.New(l2.Options), train.Options{Workers: n}))
		},
		"logistic.Train": func(n int) error {
			o := l2
			o.Workers = n
			return errorOf(logistic.Train(ctx, data, o))
		},
		"Run with Online": func(n int) error {
			return errorOf(train.Run(ctx, data, perceptron.New(perceptron.Options{}), train.Options{Online: &train.Online{}, Workers: n}))
		},
		"Evaluate":      func(n int) error { return errorOf(train.Evaluate(ctx, judge, judged, n)) },
		"NewEvaluation": func(n int) error { return errorOf(train.NewEvaluation(m, n)) },
		"CountErrors":   func(n int) error { return errorOf(train.CountErrors(ctx, m, data, n)) },
		"SumRows":       func(n int) error { return errorOf(train.SumRows(ctx, data, n)) },
		"NewScorer":     func(n int) error { return errorOf(predict.NewScorer(m, n)) },
		"pocket.New":    func(n int) error { return errorOf(pocket.New(ctx, data, pocket.Exact, n)) },
		"pocket.Errors": func(n int) error {
			return errorOf(pocket.Errors(ctx, data, make([]float32, kernel.Stride(cols)), n))
		},
		"separable":      func(n int) error { return errorOf(separability.Check(ctx, data, separability.Options{Workers: n})) },
		"block.Validate": func(n int) error { return errorOf(block.Validate(ctx, block.Source(data), n)) },
		"ReduceChunks": func(n int) error {
			return block.ReduceChunks(ctx, data, n, func(block.Chunk) int { return 0 }, func(int) {})
		},
		"Fingerprint":     func(n int) error { return errorOf(block.Fingerprint(ctx, data, n)) },
		"ChunkSums":       func(n int) error { return errorOf(block.ChunkSums(ctx, data, n)) },
		"ClassCounts":     func(n int) error { return errorOf(learner.ClassCounts(ctx, data, n)) },
		"BalancedWeights": func(n int) error { return errorOf(learner.BalancedWeights(ctx, data, n)) },
		"learner.Evaluate": func(n int) error {
			return learner.Evaluate(ctx, data, n, &learner.Result{Weights: make([]float32, cols)})
		},
		"OneVersusRest": func(n int) error {
			return errorOf(learner.OneVersusRest(ctx, data, n, true, func(context.Context, int, int) (int, error) { return 0, nil }))
		},
		"Choose": func(n int) error {
			classes := testproblems.RandomClasses(50, 3, 3, 0)
			w := make([]float32, 3*classes.Spec().Cols())
			last := slices.Clone(w)
			last[0] = 1
			return errorOf(learner.ChooseVectors(ctx, classes, n, w, last))
		},
		"Gram": func(n int) error {
			g, _ := gram.NewSymmetric(rows.Len(), gram.Full)
			return gram.Gram(ctx, g, rows, gram.Kernel{}, n)
		},
		"Cross":         func(n int) error { return gram.Cross(ctx, make([]float32, 100*100), 100, rows, rows, gram.Kernel{}, n) },
		"Products":      func(n int) error { return gram.Products(ctx, rows, rows, n, func(int, int, []float32) {}) },
		"LowerProducts": func(n int) error { return gram.LowerProducts(ctx, rows, n, func(int, int, []float32) {}) },
		"Expand":        func(n int) error { return gram.Expand(ctx, nil, rows, rows, nil, gram.Kernel{}, n) },
		"NewRowCache":   func(n int) error { return errorOf(gram.NewRowCache(t.Context(), rows, gram.Kernel{}, 1<<20, n)) },
		"Scatter": func(n int) error {
			g, _ := gram.NewTriangle(cols)
			return gram.Scatter(ctx, g, data, nil, n)
		},
	}
	for name, door := range doors {
		for _, n := range []int{0, 1, 3} {
			if err := door(n); err != nil {
				t.Errorf("%s with %d workers: %v", name, n, err)
			}
		}
		if err := door(-1); err == nil || !strings.Contains(err.Error(), "workers is -1: use 1 or more, or 0 for every core") {
			t.Errorf("%s with -1 workers: error %v", name, err)
		}
	}
}

// TestAllCores: with 0 workers, calls that a program sees go on at the same time.
func TestAllCores(t *testing.T) {
	before := runtime.GOMAXPROCS(3)
	defer runtime.GOMAXPROCS(before)
	data := testproblems.Logistic(5*block.ChunkRows, 3)
	for name, run := range map[string]func(meet func()) error{
		"ReduceChunks": func(meet func()) error {
			return block.ReduceChunks(t.Context(), data, 0, func(block.Chunk) int { meet(); return 0 }, func(int) {})
		},
		"Scatter": func(meet func()) error {
			g, _ := gram.NewTriangle(data.Spec().Cols())
			return gram.Scatter(t.Context(), g, data, func(block.Chunk, []float64, []float64) { meet() }, 0)
		},
		"Products": func(meet func()) error {
			x := gram.RowsOf(data)
			return gram.Products(t.Context(), x, gram.Dense(make([]float32, x.Cols()), 1, x.Cols(), x.Cols()), 0, func(int, int, []float32) { meet() })
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		var calls atomic.Int64
		met := make(chan struct{})
		meet := func() { // waits for a second call
			if calls.Add(1) == 2 {
				close(met)
			}
			select {
			case <-met:
			case <-ctx.Done():
			}
		}
		if err := run(meet); err != nil || ctx.Err() != nil {
			t.Errorf("%s: error %v, one call at a time: %t", name, err, ctx.Err() != nil)
		}
		cancel()
	}
}
