package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"halfspace/gram"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/internal/train"
	"halfspace/metrics"
	"halfspace/schema"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// Learner returns the learner of that name, or a learner that has only the name: the model may be of the verb online,
// or of a newer program.
func Learner(name string) *learner.Learner {
	if l := train.Describe(name); l != nil {
		return l
	}
	return &learner.Learner{Name: name}
}

// OnlineOptions lists the options of a training that visits rows one by one.
func OnlineOptions(m *model.Model) string {
	o, l := &m.Options, *Learner(m.Algorithm)
	if m.Algorithm == train.OnlineName {
		l = *perceptron.Learner
	}
	shared := []string{"order", "epochs", "eta", "max-updates"}
	rank := func(o learner.Option) int {
		if i := slices.Index(shared, o.Name); i >= 0 || o.WithoutName {
			return i
		}
		return len(shared)
	}
	l.Options = slices.SortedStableFunc(slices.Values(l.Options), func(a, b learner.Option) int { return cmp.Compare(rank(a), rank(b)) })
	parts, seedAt := []string(nil), 0
	for _, option := range l.Options {
		if parts = append(parts, option.InReport(o.Get(option.Name))...); rank(option) < len(shared) {
			seedAt = len(parts)
		}
	}
	if o.Seed != nil {
		parts = slices.Insert(parts, seedAt, fmt.Sprintf("seed %d", *o.Seed))
	}
	if o.Validation > 0 {
		parts = append(parts, "validation "+humanize.Real(o.Validation))
	}
	return strings.Join(parts, ", ")
}

// Margin returns the margin of weights that separate the rows, with the bound on the updates that follows from the
// margin if a theorem gives one. It returns "" for other weights.
func Margin(t *model.Training) string {
	if t.Margin == nil {
		return ""
	}
	text := humanize.Real(*t.Margin)
	if t.MistakeBound != nil {
		text += fmt.Sprintf(", so no order takes more than %s updates", humanize.Bound(*t.MistakeBound))
		if t.MixedUpdates > 0 {
			text += " by the shares of their shards"
		}
	}
	return text
}

// KeptUpdate says after which update a pocket kept the weights. It returns "" for nil.
func KeptUpdate(update *int64) string {
	switch {
	case update == nil:
		return ""
	case *update == 0:
		return "the initial weights: no others were better"
	}
	return "the weights after update " + humanize.Count(*update)
}

// Voters returns the number of vectors that vote, and the strongest vector's share of the votes. It returns "" for nil.
func Voters(v *model.Voters) string {
	if v == nil {
		return ""
	}
	total := int64(0)
	for _, n := range v.Counts {
		total += n
	}
	return fmt.Sprintf("%s of weights; the strongest has %s of the votes", humanize.Plural(int64(len(v.Counts)), "vector"),
		humanize.Percent(float64(slices.Max(v.Counts))/float64(total)))
}

// Errors returns the number of wrong rows of rows, and the accuracy.
func Errors(errors, rows int64) string {
	return fmt.Sprintf("%s of %s, accuracy %s", humanize.Count(errors), humanize.Plural(rows, "row"),
		humanize.Percent(share(rows-errors, rows)))
}

func share(n, of int64) float64 { return float64(n) / float64(of) }

// Accuracy returns the share of right rows, the number of wrong rows, and the accuracy of a baseline. rows names the rows, with their
// number, such as "the 398 training rows".
func Accuracy(errors, of int64, rows string, b *train.Baseline) string {
	return fmt.Sprintf("%s of %s (%s wrong)%s", humanize.Percent(share(of-errors, of)), rows, humanize.Count(errors), Baseline(b))
}

// HeldOutAccuracy is Accuracy with the 95 % interval of Wilson, for rows that the model did not learn from.
func HeldOutAccuracy(errors, of int64, rows string, b *train.Baseline) string {
	ends := metrics.Wilson(share(of-errors, of), float64(of))
	return fmt.Sprintf("%s of %s (95 %% interval %s to %s; %s wrong)%s", humanize.Percent(share(of-errors, of)), rows,
		humanize.Percent(ends[0]), humanize.Percent(ends[1]), humanize.Count(errors), Baseline(b))
}

// Multiclass says how a model of more than two classes was trained. It returns "" for two classes.
func Multiclass(m *model.Model) string {
	switch m.Options.Multiclass {
	case "":
		return ""
	case model.Joint:
		return fmt.Sprintf("%d, learned together", len(m.Classes))
	}
	return fmt.Sprintf("%d, each learned versus the rest", len(m.Classes))
}

// Classes names the classes of a model, at most ten of them.
func Classes(m *model.Model) string {
	const most = 10
	switch n := len(m.Classes); {
	case n > most:
		return fmt.Sprintf("%d classes: %s and %d more", n, ClassNames(m.Classes[:most]), n-most)
	case n > 2:
		return "classes " + ClassNames(m.Classes)
	}
	return fmt.Sprintf("classes %s (positive: %s)", ClassNames(m.Classes), m.Positive)
}

// SolverFacts returns the options and the results of a training that solved for an optimum.
func SolverFacts(m *model.Model) []string {
	singular := ""
	if ridge := m.Training.Ridge; ridge > 0 {
		singular = fmt.Sprintf("a ridge of %s was added, since features depend on each other: leave some out for "+
			"weights that mean something", humanize.Real(ridge))
	}
	return append(Learner(m.Algorithm).SolverTexts(m), "dependent", dependences(m.Training.Dependences), "singular", singular)
}

// Baseline returns the end of a sentence about an accuracy: the accuracy of always guessing one class. It returns "" for nil.
func Baseline(b *train.Baseline) string {
	if b == nil {
		return ""
	}
	return fmt.Sprintf("; always guessing %s: %s", schema.NameClass(b.Class), humanize.Percent(b.Accuracy))
}

// WarnOfBaseline warns that a model is no better than its baseline on rows, such as "the training rows". It returns the warning.
func WarnOfBaseline(a *App, model string, accuracy float64, b *train.Baseline, rows string) string {
	text := fmt.Sprintf("%s predicts no better than always guessing %s: accuracy %s and %s, on %s", model, schema.NameClass(b.Class),
		humanize.Percent(accuracy), humanize.Percent(b.Accuracy), rows)
	a.Warning("%s", text)
	return text
}

// dependences lists the first few features that depend on other features, with these other features. It returns "" for
// nil.
func dependences(all []model.Dependence) string {
	if all == nil {
		return ""
	}
	const most = 6
	few := func(names []string, comma, and string) string {
		if n := len(names) - most; n > 0 {
			return strings.Join(names[:most], comma) + fmt.Sprintf("%s %d more", and, n)
		}
		return strings.Join(names, comma)
	}
	var list []string
	for _, d := range all {
		if d.On == nil || len(d.On) == 1 && d.On[0] == "(bias)" {
			list = append(list, d.Feature+" is constant")
		} else {
			list = append(list, d.Feature+" on "+few(d.On, ", ", " and"))
		}
	}
	return few(list, "; ", "; and") + ": the other columns determine their values, so their weights are 0"
}

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

// Weights returns the sample weights and class weights of a training, or "" if all are 1.
func Weights(m *model.Model) string {
	var parts []string
	if column := m.Options.SampleWeight; column != "" {
		parts = append(parts, "of rows "+column)
	}
	for i, w := range m.Options.ClassWeight {
		parts = append(parts, fmt.Sprintf("of class %s: %s", schema.NameClass(m.Classes[i]), humanize.Real(w)))
	}
	const most = 10
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}

// Threshold returns a threshold as --threshold takes it, with the matching probability if there is one.
func Threshold(at float64, p *float64) string {
	text := humanize.Exact(at)
	if p != nil {
		text += " (p=" + humanize.Exact(*p) + ")"
	}
	return text
}

// KeptThreshold returns the threshold that a model keeps, or "" if it keeps none.
func KeptThreshold(m *model.Model) string {
	if m.Threshold == nil {
		return ""
	}
	text := humanize.Exact(*m.Threshold)
	if by := m.Options.ThresholdBy; by != "" && by != text {
		text += ", chosen by " + by
	}
	return fmt.Sprintf("%s: a greater score predicts %s", text, schema.NameClass(m.Positive))
}

// Calibration returns how scores become probabilities, or "" if the model has no calibration.
func Calibration(m *model.Model) string {
	c := m.Calibration
	if c == nil {
		return ""
	}
	method := c.Method
	if p := c.Classes[0]; method == model.Platt && len(c.Classes) == 1 {
		method += fmt.Sprintf(", p = 1/(1 + e^(%s score + %s))", humanize.Real(p.A), humanize.Real(p.B))
	}
	return fmt.Sprintf("%s, from %d held-out folds", method, c.Folds)
}

// NoProbabilities says that a model has no probabilities, and which training gives a model that has.
func NoProbabilities(m *model.Model) string {
	return message.Sprintf("a model of --algo %s has no probabilities: train it with --calibrate platt, or --algo "+
		"logistic, lda or ftrl", m.Algorithm)
}

// Kernel returns the kernel of an expansion and its number of support rows, as pairs. It returns nil for nil.
func Kernel(e *model.Expansion) []string {
	if e == nil {
		return nil
	}
	text := "linear"
	switch k := e.Kernel; k.Kind {
	case gram.Polynomial:
		text = fmt.Sprintf("(%s x.z + %s)^%d", humanize.Real(k.Gamma), humanize.Real(k.Coef0), k.Degree)
	case gram.RBF:
		text = fmt.Sprintf("exp(-%s |x-z|^2)", humanize.Real(k.Gamma))
	}
	return []string{"kernel", text, "support", humanize.Plural(int64(len(e.Rows)), "row")}
}
