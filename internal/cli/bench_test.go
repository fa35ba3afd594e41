package cli

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"halfspace/kernel"
)

// TestBench measures little, and compares it with itself and with other work.
func TestBench(t *testing.T) {
	dir := t.TempDir()
	roof, here, there, picture := filepath.Join(dir, "roof.svg"), filepath.Join(dir, "here.json"), filepath.Join(dir, "there.json"), filepath.Join(dir, "c.svg")
	little := []string{"bench", "--rounds", "1", "--time", "1ms", "--isa", kernel.Active().String(), "--only", "RankK,learner=voted"}
	report := succeed(t, append(little, "--json", "--roofline", roof)...)
	if !strings.Contains(report, `"format": "halfspace-bench/1"`) || !strings.Contains(report, "--only RankK,learner=voted") {
		t.Errorf("report is %s", report)
	}
	wellFormed(t, roof)
	if text := succeed(t, append(little, "--isa", "generic")...); !strings.Contains(text, "RankKUpdate float64 rows=32") || !strings.Contains(text, "Trainings") {
		t.Errorf("report is\n%s", text)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(here, report)
	write(there, report)
	if text := succeed(t, "bench", "compare", here, there, "--out", picture); !strings.Contains(text, "the same model of the one training") || !strings.Contains(text, "rows/s") ||
		!strings.Contains(text, "ratio") || !strings.Contains(text, "  1.00") || !strings.Contains(text, there+": ") {
		t.Errorf("comparison is\n%s", text)
	}
	wellFormed(t, picture)

	hash := regexp.MustCompile(`"sha256": "[0-9a-f]{8}`)
	for want, text := range map[string]string{
		"voted learned different models":           hash.ReplaceAllString(report, `"sha256": "00000000`),
		`its format is "halfspace-bench/0"`:        strings.ReplaceAll(report, "halfspace-bench/1", "halfspace-bench/0"),
		"there.json: not a report of bench --json": "{",
	} {
		write(there, text)
		status, stdout, stderr := command("bench", "compare", here, there)
		if status != exitFailed || stdout != "" || !isOneLine(stderr) || !strings.Contains(stderr, want) {
			t.Errorf("status %d, %q, %q, want %s", status, stdout, stderr, want)
		}
	}
}

// TestBenchNoFile: a file that isn't there is named with what to do.
func TestBenchNoFile(t *testing.T) {
	status, _, stderr := command("bench", "compare", "nothing.json", "nothing.json")
	if status != exitFailed || stderr != "halfspace: nothing.json: no such file or directory: check the path\n" {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// wellFormed checks that a file is an SVG that a parser of XML reads to its end.
func wellFormed(t *testing.T, path string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(read(t, path)))
	elements := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if _, ok := token.(xml.StartElement); ok {
			elements++
		}
	}
	if elements < 5 {
		t.Errorf("%s has %d elements", path, elements)
	}
}

// TestUsageBench: bench says what is wrong with its options.
func TestUsageBench(t *testing.T) {
	misused(t, []misuse{
		{"bench --json --benchmark-format", "choose one"},
		{"bench --rounds 0", "--rounds is 0: use 1 or more"},
		{"bench --time 0s", "--time is 0s: use a time above 0"},
		{"bench --time soon", "--time soon: use a time with its unit, such as 50ms"},
		{"bench --roofline -", "--roofline is -: name a file"},
		{"bench --isa mmx", "--isa: unknown instruction set"},
		{"bench comapre", "unknown command"},
		{"bench compare DATA", "fewer than two files: name two or more"},
		{"bench compare DATA DATA --out -", "--out is -: name a file"},
	})
}
