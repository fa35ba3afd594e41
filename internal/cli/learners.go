package cli

import (
	"context"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/pocket"
	"halfspace/train"
	"halfspace/train/dual"
	"halfspace/train/lda"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
	"halfspace/train/svm"
	"halfspace/train/winnow"
)

// A learner is what --algo names, and what the command knows about it.
type learner struct {
	name string
	uses []string // those of particular that it has a use for

	needsBias string             // why it can't do without, if it can't
	noWeights string             // why rows can't have weights, if they can't
	l2        float64            // its penalty where none is given; it takes none of 0 then
	access    access             // how it reads rows in cyclic order; other orders are anyOrder
	held      bool               // it takes rows in memory alone
	multi     bool               // it learns any number of classes
	walk      perceptron.Options // what distinguishes perceptrons
	learn32   learning[float32]
	learn64   learning[float64]

	loss   bool                                         // its report has the perceptron's loss
	kept   string                                       // what its report says of the weights it kept, where the last ones changed nothing
	odds   bool                                         // scores are the logarithms of the odds of the positive class
	solved bool                                         // it solves for an optimum over all rows: its report says how, in place of visits
	advise func(o *trainOptions, r *trainReport) string // what to try where it didn't converge, "" where that is nothing of its own
}

// A learning learns by the options of a job. It returns what is to be added to the model, too, or nil.
type learning[T kernel.Float] func(ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error)

// particular lists the options that not every learner has a use for.
var particular = []string{"order", "eta", "max-updates", "margin", "early-stop", "epochs", "l2", "loss", "kernel", "degree", "gamma", "coef0", "form",
	"pocket", "winnow", "validation"}

// The names of learners that others have to know.
const (
	perceptronName = "perceptron"
	averagedName   = "averaged"
	votedName      = "voted"
	onlineName     = "online" // what models of the verb online say of their learner
)

// learners lists every learner, the default first.
var learners = []*learner{
	{name: perceptronName, uses: []string{"order", "eta", "max-updates", "margin", "early-stop", "epochs", "validation"},
		learn32: learnPerceptron[float32], learn64: learnPerceptron[float64], loss: true, advise: advisePerceptron},
	{name: "pocket", uses: []string{"order", "eta", "max-updates", "margin", "early-stop", "epochs", "pocket", "validation"}, access: nested,
		learn32: learnPerceptron[float32], learn64: learnPerceptron[float64], loss: true},
	{name: averagedName, uses: []string{"order", "eta", "max-updates", "margin", "early-stop", "epochs", "validation"},
		walk: perceptron.Options{Average: true}, learn32: learnPerceptron[float32], learn64: learnPerceptron[float64], loss: true, kept: "the mean of all is kept"},
	{name: votedName, uses: []string{"order", "eta", "max-updates", "margin", "epochs"},
		walk: perceptron.Options{Vote: true}, learn32: learnPerceptron[float32], learn64: learnPerceptron[float64], loss: true, kept: "all are kept"},
	{name: "winnow", uses: []string{"max-updates", "epochs", "winnow"}, needsBias: "which has a threshold", noWeights: "which multiplies weights by one number",
		learn32: learnWinnow[float32], learn64: learnWinnow[float64], advise: adviseWinnow},
	{name: "dual", uses: dualOptionNames, held: true, multi: true, learn32: learnDual[float32], learn64: learnDual[float64], loss: true},
	{name: "kernel-perceptron", uses: dualOptionNames, held: true, multi: true, learn32: learnDual[float32], learn64: learnDual[float64], loss: true},
	{name: "logistic", uses: []string{"epochs", "l2"}, learn32: learnLogistic[float32], learn64: learnLogistic[float64], odds: true, solved: true, advise: adviseSolver},
	{name: "lda", learn32: learnLDA[float32], learn64: learnLDA[float64], odds: true, solved: true, advise: adviseSolver},
	{name: "svm", uses: []string{"epochs", "l2", "loss"}, l2: 1, learn32: learnSVM[float32], learn64: learnSVM[float64], solved: true, advise: adviseSolver},
}

func learnerNames() []string {
	var names []string
	for _, l := range learners {
		names = append(names, l.name)
	}
	return names
}

// learnerNamed returns the learner of that name, or one without any properties: models may be of the verb online, or of a learner to come.
func learnerNamed(name string) *learner {
	for _, l := range learners {
		if l.name == name {
			return l
		}
	}
	return &learner{name: name}
}

// judged tells whether weights are judged on other rows than those that are learned from, if there are some.
func (l *learner) judged() bool { return slices.Contains(l.uses, "validation") }

// learn returns what learns from rows of T.
func learn[T kernel.Float](l *learner) learning[T] {
	if f, ok := any(l.learn32).(learning[T]); ok {
		return f
	}
	return any(l.learn64).(learning[T])
}

// has tells whether an option of those in particular has a say.
func (o *trainOptions) has(option string) bool {
	return slices.Contains(o.learner.uses, option) && !slices.Contains(o.dual.unused(), option)
}

// settle notes options that the learner has no use for, lets none of them have a say, and sets defaults that differ by learner.
func (a *app) settle(cmd *cobra.Command, o *trainOptions) error {
	for _, name := range particular {
		if cmd.Flags().Changed(name) && !o.has(name) {
			a.note("--%s has no effect with --algo %s", name, o.algo.value)
		}
	}
	if !o.has("order") {
		o.order.value = string(train.Cyclic)
	}
	if !o.has("margin") {
		o.margin = 0
	}
	if !o.has("early-stop") {
		o.earlyStop = 0
	}
	if o.l2 == 0 && o.learner.l2 > 0 {
		if cmd.Flags().Changed("l2") {
			return usagef("--l2 is 0: --algo %s takes a penalty above 0", o.algo.value)
		}
		o.l2 = o.learner.l2
	}
	return nil
}

// access returns how the training reads rows.
func (o *trainOptions) access() access {
	switch {
	case o.learner.held: // in memory or not at all
		return inOrder
	case train.Order(o.order.value) != train.Cyclic:
		return anyOrder
	}
	return o.learner.access
}

// A job is rows to learn from, and how.
type job[T kernel.Float] struct {
	*trainOptions
	src        block.Source[T]
	validation block.Source[T] // nil where there is none
	show       func(train.Progress)
	note       func(format string, args ...any)
}

// run learns. It returns the model, and how it went. It neither reads files nor prints, other than by the job's functions.
func (j *job[T]) run(ctx context.Context) (*model.Model, *train.Result[T], error) {
	weighed, classes, err := j.weighed(ctx)
	if err != nil {
		return nil, nil, err
	}
	learned, describe, err := learn[T](j.learner)(ctx, weighed)
	if err != nil {
		return nil, nil, err
	}
	m := model.New(j.src.Spec(), learned.Weights)
	m.Algorithm, m.Options = j.learner.name, j.shaping()
	m.Options.ClassWeight = classes
	m.Training = model.Training{Rows: j.src.Rows(), Epochs: learned.Epochs, Visits: learned.Visits, Updates: learned.Updates,
		Errors: &learned.Errors, Converged: learned.Converged, Loss: learned.Loss, Radius: learned.Radius, Norm: learned.Norm}
	if len(learned.Curve) > 0 {
		m.Training.Kept = &learned.Kept
	}
	if bound := learned.MistakeBound(); !math.IsInf(bound, 0) {
		if m.Training.Margin = &learned.Margin; !weighed.src.Spec().Weighted { // which the theorem isn't about
			m.Training.MistakeBound = &bound
		}
	}
	if describe != nil {
		describe(m)
	}
	m.Data.Rows = j.src.Rows()
	if m.Data.Fingerprint, err = block.Fingerprint(ctx, j.src, j.workers); err != nil {
		return nil, nil, err
	}
	if j.validation != nil {
		v := &model.Validation{Rows: j.validation.Rows(), Errors: learned.Curve[len(learned.Curve)-1].Errors}
		if v.Fingerprint, err = block.Fingerprint(ctx, j.validation, j.workers); err != nil {
			return nil, nil, err
		}
		m.Training.Validation = v
	}
	return m, learned, nil
}

// shaping returns the options that have a say, for the model.
func (o *trainOptions) shaping() model.Options {
	var m model.Options
	for name, set := range map[string]func(){
		"order":       func() { m.Order = o.order.value },
		"epochs":      func() { m.Epochs = o.epochs },
		"max-updates": func() { m.MaxUpdates = o.maxUpdates },
		"eta":         func() { m.Eta = o.eta },
		"margin":      func() { m.Margin = o.margin },
		"early-stop":  func() { m.EarlyStop = o.earlyStop },
		"pocket":      func() { m.Pocket = o.pocket.value },
		"winnow":      func() { m.Winnow = o.winnow.value },
		"l2":          func() { m.L2 = &o.l2 },
		"loss":        func() { m.Loss = o.loss.value },
		"validation":  func() { m.Validation = o.share },
	} {
		if o.has(name) {
			set()
		}
	}
	if o.has("form") && o.dual.form.value != string(dual.Last) {
		m.Form = o.dual.form.value
	}
	if o.random() {
		m.Seed = &o.seed
	}
	m.SampleWeight = o.data.sampleWeight
	return m
}

// trainer returns the options that learners share.
func (j *job[T]) trainer() train.Options {
	opt := j.common()
	opt.Progress = j.show
	return opt
}

func learnPerceptron[T kernel.Float](ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error) {
	opt := j.learner.walk
	opt.Options, opt.Margin, opt.EarlyStop = j.trainer(), j.margin, j.earlyStop
	if j.has("pocket") {
		opt.Pocket = pocket.Mode(j.pocket.value)
	}
	r, err := perceptron.TrainValidated(ctx, j.src, j.validation, opt)
	if err != nil {
		return nil, nil, err
	}
	return r, func(m *model.Model) {
		if r.Counts != nil {
			m.Voters = model.NewVoters(r.Voters, r.Counts, j.src.Spec().Cols())
		}
	}, nil
}

func learnWinnow[T kernel.Float](ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error) {
	r, err := winnow.Train(ctx, j.src, winnow.Options{Options: j.trainer(), Variant: winnow.Variant(j.winnow.value)})
	return r, nil, err
}

func learnLogistic[T kernel.Float](ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error) {
	r, err := logistic.Train(ctx, j.src, logistic.Options{Options: j.trainer(), L2: j.l2})
	if err != nil {
		return nil, nil, err
	}
	return &r.Result, func(m *model.Model) { m.StdErrors, m.Training.Ridge = r.StdErrors, r.Ridge }, nil
}

func learnLDA[T kernel.Float](ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error) {
	r, err := lda.Train(ctx, j.src, lda.Options{Options: j.trainer()})
	if err != nil {
		return nil, nil, err
	}
	return &r.Result, func(m *model.Model) { m.Training.Ridge = r.Ridge }, nil
}

func learnSVM[T kernel.Float](ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error) {
	r, err := svm.Train(ctx, j.src, svm.Options{Options: j.trainer(), Loss: svm.Loss(j.loss.value), L2: j.l2})
	if err != nil {
		return nil, nil, err
	}
	return &r.Result, func(m *model.Model) { m.Training.Optimum = &model.Optimum{Objective: r.Objective, Gap: r.Gap} }, nil
}
