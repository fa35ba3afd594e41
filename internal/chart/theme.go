// Package chart draws bars and rooflines as SVG.
package chart

import (
	"fmt"
	"html"
	"strings"

	"halfspace/internal/say"
)

// A Theme is the paint of a drawing: attributes of SVG elements.
type Theme struct {
	style       string   // element that defines the attributes
	text, faint string   // of letters
	series      []string // of bars and lines
	line        []string // of lines' strokes
}

// palettes are the colours of text, faint text and series.
var palettes = map[string][]string{
	"light": {"#1f2328", "#59636e", "#0969da", "#afb8c1", "#1a7f37", "#bc4c00", "#8250df", "#cf222e"},
	"dark":  {"#f0f6fc", "#9198a1", "#4493f8", "#656c76", "#3fb950", "#db6d28", "#ab7df8", "#f85149"},
}

// Light and Dark are for pages of one kind. Page follows the reader's choice.
var (
	Light = plain(palettes["light"])
	Dark  = plain(palettes["dark"])
	Page  = both()
)

// plain returns a theme whose colours stand in each element.
func plain(palette []string) Theme {
	t := Theme{text: fill(palette[0]), faint: fill(palette[1])}
	for _, c := range palette[2:] {
		t.series = append(t.series, fill(c))
		t.line = append(t.line, fmt.Sprintf(`stroke="%s"`, c))
	}
	return t
}

func fill(colour string) string { return fmt.Sprintf(`fill="%s"`, colour) }

// both returns a theme of classes, whose colours depend on the page.
func both() Theme {
	t := Theme{text: `class="c0"`, faint: `class="c1"`}
	rules := map[string]string{}
	for name, palette := range palettes {
		for k, c := range palette {
			rules[name] += fmt.Sprintf(".c%d{fill:%s}.s%d{stroke:%s}", k, c, k, c)
		}
	}
	t.style = "<style>" + rules["light"] + "@media (prefers-color-scheme:dark){" + rules["dark"] + "}</style>\n"
	for k := 2; k < len(palettes["light"]); k++ {
		t.series = append(t.series, fmt.Sprintf(`class="c%d"`, k))
		t.line = append(t.line, fmt.Sprintf(`class="s%d"`, k))
	}
	return t
}

// A canvas is an SVG that is drawn.
type canvas struct {
	strings.Builder
	Theme
}

// newCanvas begins an SVG of that many pixels.
func newCanvas(t Theme, width, height int) *canvas {
	c := &canvas{Theme: t}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="14">`+"\n",
		width, height, width, height)
	c.WriteString(t.style)
	return c
}

// write writes a text that begins, ends or has its middle at x.
func (c *canvas) write(x, y int, anchor, paint, extra, s string) {
	fmt.Fprintf(c, `<text x="%d" y="%d" text-anchor="%s" %s%s>%s</text>`+"\n", x, y, anchor, paint, extra, html.EscapeString(say.Visible(s)))
}

// title writes the title and the line below it.
func (c *canvas) title(title, subtitle string) {
	c.write(16, 26, "start", c.text, ` font-size="17" font-weight="600"`, title)
	c.write(16, 47, "start", c.faint, ` font-size="13"`, subtitle)
}

// notes writes the last lines of a picture of some height.
func (c *canvas) notes(height int, notes []string) {
	for k, n := range notes {
		c.write(16, height-12-18*(len(notes)-1-k), "start", c.faint, ` font-size="12"`, n)
	}
}

func (c *canvas) end() string {
	c.WriteString("</svg>\n")
	return c.String()
}
