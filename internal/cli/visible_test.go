package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestVisible: names of files, columns and classes reach the terminal as visible text in short lines, and JSON as they are.
func TestVisible(t *testing.T) {
	const clear, forged = "\x1b[2J\u009b2J", "x\nnote: forged"
	long := strings.Repeat("n", 1<<16)
	dir := t.TempDir()
	data, model := filepath.Join(dir, "a\x1b]0;title\a.csv"), filepath.Join(dir, "\u202em.json")
	text := strings.Join([]string{`"` + clear + `"`, `"` + forged + `"`, long, "label"}, ",") + "\n" + strings.Repeat("1,2,3,a\x1b[31m\n2,5,7,b\n", 20)
	if err := os.WriteFile(data, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	visible := func(text string, args ...string) {
		t.Helper()
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			hidden := strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == utf8.RuneError })
			if hidden || utf8.RuneCountInString(line) > 1200 || strings.HasPrefix(line, "note: forged") {
				t.Errorf("%q: line %.300q", args, line)
			}
		}
	}
	for _, args := range [][]string{
		{"train", data, "--label", "label", "--algo", "perceptron", "--out", model, "--epochs", "3"},
		{"train", data, "--label", "label", "--algo", "logistic", "--l2", "1"},
		{"inspect", data}, {"inspect", model}, {"eval", "--model", model, data}, {"check", data, "--label", "label"},
		{"compare", data, "--label", "label", "--cv", "2"},
		{"convert", data, "--out", filepath.Join(dir, "\a.parquet")}, {"inspect", filepath.Join(dir, "\a.parquet")},
		{"predict", "--model", model, data, "--out", filepath.Join(dir, "\a.csv")},
		{"train", data, "--label", "\x1b[2J", "--algo", "perceptron"},
		{"train", data, "--label", "label", "--algo", "perceptron", "--features", long},
		{"train", data, "--label", "label", "--algo", "perceptron", "--" + long},
		{"train", data, "--label", "label", "--algo", "\x1b[2J"},
		{"inspect", filepath.Join(dir, "\x1b[2J")},
		{"online", data, "--label", "label"},
	} {
		_, stdout, stderr := command(args...)
		visible(stdout+stderr, args...)
	}
	_, stdout, _ := command("inspect", data, "--json")
	var r struct{ Columns []struct{ Name string } }
	if err := json.NewDecoder(bytes.NewReader([]byte(stdout))).Decode(&r); err != nil || len(r.Columns) != 4 || r.Columns[0].Name != clear || r.Columns[1].Name != forged {
		t.Errorf("columns %.100q, error %v", r.Columns, err)
	}
}

// TestManyWorkers: no verb makes room for as many workers as somebody may type.
func TestManyWorkers(t *testing.T) {
	data := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(data, []byte("x,label\n"+strings.Repeat("1,a\n2,b\n2,a\n3,b\n", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "m.json")
	for _, args := range []string{"train DATA --label label --algo averaged --out " + model, "train DATA --label label --algo lda", "train DATA --label label --algo dual",
		"check DATA --label label", "online DATA --label label", "compare DATA --label label --cv 2", "eval --model " + model + " DATA",
		"convert DATA --out " + model + ".csv"} {
		args := append(strings.Fields(strings.ReplaceAll(args, "DATA", data)), "--workers", "9223372036854775807")
		if status, _, stderr := command(args...); status != exitDone {
			t.Errorf("%q: status %d, %s", args, status, stderr)
		}
	}
}
