package chart

import "fmt"

// Bars is a picture of horizontal bars in groups.
type Bars struct {
	Title, Subtitle string
	Groups          []Group
	Notes           []string // the last lines
}

// A Group is bars that are compared.
type Group struct {
	Name string
	Bars []Bar
}

// A Bar is a number.
type Bar struct {
	Length float64 // part of the space for bars, up to 1
	Label  string  // stands behind the bar
	Strong bool    // the label is bold
	Series int     // number of the bar's colour
}

// The drawing's sizes in pixels.
const (
	width  = 800
	left   = 245 // where bars begin, unless a name is long
	length = 355 // of the longest bar
	top    = 64
	thick  = 18
	space  = 14 // between two groups
	letter = 8  // of a name, about
)

// Draw returns the SVG.
func (b *Bars) Draw(t Theme) string {
	height, begin, room := top+4+18*len(b.Notes), left, width-left-length
	for _, g := range b.Groups {
		height += step(g)
		begin = max(begin, letter*len(g.Name)+12)
		for _, bar := range g.Bars {
			room = max(room, (letter-1)*len(bar.Label)+16)
		}
	}
	c := newCanvas(t, begin+length+room, height)
	c.title(b.Title, b.Subtitle)
	y := top
	for _, g := range b.Groups {
		c.write(begin-12, y+len(g.Bars)*(thick+2)/2+3, "end", c.text, "", g.Name)
		for k, bar := range g.Bars {
			long, weight := max(2, bar.Length*length), ""
			if bar.Strong {
				weight = ` font-weight="600"`
			}
			fmt.Fprintf(c, `<rect x="%d" y="%d" width="%.1f" height="%d" rx="2" %s/>`+"\n", begin, y+k*(thick+2), long, thick, c.series[bar.Series%len(c.series)])
			c.write(begin+int(long)+8, y+k*(thick+2)+14, "start", c.text, weight, bar.Label)
		}
		y += step(g)
	}
	c.notes(height, b.Notes)
	return c.end()
}

// step is the height of a group and the space below it.
func step(g Group) int { return len(g.Bars)*(thick+2) + space }
