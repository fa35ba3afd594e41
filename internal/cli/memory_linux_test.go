package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"halfspace/internal/race"
)

// peakOf runs the program in a process of its own and returns how much memory that had resident at most.
func peakOf(t *testing.T, args ...string) (peak int64, status int, stderr string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "peak")
	cmd := program(t, args...)
	var out bytes.Buffer
	cmd.Env, cmd.Stderr = append(cmd.Env, peakFile+"="+path), &out
	cmd.Run()
	text, err := os.ReadFile(path)
	if err == nil {
		peak, err = strconv.ParseInt(string(text), 10, 64)
	}
	if err != nil || peak < 1<<20 {
		t.Fatalf("%q had %d bytes at most (%v)", args, peak, err)
	}
	return peak, cmd.ProcessState.ExitCode(), out.String()
}

// TestMemoryOfVerbs: every verb that reads rows keeps to its memory, and 64 MiB for itself, or says what it needs. It tries every other
// case; make faults tries all.
func TestMemoryOfVerbs(t *testing.T) {
	if testing.Short() || race.Enabled {
		t.Skip("files of 100 MiB, and the race detector takes several times the memory")
	}
	const slack = 64 << 20
	numbers, texts, m := onePage(t, 4<<20, 0), onePage(t, 50_000, 2000), filepath.Join(t.TempDir(), "m.json") // pages of 32 and 95 MiB
	dir := t.TempDir()
	rows, record, csv := filepath.Join(dir, "rows.parquet"), filepath.Join(dir, "a.arrow"), filepath.Join(dir, "a.csv")
	succeed(t, "convert", texts, "--out", rows)
	succeed(t, "convert", texts, "--out", record)
	succeed(t, "convert", numbers, "--out", csv)
	small := write(t, "small.parquet", col{"a", []float64{1, -1, 2, -2}}, col{"b", []float64{1, -2, 1, -1}}, col{"label", []int64{1, 0, 1, 0}})
	succeed(t, "train", small, "--algo", "perceptron", "--label", "label", "--out", m)
	wide := filepath.Join(dir, "wide.parquet")
	succeed(t, "gen", "--rows", "3000", "--features", "600", "--margin", "1", "--out", wide)
	long := filepath.Join(dir, "long.csv")
	if err := os.WriteFile(long, []byte("a,b,label\n"+strings.Repeat("1,2,1\n3,-4,0\n", 3_000_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	out := func(ext string) string { return filepath.Join(dir, "out."+ext) }
	for i, c := range []struct {
		args      []string
		mib       int
		needsMore bool
	}{
		{[]string{"predict", "--model", m, numbers, "--out", out("parquet")}, 100, true},
		{[]string{"predict", "--model", m, numbers, "--out", out("parquet")}, 300, false},
		{[]string{"eval", "--model", m, numbers}, 100, true},
		{[]string{"eval", "--model", m, numbers}, 300, false},
		{[]string{"online", "--label", "label", numbers}, 100, true},
		{[]string{"online", "--label", "label", numbers}, 300, false},
		{[]string{"convert", numbers, "--out", out("parquet")}, 100, true},
		{[]string{"convert", numbers, "--out", out("arrow")}, 350, false},
		{[]string{"convert", texts, "--out", out("parquet")}, 100, true},
		{[]string{"predict", "--model", m, rows, "--keep", "*", "--out", out("parquet")}, 100, false},
		{[]string{"predict", "--model", m, rows, "--keep", "*", "--out", out("csv")}, 64, false},
		{[]string{"convert", rows, "--out", out("parquet")}, 100, false},
		{[]string{"convert", rows, "--out", out("csv")}, 64, false},
		{[]string{"predict", "--model", m, record, "--keep", "text", "--out", out("arrow")}, 200, false},
		{[]string{"inspect", record}, 64, false},
		{[]string{"check", "--label", "label", wide}, 40, true}, // 14 MiB of rows, and 27 that the search holds
		{[]string{"check", "--label", "label", wide}, 64, false},
		{[]string{"eval", "--model", m, long}, 64, true}, // 51 MiB of scores
		{[]string{"eval", "--model", m, long}, 128, false},
		{[]string{"inspect", csv}, 64, false},
		{[]string{"convert", csv, "--workers", "16", "--out", out("arrow")}, 64, false},
		{[]string{"eval", "--model", m, csv, "--workers", "16"}, 64, false},
		{[]string{"online", "--label", "label", csv, "--workers", "16"}, 64, false},
	} {
		if i%2 == 1 && *faultTable == "" {
			continue
		}
		peak, status, stderr := peakOf(t, append(c.args, "--memory", fmt.Sprint(c.mib, "MiB"))...)
		name := fmt.Sprintf("%s %s within %d MiB", c.args[0], filepath.Base(c.args[len(c.args)-1]), c.mib)
		t.Logf("%s: %d MiB", name, peak>>20)
		switch {
		case peak > int64(c.mib)<<20+slack:
			t.Errorf("%s: it took %.1f MiB", name, float64(peak)/(1<<20))
		case !c.needsMore && status != exitDone:
			t.Errorf("%s: status %d, %s", name, status, stderr)
		case c.needsMore && (status != exitFailed || !strings.Contains(stderr, "give ") || !strings.Contains(stderr, "with --memory")):
			t.Errorf("%s: status %d, %q, want an error that asks for more", name, status, stderr)
		}
	}
}
