package browsertest

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// Parse reads a picture in SVG to its end, and fails the test if it is no XML. It returns how many elements have each name, all
// elements, and the text between them.
func Parse(t testing.TB, picture string) (counts map[string]int, elements []xml.StartElement, text string) {
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
