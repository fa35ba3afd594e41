package drawing

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"

	"halfspace/internal/humanize"
)

// A writer writes SVG.
type writer struct {
	strings.Builder
	id    string // id of the picture on its page
	clips int    // number of clips so far
}

// SVG returns the picture as the text of an SVG file.
func (p *Picture) SVG(t Theme) string { return p.svg("halfspace", &t) }

// Inline returns the picture as SVG for a page that includes Theme.Style. id, which consists of letters and digits,
// must be unique on the page.
func (p *Picture) Inline(id string) string { return p.svg(id, nil) }

func (p *Picture) svg(id string, t *Theme) string {
	w := &writer{id: id}
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-labelledby="%s-t %s-d" font-family="system-ui, sans-serif" font-size="%d">`+"\n",
		p.Width, p.Height, p.Width, p.Height, id, id, usualSize)
	fmt.Fprintf(w, "<title id=\"%s-t\">%s</title>\n<desc id=\"%s-d\">%s</desc>\n", id, escape(p.Title), id, escape(p.Text))
	if t != nil {
		fmt.Fprintf(w, "<style>%s</style>\n", t.Style())
		(&Box{Width: p.Width, Height: p.Height, Paint: Paint{Colour: Paper}}).svg(w)
	}
	w.all(p.Shapes)
	w.WriteString("</svg>\n")
	return w.String()
}

func (w *writer) all(shapes []Shape) {
	for _, s := range shapes {
		s.svg(w)
	}
}

// escape returns a text for XML, with control characters made visible.
func escape(s string) string { return html.EscapeString(humanize.Visible(s)) }

// tenth writes a length, rounded to a tenth of a pixel.
func tenth(v float64) string { return strconv.FormatFloat(math.Round(10*v)/10+0, 'f', -1, 64) }

// attributes returns the paint as attributes of an SVG element.
func (p *Paint) attributes() string {
	of, width := "fill", ""
	if p.Width > 0 {
		of, width = "stroke", fmt.Sprintf(` stroke-width="%g"`, p.Width)
	}
	text := fmt.Sprintf(`class="hp-%c-%s"%s`, map[string]byte{"fill": 'f', "stroke": 'l'}[of], p.Colour.name(), width)
	if p.Opacity > 0 {
		text += fmt.Sprintf(` %s-opacity="%g"`, of, p.Opacity)
	}
	if p.Dash != nil {
		text += ` stroke-dasharray="` + strings.Trim(fmt.Sprint(p.Dash), "[]") + `"`
	}
	return text
}

func (p *Path) svg(w *writer) {
	var d strings.Builder
	pen, segments := "M", 0
	for i, at := range p.Points {
		switch {
		case missing(at):
			pen = "M"
			continue
		case pen == "M" && (i+1 == len(p.Points) || missing(p.Points[i+1])):
			continue // a single point has no line
		}
		d.WriteString(pen + tenth(at[0]) + " " + tenth(at[1]))
		if pen != "M" {
			segments++
		}
		pen = "L"
	}
	if segments > 0 {
		fmt.Fprintf(w, `<path d="%s" %s stroke-linejoin="round"/>`+"\n", d.String(), p.attributes())
	}
}

func (b *Box) svg(w *writer) {
	fmt.Fprintf(w, `<rect x="%s" y="%s" width="%s" height="%s" %s/>`+"\n", tenth(b.X), tenth(b.Y), tenth(b.Width), tenth(b.Height), b.Paint.attributes())
}

func (d *Disc) svg(w *writer) {
	fmt.Fprintf(w, `<circle cx="%s" cy="%s" r="%s" %s/>`+"\n", tenth(d.X), tenth(d.Y), tenth(d.Radius), d.attributes())
}

func (t *Text) svg(w *writer) {
	if t.String == "" && t.Power == "" {
		return
	}
	fmt.Fprintf(w, `<text x="%s" y="%s" class="hp-f-%s"`, tenth(t.X), tenth(t.Y), t.Colour.name())
	if t.Anchor != Start {
		fmt.Fprintf(w, ` text-anchor="%s"`, map[Anchor]string{Middle: "middle", End: "end"}[t.Anchor])
	}
	if t.Size > 0 {
		fmt.Fprintf(w, ` font-size="%g"`, t.Size)
	}
	if t.Bold {
		w.WriteString(` font-weight="600"`)
	}
	if t.Turned {
		fmt.Fprintf(w, ` transform="rotate(-90 %s %s)"`, tenth(t.X), tenth(t.Y))
	}
	w.WriteString(">" + escape(t.String))
	if t.Power != "" {
		fmt.Fprintf(w, `<tspan dy="%s" font-size="%g">%s</tspan>`, tenth(-powerRise*t.size()), powerSize*t.size(), escape(t.Power))
	}
	w.WriteString("</text>\n")
}

func (c *Clip) svg(w *writer) {
	w.clips++
	id := fmt.Sprintf("%s-c%d", w.id, w.clips)
	fmt.Fprintf(w, `<clipPath id="%s"><rect x="%s" y="%s" width="%s" height="%s"/></clipPath>`+"\n", id, tenth(c.Box.X), tenth(c.Box.Y), tenth(c.Box.Width), tenth(c.Box.Height))
	fmt.Fprintf(w, "<g clip-path=\"url(#%s)\">\n", id)
	w.all(c.Shapes)
	w.WriteString("</g>\n")
}

func (f *Frame) svg(w *writer) {
	fmt.Fprintf(w, `<g visibility="hidden"><set attributeName="visibility" to="visible" begin="%.2fs" dur="%.2fs"/>`+"\n", f.Begin, f.Length)
	w.all(f.Shapes)
	w.WriteString("</g>\n")
}
