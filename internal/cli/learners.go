package cli

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/spf13/cobra"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/train"
	"halfspace/train/lda"
	"halfspace/train/logistic"
	"halfspace/train/svm"
	"halfspace/train/winnow"
)

// The learners that solve for an optimum over all rows.
const (
	logisticName = "logistic"
	ldaName      = "lda"
	svmName      = "svm"
)

// solves tells whether an algorithm is one of them.
func solves(algorithm string) bool { return hasOdds(algorithm) || algorithm == svmName }

// hasOdds tells whether scores are the logarithm of the odds of the positive class.
func hasOdds(algorithm string) bool { return algorithm == logisticName || algorithm == ldaName }

func lossNames() []string {
	var names []string
	for _, l := range svm.Losses {
		names = append(names, string(l))
	}
	return names
}

// winnowName is the learner that multiplies weights.
const winnowName = "winnow"

func winnowNames() []string {
	var names []string
	for _, v := range winnow.Variants {
		names = append(names, string(v))
	}
	return names
}

// unusedBy lists the options that a learner has no use for, other than those that noteUnused knows about.
func unusedBy(algorithm string) []string {
	switch algorithm {
	case logisticName:
		return []string{"order", "eta", "max-updates", "margin", "early-stop", "loss"}
	case ldaName:
		return []string{"order", "eta", "max-updates", "margin", "early-stop", "epochs", "l2", "loss"}
	case svmName:
		return []string{"order", "eta", "max-updates", "margin", "early-stop"}
	case winnowName:
		return []string{"order", "eta", "l2", "margin", "early-stop", "loss"}
	case votedName:
		return []string{"l2", "early-stop", "loss"}
	case dualName, kernelName:
		return []string{"l2", "margin", "early-stop", "loss"}
	}
	return []string{"l2", "loss"}
}

// unused is unusedBy with the options of the dual form.
func (o *trainOptions) unused() []string {
	names := unusedBy(o.algo.value)
	if isDual(o.algo.value) {
		return append(names, o.dual.unused()...)
	}
	return append(names, "kernel", "degree", "gamma", "coef0", "form")
}

// settle notes options that the learner has no use for, lets none of them have a say, and sets defaults that differ by learner.
func (a *app) settle(cmd *cobra.Command, o *trainOptions) error {
	for _, name := range o.unused() {
		if cmd.Flags().Changed(name) {
			a.note("--%s has no effect with --algo %s", name, o.algo.value)
		}
	}
	if solves(o.algo.value) || o.algo.value == winnowName {
		o.order.value = string(train.Cyclic)
	}
	if isDual(o.algo.value) {
		o.margin = 0
	}
	if o.algo.value == svmName && o.l2 == 0 {
		if cmd.Flags().Changed("l2") {
			return usagef("--l2 is 0: --algo svm takes a penalty above 0")
		}
		o.l2 = 1
	}
	return nil
}

func checkL2(l2 float64) error {
	if !(l2 >= 0) || math.IsInf(l2, 0) {
		return usagef("--l2 is %v: use a penalty of 0 or more", l2)
	}
	return nil
}

// solve learns by a learner that solves, by Winnow, or in the dual form; for another it returns nil. It returns what is to be added to
// the model, too.
func solve[T kernel.Float](ctx context.Context, a *app, o *trainOptions, src block.Source[T], show func(train.Progress)) (*train.Result[T],
	func(*model.Model), error) {
	opt := train.Options{Epochs: o.epochs, Workers: o.workers, Progress: show}
	switch o.algo.value {
	case dualName, kernelName:
		return learnDual(ctx, a, o, src, show)
	case logisticName:
		r, err := logistic.Train(ctx, src, logistic.Options{Options: opt, L2: o.l2})
		if err != nil {
			return nil, nil, err
		}
		return &r.Result, func(m *model.Model) {
			m.Options, m.StdErrors, m.Training.Ridge = model.Options{Epochs: o.epochs, L2: &o.l2}, r.StdErrors, r.Ridge
		}, nil
	case ldaName:
		r, err := lda.Train(ctx, src, lda.Options{Options: opt})
		if err != nil {
			return nil, nil, err
		}
		return &r.Result, func(m *model.Model) { m.Options, m.Training.Ridge = model.Options{}, r.Ridge }, nil
	case svmName:
		r, err := svm.Train(ctx, src, svm.Options{Options: opt, Loss: svm.Loss(o.loss.value), L2: o.l2})
		if err != nil {
			return nil, nil, err
		}
		return &r.Result, func(m *model.Model) {
			m.Options = model.Options{Epochs: o.epochs, L2: &o.l2, Loss: o.loss.value}
			m.Training.Optimum = &model.Optimum{Objective: r.Objective, Gap: r.Gap}
		}, nil
	case winnowName:
		opt.MaxUpdates = o.maxUpdates
		r, err := winnow.Train(ctx, src, winnow.Options{Options: opt, Variant: winnow.Variant(o.winnow.value)})
		if err != nil {
			return nil, nil, err
		}
		return r, func(m *model.Model) {
			m.Options = model.Options{Epochs: o.epochs, MaxUpdates: o.maxUpdates, Winnow: o.winnow.value}
		}, nil
	}
	return nil, nil, nil
}

// howSolved tells of a model of a learner that solves which options it had, and how it went.
func howSolved(m *model.Model) []string {
	t := &m.Training
	var pairs []string
	if m.Options.L2 != nil {
		loss, sum := "", "log(1 + e^(-y(w.x+b)))"
		if m.Options.Loss != "" {
			loss, sum = m.Options.Loss+", ", "max(0, 1 - y(w.x+b))"
		}
		if m.Options.Loss == string(svm.SquaredHinge) {
			sum += "^2"
		}
		pairs = append(pairs, "options", fmt.Sprintf("%sl2 %s, at most %s", loss, real(*m.Options.L2), passes(m.Options.Epochs)))
		converged := "converged"
		if !t.Converged {
			converged = "not converged"
		}
		pairs = append(pairs, "solver", fmt.Sprintf("%s of Newton's in %s, %s", plural(t.Updates, "step"), passes(t.Epochs), converged),
			"loss", real(t.Loss)+", the sum of "+sum)
		if t.Optimum != nil {
			pairs = append(pairs, "objective", fmt.Sprintf("%s, at most %s above the optimum (the duality gap)", real(t.Optimum.Objective),
				real(t.Optimum.Gap)))
		}
	} else {
		pairs = append(pairs, "solver", "one solution in "+passes(t.Epochs))
	}
	if t.Ridge > 0 {
		pairs = append(pairs, "singular", fmt.Sprintf("a ridge of %s was added, since features depend on each other: leave some out for "+
			"weights that mean something", real(t.Ridge)))
	}
	return pairs
}

func passes(n int64) string {
	if n == 1 {
		return "1 pass"
	}
	return count(n) + " passes"
}

// zTable is the table of weights with standard errors and z-values, the bias at its end. The largest z-values are first.
func zTable(m *model.Model, n int) [][]string {
	type row struct {
		name          string
		weight, error float64
	}
	var all []row
	for i, f := range m.Features {
		all = append(all, row{f, m.Weights[0][i], m.StdErrors[i]})
	}
	z := func(r row) float64 { return r.weight / r.error }
	slices.SortStableFunc(all, func(a, b row) int {
		switch x, y := math.Abs(z(a)), math.Abs(z(b)); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	all = all[:min(n, len(all))]
	if m.FitBias {
		all = append(all, row{"(bias)", m.Bias[0], m.StdErrors[len(m.Features)]})
	}
	rows := [][]string{{"feature", "weight", "std error", "z"}}
	for _, r := range all {
		rows = append(rows, []string{r.name, real(r.weight), real(r.error), fixed(z(r), 2)})
	}
	return rows
}

// checkProba returns an error unless the scores of a model are the logarithms of odds.
func checkProba(path string, m *model.Model) error {
	if hasOdds(m.Algorithm) {
		return nil
	}
	return fmt.Errorf("%s: a model of --algo %s has no probabilities: train one with --algo logistic or lda, or write --score", path, m.Algorithm)
}

// probabilityName is the name of the column that holds the probability of a class.
func probabilityName(c block.Class) string { return "probability_" + c.String() }

// probabilityColumns makes a column for each class, in their order.
func probabilityColumns[T kernel.Float](scores []T, positive int, valid []bool) [2]arrow.Array {
	var columns [2]arrow.Array
	for class := range columns {
		odds := slices.Clone(scores)
		if class != positive {
			for i, s := range odds {
				odds[i] = -s
			}
		}
		kernel.Sigmoid(odds, odds)
		columns[class] = floatColumn(odds, valid)
	}
	return columns
}
