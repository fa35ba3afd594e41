// Package plot draws how a training went and how good a model is, as SVG. Colours are those of Okabe and Ito (2008), which
// colour-blind readers tell apart; shapes and dashes tell series apart too.
package plot

import "math"

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

// An Axis says what numbers mean.
type Axis struct {
	Name     string
	From, To float64  // the range; both 0: that of the series
	Names    []string // of the whole numbers from 0 on, in place of ticks

	zero bool    // the range has 0
	step float64 // between two ticks; 0: what suits the range
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
)

// A Series is numbers that belong together. Points with a NaN are left out.
type Series struct {
	Name      string // in the legend; "": not there
	Shape     Shape
	Colour    int // number of the colour; negative: faint
	Dash      int // number of the pattern of dashes; 0: none
	X, Y      []float64
	Low, High []float64 // of Ranges
	Size      float64   // of Bars: their width on the X axis
}

// farthest is the largest number that an axis reaches, so that the width of its range is finite.
const farthest = 1e300

// reached returns a number, or the nearest one that an axis reaches.
func reached(v float64) float64 { return max(-farthest, min(v, farthest)) }

// span widens a range by the numbers that aren't NaN or infinite, as far as an axis reaches.
func span(from, to float64, values []float64) (float64, float64) {
	for _, v := range values {
		if v-v == 0 {
			from, to = min(from, reached(v)), max(to, reached(v))
		}
	}
	return from, to
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

// fit makes the range one of numbers, around those that there are. With whole it ends at ticks.
func (a *Axis) fit(whole bool) {
	if a.Names != nil {
		a.From, a.To = -0.6, float64(len(a.Names))-0.4
		return
	}
	if !(a.From <= a.To) {
		a.From, a.To = 0, 1
	}
	// A float64 has no ticks between numbers that are too close.
	if largest := max(math.Abs(a.From), math.Abs(a.To)); a.To-a.From < max(1e-12*largest, 1/farthest) {
		a.From, a.To = a.From-math.Max(1, math.Abs(a.From)/2), a.To+math.Max(1, math.Abs(a.To)/2)
	}
	if !whole {
		return
	}
	step := tickStep(a.From, a.To)
	a.step = step
	a.From, a.To = math.Floor(a.From/step+1e-9)*step, math.Ceil(a.To/step-1e-9)*step
}

// tickStep returns a distance of 1, 2 or 5 times a power of ten that makes about six ticks.
func tickStep(from, to float64) float64 {
	const about = 6
	raw := (to - from) / about
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= raw*0.9 {
			return m * power
		}
	}
	return 10 * power
}

// between returns the distance of two ticks.
func (a *Axis) between() float64 {
	if a.step > 0 {
		return a.step
	}
	return tickStep(a.From, a.To)
}

// ticks returns the numbers of an axis that are labelled.
func (a *Axis) ticks() (at []float64) {
	if a.Names != nil {
		for i := range a.Names {
			at = append(at, float64(i))
		}
		return at
	}
	const most = 20 // tickStep makes fewer
	step := a.between()
	first := math.Ceil(a.From/step - 1e-9)
	for k := range most {
		v := (first + float64(k)) * step
		if !(v <= a.To+step*1e-9) {
			break
		}
		at = append(at, v)
	}
	return at
}
