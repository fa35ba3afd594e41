package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"halfspace/internal/humanize"
	"halfspace/internal/model"
	"halfspace/internal/stats"
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
	t.hasMeans = m.Preprocessing != nil && m.Preprocessing.Nulls == schema.NullsMean && slices.ContainsFunc(terms, canBeMissing)
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
	hasMeans      bool      // a missing number is replaced by the mean of its column
	rows          [][]string
}

// A weightRow describes the row of a feature in the table.
type weightRow struct {
	name, unit string    // unit is empty for a category
	feature    int       // its number
	factor     float64   // change of the feature for one unit
	less       []float64 // numbers that are subtracted from the weights of the classes; nil stands for zeros
	mean       string    // value that replaces a missing value
}

// canBeMissing tells whether a missing value of a term's column is replaced by a number.
func canBeMissing(t model.Term) bool { return !t.HasCategories() && t.Column.Derive != schema.Missing }

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
	if t.hasMeans {
		head = append(head, "mean")
	}
	return head
}

func (t *weightTable) explanation() string {
	score := "the score"
	if t.LogOdds() {
		score = "the logarithm of the odds"
	}
	text := fmt.Sprintf("A weight is the change of %s for one unit of the column, as the file has it.", score)
	if t.Voters == nil {
		text += " The score of a row is the intercept plus the sum of the weights times the row's values."
	}
	if len(t.Weights) == 1 {
		text += fmt.Sprintf(" Positive weights speak for class %s.", t.Positive)
	}
	if t.hasCategories {
		text += " The weight of a category is its difference from the mean of the column's categories; the means are in the intercept."
	}
	if t.hasMeans {
		text += " A missing number counts as the mean."
	} else if t.Preprocessing != nil && t.Preprocessing.Nulls == schema.NullsZero {
		text += " A missing number counts as 0."
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
	marked := map[string]bool{}     // columns with a missing-value indicator
	for k := range terms {
		if term := &terms[k]; term.HasCategories() {
			means[term.Column.Name] = t.means(term)
		} else if term.Column.Derive == schema.Missing {
			marked[term.Column.Name] = true
		}
	}
	for k := range terms {
		term := &terms[k]
		if !term.HasCategories() {
			center, scale := t.scale.Scale(term.First)
			for class := range t.intercepts {
				t.intercepts[class] -= t.Weights[class][term.First] * center / scale
			}
		}
		switch {
		case k >= mostTerms:
		case term.HasCategories():
			t.group(term, means[term.Column.Name], marked[term.Column.Name])
		default:
			t.number(term, means[term.Column.Name])
		}
	}
	row := t.blankRow("(intercept)")
	for class := range t.classes {
		row[2+class] = humanize.Real(t.intercepts[class])
	}
	t.rows = append(t.rows, row)
}

// blankRow returns a row that has only a name.
func (t *weightTable) blankRow(name string) []string {
	return append([]string{name}, slices.Repeat([]string{""}, len(t.head())-1)...)
}

// number adds the row of a term that is a number. means are the mean weights of the column's categories: a row with a
// missing-value indicator has none of these categories, and the intercept has their mean.
func (t *weightTable) number(term *model.Term, means []float64) {
	unit, features := unitOf(term.Column)
	_, scale := t.scale.Scale(term.First)
	row := weightRow{name: t.TermName(term), unit: unit, feature: term.First, factor: features / scale}
	if term.Column.Derive == schema.Missing {
		row.less = means
	} else if t.hasMeans {
		row.mean = humanize.Real(t.scale.Missing()[term.First] / features)
	}
	t.add(row)
}

// means returns the mean weight of a column's categories in each class, and adds it to the intercept. The means of hashed
// columns are taken as 0, since a category there shares its feature with others.
func (t *weightTable) means(term *model.Term) []float64 {
	means := make([]float64, len(t.Weights))
	if term.Column.Hashed() || term.Column.Words != nil {
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

// group adds the rows of a column of categories: the column, then its strongest categories, then a value without a
// category, which lacks the mean that is in the intercept. isMarked tells that a missing value has a row of its own.
func (t *weightTable) group(term *model.Term, means []float64, isMarked bool) {
	t.rows = append(t.rows, t.blankRow(t.TermName(term)))
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
		t.add(weightRow{name: "– " + humanize.WithoutMiddle(text, 60), feature: term.First + i, factor: 1, less: means})
	}
	if n := term.Features - len(order); n > 0 {
		t.rows = append(t.rows, t.blankRow("– "+humanize.Plural(int64(n), "other")))
	}
	if term.Column.Hashed() || term.Column.Words != nil {
		return
	}
	row := t.blankRow("– (missing or new)")
	if isMarked {
		row[0] = "– (new)"
	}
	for class := range t.classes {
		row[2+class] = humanize.Real(0 - means[class])
	}
	t.rows = append(t.rows, row)
}

// add adds the row of a feature. A category has no interval, since the mean varies with its weight.
func (t *weightTable) add(r weightRow) {
	less := append(slices.Clone(r.less), make([]float64, len(t.Weights)-len(r.less))...)
	row := []string{r.name, r.unit}
	for class := range t.classes {
		row = append(row, humanize.Real(t.Weights[class][r.feature]*r.factor-less[class]))
	}
	if t.hasStdErrors {
		interval := ""
		if e := t.StdErrors[r.feature]; e > 0 && (r.less == nil || r.unit != "") {
			w, half := t.Weights[0][r.feature], stats.Quantile975*e
			interval = humanize.Real((w-half)*r.factor-less[0]) + " to " + humanize.Real((w+half)*r.factor-less[0])
		}
		row = append(row, interval)
	}
	if t.hasMeans {
		row = append(row, r.mean)
	}
	t.rows = append(t.rows, row)
}

// unitOf returns the unit for which the weight of a column is stated, and how many units of the feature it is: a date is
// stated for a day since some day, and a time of the day or a duration for an hour.
func unitOf(c *schema.Column) (unit string, features float64) {
	switch c.Derive {
	case schema.Missing:
		return "missing value", 1
	case schema.Boolean:
		return "yes", 1
	case schema.Days:
		return "day since " + c.OriginDay(), 1
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
		return "day since 1970", 1
	case strings.HasSuffix(rest, "1970"):
		return "day since 1970", 86400 * seconds
	}
	return "hour", 3600 * seconds
}
