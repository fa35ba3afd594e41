// Package plot draws figures about trainings as SVG.
//
// Figures use the colours of Okabe and Ito (2008), which colour-blind readers can tell apart; shapes and dashes
// distinguish the series too. A Page puts figures and tables on one HTML page.
package plot

import (
	"math"
	"slices"
)

// A Figure is a picture with two axes.
type Figure struct {
	Title    string
	Subtitle string
	Text     string // description of the picture, for people who can't see it
	X, Y     Axis
	Series   []Series
	Width    int  // in pixels; 0: 720
	Height   int  // in pixels; 0: 440
	IsSquare bool // the plot is a square

	steps []step // of an animation
}

// A Shape says how a series is drawn.
type Shape int

// The shapes.
const (
	Line   Shape = iota // a line through the points
	Steps               // a line on which each point holds until the next
	Dots                // circles
	Rings               // small squares, unlike dots
	Bars                // bars from 0 to the points, Size wide
	Ranges              // lines from Low to High along the X axis, with a dot at X
	Cells               // squares with sides of length 1 around the points, with Texts
)

// A Series is a sequence of points. Points with a NaN are left out.
type Series struct {
	Name      string // name in the legend; "": not in the legend
	Shape     Shape
	Colour    Colour
	Dash      int // number of the pattern of dashes; 0: none
	X, Y      []float64
	Low, High []float64 // ends of Ranges
	Size      float64   // width of Bars on the X axis
	Shares    []float64 // opacity of Cells: from 0 (no colour) to 1
	Texts     []string  // texts of Cells; texts that are too long are left out
}

// ranges returns the axes. If an axis sets no range, it gets the range of the series.
func (f *Figure) ranges() (x, y Axis) {
	x, y = f.X, f.Y
	if x.From == 0 && x.To == 0 {
		x.From, x.To = math.Inf(1), math.Inf(-1)
		for _, s := range f.Series {
			x.From, x.To = widen(x.From, x.To, s.X)
			x.From, x.To = widen(x.From, x.To, s.Low)
			x.From, x.To = widen(x.From, x.To, s.High)
			if s.Shape == Ranges {
				x.From, x.To = min(x.From, 0), max(x.To, 0)
			}
		}
		x.fit(slices.ContainsFunc(f.Series, func(s Series) bool { return s.Shape == Bars || s.Shape == Ranges }))
	}
	if y.From == 0 && y.To == 0 {
		y.From, y.To = math.Inf(1), math.Inf(-1)
		for _, s := range f.Series {
			y.From, y.To = widen(y.From, y.To, s.Y)
			if s.Shape == Bars || f.Y.includesZero {
				y.From = min(y.From, 0)
			}
		}
		y.fit(true)
	}
	return x, y
}
