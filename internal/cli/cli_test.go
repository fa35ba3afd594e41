package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset"
	"halfspace/internal/cli/flags"
)

// command runs a command line and returns its exit status and what it printed.
func command(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(context.Background(), args, &out, &err)
	return status, out.String(), err.String()
}

// succeed runs a command line that must succeed and returns its standard output.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := command(args...)
	if status != exitDone {
		t.Fatalf("halfspace %s: status %d: %s", strings.Join(args, " "), status, stderr)
	}
	return stdout
}

// decode runs a command line that must print one JSON object, and returns it.
func decode(t *testing.T, args ...string) map[string]any {
	t.Helper()
	stdout := succeed(t, args...)
	d := json.NewDecoder(strings.NewReader(stdout))
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	if d.More() {
		t.Fatalf("more than one JSON value in %s", stdout)
	}
	return object
}

// A col is a column of a test file: a name and a slice of values.
type col struct {
	name   string
	values any
}

// write writes a file with those columns to a new directory and returns its path.
func write(t *testing.T, name string, cols ...col) string {
	t.Helper()
	return writeWith(t, name, dataset.WriterOptions{}, cols...)
}

func writeWith(t *testing.T, name string, opt dataset.WriterOptions, cols ...col) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, c := range cols {
		a := makeArray(t, c.values)
		fields = append(fields, arrow.Field{Name: c.name, Type: a.DataType()})
		arrays = append(arrays, a)
	}
	schema := arrow.NewSchema(fields, nil)
	w, err := dataset.Create(path, schema, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if err := w.Write(array.NewRecord(schema, arrays, int64(arrays[0].Len()))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func makeArray(t *testing.T, values any) arrow.Array {
	t.Helper()
	mem := memory.DefaultAllocator
	switch values := values.(type) {
	case []float64:
		b := array.NewFloat64Builder(mem)
		b.AppendValues(values, nil)
		return b.NewArray()
	case []float32:
		b := array.NewFloat32Builder(mem)
		b.AppendValues(values, nil)
		return b.NewArray()
	case []int64:
		b := array.NewInt64Builder(mem)
		b.AppendValues(values, nil)
		return b.NewArray()
	case []uint64:
		b := array.NewUint64Builder(mem)
		b.AppendValues(values, nil)
		return b.NewArray()
	case []bool:
		b := array.NewBooleanBuilder(mem)
		b.AppendValues(values, nil)
		return b.NewArray()
	case []string:
		b := array.NewStringBuilder(mem)
		b.AppendValues(values, nil)
		return b.NewArray()
	}
	t.Fatalf("no column of %T", values)
	return nil
}

// textbook writes the rows (3,3)+, (4,3)+, (1,1)-, with labels in that column.
func textbook(t *testing.T, labels any) string {
	t.Helper()
	return write(t, "textbook.parquet", col{"x1", []float64{3, 4, 1}}, col{"x2", []float64{3, 3, 1}}, col{"y", labels},
		col{"name", []string{"a", "b", "c"}})
}

// signs are the text book's labels.
var signs = []int64{1, 1, -1}

// noisy makes data that can't be separated.
func noisy(t *testing.T, rows string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "noisy.parquet")
	succeed(t, "gen", "--rows", rows, "--features", "9", "--noise", "0.1", "--row-group-rows", "3000", "--out", path)
	return path
}

// onlyFiles fails unless dir holds exactly the files of those names.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("%s holds %q, want %q", dir, got, names)
	}
}

// isOneLine tells whether an error is one line that starts as every error does.
func isOneLine(stderr string) bool {
	return strings.HasPrefix(stderr, "halfspace: ") && strings.Count(stderr, "\n") == 1 && strings.HasSuffix(stderr, "\n")
}

func TestHelp(t *testing.T) {
	for _, verb := range []string{"", "train", "predict", "eval", "inspect", "export", "import", "convert", "gen", "cpu", "bench", "bench compare"} {
		text := succeed(t, append(strings.Fields(verb), "--help")...)
		_, examples, ok := strings.Cut(text, "Examples:\n")
		if !ok || !strings.HasPrefix(strings.TrimSpace(examples), strings.TrimSpace("halfspace "+verb)) && verb != "cpu" {
			t.Errorf("%s --help has no example:\n%s", verb, text)
		}
		for line := range strings.Lines(text) {
			if strings.Contains(line, "\t") || len(line) > 81 && !strings.HasPrefix(line, "  halfspace") || strings.TrimRight(line, " \n") != strings.TrimSuffix(line, "\n") && !strings.HasPrefix(line, "  -") {
				t.Errorf("%s --help: untidy line %q", verb, line)
			}
		}
	}
	for args, same := range map[string]string{"": "--help", "help": "--help", "help train": "train --help",
		"help completion zsh": "completion zsh --help", "completion": "completion --help"} {
		if text := succeed(t, strings.Fields(args)...); text != succeed(t, strings.Fields(same)...) {
			t.Errorf("halfspace %s prints\n%s", args, text)
		}
	}
}

// TestExamples makes sure that every example in a help text is a command line that parses.
func TestExamples(t *testing.T) {
	a := &call{}
	for _, cmd := range append(a.root().Commands(), a.root()) {
		for line := range strings.Lines(cmd.Example) {
			line = strings.TrimPrefix(strings.TrimSpace(line), flags.ISAVariable+"=generic ")
			line, _, _ = strings.Cut(line, " | ")
			args := strings.Fields(strings.ReplaceAll(line, "'", ""))
			if len(args) < 2 || args[0] != "halfspace" {
				t.Errorf("%s: no command line: %q", cmd.Name(), line)
				continue
			}
			root := a.root()
			verb, rest, err := root.Find(args[1:])
			if err == nil {
				err = verb.ParseFlags(rest)
			}
			if err == nil {
				err = verb.ValidateArgs(verb.Flags().Args())
			}
			if err != nil || verb == root {
				t.Errorf("%q: %v", line, err)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	if text := succeed(t, "--version"); !strings.HasPrefix(text, "halfspace version ") || !strings.HasSuffix(text, ", "+runtime.Version()+"\n") {
		t.Errorf("it is %q", text)
	}
}

func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"train --order ":     "cyclic\nshuffle\nfixed-shuffle\nrandom\n",
		"train --algo ":      "perceptron\npocket\naveraged\nvoted\nwinnow\ndual\nkernel-perceptron\nlogistic\nlda\nsvm\npassive-aggressive\nftrl\nadagrad\n",
		"predict --isa ":     strings.Join(flags.LevelNames(), "\n") + "\n",
		"gen --compression ": "snappy\nnone\nzstd\ngzip\n",
	} {
		got := succeed(t, append([]string{"__complete"}, strings.Split(args, " ")...)...)
		if got, _, _ = strings.Cut(got, ":"); got != want {
			t.Errorf("completion of %q is %q, want %q", args, got, want)
		}
	}
	if script := succeed(t, "completion", "bash"); !strings.Contains(script, "__start_halfspace") {
		t.Error("completion bash prints no script")
	}
}

// panics is a writer that breaks.
type panics struct{}

func (panics) Write([]byte) (int, error) { panic("two\nlines") }

func TestPanicIsOneLine(t *testing.T) {
	var stderr bytes.Buffer
	status := run(context.Background(), []string{"cpu"}, panics{}, &stderr)
	if status != exitFailed || !isOneLine(stderr.String()) || !strings.Contains(stderr.String(), "internal error: two lines") {
		t.Errorf("status %d: %q", status, stderr.String())
	}
}

// TestNothingKept: a run of the program leaves nothing on the heap for the process: tests run it ten thousand times.
func TestNothingKept(t *testing.T) {
	objects := func(runs int) uint64 {
		for range runs {
			succeed(t, "cpu")
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapObjects
	}
	if before, after := objects(3), objects(100); after > before+1000 {
		t.Errorf("100 runs leave %d objects", after-before)
	}
}
