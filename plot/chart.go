package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A BarChart is a picture of horizontal bars in groups.
type BarChart struct {
	Title, Subtitle string
	Groups          []BarGroup
	Notes           []string // lines at the bottom
}

// A BarGroup is a number of bars that are compared.
type BarGroup struct {
	Name string
	Bars []Bar
}

// A Bar is a bar with its label.
type Bar struct {
	Length float64 // share of the space for bars, up to 1
	Label  string  // text behind the bar
	Strong bool    // the label is bold
	Colour Colour
}

const barLength = 355 // length of the longest bar, in pixels

// SVG returns the picture as the text of an SVG file.
func (b *BarChart) SVG(t Theme) string { return b.picture().file(t) }

func (b *BarChart) picture() *picture {
	const (
		top          = 64
		thick        = 20 // a bar and the space below it
		space        = 14 // distance of two groups
		nameLetter   = 8  // approximate width of a name's letter
		labelLetter  = 7  // approximate width of a label's letter
		usualLeft    = 245
		usualForText = 200
	)
	height, begin, room := top+4+18*len(b.Notes), usualLeft, usualForText
	for _, g := range b.Groups {
		height += len(g.Bars)*thick + space
		begin = max(begin, nameLetter*len(g.Name)+12)
		for _, bar := range g.Bars {
			room = max(room, labelLetter*len(bar.Label)+16)
		}
	}
	p := newChart(begin+barLength+room, height, b.Title, b.Subtitle, b.Notes)
	y := top
	for _, g := range b.Groups {
		p.draw(&text{X: float64(begin - 12), Y: float64(y + len(g.Bars)*thick/2 + 3), Anchor: end, Size: 14, Colour: ink, String: g.Name})
		for k, bar := range g.Bars {
			long, at := max(2, bar.Length*barLength), float64(y+k*thick)
			p.draw(&box{X: float64(begin), Y: at, Width: long, Height: thick - 2, Paint: paint{Colour: bar.Colour}},
				&text{X: float64(begin) + long + 8, Y: at + 14, Size: 14, Colour: ink, Bold: bar.Strong, String: bar.Label})
		}
		y += len(g.Bars)*thick + space
	}
	return p
}

// newChart starts a picture, whose size is in pixels, with the title, the subtitle, and the notes at the bottom.
func newChart(width, height int, title, subtitle string, notes []string) *picture {
	p := &picture{Title: title, Text: strings.Join(append([]string{subtitle}, notes...), ". "), Width: float64(width), Height: float64(height)}
	p.draw(&text{X: 16, Y: 26, Size: 17, Colour: ink, Bold: true, String: title}, &text{X: 16, Y: 47, Size: 13, Colour: Faint, String: subtitle})
	for k, n := range notes {
		p.text(16, float64(height-12-18*(len(notes)-1-k)), start, Faint, n)
	}
	return p
}

// A Roofline is a picture of computations under the limits of a computer (Williams, Waterman and Patterson, "Roofline",
// CACM 52(4), 2009). Both axes are logarithmic. There must be at least one slope and one peak.
type Roofline struct {
	Title, Subtitle string
	Slopes          []Limit // limits of memory, in bytes per second
	Peaks           []Limit // limits of arithmetic, in flops per second
	Points          []Computation
	Notes           []string // lines at the bottom
}

// A Limit is a line of the roof.
type Limit struct {
	Name string
	Rate float64
}

// A Computation is a point of a Roofline.
type Computation struct {
	Name      string
	Intensity float64 // flops for each byte
	Rate      float64 // flops per second
	Colour    Colour
}

// SVG returns the picture as the text of an SVG file.
func (r *Roofline) SVG(t Theme) string { return r.picture().file(t) }

// A roof is the plot of a Roofline: canvas maps base-10 logarithms to pixels.
type roof struct{ *canvas }

func (r roof) at(intensity, rate float64) (x, y float64) {
	return r.px(math.Log10(intensity)), r.py(math.Log10(rate))
}

// axes returns a plot whose axes end at powers of ten, and include all points and all corners of the roof.
func (r *Roofline) axes() roof {
	inf := math.Inf(1)
	a := roof{&canvas{left: 64, right: 520, top: 72, bottom: 472, x: Axis{From: inf, To: -inf}, y: Axis{From: inf, To: -inf}}}
	include := func(axis *Axis, v float64) {
		axis.From, axis.To = min(axis.From, math.Floor(math.Log10(v))), max(axis.To, math.Ceil(math.Log10(v)))
	}
	for _, p := range r.Points {
		include(&a.x, p.Intensity)
		include(&a.y, p.Rate)
	}
	for _, peak := range r.Peaks {
		for _, slope := range r.Slopes {
			include(&a.x, peak.Rate/slope.Rate)
			include(&a.y, peak.Rate)
		}
	}
	return a
}

func (r *Roofline) picture() *picture {
	c := r.axes()
	height := max(c.bottom+52, c.top+float64(17*len(r.Points)+8)) + float64(18*len(r.Notes))
	c.picture = newChart(872, int(height), r.Title, r.Subtitle, r.Notes)
	c.powersOfTen()
	r.lines(c)
	for k, p := range r.Points {
		x, y := c.at(p.Intensity, p.Rate)
		c.draw(&disc{X: x, Y: y, Radius: 4, Paint: paint{Colour: p.Colour}}, &text{X: x + 6, Y: y - 4, Size: 11, Colour: ink, String: strconv.Itoa(k + 1)})
		c.text(c.right+28, c.top+float64(10+17*k), start, p.Colour, fmt.Sprintf("%d  %s", k+1, p.Name))
	}
	return c.picture
}

// powersOfTen draws lines at powers of ten, and the numbers of the axes.
func (c roof) powersOfTen() {
	thin := paint{Colour: grid, Width: 1}
	for e := c.x.From; e <= c.x.To; e++ {
		x := c.px(e)
		c.draw(segment(x, c.top, x, c.bottom, thin))
		c.text(x, c.bottom+18, middle, Faint, fmt.Sprintf("%g", math.Pow(10, e)))
	}
	for e := c.y.From; e <= c.y.To; e++ {
		y := c.py(e)
		c.draw(segment(c.left, y, c.right, y, thin))
		c.text(c.left-8, y+4, end, Faint, fmt.Sprintf("%g", math.Pow(10, e-9)))
	}
	c.text((c.left+c.right)/2, c.bottom+38, middle, Faint, "flops for each byte")
	c.draw(&text{X: 16, Y: (c.top + c.bottom) / 2, Anchor: middle, Colour: Faint, Turned: true, String: "GFLOP/s"})
}

// lines draws each slope up to the highest peak, and each peak from the steepest slope on.
func (r *Roofline) lines(c roof) {
	highest, steepest := 0.0, 0.0
	for _, p := range r.Peaks {
		highest = max(highest, p.Rate)
	}
	for _, s := range r.Slopes {
		steepest = max(steepest, s.Rate)
	}
	thick := paint{Width: 1.5}
	for _, s := range r.Slopes {
		from := max(math.Pow(10, c.x.From), math.Pow(10, c.y.From)/s.Rate)
		x, y := c.at(from, from*s.Rate)
		toX, toY := c.at(highest/s.Rate, highest)
		c.draw(segment(x, y, toX, toY, thick), &text{X: x + 4, Y: y - 6, Size: 11, Colour: Faint, String: s.Name})
	}
	for _, p := range r.Peaks {
		x, y := c.at(p.Rate/steepest, p.Rate)
		c.draw(segment(x, y, c.right, y, thick), &text{X: c.right, Y: y - 5, Anchor: end, Size: 11, Colour: Faint, String: p.Name})
	}
}
