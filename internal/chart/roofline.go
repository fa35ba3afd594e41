package chart

import (
	"fmt"
	"math"
	"strconv"
)

// A Roofline is a picture of computations under the limits of a computer (Williams, Waterman and Patterson, "Roofline",
// CACM 52(4), 2009). Both axes are logarithmic.
type Roofline struct {
	Title, Subtitle string
	Slopes          []Limit // of memory, in bytes per second
	Peaks           []Limit // of arithmetic, in flops per second
	Points          []Point
	Notes           []string // the last lines
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
	Series    int     // number of the point's colour
}

// The plot's edges in pixels.
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

// Draw returns the SVG. The roof needs a slope and a peak at least.
func (r *Roofline) Draw(t Theme) string {
	height := max(plotBottom+52, plotTop+17*len(r.Points)+8) + 18*len(r.Notes)
	c := newCanvas(t, width+60, height)
	c.title(r.Title, r.Subtitle)
	a := r.axes()
	r.grid(c, a)
	r.roof(c, a)
	for k, p := range r.Points {
		x, y := a.x(p.Intensity), a.y(p.Rate)
		fmt.Fprintf(c, `<circle cx="%.1f" cy="%.1f" r="4" %s/>`+"\n", x, y, c.series[p.Series%len(c.series)])
		c.write(int(x)+6, int(y)-4, "start", c.text, ` font-size="11"`, strconv.Itoa(k+1))
		c.write(plotRight+16, plotTop+10+17*k, "start", c.series[p.Series%len(c.series)], ` font-size="12"`, fmt.Sprintf("%d  %s", k+1, p.Name))
	}
	c.notes(height, r.Notes)
	return c.end()
}

// axes returns axes of whole powers of ten around everything.
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

// grid draws lines at powers of ten, and the axes' numbers.
func (r *Roofline) grid(c *canvas, a axes) {
	for e := a.fromX; e <= a.toX; e++ {
		x := a.x(math.Pow(10, e))
		c.stroke(x, plotTop, x, plotBottom, 1, ` stroke-width="0.5"`)
		c.write(int(x), plotBottom+18, "middle", c.faint, ` font-size="12"`, fmt.Sprintf("%g", math.Pow(10, e)))
	}
	for e := a.fromY; e <= a.toY; e++ {
		y := a.y(math.Pow(10, e))
		c.stroke(plotLeft, y, plotRight, y, 1, ` stroke-width="0.5"`)
		c.write(plotLeft-8, int(y)+4, "end", c.faint, ` font-size="12"`, fmt.Sprintf("%g", math.Pow(10, e-9)))
	}
	c.write((plotLeft+plotRight)/2, plotBottom+38, "middle", c.faint, ` font-size="12"`, "flops for each byte")
	c.write(plotLeft-48, plotTop-8, "start", c.faint, ` font-size="12"`, "GFLOP/s")
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
	for _, s := range r.Slopes {
		x0 := max(math.Pow(10, a.fromX), math.Pow(10, a.fromY)/s.Rate)
		c.stroke(a.x(x0), a.y(x0*s.Rate), a.x(highest/s.Rate), a.y(highest), 0, ` stroke-width="1.5"`)
		c.write(int(a.x(x0))+4, int(a.y(x0*s.Rate))-6, "start", c.faint, ` font-size="11"`, s.Name)
	}
	for _, p := range r.Peaks {
		c.stroke(a.x(p.Rate/steepest), a.y(p.Rate), plotRight, a.y(p.Rate), 0, ` stroke-width="1.5"`)
		c.write(plotRight, int(a.y(p.Rate))-5, "end", c.faint, ` font-size="11"`, p.Name)
	}
}

// stroke draws a line in the colour of a series.
func (c *canvas) stroke(x0, y0, x1, y1 float64, series int, extra string) {
	fmt.Fprintf(c, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" %s%s/>`+"\n", x0, y0, x1, y1, c.line[series], extra)
}
