package cli

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var record = flag.Bool("record", false, "write testdata/recorded.txt from what the trainings give now")

// TestRecorded runs the trainings of testdata/recorded.txt: each line has a hash of the model file, one of the report of --json, and the
// options. The test fails where a change of the code changes a model or a report. If that is meant, go test -run TestRecorded -record
// writes the file again. Each model also predicts rows one by one.
//
// The hash of a report leaves out what differs between machines and runs: times, memory, the CPU level and the number of workers.
func TestRecorded(t *testing.T) {
	if testing.Short() {
		t.Skip("runs some sixty trainings")
	}
	const file = "testdata/recorded.txt"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(recordedData(t))
	var now strings.Builder
	kinds := map[string]bool{} // algorithms of the models
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			now.WriteString(line)
			continue
		}
		_, args, found := strings.Cut(strings.TrimSpace(line), "train ")
		if !found {
			t.Fatalf("%s: a line without a training: %s", file, line)
		}
		got := fmt.Sprintf("%s train %s\n", recorded(t, strings.Fields(args)), args)
		if got != line && !*record {
			t.Errorf("now:      %srecorded: %s", got, line)
		}
		now.WriteString(got)
		t.Run(args, func(t *testing.T) { kinds[testModelRows(t, strings.Fields(args)[0])] = true })
	}
	if len(kinds) < 9 {
		t.Errorf("models of %d algorithms only", len(kinds))
	}
	if *record {
		if err := os.WriteFile(filepath.Join(here, file), []byte(now.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// here is the folder of the test's source.
var here, _ = os.Getwd()

// recorded trains and returns the hashes of the model and of the report.
func recorded(t *testing.T, args []string) string {
	t.Helper()
	report := decode(t, append([]string{"train", "--json", "--out", "m.json"}, args...)...)
	for _, name := range []string{"seconds", "peak_rss_bytes", "isa", "workers"} {
		if _, ok := report[name]; !ok {
			t.Errorf("the report has no %q", name)
		}
		delete(report, name)
	}
	if curve, ok := report["curve"].([]any); ok {
		for _, point := range curve {
			delete(point.(map[string]any), "seconds")
		}
	}
	plain, err := json.Marshal(report) // keys sorted
	if err != nil {
		t.Fatal(err)
	}
	m, err := os.ReadFile("m.json")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%.6x %.6x", sha256.Sum256(m), sha256.Sum256(plain))
}

// recordedData returns a folder of data in every format: the examples, a table with text, booleans, gaps and weights, and one of bits.
func recordedData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	examples, err := filepath.Glob("../../examples/*.parquet")
	if err != nil || len(examples) < 5 {
		t.Fatalf("%d examples, error %v", len(examples), err)
	}
	for _, path := range examples {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(path)), data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var mixed strings.Builder
	mixed.WriteString("id,size,colour,old,gap,weight,class\n")
	state := uint32(1)
	random := func(n uint32) uint32 { // Knuth and Lewis' generator: the same rows forever
		state = state*1664525 + 1013904223
		return state >> 8 % n
	}
	for i := range 1500 {
		size, colour, old := random(1000), random(4), random(2)
		gap := ""
		if random(5) > 0 {
			gap = fmt.Sprint(random(100))
		}
		class := "no"
		if size+200*colour+random(500) > 900 {
			class = "yes"
		}
		fmt.Fprintf(&mixed, "%d,%d.%d,%s,%v,%s,%d,%s\n", i, size, random(10), []string{"red", "green", "blue", "grey"}[colour], old == 1, gap, random(3), class)
	}
	if err := os.WriteFile(filepath.Join(dir, "mixed.csv"), []byte(mixed.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var bits strings.Builder
	bits.WriteString("a,b,c,d,e,f,g,h,or\n")
	for range 800 {
		row := random(256)
		for b := range 8 {
			fmt.Fprintf(&bits, "%d,", row>>b&1)
		}
		fmt.Fprintf(&bits, "%v\n", row&0b10110 != 0)
	}
	if err := os.WriteFile(filepath.Join(dir, "bits.csv"), []byte(bits.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	succeed(t, "convert", filepath.Join(dir, "mixed.csv"), "--out", filepath.Join(dir, "mixed.parquet"))
	succeed(t, "convert", filepath.Join(dir, "mixed.csv"), "--out", filepath.Join(dir, "mixed.arrow"))
	succeed(t, "convert", filepath.Join(dir, "iris-setosa.parquet"), "--label", "setosa", "--out", filepath.Join(dir, "iris.svm"))
	succeed(t, "gen", "--rows", "9000", "--features", "12", "--noise", "0.1", "--seed", "3", "--out", filepath.Join(dir, "gen.parquet"))
	succeed(t, "gen", "--rows", "5000", "--features", "20", "--conjunction", "3", "--seed", "3", "--out", filepath.Join(dir, "conjunction.parquet"))
	return dir
}
