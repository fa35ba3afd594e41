// Package drawing keeps pictures as lists of shapes, and writes them as SVG and PNG.
package drawing

import "math"

// A Picture is shapes on paper. Lengths are pixels of SVG, from the left edge and from the top edge.
type Picture struct {
	Title, Text   string // read to those who can't see the picture
	Width, Height float64
	Shapes        []Shape // later ones lie over earlier ones
}

// A Shape is a Path, a Box, a Disc, a Text, a Clip or a Frame.
type Shape interface {
	svg(w *writer)
	paint(r *raster)
}

// A Paint is the look of a shape.
type Paint struct {
	Colour  Colour
	Opacity float64   // from 0 to 1; 0 stands for 1
	Width   float64   // of the line; 0: the shape is filled
	Dash    []float64 // lengths of dashes and gaps in turn; nil: the line has no gaps
}

// A Path is straight lines from point to point. A point with a NaN ends a line, and the next point begins another.
type Path struct {
	Points [][2]float64
	Paint
}

// missing tells whether a point has a NaN.
func missing(p [2]float64) bool { return p[0] != p[0] || p[1] != p[1] }

// Line returns a path of two points.
func Line(x0, y0, x1, y1 float64, p Paint) *Path {
	return &Path{[][2]float64{{x0, y0}, {x1, y1}}, p}
}

// A Box is a rectangle. X and Y are its left upper corner.
type Box struct {
	X, Y, Width, Height float64
	Paint               Paint
}

// corners returns the corners, with the first one again at the end.
func (b *Box) corners() [][2]float64 {
	return [][2]float64{{b.X, b.Y}, {b.X + b.Width, b.Y}, {b.X + b.Width, b.Y + b.Height}, {b.X, b.Y + b.Height}, {b.X, b.Y}}
}

// A Disc is a circle around X and Y.
type Disc struct {
	X, Y, Radius float64
	Paint
}

// corners returns the corners of a polygon that looks like the circle when it is drawn scale times as large, with the first one again
// at the end.
func (d *Disc) corners(scale float64) (points [][2]float64) {
	n := 8
	if r := d.Radius * scale; r > 0 {
		n += int(6 * math.Sqrt(min(r, 1e4)))
	}
	for i := range n + 1 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i%n) / float64(n))
		points = append(points, [2]float64{d.X + d.Radius*cos, d.Y + d.Radius*sin})
	}
	return points
}

// An Anchor says which part of a text is at its X.
type Anchor int

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

// A Text is one line of letters. Y is that of the base line.
type Text struct {
	X, Y   float64
	Anchor Anchor
	Colour Colour
	Size   float64 // of the letters; 0: 12
	Bold   bool
	Turned bool // it reads from below to above
	String string
	Power  string // behind String, raised and smaller
}

// Sizes of letters: the usual one, and of a power as a part of that of its text, with how far it is raised.
const (
	usualSize = 12
	powerSize = 0.75
	powerRise = 0.4
)

func (t *Text) size() float64 {
	if t.Size > 0 {
		return t.Size
	}
	return usualSize
}

// A Clip is shapes of which only what is inside the box is drawn.
type Clip struct {
	Box    Box
	Shapes []Shape
}

// A Frame is shapes that an SVG shows for a while: from Begin on, for Length, both in seconds. A PNG never shows them.
type Frame struct {
	Begin, Length float64
	Shapes        []Shape
}
