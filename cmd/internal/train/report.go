package train

import (
	"fmt"
	"math"
	"slices"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/kernel"
	"halfspace/pocket"
	"halfspace/schema"
	"halfspace/train/learner"
)

// A Report is the JSON object of train --json.
type Report struct {
	Algorithm             string                 `json:"algorithm"`
	Rows                  int64                  `json:"rows"`
	Features              int                    `json:"features"`
	Classes               []schema.Class         `json:"classes"`
	Positive              schema.Class           `json:"positive"`
	Epochs                int64                  `json:"epochs"`
	Updates               int64                  `json:"updates"`
	Visits                int64                  `json:"visits"`
	TrainErrors           *int64                 `json:"train_errors"` // null if an interrupt left no time to count the errors
	TrainAccuracy         *float64               `json:"train_accuracy"`
	NeverPredictedClasses []schema.Class         `json:"never_predicted,omitempty"` // classes that are predicted for no row
	Baseline              *train.Baseline        `json:"baseline"`
	Converged             bool                   `json:"converged"`
	Interrupted           bool                   `json:"interrupted"`          // the weights are the weights at the interrupt
	Multiclass            string                 `json:"multiclass,omitempty"` // how more than two classes were learned
	Loss                  *float64               `json:"loss"`
	Optimum               *model.Optimum         `json:"optimum,omitempty"` // for a support vector machine or a logistic regression
	Radius                *float64               `json:"radius"`
	Norm                  *float64               `json:"norm"`
	Voters                int                    `json:"voters,omitempty"`      // vectors of weights that vote
	KeptUpdate            *int64                 `json:"kept,omitempty"`        // the update whose weights the pocket kept
	Candidates            int64                  `json:"candidates,omitempty"`  // candidates that the pocket judged
	RowsScored            int64                  `json:"rows_scored,omitempty"` // scored by the pocket, once for each candidate
	Curve                 []pocket.Point         `json:"curve,omitempty"`       // where the pocket found better weights
	Validation            *validationReport      `json:"validation,omitempty"`  // result on hold-out rows
	CrossValidation       *train.CrossValidation `json:"cross_validation,omitempty"`
	Path                  *train.Path            `json:"path,omitempty"`
	Margin                *float64               `json:"margin,omitempty"` // for weights that separate the rows
	MistakeBound          *float64               `json:"mistake_bound,omitempty"`
	UpdateBound           *float64               `json:"update_bound,omitempty"` // largest number of updates from the weights of --init
	// with shards: the updates times the shares of their shards in the mixes
	MixedUpdates float64       `json:"mixed_updates,omitempty"`
	Standardize  bool          `json:"standardize"`
	Options      model.Options `json:"options"`
	Fingerprint  string        `json:"fingerprint"`
	Dtype        string        `json:"dtype"`
	ISA          string        `json:"isa"`
	Workers      int           `json:"workers"`
	IsStreamed   bool          `json:"streamed"`          // the rows weren't in memory
	Storage      string        `json:"storage,omitempty"` // form of the rows; empty if they are dense
	Density      float64       `json:"density,omitempty"` // for sparse rows, share of the values that aren't 0
	// ResumedAt is the number of visits at the checkpoint from which the training continued. It is null if the training
	// began at the start.
	ResumedAt    *int64       `json:"resumed_at"`
	PeakRSSBytes int64        `json:"peak_rss_bytes"`
	Seconds      trainSeconds `json:"seconds"`
	Model        *string      `json:"model"` // path of the file, null if none was written
	mostEpochs   int64        // largest number of epochs
	outOfPasses  bool         // see learner.Result
	Warning      string       `json:"warning,omitempty"` // the model is no better than the baseline
	curve        string       // curve of the training, for a terminal; "": none
}

// A validationReport is the result of a model on hold-out rows.
type validationReport struct {
	*model.Validation
	Accuracy    float64  `json:"accuracy"`
	ErrorWeight *float64 `json:"error_weight,omitempty"` // sum of the sample weights of the wrong rows, if rows or classes have weights
	// Baseline is always predicting the class with the most training rows.
	Baseline *train.Baseline `json:"baseline,omitempty"`
}

// newReport returns the report of a training. interrupted tells whether an interrupt ended it.
func (t *trainer) newReport(f *train.Outcome, interrupted bool) *Report {
	m, o, learned := f.Model, t.trainOptions, f.Result
	of := &m.Training
	r := &Report{
		Algorithm: m.Algorithm, Rows: of.Rows, Features: m.Width(), Classes: m.Classes, Positive: m.Positive,
		Epochs: of.Epochs, Updates: of.Updates, Visits: of.Visits,
		TrainErrors: of.Errors, Converged: of.Converged, Interrupted: interrupted, Multiclass: m.Options.Multiclass,
		Loss: of.Loss, Optimum: of.Optimum, Radius: of.Radius, Norm: of.Norm, KeptUpdate: of.KeptUpdate, Margin: of.Margin,
		MistakeBound: of.MistakeBound,
		UpdateBound:  f.UpdateBound, MixedUpdates: of.MixedUpdates, Candidates: learned.Candidates,
		RowsScored: learned.RowsScored, Curve: learned.Curve,
		CrossValidation: f.CrossValidation, Path: t.l1Path, Standardize: o.Data.Standardize, Options: m.Options,
		Fingerprint: m.Data.Fingerprint,
		Dtype:       m.Dtype, ISA: kernel.Active().String(), Workers: o.Workers, IsStreamed: !t.inMemory(), Density: t.data.Density,
		PeakRSSBytes: console.PeakRSS(), Seconds: t.seconds, mostEpochs: m.Options.Epochs, outOfPasses: learned.OutOfPasses,
	}
	if of.Errors != nil {
		accuracy := float64(of.Rows-*of.Errors) / float64(of.Rows)
		r.TrainAccuracy = &accuracy
	}
	for c, n := range learned.PredictedRows {
		if n == 0 {
			r.NeverPredictedClasses = append(r.NeverPredictedClasses, m.Classes[c])
		}
	}
	if f.Profile != nil {
		r.Baseline = train.NewBaseline(m.Classes, f.Profile.Counts)
	}
	if m.Voters != nil {
		r.Voters = len(m.Voters.Counts)
	}
	if v := of.Validation; v != nil {
		r.Validation = &validationReport{Validation: v, Accuracy: float64(v.Rows-v.Errors) / float64(v.Rows)}
		if r.Baseline != nil {
			right := f.ValidationCounts[slices.Index(m.Classes, r.Baseline.Class)]
			r.Validation.Baseline = &train.Baseline{Class: r.Baseline.Class, Errors: v.Rows - right,
				Accuracy: float64(right) / float64(v.Rows)}
		}
		if t.Storage.HasWeights {
			r.Validation.ErrorWeight = &f.Validation.ErrorWeight
		}
	}
	if r.Density > 0 {
		r.Storage = string(dataset.Sparse)
	}
	if visits, ok := t.checkpoints.ResumedVisits(); ok {
		r.ResumedAt = &visits
	}
	if o.out != "" {
		r.Model = &o.out
	}
	return r
}

// factIndent is the largest number of characters before the value of a fact, for a name as long as "projection".
const factIndent = 2 + len("projection") + 3

// facts returns names and values about the model and its training, without its time. The accuracy comes first.
func (r *Report) facts(o *trainOptions, m *model.Model) []string {
	return slices.Concat(r.accuracyPairs(), r.trainingPairs(o, m), r.keptPairs(), r.weights(o, m))
}

// trainingPairs returns the options, the convergence and the updates.
func (r *Report) trainingPairs(o *trainOptions, m *model.Model) []string {
	var pairs []string
	options, chosen := o.defaultsText(), console.OnlineOptions(m)
	if o.learner.IsBatch() {
		if pairs, chosen = console.SolverFacts(m), ""; len(pairs) > 0 && pairs[0] == "options" {
			chosen, pairs = pairs[1], pairs[2:]
		}
	} else {
		pairs = []string{"converged", r.convergence(o),
			"updates", fmt.Sprintf("%s in %s (%s)", humanize.Count(r.Updates), humanize.Plural(r.Epochs, "epoch"),
				humanize.Plural(r.Visits, "visit"))}
	}
	if options != "" && chosen != "" {
		options += "; "
	}
	return append(append([]string{"options", options + chosen}, pairs...), "curve", r.curve, "classes", console.Multiclass(m),
		"weights", console.Weights(m), "calibrated", console.Calibration(m), "threshold", console.KeptThreshold(m),
		"voters", console.Voters(m.Voters))
}

// convergence says whether the last weights make no mistake, and gives the bound on the updates.
func (r *Report) convergence(o *trainOptions) string {
	switch {
	case r.Interrupted && !r.Converged:
		return "no, interrupted"
	case !r.Converged:
		return "no"
	}
	text := "yes, after " + humanize.Plural(r.Updates, "update")
	kept := o.learner.ConvergedText
	switch learner.Form(r.Options.Form) {
	case learner.Averaged:
		kept = "the mean of all is kept"
	case learner.Voted:
		kept = "all are kept"
	}
	if kept != "" {
		text += ": the last weights make no mistake; " + kept
	}
	if r.MixedUpdates > 0 {
		text += fmt.Sprintf(", or %s by the shares of their shards", humanize.Real(r.MixedUpdates))
	}
	if r.MistakeBound != nil {
		text += "; bound " + humanize.Bound(*r.MistakeBound)
	}
	if r.UpdateBound != nil {
		text += message.Sprintf("; bound %s from the weights of --init", humanize.Bound(*r.UpdateBound))
	}
	return text
}

// accuracyPairs returns the accuracy, on rows that the model did not learn from if some were held out, then on the training rows.
func (r *Report) accuracyPairs() []string {
	text, baseline := r.heldOutAccuracy(), r.Baseline
	name := "accuracy"
	pairs := []string{name, text}
	if text != "" {
		name, baseline = "training", nil // the line above has one
	}
	training := "not counted"
	if r.TrainErrors != nil {
		training = console.Accuracy(*r.TrainErrors, r.Rows, "the "+humanize.Plural(r.Rows, "training row"), baseline)
	}
	return append(pairs, name, training)
}

// heldOutAccuracy returns the accuracy on the rows of a hold-out or of folds, or "" if there are none.
func (r *Report) heldOutAccuracy() string {
	if v := r.Validation; v != nil {
		return console.HeldOutAccuracy(v.Errors, v.Rows, humanize.Plural(v.Rows, "held-out row"), v.Baseline) + weightText(v.ErrorWeight)
	}
	if r.CrossValidation != nil {
		return foldsText(r.CrossValidation, r.Baseline)
	}
	return ""
}

// keptPairs returns which weights were kept, of how many candidates.
func (r *Report) keptPairs() []string {
	pairs, scored := []string{"kept", console.KeptUpdate(r.KeptUpdate)}, r.Rows
	if v := r.Validation; v != nil {
		scored = v.Rows
	}
	if r.Candidates > 0 {
		share := float64(r.RowsScored) / float64(r.Candidates) / float64(scored)
		pairs = append(pairs, "judged", fmt.Sprintf("%s, scoring %s of the rows for each",
			humanize.Plural(r.Candidates, "candidate"), humanize.Percent(share)))
	}
	return pairs
}

// weights returns the norms, the margin and the loss of the weights.
func (r *Report) weights(o *trainOptions, m *model.Model) []string {
	pairs := console.Kernel(m.Expansion)
	voted := m.Options.Form == string(learner.Voted) // each vector has its own loss and norm
	if o.learner.IsPerceptron() && !voted {
		pairs = append(pairs, "loss", humanize.NumberOrUnknown(r.Loss, ""))
	}
	pairs = append(pairs, "radius", humanize.NumberOrUnknown(r.Radius, ", the largest norm of a row"))
	if !voted {
		pairs = append(pairs, "norm", humanize.NumberOrUnknown(r.Norm, ", of the weights"))
	}
	return append(pairs, "margin", console.Margin(&m.Training))
}

// machine returns the times, the instruction set, the memory and the path of the model.
func (r *Report) machine() []string {
	streamed := ""
	if r.IsStreamed {
		streamed = "streamed, "
	}
	var pairs []string
	if r.Density > 0 {
		pairs = append(pairs, "storage", fmt.Sprintf("%s, %s of the values aren't 0 (%s a row)", r.Storage,
			humanize.Percent(r.Density), humanize.Real(math.Round(10*r.Density*float64(r.Features))/10)))
	}
	before := ""
	if r.ResumedAt != nil {
		before = " with the runs before"
	}
	pairs = append(pairs,
		"time", fmt.Sprintf("load %s, train %s%s, total %s", humanize.Seconds(r.Seconds.Load),
			humanize.Seconds(r.Seconds.Training), before, humanize.Seconds(r.Seconds.Total)),
		"ran on", fmt.Sprintf("%s, %s, %s, %s%s at the peak", r.ISA, r.Dtype,
			humanize.Plural(int64(r.Workers), "worker"), streamed, humanize.Size(r.PeakRSSBytes)))
	if r.ResumedAt != nil {
		pairs = append(pairs, "resumed", "after "+humanize.Plural(*r.ResumedAt, "visit"))
	}
	if r.Model != nil {
		pairs = append(pairs, "model", *r.Model)
	}
	return pairs
}

// defaultsText lists the options that the program chose. It returns "" if --algo was given.
func (o *trainOptions) defaultsText() string {
	if !o.hasDefaultLearner {
		return ""
	}
	text := console.Setting("algo", o.learner.Name, false)
	if o.Data.Standardize {
		text += map[bool]string{true: ", ", false: " "}[console.ForPython] + console.Setting("standardize", "true", true)
	}
	return text + message.Sprintf(", the default without --algo")
}
