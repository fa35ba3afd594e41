package cli

import (
	"crypto/sha256"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/internal/train"
)

var record = flag.Bool("record", false, "write testdata/recorded.txt from what the trainings give now")

// TestRecorded runs the trainings of testdata/recorded.txt: each line has a hash of the model file, one of the report of --json, and the
// options. The test fails where a change of the code changes a model or a report. If that is meant, go test -run TestRecorded -record
// writes the file again. Package train/learner has models of every learner. Each training gives the same bytes again with one worker, by
// the options in the model or by those of its receipt, and of half of these without assembly.
//
// The hash of a report leaves out what differs between machines and runs: times, memory, the CPU level and the number of workers.
func TestRecorded(t *testing.T) {
	const file = "testdata/recorded.txt"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	t.Chdir(recordedData(t))
	var now strings.Builder
	epochs := 0
	for i, line := range slices.Collect(strings.Lines(string(text))) {
		if strings.HasPrefix(line, "#") {
			now.WriteString(line)
			continue
		}
		_, args, found := strings.Cut(strings.TrimSpace(line), "train ")
		if !found {
			t.Fatalf("%s: a line without a training: %s", file, line)
		}
		words := strings.Fields(args)
		got := fmt.Sprintf("%s train %s\n", recorded(t, words), args)
		if got != line && !*record {
			t.Errorf("now:      %srecorded: %s", got, line)
		}
		now.WriteString(got)
		testModelRows(t, words[0])
		r, err := model.LoadReceipt("r.json")
		require.NoError(t, err)
		for _, c := range r.Epochs {
			epochs += len(c.Weights)
		}
		again := append([]string{"verify", "--model", "m.json", "--receipt", "r.json", "--workers", "1"}, dataOf(words)...)
		if i%4 == 0 {
			again = append(again, "--isa", "generic")
		}
		succeed(t, again...)
	}
	if epochs < 30 {
		t.Errorf("%d sums of weights in all receipts", epochs)
	}
	if *record {
		require.NoError(t, os.WriteFile(filepath.Join(here, file), []byte(now.String()), 0o666))
	}
}

// TestEveryLearner: a model of each learner predicts the rows of a file one by one as it predicts them together, and verify makes the
// model again.
func TestEveryLearner(t *testing.T) {
	t.Chdir(recordedData(t))
	for _, l := range train.Learners {
		t.Run(l.Name, func(t *testing.T) {
			data, options := "mixed.csv", "--label class --exclude id --nulls mean --categorical onehot"
			if l.Name == "winnow" { // takes zeros and ones
				data, options = "bits.csv", "--label or"
			}
			if l.Option("epochs") != nil {
				options += " --epochs 2"
			}
			succeed(t, append([]string{"train", data, "--out", "m.json", "--receipt", "r.json", "--workers", "2", "--algo", l.Name}, strings.Fields(options)...)...)
			testModelRows(t, data)
			succeed(t, "verify", "--model", "m.json", "--receipt", "r.json", "--workers", "1", data)
		})
	}
}

// here is the folder of the test's source.
var here, _ = os.Getwd()

// recorded trains and returns the hashes of the model and of the report.
func recorded(t *testing.T, args []string) string {
	t.Helper()
	report := decode(t, append([]string{"train", "--json", "--out", "m.json", "--receipt", "r.json", "--workers", "2"}, args...)...)
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
	require.NoError(t, err)
	m, err := os.ReadFile("m.json")
	require.NoError(t, err)
	return fmt.Sprintf("%.6x %.6x", sha256.Sum256(m), sha256.Sum256(plain))
}

// recordedData returns a folder of data: the examples, a table with text, booleans, gaps and weights, and one of bits.
func recordedData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	examples, err := filepath.Glob("../../../examples/*.parquet")
	if err != nil || len(examples) < 5 {
		t.Fatalf("%d examples, error %v", len(examples), err)
	}
	for _, path := range examples {
		data, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(path)), data, 0o666)
		}
		require.NoError(t, err)
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
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mixed.csv"), []byte(mixed.String()), 0o666))
	var bits strings.Builder
	bits.WriteString("a,b,c,d,e,f,g,h,or\n")
	for range 800 {
		row := random(256)
		for b := range 8 {
			fmt.Fprintf(&bits, "%d,", row>>b&1)
		}
		fmt.Fprintf(&bits, "%v\n", row&0b10110 != 0)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bits.csv"), []byte(bits.String()), 0o666))
	succeed(t, "convert", filepath.Join(dir, "mixed.csv"), "--out", filepath.Join(dir, "mixed.arrow"))
	return dir
}

// dataOf returns the files among the words of a command line of train: those before the first option.
func dataOf(words []string) []string {
	for i, w := range words {
		if strings.HasPrefix(w, "-") {
			return words[:i]
		}
	}
	return words
}

// reseal returns the text of a model's file with the checksum made anew.
func reseal(text string) string {
	body, _, _ := strings.Cut(text, "  \"checksum\"")
	return fmt.Sprintf("%s  \"checksum\": \"sha256:%x\"\n}\n", body, sha256.Sum256([]byte(body)))
}
