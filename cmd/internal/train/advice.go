package train

import (
	"fmt"
	"strconv"

	"halfspace/internal/humanize"
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
