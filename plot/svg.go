package plot

import (
	"fmt"
	"html"
	"math"
	"strings"

	"halfspace/internal/say"
)

// SVG returns the picture as a file of its own.
func (f *Figure) SVG(t Theme) string { return f.draw(&t, "halfspace", usualWidth, usualHeight) }

// Inline returns the picture for a page that has Theme.Style. id is the picture's own on that page: letters and digits.
func (f *Figure) Inline(id string) string { return f.draw(nil, id, narrowWidth, narrowHeight) }

// A canvas is an SVG that is drawn.
type canvas struct {
	strings.Builder
	x, y                     Axis
	left, right, top, bottom float64 // of the plot in pixels
	id                       string
}

// Sizes in pixels.
const (
	usualWidth, usualHeight   = 720, 440
	narrowWidth, narrowHeight = 520, 380 // on pages, which phones show too
	letter                    = 6.6      // of a text of 12 pixels, about
	mostName                  = 30       // letters of a name on an axis
	titleLine, legendLine     = 24, 20
)

func (f *Figure) draw(t *Theme, id string, usualWidth, usualHeight int) string {
	c := &canvas{id: id}
	c.x, c.y = f.ranges()
	width, height := float64(orElse(f.Width, usualWidth)), float64(orElse(f.Height, usualHeight))
	names := c.y.texts()
	widest := 0
	for _, n := range names {
		widest = max(widest, len([]rune(n)))
	}
	c.left, c.right = 20+letter*float64(widest)+22, width-24
	lines := f.legend(width)
	c.top = 20 + titleLine + legendLine*float64(len(lines))
	if f.Subtitle != "" {
		c.top += legendLine
	}
	c.bottom = height - 52
	if f.Square {
		side := min(c.right-c.left, c.bottom-c.top)
		c.right = c.left + side
		c.bottom = c.top + side
	}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-labelledby="%s-t %s-d" font-family="system-ui, sans-serif" font-size="12">`+"\n",
		width, height, width, height, id, id)
	fmt.Fprintf(c, "<title id=\"%s-t\">%s</title>\n<desc id=\"%s-d\">%s</desc>\n", id, escape(f.Title), id, escape(f.Text))
	if t != nil {
		fmt.Fprintf(c, "<style>%s</style>\n", t.Style())
		fmt.Fprintf(c, `<rect class="hp-paper" width="%g" height="%g"/>`+"\n", width, height)
	}
	fmt.Fprintf(c, `<clipPath id="%s-c"><rect x="%g" y="%g" width="%g" height="%g"/></clipPath>`+"\n", id, c.left-5, c.top-5, c.right-c.left+10, c.bottom-c.top+10)
	c.head(f, lines, width)
	c.grid(names)
	fmt.Fprintf(c, `<g clip-path="url(#%s-c)">`+"\n", id)
	for i := range f.Series {
		c.series(&f.Series[i])
	}
	if f.steps != nil {
		c.animate(f.steps)
	}
	c.WriteString("</g>\n</svg>\n")
	return c.String()
}

func orElse(v, other int) int {
	if v == 0 {
		return other
	}
	return v
}

// escape returns a text for XML, with control characters made visible.
func escape(s string) string { return html.EscapeString(say.Visible(s)) }

// cut returns a text of at most n letters.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// text writes a text that begins, ends or has its middle at x.
func (c *canvas) text(x, y float64, anchor, class, extra, s string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s" class="%s"%s>%s</text>`+"\n", x, y, anchor, class, extra, escape(s))
}

// legend returns the series that have names, in lines that fit a width.
func (f *Figure) legend(width float64) (lines [][]*Series) {
	at := width
	for i := range f.Series {
		s := &f.Series[i]
		if s.Name == "" {
			continue
		}
		long := f.long(s)
		if at+long > width-20 {
			lines, at = append(lines, nil), 20
		}
		lines[len(lines)-1] = append(lines[len(lines)-1], s)
		at += long
	}
	return lines
}

// long returns the length of a series in the legend.
func (f *Figure) long(s *Series) float64 { return 50 + letter*float64(len([]rune(cut(s.Name, 60)))) }

// head writes the title and the legend.
func (c *canvas) head(f *Figure, lines [][]*Series, width float64) {
	y := 28.0
	c.text(20, y, "start", "hp-ink", ` font-size="16" font-weight="600"`, cut(f.Title, int(width/9)))
	if f.Subtitle != "" {
		y += legendLine
		c.text(20, y, "start", "hp-faint", "", cut(f.Subtitle, int(width/letter)-4))
	}
	for _, line := range lines {
		y += legendLine
		x := 20.0
		for _, s := range line {
			key := *s
			key.Name = ""
			c.key(&key, x, y-4)
			c.text(x+32, y, "start", "hp-ink", "", cut(s.Name, 60))
			x += f.long(s)
		}
	}
}

// key draws the sign of a series in the legend.
func (c *canvas) key(s *Series, x, y float64) {
	switch s.Shape {
	case Dots, Ranges:
		fmt.Fprintf(c, `<circle cx="%.1f" cy="%.1f" r="4" class="hp-f%d"/>`+"\n", x+14, y, s.Colour)
	case Rings:
		fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="8" height="8" class="hp-l%d" fill="none" stroke-width="1.6"/>`+"\n", x+10, y-4, s.Colour)
	case Bars:
		fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="20" height="9" class="hp-f%d" fill-opacity="0.55"/>`+"\n", x+4, y-5, s.Colour)
	default:
		fmt.Fprintf(c, `<path d="M%.1f %.1fh26" class="hp-l%d" stroke-width="2"%s/>`+"\n", x, y, s.Colour, dashes(s))
	}
}

// patterns are the lengths of dashes and gaps in pixels. Their number and that of the colours have no common divisor: lines that
// share a colour have different dashes.
var patterns = []string{"", "6 4", "2 3", "9 3 2 3", "13 4"}

func dashes(s *Series) string {
	if p := patterns[s.Dash%len(patterns)]; p != "" {
		return ` stroke-dasharray="` + p + `"`
	}
	return ""
}

// texts returns the texts of the ticks.
func (a *Axis) texts() (all []string) {
	if a.Names != nil {
		for _, n := range a.Names {
			all = append(all, cut(n, mostName))
		}
		return all
	}
	for _, v := range a.ticks() {
		all = append(all, number(v, a.between()))
	}
	return all
}

// number returns a multiple of a step with as many digits as the step has.
func number(v, step float64) string {
	if v = math.Round(v/step) * step; v == 0 {
		return "0"
	}
	if a := max(math.Abs(v), step); a >= 1e6 || step < 1e-5 {
		digits := max(1, int(math.Ceil(math.Log10(math.Abs(v)/step)))+1)
		return strings.Replace(fmt.Sprintf("%.*g", digits, v), "e+0", "e", 1)
	}
	digits := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if digits == 0 && math.Abs(v) < 1e6 {
		return strings.Replace(say.Count(int64(math.Round(v))), "-", "−", 1)
	}
	return strings.Replace(fmt.Sprintf("%.*f", digits, v), "-", "−", 1)
}

// px and py return the pixels of a number.
func (c *canvas) px(v float64) float64 {
	return c.left + (reached(v)-c.x.From)/(c.x.To-c.x.From)*(c.right-c.left)
}

func (c *canvas) py(v float64) float64 {
	return c.bottom - (reached(v)-c.y.From)/(c.y.To-c.y.From)*(c.bottom-c.top)
}

// grid draws the ticks with their texts, and the names of the axes. names are the texts of the Y axis.
func (c *canvas) grid(names []string) {
	for i, v := range c.y.ticks() {
		y := c.py(v)
		if c.y.Names == nil {
			fmt.Fprintf(c, `<path d="M%.1f %.1fH%.1f" class="hp-grid"/>`+"\n", c.left, y, c.right)
		}
		c.text(c.left-8, y+4, "end", "hp-faint", "", names[i])
	}
	below := c.x.texts()
	every := 1 // tick that has a text
	for longest := longestOf(below); float64(longest)*letter+14 > (c.right-c.left)/float64(max(1, len(below)))*float64(every); every++ {
	}
	for i, v := range c.x.ticks() {
		x := c.px(v)
		fmt.Fprintf(c, `<path d="M%.1f %.1fV%.1f" class="hp-grid"/>`+"\n", x, c.top, c.bottom)
		if i%every == 0 {
			c.text(x, c.bottom+18, "middle", "hp-faint", "", below[i])
		}
	}
	fmt.Fprintf(c, `<path d="M%.1f %.1fV%.1fH%.1f" class="hp-axis" fill="none"/>`+"\n", c.left, c.top, c.bottom, c.right)
	c.text((c.left+c.right)/2, c.bottom+38, "middle", "hp-ink", "", cut(c.x.Name, 80))
	if c.y.Name != "" {
		y := (c.top + c.bottom) / 2
		c.text(16, y, "middle", "hp-ink", fmt.Sprintf(` transform="rotate(-90 16 %.1f)"`, y), cut(c.y.Name, int((c.bottom-c.top)/letter)))
	}
}

func longestOf(all []string) (n int) {
	for _, s := range all {
		n = max(n, len([]rune(s)))
	}
	return n
}

// series draws a series.
func (c *canvas) series(s *Series) {
	switch s.Shape {
	case Line, Steps:
		if d := c.path(s); d != "" {
			fmt.Fprintf(c, `<path d="%s" class="hp-l%d" fill="none" stroke-width="%g" stroke-linejoin="round"%s/>`+"\n", d, s.Colour, s.stroke(), dashes(s))
		}
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
			fmt.Fprintf(c, `<circle cx="%.1f" cy="%.1f" r="3.5" class="hp-f%d" fill-opacity="0.75"/>`+"\n", px, py, s.Colour)
		case Rings:
			fmt.Fprintf(c, `<rect x="%.1f" y="%.1f" width="6.4" height="6.4" class="hp-l%d" fill="none" stroke-width="1.4"/>`+"\n", px-3.2, py-3.2, s.Colour)
		case Bars:
			x0, x1, zero := c.px(x-s.Size/2), c.px(x+s.Size/2), c.py(0)
			fmt.Fprintf(c, `<rect x="%.2f" y="%.1f" width="%.2f" height="%.1f" class="hp-f%d" fill-opacity="0.55"/>`+"\n", x0+0.3, py, max(0.4, x1-x0-0.6), max(0, zero-py), s.Colour)
		case Ranges:
			fmt.Fprintf(c, `<path d="M%.1f %.1fH%.1f" class="hp-l%d" stroke-width="2"/><circle cx="%.1f" cy="%.1f" r="4" class="hp-f%d"/>`+"\n",
				c.px(s.Low[i]), py, c.px(s.High[i]), s.Colour, px, py, s.Colour)
		}
	}
}

// stroke returns the width of the line: a thin one if there are so many points that it may go to and fro everywhere.
func (s *Series) stroke() float64 {
	const many = 100
	if s.Shape == Line && len(s.X) > many {
		return 1.2
	}
	return 2
}

// mostPoints is how many points of a line are drawn. Lines with more of them look the same.
const mostPoints = 1500

// path returns the path of a line.
func (c *canvas) path(s *Series) string {
	var d strings.Builder
	pen := "M"
	every := (len(s.X) + mostPoints - 1) / mostPoints
	for i := range s.X {
		if i%max(1, every) != 0 && i != len(s.X)-1 {
			continue
		}
		x, y := s.X[i], s.Y[i]
		if x-x != 0 || y-y != 0 {
			pen = "M"
			continue
		}
		if s.Shape == Steps && pen == "L" {
			fmt.Fprintf(&d, "H%.1f", c.px(x))
		}
		fmt.Fprintf(&d, "%s%.1f %.1f", pen, c.px(x), c.py(y))
		pen = "L"
	}
	return d.String()
}
