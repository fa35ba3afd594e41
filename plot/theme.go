package plot

import (
	"fmt"
	"strings"
)

// A Theme is the colours of a picture.
type Theme int

const (
	Page  Theme = iota // light or dark, as the reader's system asks for
	Light              // dark on white
	Dark               // light on black
)

// Themes are the names of the themes.
var Themes = []string{"page", "light", "dark"}

// ThemeOf returns the theme of a name, Page for an unknown one.
func ThemeOf(name string) Theme {
	for i, n := range Themes {
		if n == name {
			return Theme(i)
		}
	}
	return Page
}

// A palette is colours: background, text, faint text and lines, grid, and series.
type palette struct {
	paper, ink, faint, grid string
	series                  []string
}

// The colours of series are those of Okabe and Ito, "Color Universal Design" (2008). On each background the ones with the
// strongest contrast come first.
var (
	light = palette{"#ffffff", "#1b1f24", "#57606a", "#d8dee4", []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"}}
	dark  = palette{"#0d1117", "#f0f6fc", "#9aa4af", "#30363d", []string{"#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442", "#d55e00"}}
)

// rules returns the style sheet of a palette.
func (p *palette) rules() string {
	var s strings.Builder
	fmt.Fprintf(&s, ".hp-paper{fill:%s}.hp-ink{fill:%s}.hp-faint{fill:%s}.hp-grid{stroke:%s}.hp-axis{stroke:%s}", p.paper, p.ink, p.faint, p.grid, p.faint)
	fmt.Fprintf(&s, ".hp-l-1{stroke:%s}.hp-f-1{fill:%s}", p.faint, p.faint)
	for k, c := range p.series {
		fmt.Fprintf(&s, ".hp-l%d{stroke:%s}.hp-f%d{fill:%s}", k, c, k, c)
	}
	return s.String()
}

// Style returns the style sheet of pictures, for pages that have several of them.
func (t Theme) Style() string {
	switch t {
	case Light:
		return light.rules()
	case Dark:
		return dark.rules()
	}
	return light.rules() + "@media screen and (prefers-color-scheme:dark){" + dark.rules() + "}"
}
