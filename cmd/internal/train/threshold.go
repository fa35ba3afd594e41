package train

import (
	"halfspace/cmd/internal/console"
	"halfspace/predict"
)

// thresholdName is the option of the model's threshold. Winnow has an option with the same name for its own threshold,
// a number.
const thresholdName = "threshold"

// thresholdUsage is the help text of --threshold for learners other than winnow.
const thresholdUsage = "`NUMBER|p=NUMBER|f1|cost=FP:FN` Keep a threshold in the model, which predict, eval and the exports obey: this number, the score of a probability (p=0.3), " +
	"or the score with the best F1 (f1) or the least cost on five held-out folds. cost=1:5 says that a false positive costs 1 and a false negative 5. (default 0)"

// setThreshold reads --threshold of learners other than winnow.
func (o *trainOptions) setThreshold(text string) (err error) {
	if o.threshold, err = predict.ParseThreshold(text); err != nil {
		return console.Usagef("--threshold %s: %w", text, err)
	}
	return nil
}

// choosesThreshold tells whether held-out folds choose the threshold.
func (o *trainOptions) choosesThreshold() bool { return o.threshold.NeedsRows() }

// checkThreshold returns an error if --threshold can't be used with the other options.
func (o *trainOptions) checkThreshold() error {
	switch {
	case o.threshold.By == predict.ByProbability && !o.calibrates() && !o.learner.HasOdds():
		return console.Usagef("--threshold %v with --algo %s, which has no probabilities: add --calibrate platt, or give a score", o.threshold, o.learner.Name)
	case !o.choosesThreshold():
	case o.validation != "" && o.learner.Judges:
		return console.Usagef("--threshold %v with --validation and --algo %s, which chooses its weights by the hold-out rows, and would not in the folds: "+
			"leave one of them out, or choose the threshold with eval --save-threshold", o.threshold, o.learner.Name)
	case o.init != "":
		return console.Usagef("--threshold %v with --init, whose model may have seen the folds: choose the threshold with eval --save-threshold", o.threshold)
	}
	return nil
}

// holdsFolds tells whether the training deals the rows into folds: for a cross-validation, a calibration or a
// threshold.
func (o *trainOptions) holdsFolds() bool {
	return o.folds > 0 || o.calibrates() || o.choosesThreshold()
}
