package cli

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"halfspace/block"
	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/pocket"
	"halfspace/predict"
	"halfspace/train"
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

	solvers []string // what --solver may be, other than auto

	needsBias string             // why it can't do without, if it can't
	noWeights string             // why rows can't have weights, if they can't
	l2        float64            // its penalty where none is given
	needsL2   bool               // it takes no penalty of 0
	affine    bool               // features in other units make the same predictions, but for a penalty and the like
	access    access             // how it reads rows in cyclic order; other orders are anyOrder
	held      bool               // it takes rows in memory alone
	multi     bool               // it learns classes one versus the rest by itself
	joint     bool               // it can learn the vectors of more than two classes together
	walk      perceptron.Options // what distinguishes perceptrons
	learn32   learning[float32]
	learn64   learning[float64]

	loss   bool                                         // it is a perceptron: its report has the perceptron's loss, and where there is one the bound on its updates
	kept   string                                       // what its report says of the weights it kept, where the last ones changed nothing
	odds   bool                                         // scores are the logarithms of the odds of the positive class
	solved bool                                         // it solves for an optimum over all rows: its report says how, in place of visits
	advise func(o *trainOptions, r *trainReport) string // what to try where it didn't converge, "" where that is nothing of its own
}

// A learning learns by the options of a job. It returns what is to be added to the model, too, or nil.
type learning[T kernel.Float] func(ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error)

// particular lists the options that not every learner has a use for.
var particular = []string{"order", "eta", "max-updates", "margin", "early-stop", "epochs", "l2", "loss", "kernel", "degree", "gamma", "coef0", "form",
	"pocket", "winnow", "shrinkage"}

// The names of learners that others have to know.
const (
	perceptronName = "perceptron"
	averagedName   = "averaged"
	votedName      = "voted"
	onlineName     = "online" // what models of the verb online say of their learner
)

// defaultLearner is the learner where --algo names none.
const defaultLearner = averagedName

// learners lists every learner.
var learners = []*learner{
	{name: perceptronName, uses: []string{"order", "eta", "max-updates", "margin", "l2", "early-stop", "epochs", "validation"},
		joint: true, learn32: learnPerceptron[float32], learn64: learnPerceptron[float64], loss: true, advise: advisePerceptron},
	{name: "pocket", uses: []string{"order", "eta", "max-updates", "margin", "early-stop", "epochs", "pocket", "validation"}, access: nested,
		learn32: learnPerceptron[float32], learn64: learnPerceptron[float64], loss: true},
	{name: averagedName, uses: []string{"order", "eta", "max-updates", "margin", "l2", "early-stop", "epochs", "validation"},
		walk: perceptron.Options{Form: train.Averaged}, joint: true, learn32: learnPerceptron[float32], learn64: learnPerceptron[float64], loss: true, kept: "the mean of all is kept"},
	{name: votedName, uses: []string{"order", "eta", "max-updates", "margin", "epochs"},
		walk: perceptron.Options{Form: train.Voted}, learn32: learnPerceptron[float32], learn64: learnPerceptron[float64], loss: true, kept: "all are kept"},
	{name: "winnow", affine: true, uses: []string{"max-updates", "epochs", "winnow"}, needsBias: "which has a threshold", noWeights: "which multiplies weights by one number",
		learn32: learnWinnow[float32], learn64: learnWinnow[float64], advise: adviseWinnow},
	{name: "dual", uses: dualOptionNames, held: true, multi: true, learn32: learnDual[float32], learn64: learnDual[float64], loss: true},
	{name: "kernel-perceptron", uses: dualOptionNames, held: true, multi: true, learn32: learnDual[float32], learn64: learnDual[float64], loss: true},
	{name: "logistic", affine: true, uses: []string{"epochs", "l2", "eta"}, l2: 1, solvers: solverNames(logistic.Solvers[1:]), learn32: learnLogistic[float32], learn64: learnLogistic[float64], odds: true, solved: true, joint: true, advise: adviseSolver},
	{name: "lda", affine: true, uses: []string{"shrinkage"}, solvers: solverNames(lda.Solvers), learn32: learnLDA[float32], learn64: learnLDA[float64], odds: true, solved: true, joint: true, advise: adviseSolver},
	{name: "svm", uses: []string{"epochs", "l2", "loss"}, l2: 1, needsL2: true, learn32: learnSVM[float32], learn64: learnSVM[float64], solved: true, advise: adviseSolver},
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

// judged tells whether the learner judges its weights on the rows of a validation, if there are some. Of others they are only counted on.
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
	return slices.Contains(o.learner.uses, option) && !slices.Contains(o.dual.unused(), option) &&
		!(option == "eta" && o.learner.solved && o.solver.value != string(logistic.SGD))
}

// deaf names the choice that leaves an option without a say.
func (o *trainOptions) deaf(option string) string {
	if slices.Contains(o.learner.uses, option) && slices.Contains(o.dual.unused(), option) {
		return "--kernel " + o.dual.kernel.value
	}
	return "--algo " + o.algo.value
}

// settle lets options that the learner has no use for have no say, and sets defaults that differ by learner.
func (o *trainOptions) settle(cmd *cobra.Command) error {
	o.epochsGiven, o.unnamed = cmd.Flags().Changed("epochs"), !cmd.Flags().Changed("algo")
	if o.unnamed && !cmd.Flags().Changed("order") {
		o.order.value = string(train.Shuffle)
	}
	if !o.has("order") {
		o.order.value = string(train.Cyclic)
	}
	if !o.has("margin") {
		o.margin = 0
	}
	if !o.has("l2") {
		o.l2 = 0
	}
	if !o.has("early-stop") {
		o.earlyStop = 0
	}
	switch {
	case !cmd.Flags().Changed("l2"):
		o.l2 = o.learner.l2
	case o.l2 == 0 && o.learner.needsL2:
		return usagef("--l2 is 0: --algo %s takes a penalty above 0", o.algo.value)
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

// multiclassNames lists the ways to learn more than two classes, the default first.
var multiclassNames = []string{"auto", model.OneVersusRest, model.Joint}

// together tells whether the vectors of more than two classes are learned together.
func (o *trainOptions) together() bool {
	return o.multiclass.value == model.Joint || o.multiclass.value == "auto" && o.learner.joint && o.learner.solved
}

// checkMulticlass looks for a way to learn classes that the learner hasn't.
func (o *trainOptions) checkMulticlass() error {
	if !o.together() || o.learner.joint {
		return nil
	}
	var others []string
	for _, l := range learners {
		if l.joint {
			others = append(others, l.name)
		}
	}
	return usagef("--multiclass joint with --algo %s, which learns one class versus the rest: use ovr, or --algo %s", o.algo.value,
		strings.Join(others, ", "))
}

// A job is rows to learn from, and how.
type job[T kernel.Float] struct {
	*trainOptions
	machines   int   // of one class versus the rest, of which this learns one; 0 where it learns all there is
	held       int64 // bytes of all rows that are to be in memory, those to learn from among them
	src        block.Source[T]
	validation block.Source[T] // nil where there is none
	survey     *survey         // of src; nil where nobody has looked yet
	show       func(train.Progress)
	note       func(format string, args ...any)
	wrong      tally // of the validation, once it has run
}

// learn learns. Where ctx ends the training, the model is that of the weights so far, or nil, and comes with ctx's error. It returns the model, without the fingerprint of the data, and how it went. It neither reads files nor prints, other
// than by the job's functions.
func (j *job[T]) learn(ctx context.Context) (*model.Model, *train.Result[T], error) {
	weighed, classes, err := j.weighed(ctx)
	if err != nil {
		return nil, nil, err
	}
	how := weighed.whole
	if j.classes() > 2 && !j.together() && !j.learner.multi {
		how = weighed.versus
	}
	m, learned, err := how(ctx)
	if m != nil {
		m.Options.ClassWeight = classes
	}
	return m, learned, err
}

// run does what learn does, and tells the model which rows it was learned from and judged on.
func (j *job[T]) run(ctx context.Context) (*model.Model, *train.Result[T], error) {
	m, learned, interrupted := j.learn(ctx)
	if m == nil {
		return nil, nil, interrupted
	}
	var err error
	ctx = context.WithoutCancel(ctx)
	m.Data.Rows = j.src.Rows()
	src := j.src
	if j.survey == nil {
		j.survey = newSurvey(src.Spec())
		src = watched[T]{src, j.survey}
	}
	if m.Data.Fingerprint, err = block.Fingerprint(ctx, src, j.workers); err != nil {
		return nil, nil, err
	}
	if j.validation != nil {
		v := &model.Validation{Rows: j.validation.Rows()}
		if v.Fingerprint, err = block.Fingerprint(ctx, j.validation, j.workers); err != nil {
			return nil, nil, err
		}
		judges := j.validation
		if classes := m.Options.ClassWeight; classes != nil {
			judges = train.Weigh(judges, classes)
		}
		if j.wrong, err = tallyOf(ctx, m, judges, j.workers); err != nil {
			return nil, nil, err
		}
		v.Errors = j.wrong.errors
		m.Training.Validation = v
	}
	return m, learned, interrupted
}

func (j *job[T]) classes() int { return len(j.src.Spec().Classes) }

// whole learns by the learner alone.
func (j *job[T]) whole(ctx context.Context) (*model.Model, *train.Result[T], error) {
	trusted := *j
	trusted.src = block.Trust(j.src) // by construction, see dataset
	if j.validation != nil {
		trusted.validation = block.Trust(j.validation)
	}
	learned, describe, err := learn[T](j.learner)(ctx, &trusted)
	if learned != nil && err != nil && ctx.Err() != nil && !learned.Interrupted { // also where it was in the last pass, which only counts
		learned.Interrupted, learned.Errors = true, 0
	}
	if learned == nil || err != nil && !learned.Interrupted {
		return nil, nil, err
	}
	if learned.Interrupted && !j.learner.held {
		if bad := j.evaluate(context.WithoutCancel(ctx), learned); bad != nil {
			return nil, nil, bad
		}
	}
	m := j.model(learned)
	if describe != nil {
		describe(m)
	}
	if learned.Interrupted && m.Voters != nil { // whose mean was evaluated
		errors, bad := errorsOf(context.WithoutCancel(ctx), m, j.src, j.workers)
		if bad != nil {
			return nil, nil, bad
		}
		m.Training.Errors, learned.Predicted = &errors, nil
	}
	return m, learned, err
}

// evaluate adds to what an interrupted training learned what takes a pass over the rows.
func (j *job[T]) evaluate(ctx context.Context, learned *train.Result[T]) error {
	if !j.learner.loss {
		return train.Evaluate(ctx, j.src, j.workers, learned)
	}
	_, err := train.EvaluateLoss(ctx, j.src, j.workers, learned)
	return err
}

// model returns the model of what was learned, without the fingerprint of the data.
func (j *job[T]) model(learned *train.Result[T]) *model.Model {
	m := model.New(j.src.Spec(), learned.Weights)
	m.Algorithm, m.Options = j.learner.name, j.shaping()
	if j.classes() > 2 {
		if m.Options.Multiclass = model.OneVersusRest; j.together() {
			m.Options.Multiclass = model.Joint
		}
	}
	m.Training = model.Training{Rows: j.src.Rows(), Epochs: learned.Epochs, Visits: learned.Visits, Updates: learned.Updates,
		Errors: &learned.Errors, Converged: learned.Converged, Loss: learned.Loss, Radius: learned.Radius, Norm: learned.Norm}
	if len(learned.Curve) > 0 {
		m.Training.Kept = &learned.Kept
	}
	if learned.Margin > 0 {
		m.Training.Margin = &learned.Margin
	}
	if bound := j.updateBound(learned); !math.IsInf(bound, 0) {
		m.Training.MistakeBound = &bound
	}
	return m
}

// updateBound returns the most updates that the learner can make on these rows in any order, +Inf where no theorem tells: of learners
// other than perceptrons, with a penalty, where rows have weights, and of several trainings one versus the rest.
func (j *job[T]) updateBound(learned *train.Result[T]) float64 {
	if !j.learner.loss || j.l2 > 0 || j.src.Spec().Weighted || j.classes() > 2 && !j.together() {
		return math.Inf(1)
	}
	return learned.UpdateBound(j.margin, j.eta)
}

// versus learns each class versus the rest, and puts the machines together.
func (j *job[T]) versus(ctx context.Context) (*model.Model, *train.Result[T], error) {
	type machine struct {
		*model.Model
		learned *train.Result[T]
	}
	start := time.Now()
	shared := &sharedProgress{show: j.show, of: make([]train.Progress, j.classes())}
	machines, err := train.OneVersusRest(ctx, j.src, j.workers, !j.learner.solved, func(ctx context.Context, class, workers int) (machine, error) {
		one, opt := *j, *j.trainOptions
		opt.workers = workers
		one.trainOptions, one.machines, one.src = &opt, j.classes(), train.Versus(j.src, class)
		if j.validation != nil {
			one.validation = train.Versus(j.validation, class)
		}
		if j.show != nil {
			one.show = func(p train.Progress) { shared.report(class, p) }
		}
		m, learned, err := one.whole(ctx)
		if m != nil {
			err = nil // the other classes may have weights too
		}
		return machine{m, learned}, err
	})
	interrupted := ctx.Err()
	if err != nil {
		return nil, nil, err
	}
	ctx = context.WithoutCancel(ctx)
	all := &train.Result[T]{Converged: true}
	for _, m := range machines {
		r := m.learned
		all.Last = append(all.Last, r.Last...)
		all.Interrupted = all.Interrupted || r.Interrupted
		all.Weights = append(all.Weights, r.Weights...)
		all.Epochs, all.Visits = max(all.Epochs, r.Epochs), max(all.Visits, r.Visits)
		all.Updates += r.Updates
		all.Loss += r.Loss
		all.Converged = all.Converged && r.Converged
		all.Candidates += r.Candidates
		all.RowsScored += r.RowsScored
	}
	if n := len(all.Last); n > 0 && n == len(all.Weights) {
		judges := j.src
		if j.validation != nil {
			judges = j.validation
		}
		if all.Weights, err = train.Choose(ctx, judges, j.workers, all.Weights, all.Last); err != nil {
			return nil, nil, err
		}
	}
	all.Seconds = time.Since(start).Seconds()
	if err := train.Evaluate(ctx, j.src, j.workers, all); err != nil {
		return nil, nil, err
	}
	all.Margin = 0 // no machine's
	whole := j.model(all)
	way := whole.Options.Multiclass
	whole.Options = machines[0].Options // with the solver that was chosen
	var optima []*model.Optimum
	whole.Options.Multiclass = way
	for _, m := range machines {
		whole.Training.Ridge = max(whole.Training.Ridge, m.Training.Ridge)
		whole.Training.Dependent = m.Training.Dependent // of all alike
		optima = append(optima, m.Training.Optimum)
		if v := m.Voters; v != nil {
			if whole.Voters == nil {
				whole.Voters = new(model.Voters)
			}
			whole.Voters.Sizes = append(whole.Voters.Sizes, len(v.Counts))
			whole.Voters.Counts, whole.Voters.Weights = append(whole.Voters.Counts, v.Counts...), append(whole.Voters.Weights, v.Weights...)
		}
	}
	whole.Training.Optimum = sumOptima(optima)
	if whole.Voters != nil {
		if all.Errors, err = errorsOf(ctx, whole, j.src, j.workers); err != nil {
			return nil, nil, err
		}
		all.Predicted = nil // of the means
	}
	return whole, all, interrupted
}

// A tally is what a model has wrong of some rows.
type tally struct {
	rows, errors int64
	weight       float64 // of the rows that are wrong
}

// errorsOf counts the rows whose prediction by a model isn't their label.
func errorsOf[T kernel.Float](ctx context.Context, m *model.Model, src block.Source[T], workers int) (int64, error) {
	t, err := tallyOf(ctx, m, src, workers)
	return t.errors, err
}

// tallyOf counts the rows whose prediction by a model isn't their label, and adds up their weights: within runs, then over runs.
func tallyOf[T kernel.Float](ctx context.Context, m *model.Model, src block.Source[T], workers int) (t tally, err error) {
	scorer, err := predict.NewScorer[T](m, workers)
	if err != nil {
		return t, err
	}
	positive := src.Spec().PositiveClass()
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return t, err
		}
		scores, err := scorer.Scores(ctx, b)
		if err != nil {
			return t, err
		}
		run := 0.0
		for i, y := range b.Y {
			if predict.Predicted(scores, i, positive) != predict.Labelled(y, len(scores), positive) {
				t.errors++
				run += b.Weight(i)
			}
			if (i+1)%block.RunRows == 0 || i == len(b.Y)-1 {
				t.weight += run
				run = 0
			}
		}
		t.rows += int64(b.Len())
	}
	return t, nil
}

// A sharedProgress is how far the machines of several classes are. Its figures are sums over them.
type sharedProgress struct {
	mu   sync.Mutex
	show func(train.Progress)
	of   []train.Progress
}

func (s *sharedProgress) report(class int, p train.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[class] = p
	all := train.Progress{Epochs: p.Epochs * int64(len(s.of)), Rows: p.Rows, Best: -1, Elapsed: p.Elapsed}
	for _, p := range s.of {
		all.Epoch += p.Epoch
		all.Visits += p.Visits
		all.Updates += p.Updates
	}
	s.show(all)
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
		"l2": func() {
			if o.l2 > 0 || o.learner.solved {
				m.L2 = &o.l2
			}
		},
		"loss": func() { m.Loss = o.loss.value },
	} {
		if o.has(name) {
			set()
		}
	}
	if o.has("form") && o.dual.form.value != string(train.Last) {
		m.Form = o.dual.form.value
	}
	if o.random() {
		m.Seed = &o.seed
	}
	m.SampleWeight, m.Validation = o.data.sampleWeight, o.share
	return m
}

// trainer returns the options that learners share.
func (j *job[T]) trainer() train.Options {
	opt := j.common()
	opt.Progress = j.show
	return opt
}

// passes is trainer, with as many passes as the learner makes by default where none are given.
func (j *job[T]) passes() train.Options {
	opt := j.trainer()
	if !j.epochsGiven {
		opt.Epochs = 0
	}
	return opt
}

func learnPerceptron[T kernel.Float](ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error) {
	opt := j.learner.walk
	opt.Options, opt.Margin, opt.L2, opt.EarlyStop = j.trainer(), j.margin, j.l2, j.earlyStop
	if j.machines > 0 {
		opt.Versus = true
		opt.VoterBytes = perceptron.VoterBytes / int64(j.machines)
	}
	if j.has("pocket") {
		opt.Pocket = pocket.Mode(j.pocket.value)
	}
	judges := j.validation
	if !j.learner.judged() {
		judges = nil
	}
	r, err := perceptron.TrainValidated(ctx, j.src, judges, opt)
	if r == nil {
		return nil, nil, err
	}
	return r, func(m *model.Model) {
		if r.Counts != nil {
			m.Voters = model.NewVoters(r.Voters, r.Counts, j.src.Spec().Cols())
		}
	}, err
}

func learnWinnow[T kernel.Float](ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error) {
	r, err := winnow.Train(ctx, j.src, winnow.Options{Options: j.trainer(), Variant: winnow.Variant(j.winnow.value)})
	return r, nil, err
}

func learnLogistic[T kernel.Float](ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error) {
	opt := logistic.Options{Options: j.passes(), L2: j.l2, Solver: logistic.Solver(j.solver.value)}
	var err error
	if opt.Robust, err = j.robust(ctx); err != nil {
		return nil, nil, err
	}
	r, err := logistic.Train(ctx, j.src, opt)
	if r == nil {
		return nil, nil, err
	}
	return &r.Result, func(m *model.Model) {
		if !j.epochsGiven {
			m.Options.Epochs = r.Solver.Epochs()
		}
		m.Robust = opt.Robust && r.StdErrors != nil
		m.StdErrors, m.Training.Ridge, m.Training.Dependent = r.StdErrors, r.Ridge, dependences(m, r.Dependent)
		if !math.IsInf(r.Gap, 1) {
			m.Training.Optimum = &model.Optimum{Objective: r.Objective, Gap: r.Gap, Rounded: r.Rounded}
		}
		if r.Solver != logistic.Newton {
			m.Options.Solver = string(r.Solver)
		}
	}, err
}

// sumOptima adds up how near the optimum several machines came, or returns nil if that isn't known of each.
func sumOptima(optima []*model.Optimum) *model.Optimum {
	sum := new(model.Optimum)
	for _, o := range optima {
		if o == nil {
			return nil
		}
		sum.Objective, sum.Gap, sum.Rounded = sum.Objective+o.Objective, sum.Gap+o.Gap, sum.Rounded || o.Rounded
	}
	return sum
}

// dependences names the columns that depend on others.
func dependences(m *model.Model, found []dense.Dependence) (all []model.Dependence) {
	for _, d := range found {
		named := model.Dependence{Feature: m.Features[d.Column]}
		for _, c := range d.On {
			name := "(bias)"
			if c < len(m.Features) {
				name = m.Features[c]
			}
			named.On = append(named.On, name)
		}
		all = append(all, named)
	}
	return all
}

// robust tells whether rows of two classes have weights that can't be counts: of classes, other than 1, or not whole.
func (j *job[T]) robust(ctx context.Context) (bool, error) {
	if !j.src.Spec().Weighted || j.classes() > 2 || j.machines > 0 { // of which no standard errors are kept
		return false, nil
	}
	if j.classWeight != nil {
		weights, err := classWeights(ctx, j.trainOptions, j.src)
		if err != nil || slices.ContainsFunc(weights, func(w float64) bool { return w != 1 }) {
			return true, err
		}
	}
	broken := false
	err := block.ReduceRuns(ctx, j.src, j.workers, func(run block.Run[T]) bool {
		return slices.ContainsFunc(run.W, func(w float64) bool { return w != math.Trunc(w) })
	}, func(b bool) { broken = broken || b })
	return broken, err
}

func learnLDA[T kernel.Float](ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error) {
	opt := lda.Options{Options: j.trainer(), Shrinkage: j.shrink}
	if j.solver.value != autoName {
		opt.Solver = lda.Solver(j.solver.value)
	}
	r, err := lda.Train(ctx, j.src, opt)
	if err != nil {
		return nil, nil, err
	}
	return &r.Result, func(m *model.Model) {
		m.Training.Ridge = r.Ridge
		if j.shrink != 0 {
			m.Options.Shrinkage = j.shrinkage
		}
		if r.Projection != nil {
			m.Options.Solver, m.Projection = string(lda.Eigen), &model.Projection{Directions: r.Projection, Explained: r.Explained}
		}
	}, nil
}

func learnSVM[T kernel.Float](ctx context.Context, j *job[T]) (*train.Result[T], func(*model.Model), error) {
	opt := svm.Options{Options: j.passes(), Loss: svm.Loss(j.loss.value), L2: j.l2}
	r, err := svm.Train(ctx, j.src, opt)
	if r == nil {
		return nil, nil, err
	}
	return &r.Result, func(m *model.Model) {
		if !j.epochsGiven {
			m.Options.Epochs = opt.Loss.Epochs()
		}
		if !r.Interrupted {
			m.Training.Optimum = &model.Optimum{Objective: r.Objective, Gap: r.Gap}
		}
	}, err
}
