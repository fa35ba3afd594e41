package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"halfspace/fit"
	"halfspace/internal/say"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/train"
)

// marginText tells the margin of weights that separate the rows, and what follows from it.
func marginText(t *model.Training) string {
	if t.MistakeBound == nil { // no theorem tells
		return say.Real(*t.Margin)
	}
	return fmt.Sprintf("%s, so no order takes more than %s updates", say.Real(*t.Margin), say.Bound(*t.MistakeBound))
}

// A trainReport is what train --json prints.
type trainReport struct {
	Algorithm       string               `json:"algorithm"`
	Rows            int64                `json:"rows"`
	Features        int                  `json:"features"`
	Classes         []schema.Class       `json:"classes"`
	Positive        schema.Class         `json:"positive"`
	Epochs          int64                `json:"epochs"`
	Updates         int64                `json:"updates"`
	Visits          int64                `json:"visits"`
	TrainErrors     int64                `json:"train_errors"`
	TrainAccuracy   float64              `json:"train_accuracy"`
	NeverPredicted  []schema.Class       `json:"never_predicted,omitempty"` // classes that no row is predicted to be
	Baseline        *fit.Baseline        `json:"baseline"`
	Converged       bool                 `json:"converged"`
	Interrupted     bool                 `json:"interrupted"`          // the weights are those of the training so far
	Multiclass      string               `json:"multiclass,omitempty"` // the way that more than two classes were learned
	Loss            float64              `json:"loss"`
	Optimum         *model.Optimum       `json:"optimum,omitempty"` // of a support vector machine or a logistic regression
	Radius          float64              `json:"radius"`
	Norm            float64              `json:"norm"`
	Voters          int                  `json:"voters,omitempty"`      // vectors of weights that vote
	Kept            *int64               `json:"kept,omitempty"`        // the update whose weights the pocket kept
	Candidates      int64                `json:"candidates,omitempty"`  // that the pocket judged
	RowsScored      int64                `json:"rows_scored,omitempty"` // for that, a row counting once for each candidate
	Curve           []pocket.Point       `json:"curve,omitempty"`       // where it found better weights
	Validation      *validationReport    `json:"validation,omitempty"`  // of rows that it didn't learn from
	CrossValidation *fit.CrossValidation `json:"cross_validation,omitempty"`
	Margin          *float64             `json:"margin,omitempty"` // of weights that separate the rows
	MistakeBound    *float64             `json:"mistake_bound,omitempty"`
	Standardize     bool                 `json:"standardize"`
	Options         model.Options        `json:"options"`
	Fingerprint     string               `json:"fingerprint"`
	Dtype           string               `json:"dtype"`
	ISA             string               `json:"isa"`
	Workers         int                  `json:"workers"`
	Streamed        bool                 `json:"streamed"` // the rows weren't in memory
	PeakRSSBytes    int64                `json:"peak_rss_bytes"`
	Seconds         trainSeconds         `json:"seconds"`
	Model           *string              `json:"model"` // path of the file, null if none was written
	most            int64                // epochs
}

type trainSeconds struct {
	Load            float64 `json:"load"` // from opening the files to all blocks ready
	CrossValidation float64 `json:"cross_validation,omitempty"`
	Train           float64 `json:"train"` // learning alone
	Total           float64 `json:"total"`
}

// A validationReport is what a model has wrong of the rows of a validation.
type validationReport struct {
	*model.Validation
	Accuracy    float64  `json:"accuracy"`
	ErrorWeight *float64 `json:"error_weight,omitempty"` // of the rows that are wrong, where rows or classes have weights
}

func newTrainReport(o *trainOptions, m *model.Model) *trainReport {
	t := &m.Training
	r := &trainReport{
		Algorithm: m.Algorithm, Rows: t.Rows, Features: len(m.Features), Classes: m.Classes, Positive: m.Positive,
		Epochs: t.Epochs, Updates: t.Updates, Visits: t.Visits,
		TrainErrors: *t.Errors, TrainAccuracy: float64(t.Rows-*t.Errors) / float64(t.Rows), Converged: t.Converged, Multiclass: m.Options.Multiclass,
		Loss: t.Loss, Optimum: t.Optimum, Radius: t.Radius, Norm: t.Norm, Kept: t.Kept, Margin: t.Margin, MistakeBound: t.MistakeBound,
		Standardize: o.data.standardize, Options: m.Options, Fingerprint: m.Data.Fingerprint,
		Dtype: m.Dtype, ISA: kernel.Active().String(), Workers: o.workers, PeakRSSBytes: peakRSS(), most: m.Options.Epochs,
	}
	if m.Voters != nil {
		r.Voters = len(m.Voters.Counts)
	}
	if v := t.Validation; v != nil {
		r.Validation = &validationReport{Validation: v, Accuracy: float64(v.Rows-v.Errors) / float64(v.Rows)}
	}
	if o.out != "" {
		r.Model = &o.out
	}
	return r
}

// neverPredicted returns the classes that no row is predicted to be, where predicted tells how many rows are of each.
func neverPredicted(classes []schema.Class, predicted []int64) []schema.Class {
	var never []schema.Class
	for c, n := range predicted {
		if n == 0 {
			never = append(never, classes[c])
		}
	}
	return never
}

// setCrossValidation names options as they are typed in why points failed.
func (r *trainReport) setCrossValidation(cv *fit.CrossValidation) {
	if r.CrossValidation = cv; cv == nil {
		return
	}
	for i := range cv.Points {
		cv.Points[i].Failed = asTyped(cv.Points[i].Failed)
	}
}

// text is the report for people.
func (r *trainReport) text(o *trainOptions, m *model.Model) []byte {
	var s sheet
	converged := "no"
	if r.Interrupted {
		converged = "no, interrupted"
	}
	if r.Converged {
		converged = "yes, after " + say.Plural(r.Updates, "update")
		if o.learner.Converged != "" {
			converged += ", as the last weights tell; " + o.learner.Converged
		}
		if r.MistakeBound != nil {
			converged += "; bound " + say.Bound(*r.MistakeBound)
		}
	}
	streamed := ""
	if r.Streamed {
		streamed = "streamed, "
	}
	s.line("%s: %s of %s, %s\n", r.Algorithm, say.Plural(r.Rows, "row"), say.Plural(int64(r.Features), "feature"), describeClasses(m))
	pairs := []string{
		"converged", converged,
		"updates", fmt.Sprintf("%s in %s (%s)", say.Count(r.Updates), say.Plural(r.Epochs, "epoch"), say.Plural(r.Visits, "visit")),
	}
	if o.learner.Story != nil {
		pairs = howSolved(m)
	}
	if o.unnamed {
		pairs = append([]string{"options", o.defaultsText()}, pairs...)
	}
	if m.Options.Multiclass != "" {
		pairs = append(pairs, "classes", multiclassText(m))
	}
	pairs = append(pairs, weightsText(m)...)
	if m.Voters != nil {
		pairs = append(pairs, "voters", votersText(m.Voters))
	}
	pairs = append(pairs, "errors", errorsText(r.TrainErrors, r.Rows), "baseline", baselineText(r.Baseline))
	scored := r.Rows
	if r.CrossValidation != nil {
		pairs = append(pairs, "folds", foldsText(r.CrossValidation, r.Rows))
	}
	if v := r.Validation; v != nil {
		scored = v.Rows
		weight := ""
		if v.ErrorWeight != nil {
			weight = ", weight " + say.Real(*v.ErrorWeight)
		}
		pairs = append(pairs, "validation", "errors "+errorsText(v.Errors, v.Rows)+weight)
	}
	if r.Kept != nil {
		pairs = append(pairs, "kept", keptText(*r.Kept))
	}
	if r.Candidates > 0 {
		share := float64(r.RowsScored) / float64(r.Candidates) / float64(scored)
		pairs = append(pairs, "judged", fmt.Sprintf("%s, scoring %s of the rows for each", say.Plural(r.Candidates, "candidate"), say.Percent(share)))
	}
	if e := m.Expansion; e != nil {
		pairs = append(pairs, kernelText(e)...)
	}
	voted := m.Options.Form == string(train.Voted) // of many perceptrons, with a loss and a norm each
	if o.learner.Perceptron != nil && !voted {
		pairs = append(pairs, "loss", say.Real(r.Loss))
	}
	pairs = append(pairs, "radius", say.Real(r.Radius)+", the largest norm of a row")
	if !voted {
		pairs = append(pairs, "norm", say.Real(r.Norm)+", of the weights")
	}
	if r.Margin != nil {
		pairs = append(pairs, "margin", marginText(&m.Training))
	}
	pairs = append(pairs,
		"time", fmt.Sprintf("load %s, train %s, total %s", say.Seconds(r.Seconds.Load), say.Seconds(r.Seconds.Train), say.Seconds(r.Seconds.Total)),
		"ran on", fmt.Sprintf("%s, %s, %s, %s%s at the peak", r.ISA, r.Dtype, say.Plural(int64(r.Workers), "worker"), streamed, say.Size(r.PeakRSSBytes)),
	)
	if r.Model != nil {
		pairs = append(pairs, "model", *r.Model)
	}
	s.pairs(pairs...)
	if cv := r.CrossValidation; cv != nil && len(cv.Points) > 1 {
		s.line("\nThe grid, each judged in %d folds; * is what the model was learned with:\n", cv.Folds)
		s.table(gridTable(cv))
		for _, failure := range gridFailures(cv) {
			s.line("  failed: %s", failure)
		}
	}
	if advice := r.advice(o); advice != "" {
		s.line("\n%s", advice)
	}
	return s.Bytes()
}

// defaultsText tells what was chosen where no --algo was given.
func (o *trainOptions) defaultsText() string {
	text := "--algo " + o.learner.Name
	if o.data.standardize {
		text += " --standardize"
	}
	return text + " --order " + o.learner.Text("order") + ", without --algo"
}

// advice says what to try where the training did not converge.
func (r *trainReport) advice(o *trainOptions) string {
	switch {
	case r.Interrupted:
		return "Interrupted: the model is that of the training so far."
	case r.Converged:
		return ""
	case r.Validation != nil && r.Validation.Errors == 0 && o.learner.Judges:
		return "Not converged: it stopped, since no row of the validation is wrong. More rows there may find better weights."
	case o.stoppedEarly(r):
		n, _ := strconv.ParseInt(o.learner.Text("early-stop"), 10, 64)
		return fmt.Sprintf("Not converged: it stopped after %s without fewer errors, since --early-stop is %d.", say.Plural(n, "epoch"), n)
	case o.learner.Perceptron != nil && r.TrainErrors == 0:
		return "Not converged: no row is wrong, but some still cause updates, such as rows of score 0."
	case o.learner.Story != nil:
		return adviseSolver(r)
	case o.learner.LastOnly && r.Validation == nil && r.TrainErrors > 0:
		return adviseLast(o, r)
	case o.learner.NotFound != "":
		return "Not converged: " + o.learner.NotFound + " in " + say.Plural(o.learner.Settings.Shared().Epochs, "epoch") + "."
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
func (o *trainOptions) stoppedEarly(r *trainReport) bool {
	stop := o.learner.Text("early-stop")
	return stop != "" && stop != "0" && r.Epochs < o.learner.Settings.Shared().Epochs && !o.stoppedAtUpdates(r)
}

// stoppedAtUpdates tells whether --max-updates ended the training.
func (o *trainOptions) stoppedAtUpdates(r *trainReport) bool {
	most := o.learner.Settings.Shared().MaxUpdates
	return most > 0 && r.Updates >= most
}

// adviseSolver does that for learners that solve for an optimum.
func adviseSolver(r *trainReport) string {
	if r.Optimum != nil && r.Optimum.Rounded {
		return "Not converged: " + r.Dtype + " rounds the weights too much. Use --dtype float64, or --standardize."
	}
	return "Not converged: more --epochs than " + strconv.FormatInt(r.most, 10) + " may do better."
}

// adviseLast does that for weights that are the last ones.
func adviseLast(o *trainOptions, r *trainReport) string {
	advice := "Not converged: the last weights may not be the best seen. Try --algo pocket, which keeps those, or averaged"
	if o.learner.Settings.Shared().Order == train.Cyclic {
		advice += ", or --order shuffle if the rows are sorted"
	}
	if len(r.Classes) > 2 {
		return advice + "."
	}
	return advice + ".\n" + adviceCheck
}

const adviceCheck = "halfspace check finds out whether any plane separates them."

// keptText tells which weights a pocket kept.
func keptText(update int64) string {
	if update == 0 {
		return "the initial zeros, which no weights were better than"
	}
	return "the weights after update " + say.Count(update)
}

// votersText tells how many weights vote, and how much the strongest counts.
func votersText(v *model.Voters) string {
	total := int64(0)
	for _, n := range v.Counts {
		total += n
	}
	return fmt.Sprintf("%s of weights, of which one has %s of the votes", say.Plural(int64(len(v.Counts)), "vector"), say.Percent(float64(slices.Max(v.Counts))/float64(total)))
}

// errorsText tells how many of some rows are wrong.
func errorsText(errors, rows int64) string {
	return fmt.Sprintf("%s of %s, accuracy %s", say.Count(errors), say.Plural(rows, "row"), say.Percent(float64(rows-errors)/float64(rows)))
}

// multiclassText tells how more than two classes were learned.
func multiclassText(m *model.Model) string {
	if m.Options.Multiclass == model.Joint {
		return fmt.Sprintf("%d, learned together", len(m.Classes))
	}
	return fmt.Sprintf("%d machines, each for one versus the rest", len(m.Classes))
}

// describeClasses names the classes and tells which one is positive.
func describeClasses(m *model.Model) string {
	if len(m.Classes) > 2 {
		return "classes " + classNames(m.Classes)
	}
	return fmt.Sprintf("classes %s (positive: %s)", classNames(m.Classes), m.Positive)
}

// howSolved tells of a model of a learner that solves which options it had, and how it went.
func howSolved(m *model.Model) []string {
	t, pairs := &m.Training, learnerNamed(m.Algorithm).Story(m)
	if t.Dependent != nil {
		pairs = append(pairs, "dependent", listDependences(t.Dependent))
	}
	if t.Ridge > 0 {
		pairs = append(pairs, "singular", fmt.Sprintf("a ridge of %s was added, since features depend on each other: leave some out for "+
			"weights that mean something", say.Real(t.Ridge)))
	}
	return pairs
}

func baselineText(b *fit.Baseline) string {
	return fmt.Sprintf("accuracy %s, of always predicting class %s", say.Percent(b.Accuracy), schema.NameClass(b.Class))
}

// listDependences says which features depend on which, the first few of them.
func listDependences(all []model.Dependence) string {
	const most = 6
	few := func(names []string) string {
		if len(names) > most {
			return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
		}
		return strings.Join(names, ", ")
	}
	var list []string
	for _, d := range all {
		if d.On == nil {
			list = append(list, d.Feature+" is 0 in all rows")
			continue
		}
		list = append(list, d.Feature+" on "+few(d.On))
	}
	rest := ""
	if n := len(list) - most; n > 0 {
		list, rest = list[:most], fmt.Sprintf("; and %d more", n)
	}
	return strings.Join(list, "; ") + rest + ": the other columns determine their values, so their weights are 0"
}
