package plot

import (
	"cmp"
	"fmt"
	"slices"

	"halfspace/internal/humanize"
	"halfspace/metrics"
	"halfspace/schema"
)

const (
	// MostClasses is the largest number of classes for which a page has a curve, or a picture of their weights.
	MostClasses = 6

	mostCells = 40 // classes on each axis of a confusion matrix
)

// Confusion draws a confusion matrix as a heat map: a row for each class, the first class at the top, and a column for
// each predicted class. The colour of a cell is its share of the row. If there are more than 40 classes, Confusion
// draws the 40 classes with the greatest weight of wrong rows: rows of the class, and rows predicted as the class.
func Confusion(classes []schema.Class, c *metrics.Confusion) *Figure {
	drawn := mostConfused(len(classes), c)
	right, wrong := Series{Name: "right", Shape: Cells}, Series{Name: "wrong", Shape: Cells, Colour: 1}
	f := &Figure{Title: "Confusion of classes", IsSquare: true, Width: 560, Height: 600,
		X: Axis{Name: "predicted class"}, Y: Axis{Name: "class"},
		Subtitle: "rows of each class by predicted class; the colour is the share of the rows of the class"}
	if c.HasWeights() {
		f.Subtitle = "weight of the rows of each class by predicted class; the colour is the share of the weight of the class"
	}
	if len(drawn) < len(classes) {
		f.Subtitle += fmt.Sprintf("; the %d of %s classes with the most errors", len(drawn), humanize.Count(int64(len(classes))))
	}
	for i, class := range drawn {
		y := len(drawn) - 1 - i
		for k, predicted := range drawn {
			weight, s := c.Weight(class, predicted), &wrong
			if class == predicted {
				s = &right
			}
			if !(weight > 0) {
				continue
			}
			s.X, s.Y = append(s.X, float64(k)), append(s.Y, float64(y))
			s.Shares, s.Texts = append(s.Shares, weight/c.ActualWeight(class)), append(s.Texts, humanize.Real(weight))
			if class != predicted && i < 10 {
				f.Text += fmt.Sprintf("%s predicted as %s: %s. ", classes[class].Text, classes[predicted].Text, humanize.Real(weight))
			}
		}
		f.X.Names, f.Y.Names = append(f.X.Names, classes[class].Text), append([]string{classes[class].Text}, f.Y.Names...)
	}
	if f.Text == "" {
		f.Text = "All rows of these classes are right."
	}
	f.X.From, f.X.To = -0.5, float64(len(drawn))-0.5
	f.Y.From, f.Y.To, f.Series = f.X.From, f.X.To, []Series{right, wrong}
	return f
}

// mostConfused returns the classes that Confusion draws, in ascending order.
func mostConfused(classes int, c *metrics.Confusion) []int {
	errors, order := make([]float64, classes), make([]int, classes)
	for i := range classes {
		order[i] = i
		for k := range classes {
			if w := c.Weight(i, k); i != k {
				errors[i], errors[k] = errors[i]+w, errors[k]+w
			}
		}
	}
	slices.SortStableFunc(order, func(i, k int) int { return cmp.Compare(errors[k], errors[i]) })
	order = order[:min(classes, mostCells)]
	slices.Sort(order)
	return order
}
