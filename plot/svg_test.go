package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestSVG: an SVG has an element for each shape with the numbers of the shape, letters are escaped, and a path without a line
// isn't there.
func TestSVG(t *testing.T) {
	const hostile = `</text><script>alert("&")</script>` + "\x00"
	nan := math.NaN()
	p := &picture{Title: hostile, Text: hostile, Width: 100, Height: 60, Elements: []element{
		&path{[][2]float64{{1, 2}, {3.25, 4}, {nan, 0}, {5, 6}, {0, nan}, {7, 8}, {9, 10}}, paint{Width: 2}}, &path{[][2]float64{{1, 2}}, paint{Width: 2}},
		&text{X: 1, Y: 2, String: hostile, Power: "2"}, &clip{Box: box{Width: 3}, Elements: []element{&disc{Radius: 1}}}}}
	counts, elements, said := parseSVG(t, p.file(AutoTheme))
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
	for _, theme := range []Theme{LightTheme, DarkTheme} {
		seen := map[uint32]bool{}
		for i, c := range colours {
			v := map[Theme]uint32{LightTheme: c.light, DarkTheme: c.dark}[theme]
			hex := strconv.FormatUint(uint64(v)|1<<24, 16)[1:]
			if name := (Colour(i) + paper).name(); name != c.name || !strings.Contains(theme.style(), "hp-f-"+name+"{fill:#"+hex) || !strings.Contains(theme.style(), "stroke:#"+hex) || seen[v] {
				t.Errorf("theme %s, colour %s: %s", theme, name, hex)
			}
			seen[v] = true
		}
	}
	if len(colours) != int(seriesColours-paper) || Colour(7).name() != "1" {
		t.Error("a colour has another meaning")
	}
}

// parseSVG reads a picture in SVG to its end, and fails the test if it is no XML. It returns how many elements have each name, all
// elements, and the text between them.
func parseSVG(t testing.TB, picture string) (counts map[string]int, elements []xml.StartElement, text string) {
	t.Helper()
	counts = map[string]int{}
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return counts, elements, text
		}
		if err != nil {
			t.Fatalf("%v in %s", err, picture)
		}
		switch e := token.(type) {
		case xml.StartElement:
			counts[e.Name.Local]++
			elements = append(elements, e.Copy())
		case xml.CharData:
			text += string(e)
		}
	}
}
