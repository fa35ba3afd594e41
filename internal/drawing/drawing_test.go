package drawing

import (
	"image"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/browsertest"
)

// pixels returns the PNG of shapes on paper of 100 by 60 pixels, and a function that tells whether a pixel of SVG is wholly of a colour.
func pixels(t *testing.T, theme Theme, shapes ...Shape) (image.Image, func(x, y float64, c Colour) bool) {
	t.Helper()
	m, err := (&Picture{Width: 100, Height: 60, Shapes: shapes}).Image(theme)
	if err != nil {
		t.Fatal(err)
	}
	if b := m.Bounds(); b.Dx() != 200 || b.Dy() != 120 {
		t.Fatalf("the image is %v", b)
	}
	p := map[Theme]*palette{Page: &light, Light: &light, Dark: &dark}[theme]
	return m, func(x, y float64, c Colour) bool {
		r, g, b, _ := m.At(int(x*scale), int(y*scale)).RGBA()
		v := p.value(c)
		near := func(a uint32, b uint32) bool { return math.Abs(float64(a>>8)-float64(b&0xff)) <= 2 }
		return near(r, v>>16) && near(g, v>>8) && near(b, v)
	}
}

// TestPNG: shapes have their colour where they are, and the paper is bare beside them.
func TestPNG(t *testing.T) {
	for _, theme := range []Theme{Page, Light, Dark} {
		_, is := pixels(t, theme,
			Line(10, 10, 90, 10, Paint{Colour: 0, Width: 3}),
			&Box{X: 10, Y: 20, Width: 20, Height: 15, Paint: Paint{Colour: 1}},
			&Box{X: 40, Y: 20, Width: 20, Height: 15, Paint: Paint{Colour: Ink, Width: 2}},
			&Disc{X: 80, Y: 30, Radius: 8, Paint: Paint{Colour: 2}},
			&Clip{Box: Box{X: 10, Y: 45, Width: 20, Height: 10}, Shapes: []Shape{Line(0, 50, 100, 50, Paint{Colour: 3, Width: 4})}},
			&Frame{Length: 1, Shapes: []Shape{&Box{X: 60, Y: 45, Width: 30, Height: 10, Paint: Paint{Colour: 1}}}},
			Line(50, 58, 90, 58, Paint{Colour: Grid, Width: 2, Dash: []float64{10, 10}}))
		for _, c := range []struct {
			x, y   float64
			colour Colour
		}{
			{11, 10, 0}, {89, 10, 0}, {50, 10, 0}, {50, 13, Paper}, {8, 10, Paper}, {92, 10, Paper},
			{11, 21, 1}, {29, 34, 1}, {32, 30, Paper}, {40, 27, Ink}, {60, 27, Ink}, {40, 20, Ink}, {60, 35, Ink}, {50, 27, Paper},
			{80, 30, 2}, {80, 23, 2}, {87, 30, 2}, {86.5, 23.5, Paper}, {73, 23, Paper},
			{11, 50, 3}, {29, 50, 3}, {8, 50, Paper}, {32, 50, Paper}, {75, 50, Paper},
			{55, 58, Grid}, {65, 58, Paper}, {75, 58, Grid}, {85, 58, Paper},
		} {
			if !is(c.x, c.y, c.colour) {
				t.Errorf("theme %d: the pixel at %g, %g isn't %s", theme, c.x, c.y, c.colour.name())
			}
		}
	}
}

// ink returns the box around the pixels that aren't white, in pixels of SVG, and how many they are.
func ink(m image.Image) (x0, y0, x1, y1 float64, n int) {
	x0, y0 = math.Inf(1), math.Inf(1)
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			if r, g, b, _ := m.At(x, y).RGBA(); r+g+b < 3*0xffff {
				x0, y0, x1, y1 = min(x0, float64(x)/scale), min(y0, float64(y)/scale), max(x1, float64(x+1)/scale), max(y1, float64(y+1)/scale)
				n++
			}
		}
	}
	return x0, y0, x1, y1, n
}

// TestText: a text begins, ends or has its middle where it should, and stands on its line. It reads upwards if it's turned, is
// darker if it's bold, and has its power above it.
func TestText(t *testing.T) {
	at := func(text Text) (x0, y0, x1, y1 float64, n int) {
		text.X, text.Y, text.Colour = 50, 50, Ink
		m, _ := pixels(t, Light, &text)
		return ink(m)
	}
	x0, y0, x1, y1, n := at(Text{String: "HHHH"})
	long := x1 - x0
	if math.Abs(x0-50) > 2 || math.Abs(y1-50) > 0.6 || y0 < 39 || y0 > 43 || long < 25 || long > 45 {
		t.Errorf("the text is from %g, %g to %g, %g", x0, y0, x1, y1)
	}
	if x0, _, x1, _, _ := at(Text{String: "HHHH", Anchor: Middle}); math.Abs(x0+x1-100) > 2 {
		t.Errorf("the middle of the text is at %g", (x0+x1)/2)
	}
	if _, _, x1, _, _ := at(Text{String: "HHHH", Anchor: End}); math.Abs(x1-50) > 2 {
		t.Errorf("the text ends at %g", x1)
	}
	if x0, y0, x1, y1, _ := at(Text{String: "HHHH", Turned: true}); math.Abs(x1-50) > 0.6 || math.Abs(y1-50) > 2 || math.Abs(y1-y0-long) > 1 || x0 < 39 {
		t.Errorf("the turned text is from %g, %g to %g, %g", x0, y0, x1, y1)
	}
	if x0, y0, x1, y1, _ := at(Text{String: "HHHH", Size: 6}); math.Abs(x1-x0-long/2) > 1 || y1-y0 > 6 {
		t.Errorf("the text of half the size is from %g, %g to %g, %g", x0, y0, x1, y1)
	}
	if _, _, _, _, more := at(Text{String: "HHHH", Bold: true}); more < n*11/10 {
		t.Errorf("a bold text has %d pixels of ink, and another one %d", more, n)
	}
	if _, above, right, below, _ := at(Text{String: "HHHH", Power: "−9"}); above > y0-1 || right < x1+6 || math.Abs(below-50) > 0.6 {
		t.Errorf("the text with a power reaches up to %g, and from %g to %g", above, x1, right)
	}
	if _, _, _, _, n := at(Text{String: "日\x00\u202e"}); n == 0 {
		t.Error("letters that the font lacks leave no trace")
	}
}

// TestStroke: a line that goes to and fro has no holes where it covers itself, and no part of it is darker.
func TestStroke(t *testing.T) {
	p := &Path{Points: [][2]float64{{10, 30}, {90, 30}, {10, 32}, {90, 34}, {20, 20}, {20, 50}, {60, 30}, {10, 30}}, Paint: Paint{Colour: 0, Width: 6}}
	_, is := pixels(t, Light, p)
	for i := 1; i < len(p.Points); i++ {
		a, b := p.Points[i-1], p.Points[i]
		for k := 1; k < 50; k++ {
			if x, y := a[0]+(b[0]-a[0])*float64(k)/50, a[1]+(b[1]-a[1])*float64(k)/50; !is(x, y, 0) {
				t.Fatalf("there is a hole at %g, %g", x, y)
			}
		}
	}
	half := *p
	half.Opacity = 0.5
	m, _ := pixels(t, Light, &half)
	if one, many := m.At(160, 60), m.At(60, 60); one != many {
		t.Errorf("a line is %v where it lies once, and %v where it lies over itself", one, many)
	}
}

// TestDashes: dashes follow each other along a line as along another one in pieces, and the rest is gaps.
func TestDashes(t *testing.T) {
	long := func(lines [][][2]float64) (sum float64) {
		for _, l := range lines {
			for i := 1; i < len(l); i++ {
				sum += math.Hypot(l[i][0]-l[i-1][0], l[i][1]-l[i-1][1])
			}
		}
		return sum
	}
	whole := dashed([][2]float64{{0, 0}, {30, 40}}, []float64{6, 4})
	pieces := dashed([][2]float64{{0, 0}, {3, 4}, {15, 20}, {30, 40}}, []float64{6, 4})
	if len(whole) != 5 || len(pieces) != 5 || math.Abs(long(whole)-30) > 1e-9 || math.Abs(long(pieces)-30) > 1e-9 {
		t.Errorf("dashes %v and %v", whole, pieces)
	}
	nan := math.NaN()
	if two := dashed([][2]float64{{nan, 0}, {0, 0}, {1, 0}, {0, nan}, {5, 0}, {6, 0}, {7, 0}}, nil); len(two) != 2 || len(two[0]) != 2 || len(two[1]) != 3 {
		t.Errorf("lines with gaps: %v", two)
	}
}

// TestLimits: no size and no coordinate is too much, and a PNG has a largest size.
func TestLimits(t *testing.T) {
	for _, size := range []float64{0, -1, 0.1, mostPixels, math.Inf(1), math.NaN()} {
		if _, err := (&Picture{Width: size, Height: 10}).PNG(Light); err == nil {
			t.Errorf("a PNG is %g pixels wide", size)
		}
	}
	rng := rand.New(rand.NewPCG(7, 8))
	wild := func() float64 {
		return []float64{0, 50, -1, 1e9, -1e300, math.Inf(1), math.Inf(-1), math.NaN(), 100 * rng.Float64()}[rng.IntN(9)]
	}
	for range 30 {
		paint := Paint{Colour: Colour(rng.IntN(20) - 10), Width: float64(rng.IntN(3)), Dash: [][]float64{nil, {3, 2}}[rng.IntN(2)]}
		shapes := []Shape{&Path{[][2]float64{{wild(), wild()}, {wild(), wild()}, {wild(), wild()}}, paint}, &Box{wild(), wild(), wild(), wild(), paint},
			&Disc{wild(), wild(), wild(), paint}, &Text{X: wild(), Y: wild(), Size: wild(), String: "x"}}
		pixels(t, Dark, shapes...)
		pixels(t, Dark, &Clip{Box{X: wild(), Y: wild(), Width: wild(), Height: wild()}, shapes})
	}
}

// TestSVG: an SVG has an element for each shape with the numbers of the shape, letters are escaped, and a path without a line
// isn't there.
func TestSVG(t *testing.T) {
	const hostile = `</text><script>alert("&")</script>` + "\x00"
	nan := math.NaN()
	p := &Picture{Title: hostile, Text: hostile, Width: 100, Height: 60, Shapes: []Shape{
		&Path{[][2]float64{{1, 2}, {3.25, 4}, {nan, 0}, {5, 6}, {0, nan}, {7, 8}, {9, 10}}, Paint{Width: 2}}, &Path{[][2]float64{{1, 2}}, Paint{Width: 2}},
		&Text{X: 1, Y: 2, String: hostile, Power: "2"}, &Clip{Box: Box{Width: 3}, Shapes: []Shape{&Disc{Radius: 1}}}}}
	counts, elements, said := browsertest.Parse(t, p.SVG(Page))
	path := ""
	for _, e := range elements {
		for _, a := range e.Attr {
			if e.Name.Local == "path" && a.Name.Local == "d" {
				path = a.Value
			}
		}
	}
	if counts["path"] != 1 || counts["text"] != 1 || counts["tspan"] != 1 || counts["circle"] != 1 || counts["clipPath"] != 1 || counts["script"] != 0 {
		t.Errorf("elements %v", counts)
	}
	if path != "M1 2L3.3 4M7 8L9 10" || strings.Count(said, `</text><script>alert("&")</script>`) != 3 {
		t.Errorf("path %q, text %q", path, said)
	}
}

// TestStyle: each colour of each theme has a rule for fillings and one for lines, and no two colours of series are alike.
func TestStyle(t *testing.T) {
	for _, theme := range []Theme{Light, Dark} {
		seen := map[uint32]bool{}
		for c := Paper; c < Series; c++ {
			v := map[Theme]*palette{Light: &light, Dark: &dark}[theme].value(c)
			hex := strconv.FormatUint(uint64(v)|1<<24, 16)[1:]
			if !strings.Contains(theme.Style(), "hp-f-"+c.name()+"{fill:#"+hex) || !strings.Contains(theme.Style(), "stroke:#"+hex) || seen[v] {
				t.Errorf("theme %d, colour %s: %s", theme, c.name(), hex)
			}
			seen[v] = true
		}
	}
	if ThemeOf("dark") != Dark || ThemeOf("no") != Page || Colour(7).name() != "1" {
		t.Error("a name or a colour has another meaning")
	}
}
