package chart

import (
	"fmt"
	"math"
	"strconv"

	"halfspace/internal/drawing"
)

// A Roofline is a picture of computations under the limits of a computer (Williams, Waterman and Patterson, "Roofline",
// CACM 52(4), 2009). Both axes are logarithmic.
type Roofline struct {
	Title, Subtitle string
	Slopes          []Limit // limits of memory, in bytes per second
	Peaks           []Limit // limits of arithmetic, in flops per second
	Points          []Point
	Notes           []string // lines at the bottom
}

// A Limit is a line of the roof.
type Limit struct {
	Name string
	Rate float64
}

// A Point is a computation.
type Point struct {
	Name      string
	Intensity float64 // flops for each byte
	Rate      float64 // flops per second
	Colour    drawing.Colour
}

// The edges of the plot, in pixels.
const (
	plotLeft, plotRight = 64, 520
	plotTop, plotBottom = 72, 472
)

// axes map numbers to pixels.
type axes struct{ fromX, toX, fromY, toY float64 }

func (a axes) x(v float64) float64 {
	return plotLeft + (math.Log10(v)-a.fromX)/(a.toX-a.fromX)*(plotRight-plotLeft)
}

func (a axes) y(v float64) float64 {
	return plotBottom - (math.Log10(v)-a.fromY)/(a.toY-a.fromY)*(plotBottom-plotTop)
}

// Picture returns the picture of the roofline. There must be at least one slope and one peak.
func (r *Roofline) Picture() *drawing.Picture {
	height := max(plotBottom+52, plotTop+17*len(r.Points)+8) + 18*len(r.Notes)
	c := newCanvas(width+72, height, r.Title, r.Subtitle, r.Notes)
	a := r.axes()
	grid(c, a)
	r.roof(c, a)
	for k, p := range r.Points {
		x, y := a.x(p.Intensity), a.y(p.Rate)
		c.Shapes = append(c.Shapes, &drawing.Disc{X: x, Y: y, Radius: 4, Paint: drawing.Paint{Colour: p.Colour}})
		c.text(&drawing.Text{X: x + 6, Y: y - 4, Size: 11, Colour: drawing.Ink, String: strconv.Itoa(k + 1)})
		c.text(&drawing.Text{X: plotRight + 28, Y: float64(plotTop + 10 + 17*k), Colour: p.Colour, String: fmt.Sprintf("%d  %s", k+1, p.Name)})
	}
	return &c.Picture
}

// axes returns axes that end at powers of ten and include all points and all corners of the roof.
func (r *Roofline) axes() axes {
	a := axes{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	point := func(x, y float64) {
		a.fromX, a.toX = min(a.fromX, math.Floor(math.Log10(x))), max(a.toX, math.Ceil(math.Log10(x)))
		a.fromY, a.toY = min(a.fromY, math.Floor(math.Log10(y))), max(a.toY, math.Ceil(math.Log10(y)))
	}
	for _, p := range r.Points {
		point(p.Intensity, p.Rate)
	}
	for _, peak := range r.Peaks {
		for _, slope := range r.Slopes {
			point(peak.Rate/slope.Rate, peak.Rate)
		}
	}
	return a
}

// grid draws lines at powers of ten, and the numbers of the axes.
func grid(c *canvas, a axes) {
	thin := drawing.Paint{Colour: drawing.Grid, Width: 1}
	for e := a.fromX; e <= a.toX; e++ {
		x := a.x(math.Pow(10, e))
		c.Shapes = append(c.Shapes, drawing.Line(x, plotTop, x, plotBottom, thin))
		c.text(&drawing.Text{X: x, Y: plotBottom + 18, Anchor: drawing.Middle, Colour: drawing.Faint, String: fmt.Sprintf("%g", math.Pow(10, e))})
	}
	for e := a.fromY; e <= a.toY; e++ {
		y := a.y(math.Pow(10, e))
		c.Shapes = append(c.Shapes, drawing.Line(plotLeft, y, plotRight, y, thin))
		c.text(&drawing.Text{X: plotLeft - 8, Y: y + 4, Anchor: drawing.End, Colour: drawing.Faint, String: fmt.Sprintf("%g", math.Pow(10, e-9))})
	}
	c.text(&drawing.Text{X: (plotLeft + plotRight) / 2, Y: plotBottom + 38, Anchor: drawing.Middle, Colour: drawing.Faint, String: "flops for each byte"})
	c.text(&drawing.Text{X: 16, Y: (plotTop + plotBottom) / 2, Anchor: drawing.Middle, Colour: drawing.Faint, Turned: true, String: "GFLOP/s"})
}

// roof draws each slope up to the highest peak, and each peak from the steepest slope on.
func (r *Roofline) roof(c *canvas, a axes) {
	highest, steepest := 0.0, 0.0
	for _, p := range r.Peaks {
		highest = max(highest, p.Rate)
	}
	for _, s := range r.Slopes {
		steepest = max(steepest, s.Rate)
	}
	thick := drawing.Paint{Width: 1.5}
	for _, s := range r.Slopes {
		x0 := max(math.Pow(10, a.fromX), math.Pow(10, a.fromY)/s.Rate)
		x, y := a.x(x0), a.y(x0*s.Rate)
		c.Shapes = append(c.Shapes, drawing.Line(x, y, a.x(highest/s.Rate), a.y(highest), thick))
		c.text(&drawing.Text{X: x + 4, Y: y - 6, Size: 11, Colour: drawing.Faint, String: s.Name})
	}
	for _, p := range r.Peaks {
		y := a.y(p.Rate)
		c.Shapes = append(c.Shapes, drawing.Line(a.x(p.Rate/steepest), y, plotRight, y, thick))
		c.text(&drawing.Text{X: plotRight, Y: y - 5, Anchor: drawing.End, Size: 11, Colour: drawing.Faint, String: p.Name})
	}
}
