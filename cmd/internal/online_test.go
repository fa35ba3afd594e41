package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// feed puts text on standard input, and an end behind it if that is asked for. What it returns is closed once all is on its way.
func feed(t *testing.T, text string, end bool) <-chan struct{} {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	stdin := os.Stdin
	os.Stdin = r
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.WriteString(w, text) // fails where nobody reads on
		if end {
			w.Close()
		}
	}()
	t.Cleanup(func() {
		w.Close()
		r.Close()
		<-done
		os.Stdin = stdin
	})
	return done
}

// TestOnlineInterruptedStream: an interrupt comes while a stream waits for more. The whole rows so far are learned, even if they are
// fewer than are parsed at a time.
func TestOnlineInterruptedStream(t *testing.T) {
	text, path := lines(20_000, "0", 0.1, 4), filepath.Join(t.TempDir(), "m.json")
	page := path + ".html"
	args := []string{"online", "-", "--label", "last", "--json", "--out", path, "--report", page}
	for _, with := range [][]string{nil, {"--model", path}} {
		ctx, cancel := context.WithCancel(context.Background())
		sent := feed(t, text[:len(text)-2], false) // without the end of the last line, and more than a pipe holds
		go func() {
			<-sent
			cancel()
		}()
		var stdout, stderr bytes.Buffer
		var r struct {
			Rows        int
			Interrupted bool
		}
		status := run(ctx, append(args, with...), &stdout, &stderr)
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || status != exitInterrupted || !r.Interrupted || r.Rows == 0 || r.Rows >= 20_000 {
			t.Fatalf("%v: status %d, %v, %q, %q", with, status, err, stdout.String(), stderr.String())
		}
		if !strings.Contains(read(t, page), "The run was interrupted.") {
			t.Errorf("the report doesn't tell of the interrupt")
		}
		got := read(t, path)
		if with == nil {
			feed(t, strings.Join(strings.SplitAfter(text, "\n")[:r.Rows], ""), true)
			succeed(t, args...)
			if want := read(t, path); got != want {
				t.Errorf("interrupted after %d rows, the model is\n%s\nthat of those rows is\n%s", r.Rows, got, want)
			}
		}
	}
}

// TestOnlineStream: standard input goes by once, in whatever pieces it comes, and is learned from as a file is. What only a second
// pass could tell isn't reported.
func TestOnlineStream(t *testing.T) {
	dir := t.TempDir()
	csv, model1, model2 := filepath.Join(dir, "x.csv"), filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	rows := "a,b,y\n" + lines(600_000, "0", 0.1, 9) // more than the first rows, which tell the columns
	require.NoError(t, os.WriteFile(csv, []byte(rows), 0o666))
	feed := func(text string) { t.Helper(); feed(t, text, true) }
	want := decode(t, "online", csv, "--label", "y", "--out", model1, "--json")
	for name, label := range map[string]string{"x.csv": "y", "x.arrow": "y", "x.svm": "label"} {
		path := filepath.Join(dir, name)
		if name != "x.csv" {
			if require.Small() {
				continue
			}
			succeed(t, "convert", csv, "--label", "y", "--out", path)
		}
		feed(read(t, path))
		got := decode(t, "online", "-", "--label", label, "--out", model2, "--json")
		if got["errors"] != nil || got["margin"] != nil || got["radius"] != want["radius"] || !reflect.DeepEqual(got["progressive"], want["progressive"]) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		a, b := loadedModel(t, model1), loadedModel(t, model2)
		if !reflect.DeepEqual(a.Weights, b.Weights) || a.Data != b.Data || b.Training.Errors != nil || *b.Training.Mistakes != *a.Training.Mistakes {
			t.Errorf("%s: %v and %v, want %v and %v", name, b.Data, b.Training, a.Data, a.Training)
		}
	}
	feed(rows)
	if text := succeed(t, "online", "-", "--label", "y", "--model", model1); !strings.Contains(text, "600,000 rows, each predicted") || strings.Contains(text, "bound") {
		t.Errorf("going on says\n%s", text)
	}
	for text, want := range map[string]string{
		"a,y\n1,0\n":                       "training takes two",
		"a,y\n":                            "no rows",
		rows + "1,1,2\n":                   `column "y", line 600002, row 600000: 2 is no class of the first rows, which have 0, 1: change the label, or leave the row out`,
		rows + "nonsense,1,1\n":            `line 600002, column "a": "nonsense" is not a number`,
		strings.Repeat("1,0\n", 4) + "1\n": "line 5",
	} {
		if len(text) > 1<<20 && require.Small() {
			continue
		}
		feed(text)
		if status, _, stderr := command("online", "-", "--label", "last", "--out", model2); status != exitFailed || !strings.Contains(stderr, want) {
			t.Errorf("status %d, %q, want %q", status, stderr, want)
		}
	}
}
