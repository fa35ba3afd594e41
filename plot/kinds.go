package plot

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"halfspace/internal/humanize"
	"halfspace/internal/model"
	"halfspace/internal/stats"
	"halfspace/metrics"
)

// A Curve is a ROC curve or a precision-recall curve of a model.
type Curve struct {
	Name   string // name of the model
	Points []metrics.Point
	Figure float64 // the area under the ROC curve, or the average precision
}

// MostPoints is the approximate number of points of a curve that a picture shows apart. See metrics.Scores.Outline.
const MostPoints = 2000

// ROC draws ROC curves of models.
func ROC(curves ...Curve) *Figure {
	f := &Figure{Title: "ROC curve", IsSquare: true, Width: 460, Height: 500,
		X: Axis{Name: "false positive rate", To: 1}, Y: Axis{Name: "true positive rate", To: 1},
		Subtitle: "share of each class above each threshold",
		Series:   []Series{{Colour: -1, Dash: 1, X: []float64{0, 1}, Y: []float64{0, 1}}}}
	return f.curves(curves, "ROC curve", "AUC", Line, func(p, last metrics.Point) (x, y float64) {
		return p.FalsePositives / last.FalsePositives, p.TruePositives / last.TruePositives
	})
}

// PrecisionRecall draws precision-recall curves of models.
func PrecisionRecall(curves ...Curve) *Figure {
	f := &Figure{Title: "Precision and recall", IsSquare: true, Width: 460, Height: 500, X: Axis{Name: "recall", To: 1},
		Y: Axis{Name: "precision", To: 1}, Subtitle: "of the positive class, above each threshold"}
	return f.curves(curves, "Precision-recall curve", "average precision", Steps, func(p, last metrics.Point) (x, y float64) {
		return p.TruePositives / last.TruePositives, p.Precision()
	})
}

// curves adds a series for each curve. figure names the figure of a curve, and at returns the place of a point.
func (f *Figure) curves(curves []Curve, title, figure string, shape Shape, at func(p, last metrics.Point) (x, y float64)) *Figure {
	for k, c := range curves {
		s := Series{Name: fmt.Sprintf("%s %.4f", figure, c.Figure), Shape: shape, Colour: Colour(k), Dash: k}
		if c.Name != "" {
			s.Name = cut(c.Name, 44) + ": " + s.Name
		}
		for _, p := range c.Points {
			x, y := at(p, c.Points[len(c.Points)-1])
			s.X, s.Y = append(s.X, x), append(s.Y, y)
		}
		f.Series = append(f.Series, s)
		f.Text += title + " of " + s.Name + ". "
	}
	return f
}

// Calibration draws the share of rows that are positive against the predicted probability.
func Calibration(bins []metrics.Bin) *Figure {
	f := &Figure{Title: "Calibration", IsSquare: true, Width: 460, Height: 500,
		X: Axis{Name: "predicted probability", To: 1}, Y: Axis{Name: "share that came true", To: 1},
		Subtitle: "with 95 % intervals (Wilson); on the dashed line, predictions are right"}
	ideal := Series{Colour: -1, Dash: 1, X: []float64{0, 1}, Y: []float64{0, 1}}
	dots, means := Series{Shape: Dots, Name: "rows in ten bins"}, Series{}
	f.Series = []Series{ideal}
	for _, b := range bins {
		if !(b.Weight > 0) {
			continue
		}
		dots.X, dots.Y = append(dots.X, b.Probability), append(dots.Y, b.Share)
		f.Series = append(f.Series, Series{X: []float64{b.Probability, b.Probability}, Y: b.Interval[:]})
		f.Text += fmt.Sprintf("Predicted %.2f, came true %.2f, %s. ", b.Probability, b.Share, humanize.Plural(b.Rows, "row"))
	}
	means.X, means.Y = dots.X, dots.Y
	f.Series = append(f.Series, means, dots)
	return f
}

// Margins draws a histogram of the margins of rows. The margin of a row is the label, -1 or +1, times the score,
// divided by the norm of the weights. wrong tells for each row whether its prediction isn't its class. Rows with a
// negative margin are wrong. Rows with the margin 0 may be right or wrong: the wrong ones count in the bar below 0.
func Margins(margins []float64, wrong []bool) *Figure {
	const bins = 60
	axis := Axis{From: math.Inf(1), To: math.Inf(-1)}
	axis.From, axis.To = widen(axis.From, axis.To, margins)
	axis.From, axis.To = min(axis.From, 0), max(axis.To, 0)
	axis.fit(true)
	size := (axis.To - axis.From) / bins
	below, above := Series{Name: "wrong", Shape: Bars, Colour: 1, Size: size}, Series{Name: "right", Shape: Bars, Size: size}
	counts, errors := map[int]float64{}, 0
	for i, m := range margins {
		if wrong[i] {
			errors++
		}
		if m-m != 0 {
			continue
		}
		k := int(math.Floor(m / size)) // an edge lies at 0, so no bar mixes right and wrong rows
		if m == 0 && wrong[i] {
			k = -1
		}
		counts[k]++
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		s := &above
		if k < 0 {
			s = &below
		}
		s.X, s.Y = append(s.X, (float64(k)+0.5)*size), append(s.Y, counts[k])
	}
	return &Figure{Title: "Margins", Subtitle: "distance of each row from the plane, negative on the wrong side",
		X: Axis{Name: "label × score / norm of the weights", From: axis.From, To: axis.To, step: axis.step},
		Y: Axis{Name: "rows"}, Series: []Series{above, below},
		Text: fmt.Sprintf("Histogram of the margins of %s; %s wrong.", humanize.Plural(int64(len(margins)), "row"),
			humanize.Count(int64(errors)))}
}

// A Score is the result of a learner with its options on the folds of a cross-validation.
type Score struct {
	Name  string // name of the learner
	Mean  float64
	Folds []float64 // NaN where the score is undefined
}

// Scores draws the scores of learners, the first learner at the top: the mean, and a line from the least to the
// greatest fold.
func Scores(name string, scores []Score) *Figure {
	s, low, high := Series{Shape: Dots, Name: "mean over the folds"}, math.Inf(1), math.Inf(-1)
	f := &Figure{Title: "Scores on the folds", Subtitle: "lines go from the least to the greatest fold",
		X: Axis{Name: name}, Height: 140 + 26*len(scores)}
	for k := range scores {
		v := &scores[len(scores)-1-k]
		from, to := v.Mean, v.Mean
		for _, x := range v.Folds {
			if x == x {
				from, to = min(from, x), max(to, x)
			}
		}
		low, high = min(low, from), max(high, to)
		s.X, s.Y = append(s.X, v.Mean), append(s.Y, float64(k))
		f.Series = append(f.Series, Series{X: []float64{from, to}, Y: []float64{float64(k), float64(k)}})
		f.Y.Names = append(f.Y.Names, v.Name)
		f.Text = fmt.Sprintf("%s %s. ", v.Name, humanize.Real(v.Mean)) + f.Text
	}
	f.Series = append(f.Series, s)
	pad := max(1e-9, (high-low)/20)
	f.X.From, f.X.To = low-pad, high+pad
	return f
}

// mostBars is the largest number of weights that are drawn.
const mostBars = 30

// mostMarks is the largest number of categories of a column whose weights are drawn.
const mostMarks = 100

// Weights draws the weights of a model, the largest first, with 95 % intervals if the model has standard errors. The
// weights of a column's categories are on one line. class is the number of the vector to draw, 0 for two classes. It
// returns nil for a model without weights.
func Weights(m *model.Model, class int) *Figure {
	if len(m.Weights) <= class || len(m.Weights[class]) == 0 {
		return nil
	}
	w, of := m.Weights[class], *m
	of.Weights = m.Weights[class : class+1]
	terms := of.Terms()
	drawn := terms[:min(len(terms), mostBars)]
	s, marks := Series{Shape: Ranges}, Series{Shape: Rings, Colour: 1}
	f := &Figure{Title: "Weights", X: Axis{Name: "weight"}, Height: 120 + 20*len(drawn), Y: Axis{Name: ""}}
	exact := len(m.StdErrors) >= len(w) && len(m.Weights) == 1
	if f.Subtitle = "of features as the model takes them"; m.Preprocessing != nil && m.Preprocessing.Standardized() {
		f.Subtitle = "of standardized features"
	}
	if exact {
		f.Subtitle += ", with 95 % intervals"
	}
	if len(m.Weights) > 1 {
		f.Title += " of class " + m.Classes[class].Text
	}
	if len(drawn) < len(terms) {
		f.Subtitle += fmt.Sprintf("; the largest %d of %s", len(drawn), humanize.Count(int64(len(terms))))
	}
	for k := range drawn {
		t, y := &drawn[len(drawn)-1-k], float64(k)
		f.Y.Names = append(f.Y.Names, m.TermName(t))
		if t.HasCategories() {
			f.group(&marks, w[t.First:][:t.Features], y)
			continue
		}
		i := t.First
		s.X, s.Y = append(s.X, w[i]), append(s.Y, y)
		low, high := min(0, w[i]), max(0, w[i])
		if exact {
			half := stats.Quantile975 * m.StdErrors[i]
			low, high = w[i]-half, w[i]+half
		}
		s.Low, s.High = append(s.Low, low), append(s.High, high)
	}
	f.Y.From, f.Y.To = -0.6, float64(len(drawn))-0.4
	zero := Series{Colour: -1, X: []float64{0, 0}, Y: []float64{f.Y.From, f.Y.To}}
	if f.Series = append(f.Series, zero, s); len(marks.X) > 0 {
		marks.Name = "a category of a column"
		f.Height += 20 // the legend
		f.Series = append(f.Series, marks)
	}
	for k := range drawn[:min(len(drawn), 10)] {
		t := &drawn[k]
		f.Text += fmt.Sprintf("%d: %s %s. ", k+1, m.TermName(t), weightsText(w[t.First:][:t.Features]))
	}
	return f
}

// group draws the weights of a column's categories at y: a line from the least to the greatest weight, and marks.
func (f *Figure) group(marks *Series, w []float64, y float64) {
	f.Series = append(f.Series, Series{Colour: 1, X: []float64{slices.Min(w), slices.Max(w)}, Y: []float64{y, y}})
	w = slices.SortedFunc(slices.Values(w), func(a, b float64) int { return cmp.Compare(math.Abs(b), math.Abs(a)) })
	for _, v := range w[:min(len(w), mostMarks)] {
		marks.X, marks.Y = append(marks.X, v), append(marks.Y, y)
	}
}

// weightsText returns a weight, or the least and the greatest of several.
func weightsText(w []float64) string {
	if len(w) == 1 {
		return humanize.Real(w[0])
	}
	return humanize.Real(slices.Min(w)) + " to " + humanize.Real(slices.Max(w))
}
