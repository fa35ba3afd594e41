package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"halfspace/internal/humanize"
	"halfspace/internal/model"
)

// An alpha is the dual coefficient of a row: the multiple of the row in the weights, or of the row's kernel value in
// the score.
type alpha struct {
	row        int64
	magnitude  float64 // absolute value
	isPositive bool    // the row is of the positive class
}

// Alphas draws the dual coefficients of a model, the largest first. Up to 30 coefficients are drawn with the numbers of
// their rows; more are drawn as one curve for each class. class is the number of the vector to draw, 0 for two classes.
// For a linear model, Alphas draws how often rows were misclassified, for the rows that the model names. It returns nil
// for a model without dual coefficients.
func Alphas(m *model.Model, class int) *Figure {
	e := m.Expansion
	switch {
	case e == nil && class == 0:
		return updatesOfRows(m)
	case e == nil || class >= len(e.Coefficients):
		return nil
	}
	all := largestFirst(alphas(m, class))
	positive, negative := m.Spec().PositiveClass(), 1-m.Spec().PositiveClass()
	names := [2]string{"other classes", ""}
	if len(e.Coefficients) == 1 {
		names[0], names[1] = m.Classes[negative].Text, m.Classes[positive].Text
	} else {
		names[1] = m.Classes[class].Text
	}
	f := &Figure{Title: "Dual coefficients", Subtitle: "α of a row: how much it adds to the score, times the kernel"}
	if len(e.Coefficients) > 1 {
		f.Title += " of class " + m.Classes[class].Text
	}
	f.Text = fmt.Sprintf("%s of %s have a coefficient. ", humanize.Count(int64(len(all))), humanize.Plural(m.Training.Rows, "row"))
	f.Text += largestRows(all)
	if len(all) <= mostBars {
		f.bars(all, names)
	} else {
		f.rankedCurves(all, names)
	}
	return f
}

// Witness draws the weights of the rows that prove that no plane separates two classes, the largest first, up to 30.
// labels are -1 and +1. names are the names of the classes -1 and +1.
func Witness(rows []int64, labels []int, weights []float64, names [2]string) *Figure {
	var all []alpha
	for i, r := range rows {
		all = append(all, alpha{r, weights[i], labels[i] > 0})
	}
	largestFirst(all)
	f := &Figure{Title: "Rows of the witness", Subtitle: "weights of rows whose weighted sum of label × (features, bias) is zero"}
	if n := len(all); n > mostBars {
		all = all[:mostBars]
		f.Subtitle = fmt.Sprintf("the %d largest weights, of %s whose weighted sum of label × (features, bias) is zero",
			mostBars, humanize.Plural(int64(n), "row"))
	}
	f.Text += largestRows(all)
	f.bars(all, names)
	f.X.Name = "weight"
	return f
}

func largestFirst(all []alpha) []alpha {
	slices.SortStableFunc(all, func(a, b alpha) int { return cmp.Compare(b.magnitude, a.magnitude) })
	return all
}

// largestRows describes the first ten coefficients.
func largestRows(all []alpha) (text string) {
	for _, a := range all[:min(len(all), 10)] {
		text += fmt.Sprintf("Row %s: %s. ", humanize.Count(a.row), humanize.Real(a.magnitude))
	}
	return text
}

// alphas returns the coefficients that aren't 0, in ascending order of their rows.
func alphas(m *model.Model, class int) (all []alpha) {
	e := m.Expansion
	signed, steps := floats(e.Coefficients[class]), floats(e.Steps)
	if e.Votes != nil { // only the signs count: a mistake adds a step
		counts := make([]float64, len(signed))
		for _, at := range model.Unpack[uint32](e.Votes[class].Mistakes) {
			step := 1.0
			if len(steps) > 0 {
				step = steps[at]
			}
			counts[at] += step
		}
		for i, c := range counts {
			signed[i] = math.Copysign(c, signed[i])
		}
	}
	for i, v := range signed {
		if v != 0 {
			all = append(all, alpha{e.Rows[i], math.Abs(v), v > 0})
		}
	}
	return all
}

// floats decodes an array of a model's expansion.
func floats(b []byte) []float64 {
	var all []float64
	for _, v := range model.Unpack[float32](b) {
		all = append(all, float64(v))
	}
	return all
}

// updatesOfRows draws the number of updates of each row that a linear model names. It returns nil if the model names
// none.
func updatesOfRows(m *model.Model) *Figure {
	if len(m.Training.MisclassifiedRows) == 0 {
		return nil
	}
	var all []alpha
	f := &Figure{Title: "Dual coefficients", Subtitle: "how often rows made an update"}
	sum := int64(0)
	for _, r := range m.Training.MisclassifiedRows {
		all = append(all, alpha{row: r.Row, magnitude: float64(r.Updates), isPositive: true})
		f.Text += fmt.Sprintf("Row %s: %s. ", humanize.Count(r.Row), humanize.Count(r.Updates))
		sum += r.Updates
	}
	all = all[:min(len(all), mostBars)]
	if len(m.Weights) > 1 {
		f.Subtitle += ", summed over the classes"
	}
	if sum < m.Training.Updates {
		f.Subtitle += fmt.Sprintf("; the %d rows with the most", len(all))
	} else if len(m.Weights) <= 1 {
		f.Subtitle = "α of a row: how often the row made an update, in units of the learning rate"
	}
	f.bars(all, [2]string{})
	return f
}

// bars draws each coefficient with the number of its row, the largest at the top.
func (f *Figure) bars(all []alpha, names [2]string) {
	f.X, f.Height = Axis{Name: "α"}, 140+20*len(all)
	sides := [2]Series{{Name: names[0], Shape: Ranges, Colour: 1}, {Name: names[1], Shape: Ranges}}
	for k := range all {
		a := all[len(all)-1-k]
		s := &sides[0]
		if a.isPositive {
			s = &sides[1]
		}
		s.X, s.Y = append(s.X, a.magnitude), append(s.Y, float64(k))
		s.Low, s.High = append(s.Low, 0), append(s.High, a.magnitude)
		f.Y.Names = append(f.Y.Names, "row "+humanize.Count(a.row))
	}
	f.addSides(sides)
}

// rankedCurves draws the coefficients of each class as a falling curve.
func (f *Figure) rankedCurves(all []alpha, names [2]string) {
	f.X, f.Y = Axis{Name: "rows of a class, the largest α first"}, Axis{Name: "α", includesZero: true}
	sides := [2]Series{{Name: names[0], Colour: 1, Dash: 1}, {Name: names[1]}}
	for _, a := range all {
		s := &sides[0]
		if a.isPositive {
			s = &sides[1]
		}
		s.X, s.Y = append(s.X, float64(len(s.X)+1)), append(s.Y, a.magnitude)
	}
	for i := range sides {
		sides[i].Name += ": " + humanize.Plural(int64(len(sides[i].X)), "row")
	}
	f.addSides(sides)
}

// addSides adds the series that have points, the positive class first.
func (f *Figure) addSides(sides [2]Series) {
	for _, s := range []Series{sides[1], sides[0]} {
		if len(s.X) > 0 {
			f.Series = append(f.Series, s)
		}
	}
}
