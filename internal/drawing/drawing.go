// Package drawing keeps pictures as lists of shapes, and writes them as SVG.
package drawing

// A Picture is a list of shapes on paper. Lengths are SVG pixels, measured from the left edge and from the top edge.
type Picture struct {
	Title, Text   string // read aloud to people who can't see the picture
	Width, Height float64
	Shapes        []Shape // later shapes cover earlier ones
}

// A Shape is a Path, a Box, a Disc, a Text, a Clip or a Frame.
type Shape interface {
	svg(w *writer)
}

// A Paint describes how a shape is drawn.
type Paint struct {
	Colour  Colour
	Opacity float64   // from 0 to 1; 0 means 1
	Width   float64   // width of the line; 0: the shape is filled
	Dash    []float64 // lengths of dashes and gaps, alternating; nil: a solid line
}

// A Path is a sequence of straight lines from point to point. A point with a NaN ends a line, and the next point begins
// another.
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

// A Box is a rectangle. X and Y are its upper left corner.
type Box struct {
	X, Y, Width, Height float64
	Paint               Paint
}

// A Disc is a circle around X and Y.
type Disc struct {
	X, Y, Radius float64
	Paint
}

// An Anchor says which part of a text is at its X.
type Anchor int

// The anchors.
const (
	Start Anchor = iota
	Middle
	End
)

// A Text is one line of letters. Y is the base line.
type Text struct {
	X, Y   float64
	Anchor Anchor
	Colour Colour
	Size   float64 // size of the letters; 0: 12
	Bold   bool
	Turned bool // it is turned, and reads from bottom to top
	String string
	Power  string // an exponent after String, raised and smaller
}

// usualSize is the usual size of letters. powerSize is the size of a power divided by the size of its text, and
// powerRise its height above the base line divided by the same size.
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

// A Clip is a list of shapes that are drawn only inside the box.
type Clip struct {
	Box    Box
	Shapes []Shape
}

// A Frame is a list of shapes that an SVG shows from Begin on, for Length, both in seconds.
type Frame struct {
	Begin, Length float64
	Shapes        []Shape
}
