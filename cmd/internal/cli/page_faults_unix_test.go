//go:build unix

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// leastLetter is the least size of letters in pixels. leastContrast is the least contrast of a text with its background
// (WCAG 2.2, 1.4.3).
const (
	leastLetter   = 10
	leastContrast = 4.5
)

// pageFigures is JavaScript that measures a page. It returns the excess of the page's width over the window's, the smallest
// letter of pictures, the least contrast of a text and that text, texts outside of their pictures, pictures without a
// title or description, the numbers of tables and pictures that the tree of nodes must have, and the language.
const pageFigures = `(() => {
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

// faults shows the page of a file, and returns its faults: console messages, parts that are wider than the window,
// small or faint letters, and missing information for a screen reader.
func (b *browser) faults(path string, look look) (found []string) {
	b.t.Helper()
	wrong := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, line := range b.show(path, look) {
		wrong("the console says %s", line)
	}
	var f struct {
		Wide, Letter, Contrast float64
		Faint, Lang            string
		Out                    []string
		Untold                 int // pictures without a title or a description
		Tables, Pictures       int
	}
	b.eval(pageFigures, &f)
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
	return append(found, heard(b.nodes(), f.Tables, f.Pictures)...)
}

// heard returns the faults for a screen reader: headings that skip a level, tables and pictures that are missing or
// have no name, regions without a name, and missing landmarks.
func heard(nodes []screenNode, tables, pictures int) (found []string) {
	level, count := 0, map[string]int{}
	for _, n := range nodes {
		role := strings.ToLower(n.role)
		count[role]++
		switch role {
		case "heading":
			if n.level > level+1 || n.level == 1 && count[role] > 1 {
				found = append(found, fmt.Sprintf("the heading %q of level %d follows one of level %d", n.name, n.level, level))
			}
			level = n.level
		case "image", "img", "table", "region", "navigation", "link":
			if n.name == "" {
				found = append(found, "a "+role+" has no name")
			}
		}
	}
	for role, want := range map[string]int{"main": 1, "navigation": 1, "table": tables} {
		if count[role] != want {
			found = append(found, fmt.Sprintf("%d of the role %s, want %d", count[role], role, want))
		}
	}
	if got := count["image"] + count["img"]; got != pictures {
		found = append(found, fmt.Sprintf("%d pictures, want %d", got, pictures))
	}
	return found
}

// TestPageFaults: each fault of a page is found, and a page without any has none.
func TestPageFaults(t *testing.T) {
	if require.Small() {
		t.Skip("SKIPPED: a browser takes seconds")
	}
	b := startBrowser(t)
	good := `<!doctype html><html lang="en"><title>t</title><style>body{background:#fff;color:#000}svg{width:100px}</style><main><nav aria-label="n"><a href="#a">a</a></nav><h1>1</h1><h2 id="a">2</h2>` +
		`<table aria-label="t"><tr><th scope="row">r</th><td>d</td></tr></table><svg role="img" aria-labelledby="x y" viewBox="0 0 100 20"><title id="x">x</title><desc id="y">y</desc><text x="0" y="15" font-size="12">in</text></svg></main>`
	for _, c := range []struct{ old, replaced, want string }{
		{"", "", ""},
		{"</main>", "<script>console.log(1)</script></main>", "the console says"},
		{"</main>", `<img src="none.png" alt="none"></main>`, "the console says"},
		{"<h1>1</h1>", `<h1 style="width:3000px">1</h1>`, "wider than the window"},
		{`font-size="12"`, `font-size="9"`, "letters of 9 pixels"},
		{"color:#000", "color:#999", "the contrast of"},
		{`x="0" y="15"`, `x="95" y="15"`, "reach out of their pictures"},
		{` lang="en"`, "", "its language"},
		{"<h2", "<h4", "of level 4 follows one of level 1"},
		{`<desc id="y">y</desc>`, "", "no title or no description"},
		{` aria-label="t"`, "", "a table has no name"},
		{` role="img" aria-labelledby="x y"`, ` aria-hidden="true"`, "0 pictures, want 1"},
		{"main>", "div>", "0 of the role main"},
	} {
		path := filepath.Join(t.TempDir(), "page.html")
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(good, c.old, c.replaced)), 0o600))
		if c.old == "" {
			require.NoError(t, os.WriteFile(path, []byte(good), 0o600))
		}
		faults := strings.Join(b.faults(path, look{width: 400}), "\n")
		if !strings.Contains(faults, c.want) || (faults == "") != (c.want == "") {
			t.Errorf("%q for %q: the faults are %q, want %q", c.replaced, c.old, faults, c.want)
		}
	}
}
