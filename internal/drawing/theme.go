package drawing

import (
	"fmt"
	"strings"
)

// A Theme is the set of colours of a picture.
type Theme int

const (
	Page  Theme = iota // light or dark, depending on the reader's system
	Light              // dark on white
	Dark               // light on black
)

// Themes are the names of the themes.
var Themes = []string{"page", "light", "dark"}

// ThemeOf returns the theme with that name, Page for an unknown name.
func ThemeOf(name string) Theme {
	for i, n := range Themes {
		if n == name {
			return Theme(i)
		}
	}
	return Page
}

// A Colour is a colour of a theme. The numbers from 0 on are colours of series; they repeat after Series.
type Colour int

// The colours that aren't colours of series.
const (
	Faint Colour = -1 - iota // less important text and lines
	Ink                      // text
	Grid
	Paper
)

// Series is the number of different colours of series.
const Series = 6

// A palette holds the colours of a theme as 0xRRGGBB.
type palette struct {
	paper, ink, faint, grid uint32
	series                  [Series]uint32
}

// light and dark have the series colours of Okabe and Ito, "Color Universal Design" (2008). On each background the
// colours with the strongest contrast come first.
var (
	light = palette{0xffffff, 0x1b1f24, 0x57606a, 0xd8dee4, [Series]uint32{0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9}}
	dark  = palette{0x0d1117, 0xf0f6fc, 0x9aa4af, 0x30363d, [Series]uint32{0x56b4e9, 0xe69f00, 0x009e73, 0xcc79a7, 0xf0e442, 0xd55e00}}
)

// value returns a colour as 0xRRGGBB.
func (p *palette) value(c Colour) uint32 {
	switch c {
	case Faint:
		return p.faint
	case Ink:
		return p.ink
	case Grid:
		return p.grid
	case Paper:
		return p.paper
	}
	return p.series[max(0, c)%Series]
}

// name returns the end of the names of a colour's classes in a style sheet.
func (c Colour) name() string {
	switch c {
	case Faint:
		return "faint"
	case Ink:
		return "ink"
	case Grid:
		return "grid"
	case Paper:
		return "paper"
	}
	return fmt.Sprint(int(max(0, c) % Series))
}

// rules returns the style sheet of a palette: the class hp-f colours areas and letters, hp-l lines.
func (p *palette) rules() string {
	var s strings.Builder
	for c := Paper; c < Series; c++ {
		fmt.Fprintf(&s, ".hp-f-%s{fill:#%06x}.hp-l-%s{fill:none;stroke:#%06x}", c.name(), p.value(c), c.name(), p.value(c))
	}
	return s.String()
}

// Style returns the style sheet of the pictures, for a page that has several.
func (t Theme) Style() string {
	switch t {
	case Light:
		return light.rules()
	case Dark:
		return dark.rules()
	}
	return light.rules() + "@media screen and (prefers-color-scheme:dark){" + dark.rules() + "}"
}
