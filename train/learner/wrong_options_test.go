package learner_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/testproblems"
	"halfspace/pocket"
	"halfspace/train/ftrl"
	"halfspace/train/kernelperceptron"
	"halfspace/train/lda"
	"halfspace/train/learner"
	"halfspace/train/logistic"
	"halfspace/train/passiveaggressive"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
	"halfspace/train/winnow"
)

// An attempt trains with options that can't be, or not on these rows.
type attempt func(src block.Source) error

// TestWrongOptions: every learner refuses options out of their range, and rows that don't suit its options, with an error that says what
// to do. TestWrongRows has rows that suit no learner.
func TestWrongOptions(t *testing.T) {
	ctx := t.Context()
	walk := func(o perceptron.Settings) attempt {
		return func(src block.Source) error { _, err := perceptron.Train(ctx, src, o); return err }
	}
	online := func(o ftrl.Settings) attempt {
		return func(src block.Source) error { _, err := ftrl.TrainFTRL(ctx, src, o); return err }
	}
	adagrad := func(o ftrl.AdaGradSettings) attempt {
		return func(src block.Source) error { _, err := ftrl.TrainAdaGrad(ctx, src, o); return err }
	}
	aggressive := func(o passiveaggressive.Settings) attempt {
		return func(src block.Source) error { _, err := passiveaggressive.Train(ctx, src, o); return err }
	}
	multiply := func(o winnow.Settings) attempt {
		return func(src block.Source) error { _, err := winnow.Train(ctx, src, o); return err }
	}
	fisher := func(o lda.Settings) attempt {
		return func(src block.Source) error { _, err := lda.Train(ctx, src, o); return err }
	}
	odds := func(o logistic.Settings) attempt {
		return func(src block.Source) error { _, err := logistic.Train(ctx, src, o); return err }
	}
	machine := func(o svm.Settings) attempt {
		return func(src block.Source) error { _, err := svm.Train(ctx, src, o); return err }
	}
	kernels := func(o kernelperceptron.Settings) attempt {
		return func(src block.Source) error { _, err := kernelperceptron.Train(ctx, src.(*block.Data), o); return err }
	}
	described := func(l *learner.Learner, s learner.Settings) attempt {
		return func(src block.Source) error {
			_, err := l.Train(ctx, &learner.Task{Rows: src, Settings: s})
			return err
		}
	}
	two, many, three := programRows(20, 2, false).data(), programRows(5000, 2, false).data(), programRows(60, 3, false).data()
	huge := testproblems.Dense([][]float64{{3e38, -3e38}, {3e38, 3e38}}, []float64{1, 1}, true) // the second row scores inf - inf
	large := testproblems.Dense([][]float64{{1e30}, {-1e30}, {2e30}}, []float64{1, -1, -1}, true)
	x, y := make([][]float64, 60), make([]float64, 60)
	for r := range x {
		x[r], y[r] = []float64{float64(r % 2), float64(r % 3)}, float64(r%2)
	}
	missing, without := testproblems.Classes(x, y, 3, true), testproblems.Dense(x[:2], []float64{-1, 1}, false)
	half, mixed, twos := programRows(50, 2, false), programRows(50, 2, false), programRows(50, 2, false)
	half.blocks[0].X[7*8+2] = 0.5
	for r := range 50 {
		mixed.blocks[0].X[r*8+2] = []float32{-1, 1, 0}[min(r%2+r/49, 2)]
		twos.blocks[0].X[r*8] = 2
	}
	twos.sparse(0)
	row := make([]float64, 60_000)
	row[0] = 1
	wide := testproblems.Dense([][]float64{row, row}, []float64{1, -1}, true) // the rows update at every visit
	for _, c := range []struct {
		want string
		rows block.Source
		try  attempt
	}{
		{"that a float32 can hold", two, walk(perceptron.Settings{Options: perceptron.Options{Eta: 1e-60}})},
		{"use cyclic, shuffle", two, walk(perceptron.Settings{Options: perceptron.Options{Order: "up"}})},
		{"above 0", two, walk(perceptron.Settings{Options: perceptron.Options{Eta: 1.5}})},
		{"too large", huge, walk(perceptron.Settings{})},
		{"3 classes (0, 1, 2), training takes two", three, walk(perceptron.Settings{Options: perceptron.Options{Pocket: pocket.Exact}})},
		{`Pocket is "trousers": use exact, ratchet or epoch`, two, walk(perceptron.Settings{Options: perceptron.Options{Pocket: "trousers"}})},
		{"Margin is -1", two, walk(perceptron.Settings{Options: perceptron.Options{Margin: -1}})},
		{"Margin is 1e+300: use a number of 0 or more that a float32 can hold", two, walk(perceptron.Settings{Options: perceptron.Options{Margin: 1e300}})},
		{"EarlyStop needs a pocket", two, walk(perceptron.Settings{Options: perceptron.Options{EarlyStop: 2}})},
		{"EarlyStop is -2", two, walk(perceptron.Settings{Options: perceptron.Options{EarlyStop: -2}})},
		{"averaged takes no pocket", two, walk(perceptron.Settings{Options: perceptron.Options{Form: learner.Averaged, Pocket: pocket.Exact}})},
		{"as many as 64 MiB hold: end", wide, walk(perceptron.Settings{Options: perceptron.Options{Epochs: 1000, Form: learner.Voted}})},
		{"in memory or", testproblems.Stream{Data: two}, walk(perceptron.Settings{Options: perceptron.Options{Order: learner.Shuffle}})},
		{"there are 2 rows to validate on, of 3 columns: use rows of 4 columns", two, func(src block.Source) error {
			_, err := perceptron.TrainValidated(ctx, src, huge, perceptron.Settings{Options: perceptron.Options{Pocket: pocket.Exact}})
			return err
		}},
		{"takes no pocket and no rows to validate on", two, func(src block.Source) error {
			_, err := perceptron.TrainValidated(ctx, src, src, perceptron.Settings{Options: perceptron.Options{Form: learner.Voted}})
			return err
		}},
		{"5,000 rows make 2 chunks of 4,096, and there are 3 shards: use 2 shards or fewer", many, walk(perceptron.Settings{Options: perceptron.Options{Shards: 3}})},
		{"Shards is -1", many, walk(perceptron.Settings{Options: perceptron.Options{Shards: -1}})},
		{`Mix is "odd": use uniform or mistakes`, many, walk(perceptron.Settings{Options: perceptron.Options{Shards: 2, Mix: "odd"}})},
		{"each shard has its own: leave them out, or the shards", many, walk(perceptron.Settings{Options: perceptron.Options{Form: learner.Voted, Shards: 2}})},
		{"in memory or in a cache file", testproblems.Stream{Data: many}, walk(perceptron.Settings{Options: perceptron.Options{Shards: 2}})},
		{"C is -1: use a number above 0", two, aggressive(passiveaggressive.Settings{Options: passiveaggressive.Options{C: -1}})},
		{"C is NaN", two, aggressive(passiveaggressive.Settings{Options: passiveaggressive.Options{C: math.NaN()}})},
		{`Loss is "cubic": use hinge`, two, aggressive(passiveaggressive.Settings{Options: passiveaggressive.Options{Loss: "cubic"}})},
		{"in memory or in a cache file", testproblems.Stream{Data: two}, aggressive(passiveaggressive.Settings{Options: passiveaggressive.Options{Order: learner.Shuffle}})},
		{"in memory or in a cache file", testproblems.Stream{Data: many}, aggressive(passiveaggressive.Settings{Options: passiveaggressive.Options{Shards: 2}})},
		{"use 2 shards or fewer", many, aggressive(passiveaggressive.Settings{Options: passiveaggressive.Options{Shards: 3}})},
		{"Alpha is -1: use a number above 0", two, online(ftrl.Settings{Options: ftrl.Options{Alpha: -1}})},
		{"Beta is +Inf", two, online(ftrl.Settings{Options: ftrl.Options{Beta: math.Inf(1)}})},
		{"L1 is NaN: use a penalty of 0 or more", two, online(ftrl.Settings{Options: ftrl.Options{L1: math.NaN()}})},
		{"L2 is -3", two, online(ftrl.Settings{Options: ftrl.Options{L2: -3}})},
		{"Eta is 2:", two, adagrad(ftrl.AdaGradSettings{AdaGradOptions: ftrl.AdaGradOptions{Eta: 2}})},
		{`Loss is "cubic": use logistic`, two, adagrad(ftrl.AdaGradSettings{AdaGradOptions: ftrl.AdaGradOptions{Loss: "cubic"}})},
		{"3 classes", three, adagrad(ftrl.AdaGradSettings{})},
		{`column "c", row 7: 0.5 is neither 0 nor 1`, half.data(), multiply(winnow.Settings{})},
		{`column "c" has -1 and 0`, mixed.data(), multiply(winnow.Settings{Options: winnow.Options{Literals: true}})},
		{"2 is not -1, 0 or 1", twos.data(), multiply(winnow.Settings{Options: winnow.Options{Literals: true}})},
		{"needs the bias", without, multiply(winnow.Settings{})},
		{"Alpha is 1:", two, multiply(winnow.Settings{Options: winnow.Options{Alpha: 1}})},
		{"Threshold is -1", two, multiply(winnow.Settings{Options: winnow.Options{Threshold: -1}})},
		{"Threshold is 2", two, multiply(winnow.Settings{Options: winnow.Options{Threshold: 2, Variant: winnow.Balanced}})},
		{`Winnow is "winnow3": use winnow2`, two, multiply(winnow.Settings{Options: winnow.Options{Variant: "winnow3"}})},
		{"winnow doesn't use", programRows(20, 2, true).data(), multiply(winnow.Settings{})},
		{"Epochs is -1", two, multiply(winnow.Settings{Options: winnow.Options{Epochs: -1}})},
		{"workers is -1", two, fisher(lda.Settings{Run: learner.Run{Workers: -1}})},
		{"no row is of the class 2, training takes 3 classes", missing, fisher(lda.Settings{})},
		{`Solver is "svd": use auto, cholesky or eigen`, two, fisher(lda.Settings{Options: lda.Options{Solver: "svd"}})},
		{`Shrinkage is "1.5"`, two, fisher(lda.Settings{Options: lda.Options{Shrinkage: 1.5}})},
		{`Shrinkage is "NaN"`, two, fisher(lda.Settings{Options: lda.Options{Shrinkage: math.NaN()}})},
		{"no row is of the class -1", huge, fisher(lda.Settings{})},
		{"no row is of the class", testproblems.Weighted(three, func(int) float64 { return 0 }), fisher(lda.Settings{Options: lda.Options{Shrinkage: lda.LedoitWolf}})},
		{"no feature varies", testproblems.Dense([][]float64{{1, 2}, {3, 4}}, []float64{1, -1}, true), fisher(lda.Settings{})},
		{"no row is of the class 1", testproblems.Dense([][]float64{{1}}, []float64{-1}, true), fisher(lda.Settings{})},
		{"L2 is -1", two, odds(logistic.Settings{Options: logistic.Options{L2: -1}})},
		{"L2 is NaN", two, odds(logistic.Settings{Options: logistic.Options{L2: math.NaN()}})},
		{"Epochs is -1", two, odds(logistic.Settings{Options: logistic.Options{Epochs: -1}})},
		{`Solver is "irls": use auto`, two, odds(logistic.Settings{Options: logistic.Options{Solver: "irls"}})},
		{"3 classes are too many for the Solver newton", three, odds(logistic.Settings{Options: logistic.Options{Solver: logistic.Newton}})},
		{"weight", testproblems.Weighted(three, func(int) float64 { return 0 }), odds(logistic.Settings{Options: logistic.Options{NoPenalty: true}})},
		{"Shards need the Solver sgd", many, odds(logistic.Settings{Options: logistic.Options{Shards: 2}})},
		{"use 2 shards or fewer", many, odds(logistic.Settings{Options: logistic.Options{Solver: logistic.SGD, Shards: 3}})},
		{"L2 is -1", two, machine(svm.Settings{Options: svm.Options{L2: -1}})},
		{"L2 is NaN", two, machine(svm.Settings{Options: svm.Options{L2: math.NaN(), Loss: svm.Hinge}})},
		{`Loss is "log": use squared_hinge or hinge`, two, machine(svm.Settings{Options: svm.Options{Loss: "log"}})},
		{"Epochs is -1", two, machine(svm.Settings{Options: svm.Options{Epochs: -1}})},
		{"by the Loss hinge", three, machine(svm.Settings{})},
		{"without L1 and Nonnegative", three, machine(svm.Settings{Options: svm.Options{L1: 1}})},
		{`Form is "first": use last, averaged or voted`, two, kernels(kernelperceptron.Settings{Options: kernelperceptron.Options{Form: "first"}})},
		{`Form is "first": use last, averaged or voted`, two, described(kernelperceptron.Dual(kernelperceptron.Options{}).Learner, &kernelperceptron.Settings{Options: kernelperceptron.Options{Form: "first"}})},
		{"takes rows in memory", testproblems.Stream{Data: two}, described(kernelperceptron.Dual(kernelperceptron.Options{}).Learner, &kernelperceptron.Settings{})},
		{`Kernel is "spline": use linear, poly or rbf`, two, kernels(kernelperceptron.Settings{Options: kernelperceptron.Options{Kernel: gram.Kernel{Kind: "spline"}}})},
		{"Gamma is -1", two, kernels(kernelperceptron.Settings{Options: kernelperceptron.Options{Kernel: gram.Kernel{Kind: "rbf", Gamma: -1}}})},
		{"Epochs is -1", two, kernels(kernelperceptron.Settings{Options: kernelperceptron.Options{Epochs: -1}})},
		{"take 96", two, kernels(kernelperceptron.Settings{Options: kernelperceptron.Options{Memory: 95}})},
		{"Eta is 1e-300", two, kernels(kernelperceptron.Settings{Options: kernelperceptron.Options{Eta: 1e-300}})},
		{"too large for float32", large, kernels(kernelperceptron.Settings{})},
		{"too large for float32", large, kernels(kernelperceptron.Settings{Options: kernelperceptron.Options{Kernel: gram.Kernel{Kind: "poly"}}})},
	} {
		if err := c.try(c.rows); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
}

// TestCancelled: a training whose context ends when it tells of its progress ends with the error of the context.
func TestCancelled(t *testing.T) {
	two, three := testproblems.Logistic(300, 4), testproblems.RandomClasses(300, 3, 3, 0.2)
	const long = 1 << 40
	var cases []learner.Settings
	for _, order := range learner.Orders {
		cases = append(cases, &perceptron.Settings{Options: perceptron.Options{Order: order, Epochs: long}},
			&passiveaggressive.Settings{Options: passiveaggressive.Options{Order: order, Epochs: long}},
			&ftrl.Settings{Options: ftrl.Options{Order: order, Epochs: long}})
	}
	for _, solver := range logistic.Solvers {
		cases = append(cases, &logistic.Settings{Options: logistic.Options{L2: 1, Solver: solver}})
	}
	for _, loss := range svm.Losses {
		cases = append(cases, &svm.Settings{Options: svm.Options{Loss: loss}})
	}
	cases = append(cases, &winnow.Settings{Options: winnow.Options{Epochs: long}},
		&kernelperceptron.Settings{Options: kernelperceptron.Options{Form: learner.Averaged, Epochs: long}}, &lda.Settings{}, &lda.Settings{Options: lda.Options{Shrinkage: lda.LedoitWolf}}, &svm.Settings{Options: svm.Options{Epochs: 500, Loss: svm.Hinge}})
	for i, s := range cases {
		rows := block.Source(two)
		if i == len(cases)-1 {
			rows = three // together
		}
		var l *learner.Learner
		switch s := s.(type) {
		case *perceptron.Settings:
			l = perceptron.LearnerOf(&s.Options)
		case *passiveaggressive.Settings:
			l = passiveaggressive.Learner
		case *ftrl.Settings:
			l = ftrl.FTRL
		case *logistic.Settings:
			l = logistic.Learner
		case *svm.Settings:
			l = svm.Learner
		case *winnow.Settings:
			l, rows = winnow.Learner, programRows(5000, 2, false).data()
		case *kernelperceptron.Settings:
			l, rows = kernelperceptron.Dual(kernelperceptron.Options{}).Learner, programRows(300, 2, false).data()
		case *lda.Settings:
			l = lda.Learner
		}
		ctx, cancel := context.WithCancel(t.Context())
		s.RunOptions().Progress = func(p learner.Progress) {
			if p.Epoch > 0 {
				cancel()
			}
		}
		if l == lda.Learner {
			cancel()
		}
		learned, err := l.Train(ctx, &learner.Task{Rows: rows, Settings: s})
		if !errors.Is(err, context.Canceled) || learned != nil && !learned.Interrupted {
			t.Errorf("%s %+v: error %v, learned %+v", l.Name, s, err, learned)
		}
		cancel()
	}
}
