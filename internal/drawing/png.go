package drawing

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"halfspace/internal/say"
)

// scale is how many pixels of a PNG a pixel of SVG has in each direction. mostPixels is the largest width and height of a PNG.
const (
	scale      = 2
	mostPixels = 8192
)

// typeface is the Go font. It has Latin, Greek and Cyrillic letters, and a box for every other one.
var typeface = sync.OnceValues(func() (*sfnt.Font, error) { return sfnt.Parse(goregular.TTF) })

// A raster is a PNG that is painted. Its lengths are pixels of the PNG.
type raster struct {
	vector.Rasterizer
	image   *image.RGBA
	palette *palette
	clip    image.Rectangle
	font    *sfnt.Font
	buffer  sfnt.Buffer
	err     error // the first one of the font
}

// PNG returns the picture as a file, twice as wide and high as the SVG. A frame isn't in it. It returns an error if the picture is
// too large.
func (p *Picture) PNG(t Theme) ([]byte, error) {
	m, err := p.Image(t)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = png.Encode(&b, m)
	return b.Bytes(), err
}

// Image returns the pixels of PNG.
func (p *Picture) Image(t Theme) (*image.RGBA, error) {
	if !(p.Width >= 1 && p.Height >= 1 && max(p.Width, p.Height)*scale <= mostPixels) {
		return nil, fmt.Errorf("a PNG can't be %g by %g pixels: make it at most %d pixels wide and high", p.Width*scale, p.Height*scale, mostPixels)
	}
	face, err := typeface()
	if err != nil {
		return nil, err
	}
	r := &raster{palette: &light, font: face, image: image.NewRGBA(image.Rect(0, 0, int(p.Width*scale), int(p.Height*scale)))}
	if t == Dark {
		r.palette = &dark
	}
	r.clip = r.image.Bounds()
	draw.Draw(r.image, r.clip, image.NewUniform(r.palette.rgba(Paper, 1)), image.Point{}, draw.Src)
	for _, s := range p.Shapes {
		s.paint(r)
	}
	return r.image, r.err
}

// A polygon is corners in pixels of SVG.
type polygon [][2]float64

// fill paints polygons together. Polygons that turn the same way are painted once where they overlap.
func (r *raster) fill(p Paint, all ...polygon) {
	from, to := [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, corners := range all {
		for _, c := range corners {
			for i, v := range c {
				from[i], to[i] = min(from[i], near(v)), max(to[i], near(v))
			}
		}
	}
	if !(from[0] <= to[0]) {
		return
	}
	area := image.Rect(int(math.Floor(from[0])), int(math.Floor(from[1])), int(math.Ceil(to[0]))+1, int(math.Ceil(to[1]))+1).Intersect(r.clip)
	if area.Empty() {
		return
	}
	r.Reset(area.Dx(), area.Dy())
	for _, corners := range all {
		for i, c := range corners {
			x, y := float32(near(c[0])-float64(area.Min.X)), float32(near(c[1])-float64(area.Min.Y))
			if i == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	opacity := p.Opacity
	if opacity == 0 {
		opacity = 1
	}
	r.Draw(r.image, area, image.NewUniform(r.palette.rgba(p.Colour, opacity)), image.Point{})
}

// near returns a length in pixels of the PNG, or the nearest one that the rasterizer can count.
func near(v float64) float64 { return max(-4*mostPixels, min(v*scale, 4*mostPixels)) }

// stroke paints lines from point to point: a rectangle for each piece, and a disc where two meet.
func (r *raster) stroke(points [][2]float64, p Paint) {
	var all []polygon
	inside := make([][2]float64, len(points))
	for i, at := range points {
		inside[i] = [2]float64{near(at[0]) / scale, near(at[1]) / scale} // NaN stays
	}
	for _, line := range dashed(inside, p.Dash) {
		for i := 1; i < len(line); i++ {
			a, b := line[i-1], line[i]
			dx, dy := b[0]-a[0], b[1]-a[1]
			long := math.Hypot(dx, dy)
			if !(long > 0) {
				continue
			}
			nx, ny := dy/long*p.Width/2, -dx/long*p.Width/2
			all = append(all, polygon{{a[0] + nx, a[1] + ny}, {b[0] + nx, b[1] + ny}, {b[0] - nx, b[1] - ny}, {a[0] - nx, a[1] - ny}})
			if i+1 < len(line) && turns(a, b, line[i+1]) {
				all = append(all, (&Disc{X: b[0], Y: b[1], Radius: p.Width / 2}).corners(scale))
			}
		}
	}
	r.fill(p, all...)
}

// turns tells whether a line from a by b to c has a corner that shows.
func turns(a, b, c [2]float64) bool {
	x0, y0, x1, y1 := b[0]-a[0], b[1]-a[1], c[0]-b[0], c[1]-b[1]
	const small = 0.05 // radians
	return x0*x1+y0*y1 < 0 || math.Abs(x0*y1-y0*x1) > small*math.Hypot(x0, y0)*math.Hypot(x1, y1)
}

// dashed returns the lines of a path, or the dashes of these lines.
func dashed(points [][2]float64, dash []float64) (lines [][][2]float64) {
	var line [][2]float64
	at, left := 0, math.Inf(1) // the number of the dash or gap, and what is left of it
	end := func() {
		if len(line) > 1 {
			lines = append(lines, line)
		}
		line = nil
	}
	for i, p := range points {
		if i == 0 || missing(p) || missing(points[i-1]) {
			end()
			if at = 0; dash != nil {
				left = dash[0]
			}
			line = [][2]float64{p}
			continue
		}
		before := points[i-1]
		long := math.Hypot(p[0]-before[0], p[1]-before[1])
		done := 0.0
		for long-done > left {
			done += left
			middle := [2]float64{before[0] + (p[0]-before[0])*done/long, before[1] + (p[1]-before[1])*done/long}
			if at%2 == 0 {
				line = append(line, middle)
				end()
			} else {
				line = [][2]float64{middle}
			}
			at++
			left = dash[at%len(dash)]
		}
		if left -= long - done; at%2 == 0 {
			line = append(line, p)
		}
	}
	end()
	return lines
}

func (p *Path) paint(r *raster) { r.stroke(p.Points, p.Paint) }

func (b *Box) paint(r *raster) { r.closed(b.corners(), b.Paint) }

func (d *Disc) paint(r *raster) { r.closed(d.corners(scale), d.Paint) }

// closed paints a polygon, or the line around it.
func (r *raster) closed(corners [][2]float64, p Paint) {
	if p.Width > 0 {
		r.stroke(append(corners, corners[1]), p) // the first piece again, so that the last corner is round too
	} else {
		r.fill(p, corners)
	}
}

func (c *Clip) paint(r *raster) {
	whole := r.clip
	b := &c.Box
	r.clip = image.Rect(int(math.Floor(near(b.X))), int(math.Floor(near(b.Y))), int(math.Ceil(near(b.X+b.Width))), int(math.Ceil(near(b.Y+b.Height)))).Intersect(whole)
	for _, s := range c.Shapes {
		s.paint(r)
	}
	r.clip = whole
}

func (f *Frame) paint(*raster) {}

func (t *Text) paint(r *raster) {
	letters, long := r.letters(say.Visible(t.String), t.size(), 0, 0)
	if t.Power != "" {
		var raised []polygon
		raised, long = r.letters(say.Visible(t.Power), powerSize*t.size(), long, -powerRise*t.size())
		letters = append(letters, raised...)
	}
	if t.Bold {
		const wider = 0.04 // parts of the size
		for _, l := range letters[:len(letters):len(letters)] {
			letters = append(letters, moved(l, func(x, y float64) (float64, float64) { return x + wider*t.size(), y }))
		}
	}
	back := long * float64(t.Anchor) / 2
	for i, l := range letters {
		letters[i] = moved(l, func(x, y float64) (float64, float64) {
			if x -= back; t.Turned {
				x, y = y, -x
			}
			return t.X + x, t.Y + y
		})
	}
	r.fill(Paint{Colour: t.Colour}, letters...)
}

func moved(p polygon, to func(x, y float64) (float64, float64)) polygon {
	other := make(polygon, len(p))
	for i, c := range p {
		other[i][0], other[i][1] = to(c[0], c[1])
	}
	return other
}

// letters returns the outlines of a text that begins at x on the base line y, and where it ends.
func (r *raster) letters(s string, size, x, y float64) (all []polygon, end float64) {
	em := fixed.I(int(r.font.UnitsPerEm())) // so that outlines are in the font's own units
	unit := size / float64(r.font.UnitsPerEm())
	for _, c := range s {
		glyph, err := r.font.GlyphIndex(&r.buffer, c)
		if err == nil {
			var outlines []polygon
			outlines, err = r.outlines(glyph, em)
			for _, o := range outlines {
				all = append(all, moved(o, func(a, b float64) (float64, float64) { return x + a*unit, y + b*unit }))
			}
		}
		var advance fixed.Int26_6
		if err == nil {
			advance, err = r.font.GlyphAdvance(&r.buffer, glyph, em, font.HintingNone)
		}
		if err != nil && r.err == nil {
			r.err = fmt.Errorf("the letter %q can't be drawn: %w", c, err)
		}
		x += float64(advance) / 64 * unit
	}
	return all, x
}

// outlines returns the outlines of a glyph in units of the font, with curves as short lines.
func (r *raster) outlines(glyph sfnt.GlyphIndex, em fixed.Int26_6) (all []polygon, err error) {
	segments, err := r.font.LoadGlyph(&r.buffer, glyph, em, nil)
	if err != nil {
		return nil, err
	}
	point := func(p fixed.Point26_6) [2]float64 { return [2]float64{float64(p.X) / 64, float64(p.Y) / 64} }
	for _, s := range segments {
		if s.Op == sfnt.SegmentOpMoveTo {
			all = append(all, polygon{point(s.Args[0])})
			continue
		}
		last := &all[len(all)-1]
		a, b := (*last)[len(*last)-1], point(s.Args[0])
		if s.Op == sfnt.SegmentOpLineTo {
			*last = append(*last, b)
			continue
		}
		const pieces = 6 // of a curve, which TrueType has with one point of control
		for k := 1; k <= pieces; k++ {
			t := float64(k) / pieces
			c, at := point(s.Args[1]), [2]float64{}
			for i := range at {
				at[i] = (1-t)*(1-t)*a[i] + 2*t*(1-t)*b[i] + t*t*c[i]
			}
			*last = append(*last, at)
		}
	}
	return all, nil
}
