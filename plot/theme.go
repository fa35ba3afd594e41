package plot

import (
	"fmt"
	"strings"
)

// A Theme is the set of colours of a picture.
type Theme string

// The themes.
const (
	AutoTheme  Theme = "page"  // light or dark, depending on the reader's system
	LightTheme Theme = "light" // dark on white
	DarkTheme  Theme = "dark"  // light on black
)

// Themes are the names of the themes.
var Themes = []string{string(AutoTheme), string(LightTheme), string(DarkTheme)}

// A Colour is a colour of a theme. The numbers from 0 on are the colours of series, which repeat.
type Colour int

// The colours beside the colours of series.
const (
	FaintInk Colour = -1 - iota // less important text and lines
	ink                         // text
	grid
	paper
)

// seriesColours is the number of different colours of series.
const seriesColours = 6

// colours are the colours from paper on, as 0xRRGGBB, with the names of their classes in a style sheet. The colours of
// series are the colours of Okabe and Ito, "Color Universal Design" (2008). On each background the colours with the
// strongest contrast come first.
var colours = [...]struct {
	name        string
	light, dark uint32
}{
	{"paper", 0xffffff, 0x0d1117}, {"grid", 0xd8dee4, 0x30363d}, {"ink", 0x1b1f24, 0xf0f6fc}, {"faint", 0x57606a, 0x9aa4af},
	{"0", 0x0072b2, 0x56b4e9}, {"1", 0xd55e00, 0xe69f00}, {"2", 0x009e73, 0x009e73},
	{"3", 0xcc79a7, 0xcc79a7}, {"4", 0xe69f00, 0xf0e442}, {"5", 0x56b4e9, 0xd55e00},
}

// name returns the end of the names of a colour's classes in a style sheet.
func (c Colour) name() string {
	if c > 0 {
		c %= seriesColours
	}
	return colours[c-paper].name
}

// style returns the style sheet of the pictures: the class hp-f colours areas and letters, hp-l lines.
func (t Theme) style() string {
	var light, dark strings.Builder
	for _, c := range colours {
		const rule = ".hp-f-%[1]s{fill:#%06[2]x}.hp-l-%[1]s{fill:none;stroke:#%06[2]x}"
		fmt.Fprintf(&light, rule, c.name, c.light)
		fmt.Fprintf(&dark, rule, c.name, c.dark)
	}
	switch t {
	case LightTheme:
		return light.String()
	case DarkTheme:
		return dark.String()
	}
	return light.String() + "@media screen and (prefers-color-scheme:dark){" + dark.String() + "}"
}
