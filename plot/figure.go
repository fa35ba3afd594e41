// Package plot draws how a training went and how good a model is, as SVG and PNG. Colours are those of Okabe and Ito (2008), which
// colour-blind readers tell apart; shapes and dashes tell series apart too.
package plot

import (
	"math"

	"halfspace/internal/drawing"
)

// A Theme is the colours of a picture.
type Theme = drawing.Theme

// The themes. Page is light or dark, as the reader's system asks for.
const (
	Page  = drawing.Page
	Light = drawing.Light
	Dark  = drawing.Dark
)

// A Figure is a picture with two axes.
type Figure struct {
	Title    string
	Subtitle string
	Text     string // what the picture shows, for those who can't see it
	X, Y     Axis
	Series   []Series
	Width    int  // in pixels; 0: 720
	Height   int  // in pixels; 0: 440
	Square   bool // a unit is as long on both axes' scale: the plot is a square

	steps *steps // of an animation; nil: none
}

// A Shape is how a series is drawn.
type Shape int

// The shapes.
const (
	Line   Shape = iota // through the points
	Steps               // each point holds until the next
	Dots                // circles
	Rings               // squares, to tell them from dots
	Bars                // from 0 up to the points, Size wide
	Ranges              // from Low to High along the X axis, with a dot at X
	Cells               // squares of the length 1 around the points, with Texts
)

// A Series is numbers that belong together. Points with a NaN are left out.
type Series struct {
	Name      string // in the legend; "": not there
	Shape     Shape
	Colour    int // number of the colour; -1: faint
	Dash      int // number of the pattern of dashes; 0: none
	X, Y      []float64
	Low, High []float64 // of Ranges
	Size      float64   // of Bars: their width on the X axis
	Shares    []float64 // of Cells: from 0 (no colour) to 1
	Texts     []string  // of Cells; those that are too long are left out
}

// ranges returns the axes with the ranges of the series where none is set.
func (f *Figure) ranges() (x, y Axis) {
	x, y = f.X, f.Y
	if x.From == 0 && x.To == 0 {
		x.From, x.To = math.Inf(1), math.Inf(-1)
		for _, s := range f.Series {
			x.From, x.To = span(x.From, x.To, s.X)
			x.From, x.To = span(x.From, x.To, s.Low)
			x.From, x.To = span(x.From, x.To, s.High)
			if s.Shape == Ranges {
				x.From, x.To = min(x.From, 0), max(x.To, 0)
			}
		}
		x.fit(f.whole())
	}
	if y.From == 0 && y.To == 0 {
		y.From, y.To = math.Inf(1), math.Inf(-1)
		for _, s := range f.Series {
			y.From, y.To = span(y.From, y.To, s.Y)
			if s.Shape == Bars || f.Y.zero {
				y.From = min(y.From, 0)
			}
		}
		y.fit(true)
	}
	return x, y
}

// whole tells whether the X axis ends at ticks: not if there are only lines and points.
func (f *Figure) whole() bool {
	for _, s := range f.Series {
		if s.Shape == Bars || s.Shape == Ranges {
			return true
		}
	}
	return false
}
