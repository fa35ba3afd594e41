package predict

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"halfspace/cmd/internal/console"
	"halfspace/internal/humanize"
	"halfspace/metrics"
	"halfspace/model"
	"halfspace/predict"
)

// applyThreshold returns the threshold that --threshold chooses for the scores of a model. Without --threshold it
// returns the model's threshold.
func applyThreshold(o *evalOptions, m *model.Model, path string, scores *metrics.Scores, paths []string) (float64, error) {
	if o.threshold.By == "" {
		return m.ScoreThreshold(), nil
	}
	at, err := predict.ChooseThreshold(o.threshold.Threshold, m, scores)
	switch {
	case errors.Is(err, predict.ErrNoPositiveRows):
		return 0, fmt.Errorf("%s: no row of the positive class %s has a weight, so that no threshold has the best F1: name data of this class, or give --threshold a number",
			humanize.Files(paths), m.Positive)
	case err != nil:
		return 0, console.Usagef("--threshold: %s: %w", path, err)
	}
	return at, nil
}

// setThreshold sets the threshold of a report, the probability that corresponds to it, and the cost.
func setThreshold(r *evalReport, t predict.Threshold, at float64, m *model.Model, scores *metrics.Scores) {
	r.Threshold = &at
	low, high := scores.Neighbours(at)
	if t.By == predict.ByProbability {
		r.Probability = &t.Value
	} else if p, ok := predict.ProbabilityBetween(m, low, high); ok {
		r.Probability = &p
	}
	if t.By == predict.ByCost {
		r.Cost = console.Finite(t.FalsePositive*r.Confusion.Weight(1-r.positive, r.positive) + t.FalseNegative*r.Confusion.Weight(r.positive, 1-r.positive))
	}
}

// thresholdText returns the threshold of a report for people.
func (o *evalOptions) thresholdText(r *evalReport) string {
	at := console.Threshold(*r.Threshold, r.Probability)
	switch {
	case o.threshold.By == "":
		return at + ", of the model"
	case o.threshold.By == predict.ByCost && r.Cost == nil: // the sample weights are enormous
		return at + ", of the least cost on these rows, which is infinite"
	case o.threshold.By == predict.ByCost:
		return at + ", of the least cost on these rows: " + humanize.Real(*r.Cost)
	case o.threshold.By == predict.ByF1:
		return at + ", of the best F1 on these rows: " + fixed(r.PerClass[r.positive].F1, 4)
	}
	return at
}

// ownFile is the value of --save-threshold without a file. It stands for the model's own file.
const ownFile = "the file of the model"

// checkSave returns an error if --save-threshold can't be used.
func (o *evalOptions) checkSave(a *console.App, paths []string) error {
	switch {
	case o.saveThreshold == "":
		return nil
	case o.threshold.By == "":
		return console.Usagef("--save-threshold keeps the threshold of --threshold: add --threshold f1, or another one")
	case len(o.models) > 1:
		return console.Usagef("--save-threshold and %d models: name one", len(o.models))
	case o.saveThreshold == ownFile:
		o.saveThreshold = o.models[0]
	}
	if console.ToStdout(o.saveThreshold) {
		return console.Usagef("--save-threshold is %s: name a file for the model", o.saveThreshold)
	}
	if slices.Contains([]string{o.roc, o.pr, o.reporting.File}, o.saveThreshold) {
		return console.Usagef("--save-threshold and another option both write %s: name two files", o.saveThreshold)
	}
	return console.Claim(a, o.saveThreshold, paths)
}

// keepThreshold writes the model with the threshold of the report, if --save-threshold is given.
func (o *evalOptions) keepThreshold(ctx context.Context, a *console.App, m *model.Model, r *evalReport) error {
	if o.saveThreshold == "" {
		return nil
	}
	m.SetThreshold(*r.Threshold)
	if err := console.SaveModel(ctx, m, o.saveThreshold); err != nil {
		return err
	}
	a.Note("%s: the model with the threshold %s", o.saveThreshold, humanize.Exact(*r.Threshold))
	return nil
}

// thresholdOf returns the threshold of a report for a table, 0 if the report has none.
func thresholdOf(r *evalReport) string {
	if r.Threshold == nil {
		return "0"
	}
	return humanize.Exact(*r.Threshold)
}
