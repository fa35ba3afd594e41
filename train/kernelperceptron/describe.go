package kernelperceptron

import (
	"cmp"
	"context"
	"slices"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/memory"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/train/learner"
)

// dualLearner and mercerLearner describe the same learner under two names, because users look for both names.
var (
	dualLearner   = describe("dual", "dual perceptron", "the perceptron's loss, on inner products of rows", "--form averaged")
	mercerLearner = describe("kernel-perceptron", "kernel perceptron",
		"the perceptron's loss, on a kernel in place of inner products", "--kernel rbf")
)

// New returns the kernel perceptron with options.
func New(o Options) learner.ConfiguredLearner {
	return learner.Configure(mercerLearner, &Settings{Options: o})
}

// Dual returns the learner of New under the name dual, which suits the linear kernel.
func Dual(o Options) learner.ConfiguredLearner {
	return learner.Configure(dualLearner, &Settings{Options: o})
}

func describe(name, fullName, minimises, example string) *learner.Learner {
	return &learner.Learner{Name: name, FullName: fullName, Objective: minimises,
		WhenToUse: "few rows that no plane separates, with a kernel", Example: example, InMemory: true,
		VersusRest: true, Algorithm: algorithm{name},
		Options: append([]learner.Option{learner.OrderOption, learner.EtaOption, learner.MaxUpdatesOption,
			learner.EpochsOption}, options...)}
}

// An algorithm is the kernel perceptron under one of its names.
type algorithm struct{ name string }

func (algorithm) New() learner.Settings {
	return &Settings{Options: Options{Order: learner.Cyclic, Epochs: 100, Eta: 1, Form: learner.Last,
		Kernel: gram.Kernel{Kind: "linear", Degree: 3}}, Run: learner.Run{Seed: 1}}
}

func (algorithm) PerceptronUpdate(learner.Settings) (margin, l2 float64) { return 0, 0 }

// Copy returns a copy; see learner.Settings.
func (s *Settings) Copy() learner.Settings { c := *s; return &c }

// Shared returns the options that learners share; see learner.Settings.
func (s *Settings) Shared() learner.Options {
	return learner.Options{Order: s.Order, Epochs: s.Epochs, MaxUpdates: s.MaxUpdates, Eta: s.Eta, Run: s.Run}
}

var options = []learner.Option{
	{Name: "kernel", Help: "Kernel k(x,z): x.z (linear), (gamma x.z + coef0)^degree (poly) or exp(-gamma |x-z|^2) (rbf).",
		Words: []string{"linear", "poly", "rbf"}, Stored: learner.StoredElsewhere,
		Field: learner.FieldOf(func(o *Settings) any { return &o.Kernel.Kind })},
	{Name: "degree", Value: "NUMBER", Help: "Exponent of the polynomial kernel.", AllowedNumbers: "1 or more",
		IsAllowed: func(v float64) bool { return v >= 1 }, Stored: learner.StoredElsewhere,
		Condition: &learner.Condition{Option: "kernel", Values: []string{"poly"}},
		Field:     learner.FieldOf(func(o *Settings) any { return &o.Kernel.Degree })},
	{Name: "gamma", Value: "NUMBER", Help: "gamma of the kernels poly and rbf. 0 means 1 divided by the number of " +
		"features.", AllowedNumbers: "a factor above 0, or 0 for 1 divided by the number of features",
		IsAllowed: func(v float64) bool { return v >= 0 }, Stored: learner.StoredElsewhere,
		Condition: &learner.Condition{Option: "kernel", Values: []string{"poly", "rbf"}},
		Field:     learner.FieldOf(func(o *Settings) any { return &o.Kernel.Gamma })},
	{Name: "coef0", Value: "NUMBER", Help: "Constant that the polynomial kernel adds to gamma x.z.",
		Stored:    learner.StoredElsewhere,
		Condition: &learner.Condition{Option: "kernel", Values: []string{"poly"}},
		Field:     learner.FieldOf(func(o *Settings) any { return &o.Kernel.Coef0 })},
	{Name: "form", Help: "Weights to keep: the last ones (last), the mean of the weights after every visit " +
		"(averaged), or all, with one vote for each visit (voted).",
		Words: learner.WordsOf(learner.Forms), Stored: learner.StoredIfChanged,
		Field: learner.FieldOf(func(o *Settings) any { return &o.Form })},
}

// Train trains on rows in memory. It may use 9/10 of the rest of the memory for inner products.
func (a algorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	limit, used, source := memory.Limit(task.Memory), task.HeldBytes, message.Option("memory")
	data, ok := task.Rows.(*block.Data)
	if task.Memory == 0 {
		source = "the memory for it"
	}
	if !ok {
		return nil, message.Errorf("--algo %s takes rows in memory: they need %s, %s is %s: give more", a.name,
			humanize.Size(used/4*5), source, humanize.Size(limit))
	}
	if task.Memory == 0 {
		used = 0 // the limit is the memory available now
	}
	opt := *task.Settings.(*Settings)
	opt.Memory = max(1, (limit-used)/10*9)
	if whole := GramBytes(int(data.Rows())); whole > opt.Memory {
		task.Note(message.Sprintf("the Gram matrix needs %s, %s is %s: using the row cache", humanize.Size(whole), source,
			humanize.Size(limit)))
	}
	r, err := Train(ctx, data, opt)
	if r == nil {
		return nil, err
	}
	return &learner.TaskResult{Result: &r.Result, OwnResult: r, AddToModel: func(m *model.Model) {
		if r.Expansion != nil {
			m.Expansion, m.Bias = r.Expansion, nil
			if m.FitBias {
				m.Bias = r.Bias
			}
		}
		m.Training.MisclassifiedRows = misclassified(r.Mistakes)
	}}, err
}

// mostMisclassified is the number of the most often misclassified rows that a model lists.
const mostMisclassified = 20

// misclassified lists the rows that were on the wrong side most often, with their number of mistakes. Of equal numbers
// the first row comes first.
func misclassified(n []int64) []model.MisclassifiedRow {
	var rows []model.MisclassifiedRow
	for r, updates := range n {
		if updates > 0 {
			rows = append(rows, model.MisclassifiedRow{Row: int64(r), Updates: updates})
		}
	}
	slices.SortStableFunc(rows, func(x, y model.MisclassifiedRow) int { return cmp.Compare(y.Updates, x.Updates) })
	return slices.Clone(rows[:min(len(rows), mostMisclassified)])
}
