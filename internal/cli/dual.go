package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"halfspace/block"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/train"
	"halfspace/train/dual"
)

// dualOptionNames are the options that the learners in the dual form use. There are two, which are the same; their names are what
// users look for.
var dualOptionNames = []string{"order", "eta", "max-updates", "epochs", "kernel", "degree", "gamma", "coef0", "form"}

// dualOptions are the options of the learners in the dual form.
type dualOptions struct {
	kernel, form choice
	degree       int
	gamma, coef0 float64
}

func (o *dualOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	addChoice(cmd, &o.kernel, "kernel", "`FUNCTION` k(x,z) in place of x.z for --algo dual and kernel-perceptron: linear, poly is "+
		"(gamma x.z + coef0)^degree, rbf is exp(-gamma |x-z|^2)", "linear", "poly", "rbf")
	f.IntVar(&o.degree, "degree", 3, "`N` of --kernel poly")
	f.Float64Var(&o.gamma, "gamma", 0, "`FACTOR` of --kernel poly and rbf; 0 is 1 divided by the number of features")
	f.Float64Var(&o.coef0, "coef0", 0, "`SUMMAND` of --kernel poly")
	var forms []string
	for _, f := range train.Forms {
		forms = append(forms, string(f))
	}
	addChoice(cmd, &o.form, "form", "`FORM` of --algo dual and kernel-perceptron to keep: the last machine, the mean of all, each counted "+
		"for the visits that it survived, or all, with as many votes", forms...)
}

// check looks for what no learner can use.
func (o *dualOptions) check() error {
	switch {
	case o.degree < 1:
		return usagef("--degree is %d: use 1 or more", o.degree)
	case !(o.gamma >= 0) || math.IsInf(o.gamma, 0):
		return usagef("--gamma is %v: use a factor above 0, or 0 for 1 divided by the number of features", o.gamma)
	case math.IsNaN(o.coef0) || math.IsInf(o.coef0, 0):
		return usagef("--coef0 is %v: use a number", o.coef0)
	}
	return nil
}

// unused lists the options that a kernel has no use for.
func (o *dualOptions) unused() []string {
	return map[string][]string{"linear": {"degree", "gamma", "coef0"}, "rbf": {"degree", "coef0"}}[o.kernel.value]
}

// mostMisclassified is how many rows a model names that were misclassified most often.
const mostMisclassified = 20

// learnDual learns in the dual form.
func learnDual[T kernel.Float](ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error) {
	o, src := j.trainOptions, j.src
	data, ok := src.(*block.Data[T])
	limit, used := o.storage.memory.limit(), j.held
	if !ok {
		return nil, nil, fmt.Errorf("--algo %s takes rows in memory: they need %s, %s is %s: give more", o.algo.value, say.Size(used/4*5),
			o.storage.memory.name(), say.Size(limit))
	}
	if o.storage.memory.bytes == 0 {
		used = 0 // the limit is of what is available now
	}
	opt := dual.Options{Options: j.trainer(), Form: train.Form(o.dual.form.value), Memory: max(1, (limit-used)/10*9),
		Kernel: model.Kernel{Kind: o.dual.kernel.value, Degree: o.dual.degree, Gamma: o.dual.gamma, Coef0: o.dual.coef0}}
	if whole := dual.Bytes[T](int(src.Rows())); whole > opt.Memory {
		j.note("the Gram matrix needs %s, %s is %s: using the row cache", say.Size(whole), o.storage.memory.name(), say.Size(limit))
	}
	debug.SetMemoryLimit(limit + used) // the matrix is there once, and no garbage
	r, err := dual.Train(ctx, data, opt)
	if r == nil {
		return nil, nil, err
	}
	return &r.Result, func(m *model.Model) {
		if r.Expansion != nil {
			m.Expansion, m.Bias = r.Expansion, nil
			if m.FitBias {
				m.Bias = r.Bias
			}
		}
		m.Training.Misclassified = misclassified(r.Mistakes)
	}, err
}

// misclassified lists the rows that were on the wrong side most often, the first of equal ones first.
func misclassified(n []int64) []model.Misclassified {
	var rows []model.Misclassified
	for r, updates := range n {
		if updates > 0 {
			rows = append(rows, model.Misclassified{Row: int64(r), Updates: updates})
		}
	}
	slices.SortStableFunc(rows, func(x, y model.Misclassified) int { return cmp.Compare(y.Updates, x.Updates) })
	return slices.Clone(rows[:min(len(rows), mostMisclassified)])
}

// kernelText tells of an expansion.
func kernelText(e *model.Expansion) []string {
	text := "linear"
	switch k := e.Kernel; k.Kind {
	case "poly":
		text = fmt.Sprintf("(%s x.z + %s)^%d", say.Real(k.Gamma), say.Real(k.Coef0), k.Degree)
	case "rbf":
		text = fmt.Sprintf("exp(-%s |x-z|^2)", say.Real(k.Gamma))
	}
	return []string{"kernel", text, "support", say.Plural(int64(len(e.Rows)), "row")}
}

// misclassifiedTable adds the rows that were misclassified most often.
func (s *sheet) misclassifiedTable(rows []model.Misclassified) {
	if len(rows) == 0 {
		return
	}
	table := [][]string{{"row", "updates"}}
	for _, r := range rows {
		table = append(table, []string{say.Count(r.Row), say.Count(r.Updates)})
	}
	s.line("\nThe rows most often misclassified, from 0:\n")
	s.table(table)
}
