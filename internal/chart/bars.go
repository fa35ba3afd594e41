// Package chart draws bars and rooflines.
package chart

import (
	"strings"

	"halfspace/internal/drawing"
)

// Bars is a picture of horizontal bars in groups.
type Bars struct {
	Title, Subtitle string
	Groups          []Group
	Notes           []string // lines at the bottom
}

// A Group is a number of bars that are compared.
type Group struct {
	Name string
	Bars []Bar
}

// A Bar is a bar with its label.
type Bar struct {
	Length float64 // share of the space for bars, up to 1
	Label  string  // text behind the bar
	Strong bool    // the label is bold
	Colour drawing.Colour
}

// The sizes of the drawing's parts, in pixels.
const (
	width  = 800
	left   = 245 // start of the bars, unless a name is long
	length = 355 // length of the longest bar
	top    = 64
	thick  = 18
	space  = 14 // distance of two groups
	letter = 8  // approximate width of a name's letter
)

// Picture returns the picture of the bars.
func (b *Bars) Picture() *drawing.Picture {
	height, begin, room := top+4+18*len(b.Notes), left, width-left-length
	for _, g := range b.Groups {
		height += step(g)
		begin = max(begin, letter*len(g.Name)+12)
		for _, bar := range g.Bars {
			room = max(room, (letter-1)*len(bar.Label)+16)
		}
	}
	c := newCanvas(begin+length+room, height, b.Title, b.Subtitle, b.Notes)
	y := top
	for _, g := range b.Groups {
		c.text(&drawing.Text{X: float64(begin - 12), Y: float64(y + len(g.Bars)*(thick+2)/2 + 3), Anchor: drawing.End, Size: 14, Colour: drawing.Ink, String: g.Name})
		for k, bar := range g.Bars {
			long, at := max(2, bar.Length*length), float64(y+k*(thick+2))
			c.Shapes = append(c.Shapes, &drawing.Box{X: float64(begin), Y: at, Width: long, Height: thick, Paint: drawing.Paint{Colour: bar.Colour}})
			c.text(&drawing.Text{X: float64(begin) + long + 8, Y: at + 14, Size: 14, Colour: drawing.Ink, Bold: bar.Strong, String: bar.Label})
		}
		y += step(g)
	}
	return &c.Picture
}

// step returns the height of a group and the space below it.
func step(g Group) int { return len(g.Bars)*(thick+2) + space }

// A canvas is a picture that is being drawn.
type canvas struct{ drawing.Picture }

// newCanvas starts a picture of that size in pixels with the title, the subtitle, and the notes at the bottom.
func newCanvas(width, height int, title, subtitle string, notes []string) *canvas {
	c := &canvas{drawing.Picture{Title: title, Text: strings.Join(append([]string{subtitle}, notes...), ". "), Width: float64(width), Height: float64(height)}}
	c.text(&drawing.Text{X: 16, Y: 26, Size: 17, Colour: drawing.Ink, Bold: true, String: title})
	c.text(&drawing.Text{X: 16, Y: 47, Size: 13, Colour: drawing.Faint, String: subtitle})
	for k, n := range notes {
		c.text(&drawing.Text{X: 16, Y: float64(height - 12 - 18*(len(notes)-1-k)), Colour: drawing.Faint, String: n})
	}
	return c
}

func (c *canvas) text(t *drawing.Text) { c.Shapes = append(c.Shapes, t) }
