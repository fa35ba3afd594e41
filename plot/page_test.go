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
		{Heading: "Pictures", Figures: []*Figure{Margins([]float64{1, -1}, make([]bool, 2)), KeptErrors([]float64{0, 1}, []float64{3, 2})}}}}
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

// TestText: the text has each part of the page, aligned columns, and no control character.
func TestText(t *testing.T) {
	p := &Page{Title: hostile, Lead: "A lead.", Sections: []Section{
		{Heading: "Rows", Text: []string{"Some text."}, Facts: [][2]string{{"errors", hostile}}, Code: "halfspace x",
			Tables: []Table{{Caption: "Classes", Head: []string{"class", "n"}, Rows: [][]string{{"é", "1,000"}, {"second", "2"}}}, {Caption: "none", Head: []string{"a"}}}},
		{Heading: "Pictures", Figures: []*Figure{Samples([]float64{10, 100}, []int64{5, 1}, []int64{10, 10})}}}}
	text := p.Text()
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x202e }) {
		t.Errorf("%q", text)
	}
	for _, part := range []string{"A lead.\n", "Rows\n----\n\nSome text.\n\n    halfspace x\n\nerrors: ", "\nClasses\n\nclass       n\né       1,000\nsecond      2\n", "\nLearning curve (", "10 rows: 50.00 % wrong. 100 rows: 10.00 % wrong."} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
	if strings.Contains(text, "none") {
		t.Error("a table without rows")
	}
}
