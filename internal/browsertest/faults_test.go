package browsertest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/internal/require"
	"halfspace/internal/testsize"
)

// TestPageFaults: each fault of a page is found, and a page without any has none.
func TestPageFaults(t *testing.T) {
	if testsize.Small() {
		t.Skip("SKIPPED: a browser takes seconds")
	}
	b := Start(t)
	good := `<!doctype html><html lang="en"><title>t</title><style>body{background:#fff;color:#000}svg{width:100px}</style><main><nav aria-label="n"><a href="#a">a</a></nav><h1>1</h1><h2 id="a">2</h2>` +
		`<table aria-label="t"><tr><th scope="row">r</th><td>d</td></tr></table><svg role="img" aria-labelledby="x y" viewBox="0 0 100 20"><title id="x">x</title><desc id="y">y</desc><text x="0" y="15" font-size="12">in</text></svg></main>`
	for _, c := range []struct{ old, new, want string }{
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
		require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(good, c.old, c.new)), 0o600))
		if c.old == "" {
			require.NoError(t, os.WriteFile(path, []byte(good), 0o600))
		}
		faults := strings.Join(b.Faults(path, Look{Width: 400}), "\n")
		if !strings.Contains(faults, c.want) || (faults == "") != (c.want == "") {
			t.Errorf("%q for %q: the faults are %q, want %q", c.new, c.old, faults, c.want)
		}
	}
}
