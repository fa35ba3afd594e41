package plot

import (
	"regexp"
	"strings"
	"testing"
)

// TestPage: hostile names are escaped everywhere, names of elements differ, references lead to them, headings don't skip
// a level, and the page refers to nothing else.
func TestPage(t *testing.T) {
	p := &Page{Title: hostile, Lead: hostile, Sections: []Section{
		{Heading: hostile, Text: []string{hostile}, Facts: [][2]string{{hostile, hostile}}, Code: hostile,
			Tables: []Table{{Caption: hostile, Head: []string{hostile, "b"}, Rows: [][]string{{hostile, hostile}}}, {Caption: "none", Head: []string{"a"}}}},
		{Heading: "Pictures", Figures: []*Figure{Margins([]float64{1, -1}, make([]bool, 2)), Best([]float64{0, 1}, []float64{3, 2})}}}}
	page := p.HTML()
	for _, bad := range []string{"<script", "<img", "onerror=y>", "\x00", "\u202e", "http://", "https://", "url(h", "@import"} {
		if strings.Contains(strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, ""), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if ids[m[1]] {
			t.Errorf("two elements are %q", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:aria-labelledby="|href="#|url\(#)([^")]*)`).FindAllStringSubmatch(page, -1) {
		for name := range strings.FieldsSeq(m[1]) {
			if !ids[name] {
				t.Errorf("nothing is %q", name)
			}
		}
	}
	if heads := len(regexp.MustCompile(`<th>|<th `).FindAllString(page, -1)); heads == 0 || heads != strings.Count(page, `<th scope="`) {
		t.Errorf("%d heads of cells, not all with a scope", heads)
	}
	if strings.Count(page, "<h1>") != 1 || strings.Index(page, "<h2") < strings.Index(page, "<h1>") || strings.Index(page, "<pre>") > strings.Index(page, "<table") || strings.Count(page, `role="img"`) != 2 ||
		!strings.Contains(page, `<html lang="en">`) || strings.Contains(page, "none</h3>") {
		t.Errorf("headings or pictures are wrong: %s", page)
	}
}
