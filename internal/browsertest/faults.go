package browsertest

import (
	"fmt"
	"strings"
)

// leastLetter is the least size of letters in pixels. leastContrast is the least contrast of a text with its background
// (WCAG 2.2, 1.4.3).
const (
	leastLetter   = 10
	leastContrast = 4.5
)

// figures is JavaScript that measures a page. It returns the excess of the page's width over the window's, the smallest
// letter of pictures, the least contrast of a text and that text, texts outside of their pictures, pictures without a
// title or description, the numbers of tables and pictures that the tree of Nodes must have, and the language.
const figures = `(() => {
	const all = s => [...document.querySelectorAll(s)];
	const light = c => { const [r, g, b] = c.match(/[\d.]+/g).map(v => { v /= 255; return v <= 0.04045 ? v/12.92 : ((v+0.055)/1.055)**2.4 }); return 0.2126*r + 0.7152*g + 0.0722*b };
	const contrast = (a, b) => (Math.max(a, b) + 0.05)/(Math.min(a, b) + 0.05);
	let faint = [100, ""];
	for (const e of all("h1,h2,h3,p,a,th,td,pre,figcaption,svg text")) {
		const style = getComputedStyle(e), paper = getComputedStyle(e.closest("pre") || document.body).backgroundColor;
		const c = contrast(light(e.closest("svg") ? style.fill : style.color), light(paper));
		if (c < faint[0]) faint = [c, e.textContent];
	}
	const letters = all("svg text").map(e => { const m = e.getScreenCTM(); return parseFloat(getComputedStyle(e).fontSize)*Math.hypot(m.a, m.b) });
	return {Wide: document.documentElement.scrollWidth - innerWidth, Letter: Math.min(1000, ...letters), Contrast: faint[0], Faint: faint[1],
		Out: all("svg text").filter(e => { const b = e.getBoundingClientRect(), s = e.ownerSVGElement.getBoundingClientRect(); return b.left < s.left-1 || b.right > s.right+1 }).map(e => e.textContent),
		Untold: all("svg").filter(e => !e.querySelector(":scope>title")?.textContent || !e.querySelector(":scope>desc")?.textContent).length,
		Tables: all("table").length, Pictures: all("svg").length, Lang: document.documentElement.lang};
})()`

// Faults shows the page of a file, and returns its faults: console messages, parts that are wider than the window,
// small or faint letters, and missing information for a screen reader.
func (b *Browser) Faults(path string, look Look) (faults []string) {
	b.t.Helper()
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, line := range b.Show(path, look) {
		wrong("the console says %s", line)
	}
	var f struct {
		Wide, Letter, Contrast float64
		Faint, Lang            string
		Out                    []string
		Untold                 int // pictures without a title or a description
		Tables, Pictures       int
	}
	b.Eval(figures, &f)
	if f.Wide > 0 {
		wrong("it is %v pixels wider than the window", f.Wide)
	}
	if f.Letter < leastLetter {
		wrong("a picture has letters of %v pixels", f.Letter)
	}
	if f.Contrast < leastContrast {
		wrong("the contrast of %q is %.2f", f.Faint, f.Contrast)
	}
	if len(f.Out) > 0 {
		wrong("texts reach out of their pictures: %q", f.Out)
	}
	if f.Untold > 0 {
		wrong("%d pictures have no title or no description", f.Untold)
	}
	if f.Lang != "en" {
		wrong("its language is %q", f.Lang)
	}
	faults = append(faults, heard(b.Nodes(), f.Tables, f.Pictures)...)
	return faults
}

// heard returns the faults for a screen reader: headings that skip a level, tables and pictures that are missing or
// have no name, regions without a name, and missing landmarks.
func heard(nodes []Node, tables, pictures int) (faults []string) {
	level, count := 0, map[string]int{}
	for _, n := range nodes {
		role := strings.ToLower(n.Role)
		count[role]++
		switch role {
		case "heading":
			if n.Level > level+1 || n.Level == 1 && count[role] > 1 {
				faults = append(faults, fmt.Sprintf("the heading %q of level %d follows one of level %d", n.Name, n.Level, level))
			}
			level = n.Level
		case "image", "img", "table", "region", "navigation", "link":
			if n.Name == "" {
				faults = append(faults, "a "+role+" has no name")
			}
		}
	}
	for role, want := range map[string]int{"main": 1, "navigation": 1, "table": tables} {
		if count[role] != want {
			faults = append(faults, fmt.Sprintf("%d of the role %s, want %d", count[role], role, want))
		}
	}
	if got := count["image"] + count["img"]; got != pictures {
		faults = append(faults, fmt.Sprintf("%d pictures, want %d", got, pictures))
	}
	return faults
}
