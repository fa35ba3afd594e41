package cli

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"halfspace/internal/parallel"
	"halfspace/internal/require"
	"halfspace/kernel"
)

var faultTable = flag.String("faults", "", "a file that TestFaults writes its table to; without it the test is skipped")

// A verb is interrupted after faultTime: it may have terabytes to write. It must end within faultEnd then.
const (
	faultTime = 20 * time.Second
	faultEnd  = 20 * time.Second
)

// faultModels are the features of the models that faults are scored with, where these aren't "x".
var faultModels = map[string][]string{"pages.parquet": {"x0", "x299"}, "dictionaries.parquet": {"x0", "x299"}, "list.parquet": {"x[0]", "x[7999999]"},
	"names.csv": {"c0"}, "hash.csv.gz": {"c0"}, "columns.csv": {"c0", "c262142"}, "features.svm": {"f1", "f262144"},
	"record.svm": {"f1"}}

// TestFaults: a verb takes at most 1.25 times its memory and 64 MiB more, or refuses in a line.
func TestFaults(t *testing.T) {
	if *faultTable == "" || parallel.RaceEnabled {
		t.Skip("takes minutes: use -faults FILE")
	}
	table := fmt.Sprintf(faultHead, cmp.Or(kernel.DetectedCPU().Brand, "unknown"), runtime.GOMAXPROCS(0))
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			dir := t.TempDir()
			path, err := f.file(dir)
			require.NoError(t, err)
			var all faultSum
			for _, args := range faultVerbs(t, f, dir, path) {
				tryFault(t, args, &all)
			}
			table += fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %d | %.1f |\n", f.name, f.about, all.tries, all.done, all.refused, all.interrupted, all.peak>>20, all.took.Seconds())
		})
	}
	require.NoError(t, os.WriteFile(*faultTable, []byte(table), 0o666))
}

// faultHead says how to read the table.
const faultHead = `# Files that ask for much

` + "`make faults`" + ` writes this table. It runs commands that read rows or models on each file, with ` + "`--memory 64MiB`" + `.
A command may take 1.25 times that and 64 MiB, so 144 MiB. It is done, or it refuses the file in one line. What still
runs after 20 s is interrupted: it has gigabytes to write, or many rows to learn from. Processor: %s, with %d threads.

| file | what it is | commands | done | refused | interrupted | most memory, MiB | longest, s |
|---|---|---|---|---|---|---|---|
`

// A faultSum is what the verbs made of a fault.
type faultSum struct {
	tries, done, refused, interrupted int

	peak int64         // bytes
	took time.Duration // the longest
}

// faultVerbs returns the command lines to try.
func faultVerbs(t *testing.T, f fault, dir, path string) (lines [][]string) {
	t.Helper()
	model := path
	if strings.HasSuffix(path, ".json") {
		path = filepath.Join(dir, "rows.csv")
		require.NoError(t, os.WriteFile(path, []byte("x,label\n1,1\n-1,0\n"), 0o600))
		return [][]string{{"inspect", model}, {"predict", "--model", model, path, "--out", filepath.Join(dir, "out.csv")}, {"eval", "--model", model, path}}
	}
	model = filepath.Join(dir, "small.json")
	features := faultModels[f.name]
	if features == nil {
		features = []string{"x"}
	}
	small := filepath.Join(dir, "small.csv")
	header := strings.Join(features, ",")
	row := func(v string) string { return strings.Join(slices.Repeat([]string{v}, len(features)), ",") }
	require.NoError(t, os.WriteFile(small, fmt.Appendf(nil, "%s,label\n%s,1\n%s,0\n", header, row("1"), row("-1")), 0o600))
	succeed(t, "train", small, "--label", "label", "--algo", "perceptron", "--out", model)
	out := func(ext string) string { return filepath.Join(dir, "out."+ext) }
	label := []string{"--label", "label"}
	if strings.HasSuffix(path, ".svm") {
		label = nil
	}
	for _, verb := range []string{"train --algo averaged", "train --algo logistic", "train --algo averaged --categorical onehot", "train --algo averaged --categorical hash:16",
		"check", "online", "compare"} {
		lines = append(lines, slices.Concat(strings.Fields(verb), label, []string{path}))
	}
	for _, ext := range []string{"parquet", "csv", "arrow"} {
		lines = append(lines, []string{"convert", path, "--out", out(ext)}, []string{"predict", "--model", model, path, "--keep", "*", "--out", out(ext)})
	}
	return append(lines, []string{"inspect", path}, []string{"eval", "--model", model, path}, []string{"predict", "--model", model, path, "--out", out("csv")})
}

// tryFault runs the program in a process of its own.
func tryFault(t *testing.T, args []string, all *faultSum) {
	t.Helper()
	const memory = 64 << 20
	name := strings.Join(args, " ")
	name = strings.ReplaceAll(name, filepath.Dir(args[len(args)-1])+"/", "")
	args = append(args, "--memory", "64MiB")
	peakPath := filepath.Join(t.TempDir(), "peak")
	cmd := program(t, args...)
	var out bytes.Buffer
	cmd.Env, cmd.Stderr = append(cmd.Env, peakFile+"="+peakPath, addressSpace+"=6442450944"), &out
	begin := time.Now()
	interrupt := time.AfterFunc(faultTime, func() { cmd.Process.Signal(os.Interrupt) })
	kill := time.AfterFunc(faultTime+faultEnd, func() { cmd.Process.Kill() })
	err := cmd.Run()
	interrupt.Stop()
	kill.Stop()
	took := time.Since(begin)
	text, _ := os.ReadFile(peakPath)
	peak, _ := strconv.ParseInt(string(text), 10, 64)
	all.tries, all.peak, all.took = all.tries+1, max(all.peak, peak), max(all.took, took)
	switch cmd.ProcessState.ExitCode() {
	case exitDone:
		all.done++
	case exitFailed:
		all.refused++
	case exitInterrupted:
		all.interrupted++
	}
	last := out.String()
	if i := strings.LastIndexByte(strings.TrimSpace(last), '\n'); i >= 0 && peak > 0 {
		last = last[i+1:]
	}
	t.Logf("%-70s %5d MiB %6.1f s %d %.300s", name, peak>>20, took.Seconds(), cmd.ProcessState.ExitCode(), strings.TrimSpace(last))
	switch {
	case peak == 0:
		t.Errorf("%s: died (%v): %.300s", name, err, out.String())
	case peak > memory/4*5+64<<20:
		t.Errorf("%s: it took %d MiB", name, peak>>20)
	case cmd.ProcessState.ExitCode() == exitUsage || strings.Contains(out.String(), "runtime error") || strings.Contains(out.String(), "internal error"):
		t.Errorf("%s: %s", name, out.String())
	}
}

// TestPeakOfColumns: inspect takes little memory for a table of many columns, which it keeps counts of.
func TestPeakOfColumns(t *testing.T) {
	inParallel(t)
	if parallel.RaceEnabled {
		t.Skip("the race detector takes several times the memory")
	}
	var texts [997]string
	for i := range texts {
		texts[i] = fmt.Sprintf("%.3f", math.Sin(float64(i)))
	}
	cell := func(row, col int) string { return texts[(row*100_003+col*7)%len(texts)] }
	path, err := fault{name: "wide.csv", write: csvRows(100_000, 60, cell)}.file(t.TempDir())
	require.NoError(t, err)
	peak := filepath.Join(t.TempDir(), "peak")
	for options, most := range map[string]int64{"": 300 << 20, "--label label": 430 << 20} {
		least := int64(math.MaxInt64) // on a busy machine the garbage collector lags, so one run of three counts
		for range 3 {
			cmd := program(t, append([]string{"inspect", path}, strings.Fields(options)...)...)
			cmd.Env = append(cmd.Env, peakFile+"="+peak)
			require.NoError(t, cmd.Run())
			bytes, err := strconv.ParseInt(read(t, peak), 10, 64)
			require.NoError(t, err)
			if least = min(least, bytes); least <= most {
				break
			}
		}
		if least > most {
			t.Errorf("inspect %s: %d MiB, want %d MiB at most", options, least>>20, most>>20)
		}
	}
}
