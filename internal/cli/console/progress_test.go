package console

import (
	"io"
	"strings"
	"testing"
	"time"

	"halfspace/internal/say"
)

// TestProgressLines: where nobody watches, progress is lines of text, the first of a stage at once and then fewer and fewer.
func TestProgressLines(t *testing.T) {
	var out strings.Builder
	p := New(t.Context(), io.Discard, &out).NewProgress("always")
	start := time.Unix(1e9, 0)
	for second := range 600 {
		p.line("training", ": epoch "+say.Count(int64(second)), int64(second), 600, start.Add(time.Duration(second)*time.Second))
	}
	p.line("evaluating", "", 3, -1, start)
	p.Show("evaluating", "", 4, -1)
	p.End()
	want := []int{0, 2, 6, 14, 30, 62, 122, 182, 242, 302, 362, 422, 482, 542}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) < len(want)+1 || lines[len(want)] != "evaluating" {
		t.Fatalf("lines are %q", lines)
	}
	for i, second := range want {
		if text := "training: epoch " + say.Count(int64(second)) + ", " + say.Percent(float64(second)/600); lines[i] != text {
			t.Errorf("line %d is %q, want %q", i, lines[i], text)
		}
	}
	if strings.ContainsFunc(out.String(), func(r rune) bool { return r < ' ' && r != '\n' }) {
		t.Errorf("there are control characters in %q", out.String())
	}
}
