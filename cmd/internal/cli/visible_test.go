package cli

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"halfspace/internal/require"
)

// TestVisible: names of files, columns and classes reach the terminal as visible text in short lines, also in JSON, which has the names as
// they are. Pictures have them as text, not as marks.
func TestVisible(t *testing.T) {
	inParallel(t)
	const clearScreen, forged, marks = "\x1b[2J\u009b2J", "x\nnote: forged", `<b onload="x">&'\"`
	long := strings.Repeat("n", 1<<16)
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data, model, receipt := in("a\x1b]0;title\a<b>.csv"), in("\u202em.json"), in("\u009br\n.json")
	text := strings.Join([]string{`"` + clearScreen + `"`, `"` + forged + `"`, long, `"` + strings.ReplaceAll(marks, `"`, `""`) + `"`, "label"}, ",") + "\n" +
		strings.Repeat("1,2,3,4,a\x1b[31m\n2,5,7,6,b\u202e<i>\n", 20)
	require.NoError(t, os.WriteFile(data, []byte(text), 0o600))
	visible := func(text string, longest int, args []string) {
		t.Helper()
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			hidden := strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == utf8.RuneError })
			if hidden || utf8.RuneCountInString(line) > longest || strings.HasPrefix(line, "note: forged") {
				t.Errorf("%.300q: line %.300q", args, line)
			}
		}
	}
	done := 0
	for _, args := range [][]string{
		{"train", data, "--label", "label", "--algo", "perceptron", "--out", model, "--receipt", receipt, "--epochs", "3"},
		{"train", data, "--label", "label", "--algo", "logistic", "--l2", "1", "--cv", "2"},
		{"train", data, "--label", "label", "--cache", in("c\a")}, {"train", data, "--label", "label", "--cache", in("c\a"), "--nulls", "drop"},
		{"verify", "--model", model, data, "--receipt", receipt}, {"verify", "--model", model, in("\a.csv"), "--receipt", receipt},
		{"inspect", data}, {"inspect", model}, {"eval", "--model", model, data, "--roc", in("\x1broc.csv")}, {"check", data, "--label", "label"},
		{"eval", "--model", model, "--model", model, data},
		{"compare", data, "--label", "label", "--cv", "2"},
		{"convert", data, "--out", in("\a.parquet")}, {"inspect", in("\a.parquet")},
		{"predict", "--model", model, data, "--out", in("\a.csv"), "--keep", "*"},
		{"online", data, "--label", "label", "--out", in("\ao.json")},
		{"gen", "--rows", "10", "--noise", "0.1", "--out", in("\u009bg.csv")},
		{"plot", "weights", "--model", model, "--out", in("\x1b.svg")},
		{"train", data, "--label", "\x1b[2J", "--algo", "perceptron"},
		{"train", data, "--label", "label", "--algo", "perceptron", "--features", long},
		{"train", data, "--label", "label", "--algo", "perceptron", "--" + long},
		{"train", data, "--label", "label", "--algo", "\x1b[2J"},
		{"train", data, "--label", "label", "--class-weight", "\x1b=2"}, {"train", data, "--label", "label", "--positive", "\u202e"},
		{"inspect", in("\x1b[2J")}, {"verify", "--model", data, "--receipt", receipt, data}, {"predict", "--model", in("\x1b"), data, "--out", in("\ap.csv")}, {"\x1b[2J"},
		{"convert", data, "--out", in("none\x1b/x.csv")}, {"bench", "\x1b"}, {"version", "\x1b"}, {"help", "\x1b"}, {"online", in("\x1b")},
	} {
		status, stdout, stderr := command(args...)
		visible(stdout+stderr, 1200, args)
		if status == exitDone {
			done++
		}
		if args[0] == "bench" || args[0] == "plot" || len(args) < 2 || args[0] == "version" || args[0] == "help" {
			continue
		}
		again, stdout, stderr := command(append(slices.Clone(args), "--json")...)
		visible(stdout, 1<<18, args)
		visible(stderr, 1200, args)
		if status != again || stdout != "" && !json.Valid([]byte(stdout)) {
			t.Errorf("%.300q: status %d, with --json %d: %.300s", args, status, again, stdout)
		}
	}
	if done < 15 {
		t.Errorf("%d command lines are right", done)
	}
	_, stdout, _ := command("inspect", data, "--json")
	var r struct{ Columns []struct{ Name string } }
	if err := json.NewDecoder(bytes.NewReader([]byte(stdout))).Decode(&r); err != nil || len(r.Columns) != 5 || r.Columns[0].Name != clearScreen ||
		r.Columns[1].Name != forged || r.Columns[3].Name != marks {
		t.Errorf("columns %.100q, error %v", r.Columns, err)
	}
	picture, err := os.Open(in("\x1b.svg"))
	require.NoError(t, err)
	defer picture.Close()
	for d := xml.NewDecoder(picture); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if e, ok := token.(xml.StartElement); err != nil || ok && e.Name.Local == "b" {
			t.Fatalf("the picture has %v, error %v", token, err)
		}
	}
}
