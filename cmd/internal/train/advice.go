package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/schema"
	"halfspace/train/lda"
	"halfspace/train/learner"
	"halfspace/train/logistic"
)

// advice suggests options to try if the training did not converge. It returns "" if the training converged.
func (r *Report) advice(o *trainOptions) string {
	switch {
	case r.Interrupted:
		return "Interrupted: the model is that of the training so far."
	case r.Converged:
		return ""
	}
	why, check := r.unconvergedReason(o)
	if check && len(r.Classes) == 2 {
		why += "\nhalfspace check finds out whether any plane separates them."
	}
	return message.Translate("Not converged: " + why)
}

// unconvergedReason returns the reason why the training did not converge, with options to try. check tells whether the verb
// check would help.
func (r *Report) unconvergedReason(o *trainOptions) (why string, check bool) {
	s, solves := o.learner.Settings.Shared(), o.learner.IsBatch()
	early, _ := strconv.ParseInt(o.learner.Text("early-stop"), 10, 64) // 0 without the option
	full := s.MaxUpdates > 0 && r.Updates >= s.MaxUpdates
	finer := "a larger --l2" // makes rounding errors smaller
	if !r.Standardize {
		finer = "--standardize"
	}
	switch l2 := r.Options.L2; {
	case r.Validation != nil && r.Validation.Errors == 0 && o.learner.ChoosesByValidation:
		return "it stopped, since no row of the validation is wrong. More rows there may find better weights.", false
	case early > 0 && r.Epochs < s.Epochs && !full:
		return fmt.Sprintf("it stopped after %s without fewer errors, since --early-stop is %d.",
			humanize.Plural(early, "epoch"), early), false
	case r.Validation != nil && o.learner.ChoosesByValidation && r.KeptUpdate != nil && *r.KeptUpdate <= r.Updates/2:
		return fmt.Sprintf("of %s, the weights after %s have the fewest errors on the validation rows. More --epochs would hardly help.",
			humanize.Plural(r.Updates, "update"), humanize.Count(*r.KeptUpdate)), false
	case o.learner.IsPerceptron() && *r.TrainErrors == 0:
		return "no row is wrong, but some still cause updates, such as rows of score 0.", false
	case solves && r.Optimum != nil && r.Optimum.MetBeforeRounding:
		return r.Dtype + " rounds the weights too much. Use " + finer + ".", false
	case solves && r.Options.Solver == string(logistic.SGD):
		return "sgd is slow where features have heavy tails or classes are rare. Use --solver lbfgs.", false
	case solves && r.Optimum == nil && l2 != nil && *l2 == 0 && !r.outOfPasses:
		why = "without a penalty, nothing proved that these weights are the optimum. Use --l2"
		if r.Options.Solver == string(logistic.LBFGS) && len(r.Classes) == 2 {
			why += ", or --solver newton"
		}
		return why + ".", false
	case solves && !r.outOfPasses:
		return fmt.Sprintf("rounding ended the progress after %s. Use %s.", humanize.Passes(r.Epochs), finer), false
	case solves:
		return fmt.Sprintf("more --epochs than %d may do better.", r.mostEpochs), false
	case o.learner.KeepsLastWeights && r.Validation == nil && *r.TrainErrors > 0:
		why = "the last weights may not be the best seen. Try --algo pocket, which keeps those, or averaged"
		if s.Order == learner.Cyclic {
			why += ", or --order shuffle if the rows are sorted"
		}
		return why + ".", true
	case o.learner.NotFoundText != "":
		return o.learner.NotFoundText + " in " + humanize.Plural(s.Epochs, "epoch") + ".", false
	case full:
		return "it stopped at --max-updates. More of them may do better.", false
	case len(r.Classes) > 2:
		return fmt.Sprintf("no planes that separate the classes were found. More --epochs than %d may do better.", s.Epochs), false
	}
	return fmt.Sprintf("no plane that separates the classes was found. More --epochs than %d may do better.", s.Epochs), true
}

// noteUnused notes the options that have no effect.
func noteUnused(a *console.App, cmd *cobra.Command, o *trainOptions) {
	for _, option := range flags.LearnerOptions(train.Learners) {
		used := func(l train.Learner) bool { return l.Has(option.Name) }
		// an error, or the model's threshold
		strict := (option.MustExist || option.Name == thresholdName) && o.learner.Option(option.Name) == nil
		if cmd.Flags().Changed(option.Name) && !strict && !slices.ContainsFunc(o.learners, used) {
			a.Note("--%s has no effect with %s", option.Name, blame(o.learner, option.Name))
		}
	}
	if cmd.Flags().Changed("seed") && !o.isRandom() {
		if o.learner.Has("order") {
			a.Note("--seed has no effect with --order cyclic")
		} else {
			a.Note("--seed has no effect with --algo %s", o.learner.Name)
		}
	}
}

// noteVectors notes that the vectors of a learner take more than half of --memory beside the rows.
func noteVectors(a *console.App, o *trainOptions, spec *schema.Spec) {
	const least, most = 70, 210 // bytes for each column; docs/guide/memory.md has them by learner
	if n := int64(spec.Cols() * spec.Vectors()); o.Storage.Memory.Bytes > 0 && most*n > o.Storage.Memory.Bytes/2 {
		a.Note("--memory doesn't limit the vectors of a learner: %s weights take %s to %s more; perceptron and averaged take the least",
			humanize.Count(n), humanize.Size(least*n), humanize.Size(most*n))
	}
}

func (o *trainOptions) isRandom() bool {
	return o.learner.Has("order") && o.learner.Settings.Shared().Order != learner.Cyclic || o.holdsBack() ||
		o.learner.Classes(o.learner.Settings).IsRandom && o.multiclass == model.Joint
}

// manyNumbers is the number of distinct labels from which a label column of numbers gets a note.
const manyNumbers = 20

// noteClasses notes options that have no effect with this number of classes, a label that may be a quantity, and
// classes that differ by case or blanks alone.
func noteClasses(a *console.App, o *trainOptions, spec *schema.Spec) {
	n := len(spec.Classes)
	switch {
	case n == 2 && o.multiclass != autoName:
		a.Note("--multiclass has no effect with two classes")
	case n > 2 && o.Data.Positive != "":
		a.Note("--positive has no effect with %d classes", n)
	}
	if n >= manyNumbers && schema.LookLikeQuantity(spec.Classes) {
		a.Note("column %q: %d classes of numbers: "+
			"it looks like a quantity; halfspace classifies: name a column of classes with --label", spec.Label, n)
	}
	if one, other, more := similarClasses(spec.Classes); one != "" {
		a.Note("column %q: classes %q and %q%s differ by case or blanks alone: if they are one class, write them alike",
			spec.Label, one, other, more)
	}
}

// similarClasses returns the first two classes that differ by case or blanks alone, and a text with the number of further pairs.
func similarClasses(classes []schema.Class) (one, other, more string) {
	seen, pairs := map[string]string{}, int64(0)
	for _, c := range classes {
		if c.Kind != schema.String {
			continue
		}
		key := strings.ToLower(strings.Join(strings.Fields(c.Text), " "))
		first, is := seen[key]
		switch {
		case !is:
			seen[key] = c.Text
		case pairs == 0:
			one, other, pairs = first, c.Text, 1
		default:
			pairs++
		}
	}
	if pairs > 1 {
		more = ", and " + humanize.Plural(pairs-1, "more pair") + ","
	}
	return one, other, more
}

// noteNeverPredicted notes a class that is predicted for no training row. counts are the rows of each class: class
// weights are advised only if the counts are unequal.
func noteNeverPredicted(a *console.App, o *trainOptions, never []schema.Class, counts []int64) {
	if len(never) == 0 {
		return
	}
	names, are := schema.NameClass(never[0]), "class %s is"
	if n := len(never) - 1; n > 0 {
		names, are = fmt.Sprintf("%s and %d more", names, n), "classes %s are"
	}
	advice := ""
	if len(o.classWeight) == 0 && o.learner.WhyNoWeights == "" && slices.Max(counts) > 2*slices.Min(counts) {
		advice = message.Sprintf(": try --class-weight balanced")
	}
	a.Note(are+" never predicted on the training rows%s", names, advice)
}

// noteUse notes that the model is not kept, and warns that it is no better than always predicting the largest class: on held-out rows
// if there are some, otherwise on the training rows. Weights and thresholds aim at something else than few errors.
func noteUse(a *console.App, o *trainOptions, r *Report) {
	if o.out == "" {
		a.Note("no --out: the model isn't kept")
	}
	if r.Baseline == nil || len(o.classWeight) > 0 || o.Data.SampleWeight != "" || o.choosesThreshold() {
		return
	}
	accuracy, baseline, rows := r.TrainAccuracy, r.Baseline, "the training rows"
	switch {
	case r.CrossValidation != nil:
		p := r.CrossValidation.Points[r.CrossValidation.ChosenPoint]
		if p.Errors == nil {
			return
		}
		share := 1 - float64(*p.Errors)/float64(r.CrossValidation.Rows)
		accuracy, rows = &share, "the rows of the folds"
	case r.Validation != nil:
		accuracy, baseline, rows = &r.Validation.Accuracy, r.Validation.Baseline, "the held-out rows"
	}
	if accuracy != nil && *accuracy <= baseline.Accuracy {
		r.Warning = console.WarnOfBaseline(a, "the model", *accuracy, baseline, rows)
	}
}

// noteDependent notes that the features of discriminant analysis depend on each other within the classes, so that the weights may
// be large, and fit the training rows alone.
func noteDependent(a *console.App, m *model.Model) {
	if m.Algorithm == lda.Learner.Name && m.Training.Ridge > 0 {
		a.Note("the features depend on each other within the classes, and the weights have the norm %s: use --shrinkage auto",
			humanize.Real(*m.Training.Norm))
	}
}

// mostScaleRatio is the ratio of two features' standard deviations from which a note is printed.
const mostScaleRatio = 1000

// noteSurvey notes properties of the rows that spoil a training with these options, and the option to use.
func noteSurvey(a *console.App, o *trainOptions, spec *schema.Spec, s *train.DataProfile) {
	heedsUnits := !o.learner.IsScaleFree(o.learner.Settings)
	if large, small, ratio := s.ExtremeScales(); !o.Data.Standardize && heedsUnits && ratio >= mostScaleRatio {
		a.Note("feature %q varies %s times as much as %q, so a model hardly uses %q (use --standardize)",
			spec.FeatureName(large), humanize.Real(math.Round(ratio)), spec.FeatureName(small), spec.FeatureName(small))
	}
	if i := s.TellingFeature(); i >= 0 {
		a.Note("feature %q alone tells the classes of the first %s apart: if it isn't known when you predict, leave "+
			"it out (use --exclude %s)",
			spec.FeatureName(i), humanize.Plural(s.ProfiledRows(), "row"), console.Quote(columnOf(spec, i)))
	}
	if advice := shuffleAdvice(o.learner); advice != "" && s.SortedByClass() {
		a.Note("the rows come in long runs of one class, and are learned in that order (%s)", advice)
	}
}

func columnOf(spec *schema.Spec, feature int) string {
	for _, c := range spec.Columns() {
		if feature < c.Width() {
			return c.Name
		}
		feature -= c.Width()
	}
	return ""
}

// shuffleAdvice returns the advice for rows in a bad order, or "" if the order has no effect.
func shuffleAdvice(l train.Learner) string {
	switch {
	case l.Has("order"):
		if l.Settings.Shared().Order == learner.Cyclic {
			return message.Sprintf("use --order shuffle")
		}
	case l.Text("solver") == string(logistic.SGD):
		return message.Sprintf("use --solver lbfgs")
	case !l.IsBatch():
		return "shuffle the rows of the file"
	}
	return ""
}
