package plot

import (
	"fmt"
	"math"

	"halfspace/internal/humanize"
)

// Rows are rows with two features, and the weights of their model.
type Rows struct {
	X, Y        []float64
	Positive    []bool
	Names       [2]string // names of the features
	Classes     [2]string // negative class, positive class
	Weights     [3]float64
	Path        [][3]float64 // weights after each update; nil: only the last line is drawn
	Updates     []int        // for each element of Path, the number of the update that made it
	VisitedRows []int        // for each element of Path, the row that made the update; -1: unknown. nil: all are unknown
}

// mostSteps is the largest number of lines that are drawn for a path. They are spread evenly over the path and include
// the last line.
const mostSteps = 80

// Plane draws rows of two features with the line on which the score is 0. If there is a path, it shows the lines of the
// path one after another, once.
func Plane(r *Rows) *Figure {
	f := &Figure{Title: "Rows and the line", Subtitle: "on the line the score is 0", X: Axis{Name: r.Names[0]},
		Y: Axis{Name: r.Names[1]}, Height: 520,
		Series: []Series{{Name: r.Classes[1], Shape: Dots}, {Name: r.Classes[0], Shape: Rings, Colour: 1}}}
	for i, x := range r.X {
		s := &f.Series[1]
		if r.Positive[i] {
			s = &f.Series[0]
		}
		s.X, s.Y = append(s.X, x), append(s.Y, r.Y[i])
	}
	f.X, f.Y = f.ranges()
	pad := (f.X.To - f.X.From) / 25
	f.X.From, f.X.To = f.X.From-pad, f.X.To+pad
	pad = (f.Y.To - f.Y.From) / 25
	f.Y.From, f.Y.To = f.Y.From-pad, f.Y.To+pad
	if len(r.Path) > 0 {
		f.steps = newSteps(f, r)
		f.Subtitle = fmt.Sprintf("the line after %s, then the last one", humanize.Plural(int64(len(f.steps)), "update"))
		if last := r.Updates[len(r.Updates)-1]; len(f.steps) < last {
			f.Subtitle = fmt.Sprintf("the line after %d of %s updates, then the last one", len(f.steps), humanize.Count(int64(last)))
		}
		f.Text = "The line turns with each update until it stands. "
	}
	if x0, y0, x1, y1, ok := crossings(r.Weights, f); ok {
		f.Series = append(f.Series, Series{Name: "score 0", Colour: 2, X: []float64{x0, x1}, Y: []float64{y0, y1}})
	}
	f.Text += fmt.Sprintf("%s of classes %s and %s by %s and %s. The score is %s %s + %s %s + %s.",
		humanize.Plural(int64(len(r.X)), "row"), r.Classes[1], r.Classes[0], r.Names[0], r.Names[1],
		humanize.Real(r.Weights[0]), r.Names[0], humanize.Real(r.Weights[1]), r.Names[1], humanize.Real(r.Weights[2]))
	return f
}

// crossings returns the points where the line w0 x + w1 y + b = 0 enters and leaves the plot. ok tells whether it
// crosses the plot.
func crossings(w [3]float64, f *Figure) (x0, y0, x1, y1 float64, ok bool) {
	// Start with a point on the line and its direction, then clip to the ranges (Liang and Barsky 1984).
	square := w[0]*w[0] + w[1]*w[1]
	if !(square > 0) {
		return 0, 0, 0, 0, false
	}
	px, py := -w[2]*w[0]/square, -w[2]*w[1]/square
	from, to := math.Inf(-1), math.Inf(1)
	for _, side := range [][3]float64{{px, -w[1], 0}, {py, w[0], 1}} {
		at, slope := side[0], side[1]
		low, high := f.X.From, f.X.To
		if side[2] == 1 {
			low, high = f.Y.From, f.Y.To
		}
		if slope == 0 {
			if at < low || at > high {
				return 0, 0, 0, 0, false
			}
			continue
		}
		a, b := (low-at)/slope, (high-at)/slope
		from, to = max(from, min(a, b)), min(to, max(a, b))
	}
	return px - w[1]*from, py + w[0]*from, px - w[1]*to, py + w[0]*to, from < to
}

// A step is a line of an animation.
type step struct {
	line   [4]float64 // ends of the line: x, y, x, y; all 0 if the line isn't in the plot
	update int
	row    [2]float64 // the row that made the update; NaN if unknown
}

func newSteps(f *Figure, r *Rows) (steps []step) {
	n := len(r.Path)
	shown := min(n, mostSteps)
	for k := range shown {
		i := (k+1)*n/shown - 1
		s := step{update: r.Updates[i], row: [2]float64{math.NaN(), math.NaN()}}
		if x0, y0, x1, y1, ok := crossings(r.Path[i], f); ok {
			s.line = [4]float64{x0, y0, x1, y1}
		}
		if r.VisitedRows != nil && r.VisitedRows[i] >= 0 && r.VisitedRows[i] < len(r.X) {
			s.row = [2]float64{r.X[r.VisitedRows[i]], r.Y[r.VisitedRows[i]]}
		}
		steps = append(steps, s)
	}
	return steps
}

// ends returns the ends of a step's line in pixels, or nil if the line isn't in the plot.
func (c *canvas) ends(l [4]float64) [][2]float64 {
	if l == [4]float64{} {
		return nil
	}
	return [][2]float64{{c.px(l[0]), c.py(l[1])}, {c.px(l[2]), c.py(l[3])}}
}

// trail draws a faint line for each step. A reader without animations sees these lines and the last line.
func (c *canvas) trail(steps []step) {
	p := &path{Paint: paint{Colour: FaintInk, Width: 1, Opacity: 0.3}}
	for _, s := range steps {
		if ends := c.ends(s.line); ends != nil {
			p.Points = append(append(p.Points, ends...), [2]float64{math.NaN(), math.NaN()})
		}
	}
	c.draw(p)
}

// animate shows the lines one after another, with the number of the update beside the title. It needs no script.
func (c *canvas) animate(steps []step) {
	each := min(0.6, 12/float64(len(steps))) // seconds
	strong := Colour(3)
	for k, s := range steps {
		f := &frame{Begin: each * float64(k), Length: each}
		f.Elements = append(f.Elements, &path{Points: c.ends(s.line), Paint: paint{Colour: strong, Width: 2.5}})
		if s.row[0] == s.row[0] {
			f.Elements = append(f.Elements, &disc{X: c.px(s.row[0]), Y: c.py(s.row[1]), Radius: 8, Paint: paint{Colour: strong, Width: 2}})
		}
		f.Elements = append(f.Elements, &text{X: c.right, Y: 28, Anchor: end, Colour: ink,
			String: "update " + humanize.Count(int64(s.update))})
		c.draw(f)
	}
}
