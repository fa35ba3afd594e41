package plot

import (
	"math"
	"strings"
	"testing"
)

// TestBars: each bar is a rectangle of its length, and names are escaped.
func TestBars(t *testing.T) {
	b := &BarChart{Title: "a < b", Subtitle: "&", Notes: []string{"<note>"}, Groups: []BarGroup{
		{Name: strings.Repeat("long ", 20), Bars: []Bar{{Length: 1, Label: "1"}, {Length: 0, Label: "0", Colour: 100}}}, {Name: "none"}}}
	p := b.picture()
	if found, _, _ := parseSVG(t, p.file(Auto)); found["rect"] != 2+1 || found["text"] != 7 {
		t.Error(found)
	}
	var widths []float64
	for _, s := range p.Elements {
		if box, ok := s.(*box); ok {
			if widths = append(widths, box.Width); box.X+box.Width > p.Width {
				t.Errorf("a bar ends at %g of %g", box.X+box.Width, p.Width)
			}
		}
	}
	if len(widths) != 2 || widths[0] != barLength || widths[1] != 2 {
		t.Errorf("bars are %v pixels long", widths)
	}
}

// TestRoofline: a computation that reaches a slope, or a peak, lies on its line, and axes hold all points.
func TestRoofline(t *testing.T) {
	r := &Roofline{Slopes: []Limit{{"DRAM", 2e10}, {"L1", 2e11}}, Peaks: []Limit{{"FMA", 1e11}}, Points: []Computation{{"p", 0.25, 5e9, 0}, {"q", 3000, 1e11, 1}}}
	if found, _, _ := parseSVG(t, r.SVG(Auto)); found["circle"] != 2 {
		t.Errorf("%v", found)
	}
	a := r.axes()
	for _, p := range r.Points {
		if x, y := a.at(p.Intensity, p.Rate); x < a.left || x > a.right || y < a.top || y > a.bottom {
			t.Errorf("%s is at %g, %g", p.Name, x, y)
		}
	}
	ratio := func(x0, y0, x1, y1 float64) float64 {
		fromX, fromY := a.at(x0, y0)
		toX, toY := a.at(x1, y1)
		return (toY - fromY) / (toX - fromX)
	}
	slope := ratio(1, 2e10, 5, 1e11)
	if p := r.Points[0]; math.Abs(ratio(1, 2e10, p.Intensity, p.Rate)-slope) > 1e-9 {
		t.Error("a point with the bandwidth of memory isn't on its slope")
	}
	parseSVG(t, (&Roofline{}).SVG(Light))
}
