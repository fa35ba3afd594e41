package train

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"halfspace/cmd/internal/console"
	"halfspace/internal/humanize"
	"halfspace/model"
	"halfspace/schema"
	"halfspace/train"
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
	case r.Validation != nil && r.Validation.Errors == 0 && o.learner.Judges:
		return "Not converged: it stopped, since no row of the validation is wrong. More rows there may find better weights."
	case o.stoppedEarly(r):
		n, _ := strconv.ParseInt(o.learner.Text("early-stop"), 10, 64)
		return fmt.Sprintf("Not converged: it stopped after %s without fewer errors, since --early-stop is %d.", humanize.Plural(n, "epoch"), n)
	case r.Validation != nil && o.learner.Judges && r.Kept != nil && *r.Kept <= r.Updates/2:
		return fmt.Sprintf("Not converged: of %s, the weights after %s have the fewest errors on the validation rows. More --epochs would hardly help.",
			humanize.Plural(r.Updates, "update"), humanize.Count(*r.Kept))
	case o.learner.Perceptron != nil && *r.TrainErrors == 0:
		return "Not converged: no row is wrong, but some still cause updates, such as rows of score 0."
	case o.learner.Story != nil:
		return adviseSolver(r)
	case o.learner.LastOnly && r.Validation == nil && *r.TrainErrors > 0:
		return adviseLast(o, r)
	case o.learner.NotFound != "":
		return "Not converged: " + o.learner.NotFound + " in " + humanize.Plural(o.learner.Settings.Shared().Epochs, "epoch") + "."
	case o.stoppedAtUpdates(r):
		return "Not converged: it stopped at --max-updates. More of them may do better."
	}
	more := " More --epochs than " + strconv.FormatInt(o.learner.Settings.Shared().Epochs, 10) + " may do better."
	if len(r.Classes) > 2 {
		return "Not converged: no planes that separate the classes were found." + more
	}
	return "Not converged: no plane that separates the classes was found." + more + "\n" + adviceCheck
}

// stoppedEarly tells whether --early-stop ended the training.
func (o *trainOptions) stoppedEarly(r *Report) bool {
	stop := o.learner.Text("early-stop")
	return stop != "" && stop != "0" && r.Epochs < o.learner.Settings.Shared().Epochs && !o.stoppedAtUpdates(r)
}

// stoppedAtUpdates tells whether --max-updates ended the training.
func (o *trainOptions) stoppedAtUpdates(r *Report) bool {
	most := o.learner.Settings.Shared().MaxUpdates
	return most > 0 && r.Updates >= most
}

// adviseSolver gives advice for a learner that solves for an optimum.
func adviseSolver(r *Report) string {
	if r.Optimum != nil && r.Optimum.Rounded {
		return "Not converged: " + r.Dtype + " rounds the weights too much. Use " + r.finer() + "."
	}
	if r.Options.Solver == string(logistic.SGD) {
		return "Not converged: sgd is slow where features have heavy tails or classes are rare. Use --solver lbfgs."
	}
	if l2 := r.Options.L2; r.Optimum == nil && l2 != nil && *l2 == 0 && r.Epochs < r.most {
		advice := "Not converged: without a penalty, nothing proved that these weights are the optimum. Use --l2"
		if r.Options.Solver == string(logistic.LBFGS) && len(r.Classes) == 2 {
			advice += ", or --solver newton"
		}
		return advice + "."
	}
	if r.Epochs < r.most {
		return fmt.Sprintf("Not converged: rounding ended the progress after %s, fewer than --epochs. Use %s.", humanize.Passes(r.Epochs), r.finer())
	}
	return "Not converged: more --epochs than " + strconv.FormatInt(r.most, 10) + " may do better."
}

// finer names an option that makes rounding errors smaller.
func (r *Report) finer() string {
	if !r.Standardize {
		return "--standardize"
	}
	return "a larger --l2"
}

// adviseLast gives advice for a learner that keeps its last weights.
func adviseLast(o *trainOptions, r *Report) string {
	advice := "Not converged: the last weights may not be the best seen. Try --algo pocket, which keeps those, or averaged"
	if o.learner.Settings.Shared().Order == learner.Cyclic {
		advice += ", or --order shuffle if the rows are sorted"
	}
	if len(r.Classes) > 2 {
		return advice + "."
	}
	return advice + ".\n" + adviceCheck
}

const adviceCheck = "halfspace check finds out whether any plane separates them."

// noteUnused notes the options that have no effect.
func noteUnused(a *console.App, cmd *cobra.Command, o *trainOptions) {
	for _, option := range learnerOptions() {
		used := func(l train.Learner) bool { return l.Has(option.Name) }
		strict := (option.Strict || option.Name == thresholdName) && o.learner.Option(option.Name) == nil // an error, or the model's threshold
		if cmd.Flags().Changed(option.Name) && !strict && !slices.ContainsFunc(o.learners, used) {
			a.Note("--%s has no effect with %s", option.Name, blame(o.learner, option.Name))
		}
	}
	if cmd.Flags().Changed("seed") && !o.random() {
		if o.learner.Has("order") {
			a.Note("--seed has no effect with --order cyclic")
		} else {
			a.Note("--seed has no effect with --algo %s", o.learner.Name)
		}
	}
	if o.out == "" {
		a.Note("no --out: the model won't be kept")
	}
}

// random tells whether the training makes random choices.
func (o *trainOptions) random() bool {
	return o.learner.Has("order") && o.learner.Settings.Shared().Order != learner.Cyclic || o.holdsBack() ||
		o.learner.DrawsTogether && o.multiclass.Value == model.Joint
}

// manyNumbers is the number of distinct labels from which a label column of numbers gets a note.
const manyNumbers = 20

// noteClasses notes options that have no effect with this number of classes, a label that may be a quantity, and
// classes that differ by case or blanks alone.
func noteClasses(a *console.App, o *trainOptions, spec *schema.Spec) {
	n := len(spec.Classes)
	switch {
	case n == 2 && o.multiclass.Value != autoName:
		a.Note("--multiclass has no effect with two classes")
	case n > 2 && o.Columns.Positive != "":
		a.Note("--positive has no effect with %d classes", n)
	}
	if n >= manyNumbers && spec.Classes[0].Kind == schema.Number {
		a.Note("column %q: %d classes of numbers: if it is a quantity to predict, choose another column with --label", spec.Label, n)
	}
	if one, other, more := alike(spec.Classes); one != "" {
		a.Note("column %q: classes %q and %q%s differ by case or blanks alone: if they are one class, write them alike", spec.Label, one, other, more)
	}
}

// alike returns the first two classes that differ by case or blanks alone, and a text with the number of further pairs.
func alike(classes []schema.Class) (one, other, more string) {
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
	if len(o.classWeight) == 0 && o.learner.NoWeights == "" && slices.Max(counts) > 2*slices.Min(counts) {
		advice = ": try --class-weight balanced"
	}
	a.Note(are+" never predicted on the training rows%s", names, advice)
}

// mostUnlike is the ratio of two features' standard deviations from which a note is printed.
const mostUnlike = 1000

// noteSurvey notes properties of the rows that spoil a training with these options, and the option to use.
func noteSurvey(a *console.App, o *trainOptions, spec *schema.Spec, s *train.DataProfile) {
	if large, small, ratio := s.Unlike(); !o.Columns.Standardize && heedsScale(o.learner) && ratio >= mostUnlike {
		a.Note("feature %q varies %s times as much as %q, so a model hardly uses %q (use --standardize)", spec.FeatureName(large), humanize.Real(math.Round(ratio)), spec.FeatureName(small), spec.FeatureName(small))
	}
	if i := s.Telling(); i >= 0 {
		a.Note("feature %q alone tells the classes of the first %s apart: if it isn't known when you predict, leave it out (use --exclude %s)",
			spec.FeatureName(i), humanize.Plural(s.Looked(), "row"), quoted([]string{columnOf(spec, i)}))
	}
	if advice := shuffled(o.learner); advice != "" && s.Sorted() {
		a.Note("the rows are sorted by label and learned in that order (%s)", advice)
	}
}

// columnOf returns the column of a feature.
func columnOf(spec *schema.Spec, feature int) string {
	for _, c := range spec.Columns() {
		if feature < c.Width() {
			return c.Name
		}
		feature -= c.Width()
	}
	return ""
}

// heedsScale tells whether the model depends on the units of features.
func heedsScale(l train.Learner) bool { return l.ScaleFree == nil || !l.ScaleFree(l.Settings) }

// shuffled returns the advice for rows in a bad order, or "" if the order has no effect.
func shuffled(l train.Learner) string {
	switch {
	case l.Has("order"):
		if l.Settings.Shared().Order == learner.Cyclic {
			return "use --order shuffle"
		}
	case l.Text("solver") == string(logistic.SGD):
		return "use --solver lbfgs"
	case !l.Solves:
		return "shuffle the rows of the file"
	}
	return ""
}
