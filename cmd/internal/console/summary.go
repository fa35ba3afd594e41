package console

import (
	"fmt"
	"slices"
	"strings"

	"halfspace/gram"
	"halfspace/internal/humanize"
	"halfspace/model"
	"halfspace/schema"
	"halfspace/train"
	"halfspace/train/learner"
)

// Learner returns the learner of that name, or a learner that has only the name: the model may be of the verb online,
// or of a newer program.
func Learner(name string) *learner.Learner {
	if l := train.Describe(name); l != nil {
		return l
	}
	return &learner.Learner{Name: name}
}

// Margin returns the margin of weights that separate the rows, and the bound on the updates that follows from the
// margin.
func Margin(t *model.Training) string {
	if t.MistakeBound == nil { // no theorem gives a bound
		return humanize.Real(*t.Margin)
	}
	text := fmt.Sprintf("%s, so no order takes more than %s updates", humanize.Real(*t.Margin), humanize.Bound(*t.MistakeBound))
	if t.MixedUpdates > 0 {
		text += " by the shares of their shards"
	}
	return text
}

// Kept says after which update a pocket kept the weights.
func Kept(update int64) string {
	if update == 0 {
		return "the initial weights: no others were better"
	}
	return "the weights after update " + humanize.Count(update)
}

// Voters returns the number of vectors that vote, and the strongest vector's share of the votes.
func Voters(v *model.Voters) string {
	total := int64(0)
	for _, n := range v.Counts {
		total += n
	}
	return fmt.Sprintf("%s of weights; the strongest has %s of the votes", humanize.Plural(int64(len(v.Counts)), "vector"), humanize.Percent(float64(slices.Max(v.Counts))/float64(total)))
}

// Errors returns the number of wrong rows of rows, and the accuracy.
func Errors(errors, rows int64) string {
	return fmt.Sprintf("%s of %s, accuracy %s", humanize.Count(errors), humanize.Plural(rows, "row"), humanize.Percent(float64(rows-errors)/float64(rows)))
}

// Multiclass says how a model of more than two classes was trained.
func Multiclass(m *model.Model) string {
	if m.Options.Multiclass == model.Joint {
		return fmt.Sprintf("%d, learned together", len(m.Classes))
	}
	return fmt.Sprintf("%d, each learned versus the rest", len(m.Classes))
}

// Classes lists the classes. If there are two, it names the positive class.
func Classes(m *model.Model) string {
	if len(m.Classes) > 2 {
		return "classes " + ClassNames(m.Classes)
	}
	return fmt.Sprintf("classes %s (positive: %s)", ClassNames(m.Classes), m.Positive)
}

// Solved returns the options and the results of a training that solved for an optimum.
func Solved(m *model.Model) []string {
	t, pairs := &m.Training, Learner(m.Algorithm).Story(m)
	if t.Dependent != nil {
		pairs = append(pairs, "dependent", listDependences(t.Dependent))
	}
	if t.Ridge > 0 {
		pairs = append(pairs, "singular", fmt.Sprintf("a ridge of %s was added, since features depend on each other: leave some out for "+
			"weights that mean something", humanize.Real(t.Ridge)))
	}
	return pairs
}

// Baseline returns the accuracy of always predicting one class.
func Baseline(b *train.Baseline) string {
	return fmt.Sprintf("accuracy %s, of always predicting class %s", humanize.Percent(b.Accuracy), schema.NameClass(b.Class))
}

// listDependences lists the first few features that depend on other features, with those features.
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
		if d.On == nil || len(d.On) == 1 && d.On[0] == "(bias)" {
			list = append(list, d.Feature+" is constant")
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

// ClassNames lists classes, separated by commas.
func ClassNames(classes []schema.Class) string {
	var names []string
	for _, c := range classes {
		names = append(names, c.String())
	}
	return strings.Join(names, ", ")
}

// Mistakes returns the number of rows that were predicted wrong before they were learned.
func Mistakes(mistakes, rows int64) string {
	return fmt.Sprintf("%s of %s, each predicted before it was learned", humanize.Count(mistakes), humanize.Plural(rows, "row"))
}

// Weights returns the sample weights and class weights of a training, or nil if all are 1.
func Weights(m *model.Model) []string {
	var parts []string
	if column := m.Options.SampleWeight; column != "" {
		parts = append(parts, "of rows "+column)
	}
	for i, w := range m.Options.ClassWeight {
		parts = append(parts, fmt.Sprintf("of class %s: %s", schema.NameClass(m.Classes[i]), humanize.Real(w)))
	}
	if parts == nil {
		return nil
	}
	const most = 10
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("and %d more", more))
	}
	return []string{"weights", strings.Join(parts, ", ")}
}

// Threshold returns a threshold as --threshold takes it, with the matching probability if there is one.
func Threshold(at float64, p *float64) string {
	text := humanize.Exact(at)
	if p != nil {
		text += " (p=" + humanize.Exact(*p) + ")"
	}
	return text
}

// KeptThreshold returns the threshold that a model keeps, or nil if it keeps none.
func KeptThreshold(m *model.Model) []string {
	if m.Threshold == nil {
		return nil
	}
	text := humanize.Exact(*m.Threshold)
	if by := m.Options.ThresholdBy; by != "" && by != text {
		text += ", chosen by " + by
	}
	return []string{"threshold", fmt.Sprintf("%s: a greater score predicts %s", text, schema.NameClass(m.Positive))}
}

// Calibration returns how scores become probabilities, or nil if the model has no calibration.
func Calibration(m *model.Model) []string {
	c := m.Calibration
	if c == nil {
		return nil
	}
	text := fmt.Sprintf("%s, from %d held-out folds", c.Method, c.Folds)
	if p := c.Classes[0]; c.Method == model.Platt && len(c.Classes) == 1 {
		text = fmt.Sprintf("platt, p = 1/(1 + e^(%s score + %s)), from %d held-out folds", humanize.Real(p.A), humanize.Real(p.B), c.Folds)
	}
	return []string{"calibrated", text}
}

// NoProbabilities says that a model has no probabilities, and which training gives a model that has.
func NoProbabilities(m *model.Model) string {
	return fmt.Sprintf("a model of --algo %s has no probabilities: train it with --calibrate platt, or --algo logistic, lda or ftrl", m.Algorithm)
}

// Kernel returns the kernel of an expansion and its number of support rows.
func Kernel(e *model.Expansion) []string {
	text := "linear"
	switch k := e.Kernel; k.Kind {
	case gram.Polynomial:
		text = fmt.Sprintf("(%s x.z + %s)^%d", humanize.Real(k.Gamma), humanize.Real(k.Coef0), k.Degree)
	case gram.RBF:
		text = fmt.Sprintf("exp(-%s |x-z|^2)", humanize.Real(k.Gamma))
	}
	return []string{"kernel", text, "support", humanize.Plural(int64(len(e.Rows)), "row")}
}
