package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"halfspace/cmd/internal/console"
	"halfspace/cmd/internal/flags"
	"halfspace/internal/humanize"
	"halfspace/internal/model"
	"halfspace/internal/stats"
	"halfspace/schema"
)

// A modelReport is the JSON object of inspect --json for a model: its file without the checksum, and the largest
// weights.
type modelReport struct {
	Kind string `json:"kind"` // "model"
	*model.Model
	LargestWeights []weight `json:"largest_weights"`
	*model.Significance
	top int
}

type weight struct {
	Feature string  `json:"feature"`
	Weight  float64 `json:"weight"`

	Texts []string `json:"texts,omitempty"` // some texts that the hashed column has in this feature

	index int // number of the feature
}

// label returns the name of the feature, with its texts if there are any.
func (w weight) label() string {
	if len(w.Texts) == 0 {
		return w.Feature
	}
	return fmt.Sprintf("%s (%s)", w.Feature, humanize.FirstCharacters(strings.Join(w.Texts, ", "), 60))
}

func inspectModel(ctx context.Context, a *console.App, path string, top int, memory *flags.Size, asJSON bool) error {
	_, undo := memory.Hold()
	defer undo()
	m, err := console.LoadModel(ctx, path, memory.Bytes)
	if err != nil {
		return err
	}
	r := modelReport{"model", m, weightsBySize(m, top), m.Significance(), top}
	if asJSON {
		r.Model = m.Compact()
		return a.PrintJSON(r)
	}
	var s console.Sheet
	s.Line("%s: a model, %s\n", path, r.Format)
	s.Pairs(r.pairs()...)
	r.tables(&s)
	return a.Print(s.Bytes())
}

// weightsBySize returns the n weights of a model with the largest magnitudes, in descending order. Equal weights are in the
// order of the features. With more than two classes, the name of a weight includes the class.
func weightsBySize(m *model.Model, n int) []weight {
	type place struct{ class, feature int }
	var order, zeros []place // zeros holds at most n weights
	for c, row := range m.Weights {
		for i, w := range row {
			if w != 0 {
				order = append(order, place{c, i})
			} else if len(zeros) < n {
				zeros = append(zeros, place{c, i})
			}
		}
	}
	size := func(p place) float64 { return math.Abs(m.Weights[p.class][p.feature]) }
	slices.SortStableFunc(order, func(a, b place) int { return cmp.Compare(size(b), size(a)) })
	order = append(order, zeros...)
	if len(m.Weights) == 0 {
		return nil
	}
	all := make([]weight, min(n, len(order)))
	for k := range all {
		at := order[k]
		name := m.FeatureName(at.feature)
		if len(m.Weights) > 1 {
			name = fmt.Sprintf("%s for %s", name, m.Classes[at.class])
		}
		all[k] = weight{name, m.Weights[at.class][at.feature], m.Texts(at.feature), at.feature}
	}
	return all
}

// preprocessingText lists how features are made from columns. It is empty if all are plain numbers.
func preprocessingText(p *schema.Preprocessing) (pairs []string) {
	if p == nil {
		return nil
	}
	if p.Nulls != schema.NullsError {
		pairs = append(pairs, "nulls", string(p.Nulls))
	}
	if p.NullValues != nil {
		pairs = append(pairs, "null values", strings.Join(append([]string{"empty fields"}, p.NullValues...), ", "))
	}
	if p.Standardized() {
		pairs = append(pairs, "standardized", "yes")
	}
	for _, c := range p.Columns {
		name, how := "column", ""
		switch {
		case c.Unit != "":
			how = c.Unit
		case c.Derive == schema.Days:
			how = "days since " + c.OriginDay()
		case c.Kind == schema.ListColumn:
			how = "lists of " + humanize.Plural(int64(c.Elements), "number")
		case c.Kind == schema.NumberedColumn:
			how = fmt.Sprintf("numbered from %d to %d", c.First, c.First+c.Elements-1)
		case c.Kind == schema.OneHotColumn:
			how = "one-hot: " + humanize.FirstCharacters(strings.Join(c.Categories, ", "), 60)
		case c.Words != nil:
			how = c.Words.String()
		case c.Kind == schema.CrossColumn:
			name = "cross"
			fallthrough
		case c.Kind == schema.HashColumn:
			how = fmt.Sprintf("hashed to %d bits", c.HashBits)
		default:
			continue
		}
		pairs = append(pairs, name, c.Name+", "+how)
	}
	return pairs
}

// pairs returns names and values, alternating.
func (r modelReport) pairs() []string {
	bias := "no bias"
	if r.FitBias {
		bias = "bias"
		for _, b := range r.Bias {
			bias += " " + humanize.Real(b)
		}
	}
	pairs := []string{
		"algorithm", r.Algorithm + ", " + r.Dtype,
		"label", fmt.Sprintf("%s, %s", r.Label, console.Classes(r.Model)),
		"features", fmt.Sprintf("%s, %s", humanize.Count(int64(r.Width())), bias),
	}
	pairs = append(pairs, preprocessingText(r.Preprocessing)...)
	if console.Learner(r.Algorithm).IsBatch() {
		pairs = append(pairs, console.SolverFacts(r.Model)...)
	} else {
		pairs = append(pairs, "options", console.OnlineOptions(r.Model), "updates", updatesText(&r.Training))
	}
	pairs = append(pairs, "weights", console.Weights(r.Model), "calibrated", console.Calibration(r.Model), "threshold",
		console.KeptThreshold(r.Model))
	pairs = append(pairs, console.Kernel(r.Expansion)...)
	pairs = append(pairs, "classes", console.Multiclass(r.Model), "voters", console.Voters(r.Voters))
	pairs = append(pairs, resultPairs(r.Model)...)
	data := humanize.Plural(r.Data.Rows, "row")
	if r.Data.Fingerprint != "" { // an interrupt may leave no time for the fingerprint
		data += ", " + r.Data.Fingerprint
	}
	if r.Data.Lake != "" {
		data += ", " + r.Data.Lake
	}
	return append(pairs, "data", data)
}

func updatesText(t *model.Training) string {
	text := fmt.Sprintf("%s in %s (%s), ", humanize.Count(t.Updates), humanize.Plural(t.Epochs, "epoch"),
		humanize.Plural(t.Visits, "visit"))
	if !t.Converged {
		text += "not "
	}
	text += "converged"
	if t.KeptUpdate != nil {
		text += ", kept " + console.KeptUpdate(t.KeptUpdate)
	}
	return text
}

// resultPairs returns the errors, norms and margin of the training.
func resultPairs(m *model.Model) (pairs []string) {
	t := &m.Training
	if t.Mistakes != nil {
		pairs = append(pairs, "mistakes", console.Mistakes(*t.Mistakes, t.Rows))
	}
	if t.Errors != nil {
		pairs = append(pairs, "errors", console.Errors(*t.Errors, t.Rows))
	}
	if v := t.CrossValidation; v != nil {
		pairs = append(pairs, "folds", fmt.Sprintf("errors %s, in %d folds of a cross-validation",
			console.Errors(v.Errors, t.Rows), v.Folds))
	}
	if v := t.Validation; v != nil {
		pairs = append(pairs, "validation", "errors "+console.Errors(v.Errors, v.Rows)+", data "+v.Fingerprint)
	}
	if console.Learner(m.Algorithm).IsPerceptron() {
		pairs = append(pairs, "loss", humanize.NumberOrUnknown(t.Loss, ""))
	}
	return append(pairs, "radius", humanize.NumberOrUnknown(t.Radius, ""), "norm", humanize.NumberOrUnknown(t.Norm, ""),
		"margin", console.Margin(t))
}

// tables writes the z-values if there are standard errors. Otherwise it writes the rows that were misclassified most
// often, and the largest weights of a model without a kernel.
func (r modelReport) tables(s *console.Sheet) {
	if r.StdErrors != nil {
		if r.HasRobustErrors {
			s.Line("\nStandard errors are robust (the sandwich estimator), since the weights of rows aren't counts.")
		}
		if r.Options.L2 != nil && *r.Options.L2 > 0 {
			s.Line("\nz-values, p-values and intervals are those of weights that --l2 %s pulls towards 0. --l2 0 tests the features.",
				humanize.Real(*r.Options.L2))
		}
		s.Line("\nThe largest z-values (weights in standard errors), with two-sided p-values and 95 %% "+
			"intervals, of %s:\n", humanize.Plural(int64(r.Width()), "feature"))
		s.Table(zTable(r.Model, r.top))
		s.WriteString(scoreText(r.Model))
		return
	}
	if worst := r.Training.MisclassifiedRows; len(worst) > 0 {
		table := [][]string{{"row", "updates"}}
		for _, w := range worst {
			table = append(table, []string{humanize.Count(w.Row), humanize.Count(w.Updates)})
		}
		s.Line("\nThe rows most often misclassified, from 0:\n")
		s.Table(table)
	}
	if r.Expansion != nil {
		return
	}
	moments := momentsOf(r.Model)
	rows := [][]string{append([]string{"feature", "weight"}, moments.head()...)}
	for _, w := range r.LargestWeights {
		rows = append(rows, append([]string{w.label(), humanize.Real(w.Weight)}, moments.cells(w.index)...))
	}
	which := ""
	if r.Voters != nil {
		which = " of the voters' mean"
	}
	s.Line("\nThe largest of %s%s:\n", humanize.Plural(int64(r.Width()*len(r.Weights)), "weight"), which)
	s.Table(rows)
	s.WriteString(scoreText(r.Model))
}

// A momentTable has the numbers by which values become features: means and standard deviations, or the means alone that
// replace missing values.
type momentTable struct {
	*stats.Maker
	isStandardized, hasMeans bool
}

func momentsOf(m *model.Model) momentTable {
	t := momentTable{Maker: stats.NewMaker(m.Spec())}
	if p := m.Preprocessing; p != nil {
		t.isStandardized, t.hasMeans = p.Standardized(), p.Nulls == schema.NullsMean
	}
	return t
}

func (t momentTable) head() []string {
	switch {
	case t.isStandardized:
		return []string{"mean", "deviation"}
	case t.hasMeans:
		return []string{"mean"}
	}
	return nil
}

// cells returns the numbers of a feature below head.
func (t momentTable) cells(feature int) []string {
	switch {
	case t.isStandardized:
		center, scale := t.Scale(feature)
		return []string{humanize.Real(center), humanize.Real(scale)}
	case t.hasMeans:
		return []string{humanize.Real(t.Missing()[feature])}
	}
	return nil
}

// scoreText says how the weights and the values of a row give its score, unless the values are the features. It is empty
// for voters, which vote.
func scoreText(m *model.Model) string {
	moments := momentsOf(m)
	if m.Voters != nil || len(moments.head()) == 0 {
		return ""
	}
	text := "\nThe score of a row is "
	if m.FitBias {
		text += "the bias plus "
	}
	if text += "the sum of weight x value."; moments.isStandardized {
		text = strings.Replace(text, "value", "(value - mean) / deviation", 1)
	}
	if moments.hasMeans {
		text += " A missing number counts as the mean."
	}
	return text + "\n"
}

// zTable returns the table of weights with standard errors, z-values, p-values and intervals. It has n features, the
// largest z-values first, and the bias last.
func zTable(m *model.Model, n int) [][]string {
	of := m.Significance()
	weights := slices.Concat(m.Weights[0], m.Bias)
	var order []int
	for i := range m.Width() {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(of.Z[b]), math.Abs(of.Z[a])) })
	order = order[:min(n, len(order))]
	if m.FitBias {
		order = append(order, m.Width())
	}
	moments := momentsOf(m)
	rows := [][]string{append([]string{"feature", "weight", "std error", "z", "p", "from", "to"}, moments.head()...)}
	for _, i := range order {
		name, numbers := "(bias)", make([]string, len(moments.head()))
		if i < m.Width() {
			name, numbers = weight{Feature: m.FeatureName(i), Texts: m.Texts(i)}.label(), moments.cells(i)
		}
		row := []string{name, humanize.Real(weights[i]), "-", "-", "-", "-", "-"}
		if m.StdErrors[i] != 0 { // not left out of the model
			copy(row[2:], []string{humanize.Real(m.StdErrors[i]), humanize.Fixed(of.Z[i], 2),
				strconv.FormatFloat(of.PValues[i], 'g', 3, 64),
				humanize.Real(of.Intervals[i][0]), humanize.Real(of.Intervals[i][1])})
		}
		rows = append(rows, append(row, numbers...))
	}
	return rows
}
