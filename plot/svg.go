package plot

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"halfspace/internal/humanize"
)

// A picture is a list of elements on paper. Lengths are SVG pixels, measured from the left edge and from the top edge.
type picture struct {
	Title, Text   string // read aloud to people who can't see the picture
	Width, Height float64
	Elements      []element // later elements cover earlier elements
}

func (p *picture) draw(e ...element) { p.Elements = append(p.Elements, e...) }

// text draws a text at x: its start, middle or end is at x, as at says.
func (p *picture) text(x, y float64, at anchor, colour Colour, s string) {
	p.draw(&text{X: x, Y: y, Anchor: at, Colour: colour, String: s})
}

// An element is a path, a box, a disc, a text, a clip or a frame.
type element interface {
	svg(w *writer)
}

// A writer writes SVG.
type writer struct {
	strings.Builder
	id    string // id of the picture on its page
	clips int    // number of clips so far
}

// svg returns the picture as SVG. id, which consists of letters and digits, must be unique on the picture's page. With
// the theme "", the page has the style sheet.
func (p *picture) svg(id string, t Theme) string {
	w := &writer{id: id}
	fmt.Fprintf(w,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-labelledby="%s-t %s-d" `+
			`font-family="system-ui, sans-serif" font-size="%d">`+"\n", p.Width, p.Height, p.Width, p.Height, id, id, usualSize)
	fmt.Fprintf(w, "<title id=\"%s-t\">%s</title>\n<desc id=\"%s-d\">%s</desc>\n", id, escape(p.Title), id, escape(p.Text))
	if t != "" {
		fmt.Fprintf(w, "<style>%s</style>\n", t.style())
		(&box{Width: p.Width, Height: p.Height, Paint: paint{Colour: paper}}).svg(w)
	}
	w.writeAll(p.Elements)
	w.WriteString("</svg>\n")
	return w.String()
}

// file returns the picture as the text of an SVG file.
func (p *picture) file(t Theme) string { return p.svg("halfspace", t) }

func (w *writer) writeAll(elements []element) {
	for _, e := range elements {
		e.svg(w)
	}
}

// escape returns a text for XML or HTML, with control characters made visible.
func escape(s string) string { return html.EscapeString(humanize.EscapeControls(s)) }

// tenth writes a length, rounded to a tenth of a pixel.
func tenth(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10+0, 'f', -1, 64) }

// A paint describes how an element is drawn.
type paint struct {
	Colour  Colour
	Opacity float64   // from 0 to 1; 0 means 1
	Width   float64   // width of the line; 0: the element is filled
	Dash    []float64 // lengths of dashes and gaps, alternating; nil: a solid line
}

// attributes returns the paint as attributes of an SVG element.
func (p *paint) attributes() string {
	of, text := "fill", fmt.Sprintf(`class="hp-f-%s"`, p.Colour.name())
	if p.Width > 0 {
		of, text = "stroke", fmt.Sprintf(`class="hp-l-%s" stroke-width="%g"`, p.Colour.name(), p.Width)
	}
	if p.Opacity > 0 {
		text += fmt.Sprintf(` %s-opacity="%g"`, of, p.Opacity)
	}
	if p.Dash != nil {
		text += ` stroke-dasharray="` + strings.Trim(fmt.Sprint(p.Dash), "[]") + `"`
	}
	return text
}

// A path is a sequence of straight lines from point to point. A point with a NaN ends a line, and the next point begins
// another.
type path struct {
	Points [][2]float64
	Paint  paint
}

func segment(x0, y0, x1, y1 float64, p paint) *path {
	return &path{[][2]float64{{x0, y0}, {x1, y1}}, p}
}

func (p *path) svg(w *writer) {
	missing := func(p [2]float64) bool { return p[0] != p[0] || p[1] != p[1] }
	var d strings.Builder
	pen := "M"
	for i, at := range p.Points {
		switch {
		case missing(at):
			pen = "M"
			continue
		case pen == "M" && (i+1 == len(p.Points) || missing(p.Points[i+1])):
			continue // a single point has no line
		}
		d.WriteString(pen + tenth(at[0]) + " " + tenth(at[1]))
		pen = "L"
	}
	if d.Len() > 0 {
		fmt.Fprintf(w, `<path d="%s" %s stroke-linejoin="round"/>`+"\n", d.String(), p.Paint.attributes())
	}
}

// A box is a rectangle. X and Y are its upper left corner.
type box struct {
	X, Y, Width, Height float64
	Paint               paint
}

func (b *box) place() string {
	return fmt.Sprintf(`x="%s" y="%s" width="%s" height="%s"`, tenth(b.X), tenth(b.Y), tenth(b.Width), tenth(b.Height))
}

func (b *box) svg(w *writer) { fmt.Fprintf(w, "<rect %s %s/>\n", b.place(), b.Paint.attributes()) }

// A disc is a circle around X and Y.
type disc struct {
	X, Y, Radius float64
	Paint        paint
}

func (d *disc) svg(w *writer) {
	fmt.Fprintf(w, `<circle cx="%s" cy="%s" r="%s" %s/>`+"\n", tenth(d.X), tenth(d.Y), tenth(d.Radius), d.Paint.attributes())
}

// An anchor says which part of a text is at its X.
type anchor int

// The anchors.
const (
	start anchor = iota
	middle
	end
)

// A text is one line of letters. Y is the base line.
type text struct {
	X, Y     float64
	Anchor   anchor
	Colour   Colour
	Size     float64 // size of the letters; 0: usualSize
	IsBold   bool
	IsTurned bool // it is turned, and reads from bottom to top
	String   string
	Power    string // an exponent after String, raised and smaller; Size must be 0
}

const usualSize = 12

func (t *text) svg(w *writer) {
	if t.String == "" && t.Power == "" {
		return
	}
	fmt.Fprintf(w, `<text x="%s" y="%s" class="hp-f-%s"`, tenth(t.X), tenth(t.Y), t.Colour.name())
	if t.Anchor != start {
		fmt.Fprintf(w, ` text-anchor="%s"`, [...]string{middle: "middle", end: "end"}[t.Anchor])
	}
	if t.Size > 0 {
		fmt.Fprintf(w, ` font-size="%g"`, t.Size)
	}
	if t.IsBold {
		w.WriteString(` font-weight="600"`)
	}
	if t.IsTurned {
		fmt.Fprintf(w, ` transform="rotate(-90 %s %s)"`, tenth(t.X), tenth(t.Y))
	}
	w.WriteString(">" + escape(t.String))
	if t.Power != "" {
		fmt.Fprintf(w, `<tspan dy="%s" font-size="%g">%s</tspan>`, tenth(-0.4*usualSize), powerSize*usualSize, escape(t.Power))
	}
	w.WriteString("</text>\n")
}

// powerSize is the size of a power divided by the size of its text.
const powerSize = 0.75

// A clip is a list of elements that are drawn only inside the box.
type clip struct {
	Box      box
	Elements []element
}

func (c *clip) svg(w *writer) {
	w.clips++
	id := fmt.Sprintf("%s-c%d", w.id, w.clips)
	fmt.Fprintf(w, `<clipPath id="%s"><rect %s/></clipPath>`+"\n<g clip-path=\"url(#%s)\">\n", id, c.Box.place(), id)
	w.writeAll(c.Elements)
	w.WriteString("</g>\n")
}

// A frame is a list of elements that an SVG shows from Begin on, for Length, both in seconds.
type frame struct {
	Begin, Length float64
	Elements      []element
}

func (f *frame) svg(w *writer) {
	fmt.Fprintf(w, `<g visibility="hidden"><set attributeName="visibility" to="visible" begin="%.2fs" dur="%.2fs"/>`+
		"\n", f.Begin, f.Length)
	w.writeAll(f.Elements)
	w.WriteString("</g>\n")
}
