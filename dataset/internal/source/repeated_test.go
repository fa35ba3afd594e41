package source

import (
	"os"
	"slices"
	"testing"
	"time"

	"halfspace/internal/require"
)

// TestRepeated: a file that is named more than once, also by links, gets a note; equal files don't.
func TestRepeated(t *testing.T) {
	tree(t, "a.csv", "d/b.csv", "c.csv", "d/a.csv -> ../a.csv", "e.csv", "l.csv -> d/a.csv")
	require.NoError(t, os.Link("d/b.csv", "h.csv"))
	at := time.Now()
	for _, p := range []string{"a.csv", "c.csv", "e.csv"} { // of one size and time
		require.NoError(t, os.WriteFile(p, []byte("x\n1\n"), 0o600))
		require.NoError(t, os.Chtimes(p, at, at))
	}
	for _, c := range []struct{ paths, notes []string }{
		{[]string{"a.csv"}, nil},
		{[]string{"a.csv", "c.csv", "e.csv", "d/b.csv"}, nil},
		{[]string{"a.csv", "c.csv", "a.csv"}, []string{"a.csv is named twice: its rows count twice"}},
		{[]string{"a.csv", "./a.csv", "*.csv"}, []string{"a.csv is named 4 times, also as ./a.csv, l.csv: its rows count 4 times"}},
		{[]string{".", "a.csv"}, []string{"a.csv is named 4 times, also as d/a.csv, l.csv: its rows count 4 times", "d/b.csv is named twice, also as h.csv: its rows count twice"}},
		{[]string{"h.csv", "d"}, []string{"h.csv is named twice, also as d/b.csv: its rows count twice"}},
		{[]string{"c.csv", "c.csv", "e.csv", "e.csv", "a.csv", "a.csv", "h.csv", "h.csv"}, []string{"c.csv is named twice: its rows count twice", "e.csv is named twice: its rows count twice",
			"a.csv is named twice: its rows count twice", "further files are named more than once too, and their rows count as often"}},
		{[]string{"none.csv", "a.csv"}, nil},
	} {
		s, err := List(t.Context(), c.paths, csvFirst, Choice{})
		if c.paths[0] == "none.csv" {
			if err == nil {
				t.Errorf("%q: no error", c.paths)
			}
		} else if err != nil || !slices.Equal(s.Notes, c.notes) {
			t.Errorf("%q: notes %q, error %v, want %q", c.paths, s.Notes, err, c.notes)
		}
	}
}
