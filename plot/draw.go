package plot

import (
	"cmp"
	"math"
	"strings"

	"halfspace/internal/humanize"
)

// SVG returns the picture as the text of an SVG file.
func (f *Figure) SVG(t Theme) string { return f.picture().file(t) }

// A canvas is a picture with a plot.
type canvas struct {
	*picture
	x, y                     Axis
	left, right, top, bottom float64 // edges of the plot, in pixels
}

// The sizes of a picture and its parts, in pixels; mostName is in letters.
const (
	usualWidth, usualHeight = 720, 440
	letter                  = 6.6 // approximate width of a letter in a text of 12 pixels
	mostName                = 30  // letters of a name on an axis
	titleLine, legendLine   = 24, 20
)

func (f *Figure) picture() *picture {
	width, height := float64(cmp.Or(f.Width, usualWidth)), float64(cmp.Or(f.Height, usualHeight))
	c := &canvas{left: 20, right: width - 24}
	c.x, c.y = f.ranges()
	ticks, below, lines := c.y.ticks(), wrap(f.Subtitle, (width-40)/letter), f.legend(width)
	c.left += letter*longestLabel(ticks) + 22
	c.top = 20 + titleLine + legendLine*float64(len(lines)) + legendLine*float64(len(below))
	height += legendLine * float64(max(0, len(below)-1)+max(0, len(lines)-1)) // the plot doesn't get smaller
	c.bottom = height - 52
	if f.IsSquare {
		side := min(c.right-c.left, c.bottom-c.top)
		c.right, c.bottom = c.left+side, c.top+side
	}
	c.picture = &picture{Title: f.Title, Text: f.Text, Width: width, Height: height}
	c.head(f, below, lines, width)
	c.grid(ticks)
	plot := *c
	plot.picture = new(picture)
	for i := range f.Series {
		plot.series(&f.Series[i])
	}
	if f.steps != nil {
		plot.trail(f.steps)
	}
	const edge = 5 // beyond the axes, so that points on them are whole
	c.draw(&clip{Box: box{X: c.left - edge, Y: c.top - edge, Width: c.right - c.left + 2*edge,
		Height: c.bottom - c.top + 2*edge}, Elements: plot.Elements})
	if f.steps != nil {
		c.animate(f.steps)
	}
	return c.picture
}

// letters returns the approximate length of a text, in usual letters.
func letters(s string) (n float64) {
	for _, c := range s {
		n += width(c)
	}
	return n
}

// width returns the width of a letter, in widths of most small letters and digits.
func width(c rune) float64 {
	const radicals = 0x2e80 // the first letters of East Asian scripts
	switch {
	case c >= radicals:
		return 2
	case strings.ContainsRune("mwMW@%", c):
		return 1.7
	case 'A' <= c && c <= 'Z':
		return 1.2
	case strings.ContainsRune("ijlftr .,:;'|!()[]", c):
		return 0.6
	}
	return 1
}

// cut returns a text shortened to at most n letters, with control characters made visible.
func cut(s string, n float64) string {
	if s = humanize.EscapeControls(s); letters(s) <= n {
		return s
	}
	left := n - width('…')
	for i, c := range s {
		if left -= width(c); left < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// wrap breaks the words of a text into at most 4 lines of at most n letters. It cuts the rest.
func wrap(s string, n float64) (lines []string) {
	const most = 4
	for _, word := range strings.Fields(s) {
		last := len(lines) - 1
		if last < 0 || last+1 < most && letters(lines[last]+" "+word) > n {
			lines = append(lines, cut(word, n))
		} else {
			lines[last] = cut(lines[last]+" "+word, n)
		}
	}
	return lines
}

// legend returns the series that have names, in lines that fit the width.
func (f *Figure) legend(width float64) (lines [][]*Series) {
	at := width
	for i := range f.Series {
		s := &f.Series[i]
		if s.Name == "" {
			continue
		}
		if at+s.legendWidth() > width-20 {
			lines, at = append(lines, nil), 20
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], s)
		at += s.legendWidth()
	}
	return lines
}

func (s *Series) label() string { return cut(s.Name, 60) }

// legendWidth returns the width of the series in the legend, in pixels.
func (s *Series) legendWidth() float64 { return 50 + letter*letters(s.label()) }

// head draws the title, the lines of the subtitle and the legend.
func (c *canvas) head(f *Figure, below []string, lines [][]*Series, width float64) {
	y := 28.0
	c.draw(&text{X: 20, Y: y, Colour: ink, Size: 16, IsBold: true, String: cut(f.Title, (width-40)/(letter*4/3))})
	for _, line := range below {
		y += legendLine
		c.text(20, y, start, FaintInk, line)
	}
	for _, line := range lines {
		y += legendLine
		x := 20.0
		for _, s := range line {
			c.key(s, x, y-4)
			c.text(x+32, y, start, ink, s.label())
			x += s.legendWidth()
		}
	}
}

// key draws the symbol of a series in the legend.
func (c *canvas) key(s *Series, x, y float64) {
	p := paint{Colour: s.Colour}
	switch s.Shape {
	case Dots, Ranges:
		c.draw(&disc{X: x + 14, Y: y, Radius: 4, Paint: p})
	case Rings:
		p.Width = 1.6
		c.draw(&box{X: x + 10, Y: y - 4, Width: 8, Height: 8, Paint: p})
	case Bars, Cells:
		p.Opacity = barOpacity
		c.draw(&box{X: x + 4, Y: y - 5, Width: 20, Height: 9, Paint: p})
	default:
		p.Width, p.Dash = 2, s.dashes()
		c.draw(segment(x, y, x+26, y, p))
	}
}

// patterns are the lengths of dashes and gaps in pixels. The number of patterns and the number of colours have no
// common divisor, so lines that share a colour have different dashes.
var patterns = [][]float64{nil, {6, 4}, {2, 3}, {9, 3, 2, 3}, {13, 4}}

func (s *Series) dashes() []float64 { return patterns[s.Dash%len(patterns)] }

// px and py return the pixel of a number on the X and the Y axis.
func (c *canvas) px(v float64) float64 {
	return c.left + (clamp(v)-c.x.From)/(c.x.To-c.x.From)*(c.right-c.left)
}

func (c *canvas) py(v float64) float64 {
	return c.bottom - (clamp(v)-c.y.From)/(c.y.To-c.y.From)*(c.bottom-c.top)
}

// grid draws the ticks with their texts, and the names of the axes. ticks are the ticks of the Y axis.
func (c *canvas) grid(ticks []tick) {
	thin := paint{Colour: grid, Width: 1}
	for _, t := range ticks {
		y := c.py(t.at)
		if c.y.Names == nil {
			c.draw(segment(c.left, y, c.right, y, thin))
		}
		c.draw(&text{X: c.left - 8, Y: y + 4, Anchor: end, Colour: FaintInk, String: t.text, Power: t.power})
	}
	below := c.x.ticks()
	every := 1 // one tick of each every has a text
	long, room := longestLabel(below)*letter+14, (c.right-c.left)/float64(max(1, len(below)))
	for long > room*float64(every) {
		every++
	}
	for i, t := range below {
		x := c.px(t.at)
		if c.x.Names == nil {
			c.draw(segment(x, c.top, x, c.bottom, thin))
		}
		if i%every == 0 {
			c.draw(&text{X: x, Y: c.bottom + 18, Anchor: middle, Colour: FaintInk, String: t.text, Power: t.power})
		}
	}
	c.draw(&path{Points: [][2]float64{{c.left, c.top}, {c.left, c.bottom}, {c.right, c.bottom}}, Paint: paint{Colour: FaintInk, Width: 1}})
	c.text((c.left+c.right)/2, c.bottom+38, middle, ink, cut(c.x.Name, (c.right-c.left)/letter))
	name := cut(c.y.Name, (c.bottom-c.top)/letter)
	c.draw(&text{X: 16, Y: (c.top + c.bottom) / 2, Anchor: middle, Colour: ink, IsTurned: true, String: name})
}

func longestLabel(ticks []tick) (n float64) {
	for _, t := range ticks {
		n = max(n, t.letters())
	}
	return n
}

// barOpacity makes the grid visible through bars.
const barOpacity = 0.8

func (c *canvas) series(s *Series) {
	p := paint{Colour: s.Colour}
	if s.Shape == Line || s.Shape == Steps {
		p.Width, p.Dash = s.stroke(), s.dashes()
		c.draw(&path{Points: c.path(s), Paint: p})
		return
	}
	for i, x := range s.X {
		y := s.Y[i]
		if x-x != 0 || y-y != 0 {
			continue
		}
		px, py := c.px(x), c.py(y)
		switch s.Shape {
		case Dots:
			c.draw(&disc{X: px, Y: py, Radius: 3.5, Paint: paint{Colour: p.Colour, Opacity: 0.75}})
		case Rings:
			c.draw(&box{X: px - 3.2, Y: py - 3.2, Width: 6.4, Height: 6.4, Paint: paint{Colour: p.Colour, Width: 1.4}})
		case Bars:
			x0, x1, zero := c.px(x-s.Size/2), c.px(x+s.Size/2), c.py(0)
			c.draw(&box{X: x0 + 0.3, Y: min(py, zero), Width: max(0.4, x1-x0-0.6), Height: math.Abs(zero - py),
				Paint: paint{Colour: p.Colour, Opacity: barOpacity}})
		case Ranges:
			c.draw(segment(c.px(s.Low[i]), py, c.px(s.High[i]), py, paint{Colour: p.Colour, Width: 2}))
			c.draw(&disc{X: px, Y: py, Radius: 4, Paint: p})
		case Cells:
			c.cell(px, py, p.Colour, s.Shares[i], s.Texts[i])
		}
	}
}

// cell draws a cell around a point in pixels. The opacity is high enough that the least share is visible, and low
// enough that text on the greatest share is legible.
func (c *canvas) cell(px, py float64, colour Colour, share float64, text string) {
	const least, most = 0.06, 0.55 // opacity
	width, height := c.px(1)-c.px(0), c.py(0)-c.py(1)
	c.draw(&box{X: px - width/2 + 0.5, Y: py - height/2 + 0.5, Width: max(0.5, width-1), Height: max(0.5, height-1),
		Paint: paint{Colour: colour, Opacity: least + (most-least)*max(0, min(share, 1))}})
	if letters(text)*letter < width-2 && height > 14 {
		c.text(px, py+4, middle, ink, text)
	}
}

// stroke returns the width of a line in pixels. A line of more than 100 points is thin, since it may zigzag everywhere.
func (s *Series) stroke() float64 {
	const many = 100
	if s.Shape == Line && len(s.X) > many {
		return 1.2
	}
	return 2
}

// mostPoints is the largest number of points of a line that are drawn. More points look the same.
const mostPoints = 1500

// path returns the points of a line in pixels. A point with a NaN makes a gap.
func (c *canvas) path(s *Series) (points [][2]float64) {
	every := max(1, (len(s.X)+mostPoints-1)/mostPoints)
	gap := true
	for i, x := range s.X {
		if i%every != 0 && i != len(s.X)-1 {
			continue
		}
		y := s.Y[i]
		if x-x != 0 || y-y != 0 {
			points, gap = append(points, [2]float64{math.NaN(), math.NaN()}), true
			continue
		}
		if s.Shape == Steps && !gap {
			points = append(points, [2]float64{c.px(x), points[len(points)-1][1]})
		}
		points, gap = append(points, [2]float64{c.px(x), c.py(y)}), false
	}
	return points
}
