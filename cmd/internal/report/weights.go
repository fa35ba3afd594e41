package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/internal/stats"
	"halfspace/model"
	"halfspace/plot"
	"halfspace/schema"
)

const (
	mostTerms      = 40 // terms of a model in the table of weights
	mostCategories = 10 // categories of a column in the table of weights
)

// Weights returns the section of the weights in the units of the data: standardising is undone, so that a weight is the
// change of the score for one unit of its column. It returns nil for a model without weights.
func Weights(m *model.Model) []plot.Section {
	if len(m.Weights) == 0 || len(m.Weights[0]) == 0 {
		return nil
	}
	t := weightTable{Model: m, scale: stats.NewMaker(m.Spec()), classes: min(len(m.Weights), plot.MostClasses)}
	t.intercepts = append(slices.Clone(m.Bias), make([]float64, len(m.Weights)-len(m.Bias))...)
	t.hasStdErrors = len(m.Weights) == 1 && len(m.StdErrors) >= m.Width()
	terms := m.Terms()
	t.fill(terms)
	s := plot.Section{Heading: "Weights", Text: []string{t.explanation()},
		Tables: []plot.Table{{Caption: "Weights in the units of the data, the strongest first", Head: t.head(),
			Rows: t.rows}}}
	if n := len(terms) - mostTerms; n > 0 {
		s.Text = append(s.Text, fmt.Sprintf("The table has the %d strongest of %s features and columns.", mostTerms,
			humanize.Count(int64(len(terms)))))
	}
	for class := range t.classes {
		if f := plot.Weights(m, class); f != nil {
			s.Figures = append(s.Figures, f)
		}
	}
	return []plot.Section{s}
}

// A weightTable is the table of the weights in the units of the data.
type weightTable struct {
	*model.Model
	scale         *stats.Maker
	classes       int       // number of columns of weights
	hasStdErrors  bool      // there are standard errors
	intercepts    []float64 // of each class, in the units of the data
	hasCategories bool      // some column has categories
	rows          [][]string
}

func (t *weightTable) head() []string {
	head := []string{"feature", "for each"}
	for class := range t.classes {
		name := "weight"
		if len(t.Weights) > 1 {
			name = t.Classes[class].Text
		}
		head = append(head, name)
	}
	if t.hasStdErrors {
		head = append(head, "95 % interval")
	}
	return head
}

func (t *weightTable) explanation() string {
	score := "the score"
	if t.LogOdds() {
		score = "the logarithm of the odds"
	}
	text := fmt.Sprintf("A weight is the change of %s for one unit of the column, as the file has it.", score)
	if len(t.Weights) == 1 {
		text += fmt.Sprintf(" Positive weights speak for class %s.", t.Positive)
	}
	if t.hasCategories {
		text += " The weight of a category is its difference from the mean of the column's categories; the means are in the intercept."
	}
	if t.Voters != nil {
		text += " These are the weights of the voters' mean."
	}
	if t.Calibration != nil {
		text += " The calibration comes after the score."
	}
	return text
}

// fill adds the rows of the terms, and of the intercept.
func (t *weightTable) fill(terms []model.Term) {
	means := map[string][]float64{} // by the names of columns of categories
	for k := range terms {
		if terms[k].HasCategories() {
			means[terms[k].Column.Name] = t.means(&terms[k])
		}
	}
	for k := range terms {
		term := &terms[k]
		name, unit, factor := t.TermName(term), "", 1.0
		if !term.HasCategories() {
			unit, factor = unitOf(term.Column)
			center, scale := t.scale.Scale(term.First)
			factor /= scale
			for class := range t.intercepts {
				t.intercepts[class] -= t.Weights[class][term.First] * center / scale
			}
			if k < mostTerms && term.Column.Derive == schema.Missing { // a row without a category lacks the mean in the intercept
				t.add(name, unit, term.First, factor, means[term.Column.Name])
			} else if k < mostTerms {
				t.add(name, unit, term.First, factor, nil)
			}
			continue
		}
		if k < mostTerms {
			t.group(name, term, means[term.Column.Name])
		}
	}
	row := []string{"(intercept)", ""}
	for class := range t.classes {
		row = append(row, humanize.Real(t.intercepts[class]))
	}
	if t.hasStdErrors {
		row = append(row, "")
	}
	t.rows = append(t.rows, row)
}

// means returns the mean weight of a column's categories in each class, and adds it to the intercept. The means of hashed
// columns are taken as 0, since a category there shares its feature with others.
func (t *weightTable) means(term *model.Term) []float64 {
	means := make([]float64, len(t.Weights))
	if term.Column.Hashed() {
		return means
	}
	t.hasCategories = true
	for class, w := range t.Weights {
		for _, v := range w[term.First:][:term.Features] {
			means[class] += v / float64(term.Features)
		}
		t.intercepts[class] += means[class]
	}
	return means
}

// group adds the rows of a column of categories: the column, then its strongest categories.
func (t *weightTable) group(name string, term *model.Term, means []float64) {
	t.rows = append(t.rows, append([]string{name}, slices.Repeat([]string{""}, len(t.head())-1)...))
	strength := func(i int) (most float64) {
		for class, w := range t.Weights {
			most = max(most, math.Abs(w[term.First+i]-means[class]))
		}
		return most
	}
	order := make([]int, term.Features)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(strength(b), strength(a)) })
	order = order[:min(len(order), mostCategories)]
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.Weights[0][term.First+b], t.Weights[0][term.First+a]) })
	for _, i := range order {
		text := t.FeatureName(term.First + i)
		if term.Column.Kind == schema.OneHotColumn {
			text = term.Column.Categories[i]
		} else if texts := t.Texts(term.First + i); len(texts) > 0 {
			text = strings.Join(texts, ", ")
		}
		t.add("– "+humanize.WithoutMiddle(text, 60), "", term.First+i, 1, means)
	}
	if n := term.Features - len(order); n > 0 {
		t.rows = append(t.rows, append([]string{"– " + humanize.Plural(int64(n), "other")},
			slices.Repeat([]string{""}, len(t.head())-1)...))
	}
}

// add adds the row of a feature whose weights are multiplied by factor, less means. nil stands for zeros. A category has no
// interval, since the mean varies with its weight.
func (t *weightTable) add(name, unit string, feature int, factor float64, means []float64) {
	row := []string{name, unit}
	for class := range t.classes {
		v := t.Weights[class][feature] * factor
		if means != nil {
			v -= means[class]
		}
		row = append(row, humanize.Real(v))
	}
	if t.hasStdErrors {
		interval := ""
		if e := t.StdErrors[feature]; e > 0 && (means == nil || unit != "") {
			half, mean := stats.Quantile975*e, 0.0
			if means != nil {
				mean = means[0]
			}
			ends := []float64{(t.Weights[0][feature]-half)*factor - mean, (t.Weights[0][feature]+half)*factor - mean}
			interval = humanize.Real(ends[0]) + " to " + humanize.Real(ends[1])
		}
		row = append(row, interval)
	}
	t.rows = append(t.rows, row)
}

// unitOf returns the unit for which the weight of a column is stated, and how many units of the feature it is: a date is
// stated for a day, and a time of the day or a duration for an hour.
func unitOf(c *schema.Column) (unit string, features float64) {
	switch c.Derive {
	case schema.Missing:
		return "missing value", 1
	case schema.Boolean:
		return "yes", 1
	case schema.Days:
		return "day", 1
	case "", schema.Plain, schema.Comma:
	default: // sines and cosines
		return "1", 1
	}
	name, rest, _ := strings.Cut(c.Unit, " ")
	seconds := map[string]float64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}[name]
	switch {
	case c.Unit == "":
		return "unit", 1
	case name == "days":
		return "day", 1
	case strings.HasSuffix(rest, "1970"):
		return "day", 86400 * seconds
	}
	return "hour", 3600 * seconds
}
