package humanize

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLine: what a text does to a terminal is escaped, and a long text keeps its two ends.
func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"größe, 重さ 🙂 100 %":                     "größe, 重さ 🙂 100 %",
		"a\x1b[2Jb\a":                           `a\x1b[2Jb\a`,
		"a\nb\r\nc":                             "a b c",
		"tab\t, C1 \u009b, \x9b and \x7f":       `tab\t, C1 \u009b, \x9b and \x7f`,
		"turned \u202e, mark \u200f":            `turned \u202e, mark \u200f`,
		`C:\dir "quoted"`:                       `C:\dir "quoted"`,
		"�":                                     "�",
		strings.Repeat("ü", longestLine):        strings.Repeat("ü", longestLine),
		strings.Repeat("\x01", 3*longestLine):   "",
		strings.Repeat("ü", longestLine) + "az": "",
	} {
		got := Line(text)
		if want != "" && got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if n := utf8.RuneCountInString(got); n > longestLine || want == "" && (n < longestLine-10 || !strings.Contains(got, " ... ")) {
			t.Errorf("%d characters of %.40q", n, text)
		}
	}
	if got := WithoutMiddle("0123456789abcdefghij", 11); got != "012 ... hij" {
		t.Errorf("%q", got)
	}
}

// TestVisibleJSON: what a text does to a terminal is escaped, and the values stay the same.
func TestVisibleJSON(t *testing.T) {
	for _, text := range []string{"größe, 重さ 🙂", "a\x1b[2J\a\x7f", "C1 \u009b, \u00a0", "turned \u202e", "\U000e0001 tag", "<b> & \"quoted\""} {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(text); err != nil {
			t.Fatal(err)
		}
		got := EscapeControlsJSON(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
		var back string
		if err := json.Unmarshal(got, &back); err != nil || back != text || EscapeControls(string(got)) != string(got) {
			t.Errorf("%q became %s, and then %q, %v", text, got, back, err)
		}
	}
}
