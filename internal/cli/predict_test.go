package cli

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/kernel"
	"halfspace/model"
)

// trained writes the model of the text book's rows with those labels.
func trained(t *testing.T, labels any, options ...string) (data, m string) {
	t.Helper()
	data = textbook(t, labels)
	m = filepath.Join(t.TempDir(), "m.json")
	succeed(t, append([]string{"train", "--algo", "perceptron", data, "--label", "y", "--out", m}, options...)...)
	return data, m
}

// TestPredictTypes makes predictions of the type of the label.
func TestPredictTypes(t *testing.T) {
	for _, c := range []struct {
		labels any
		typ    arrow.DataType
		lines  string
	}{
		{[]int64{1, 1, -1}, arrow.PrimitiveTypes.Int64, "1\n1\n-1\n"},
		{[]float64{2, 2, 1}, arrow.PrimitiveTypes.Int64, "2\n2\n1\n"},
		{[]float64{0.5, 0.5, -1}, arrow.PrimitiveTypes.Float64, "0.5\n0.5\n-1\n"},
		{[]uint64{math.MaxUint64, math.MaxUint64, 0}, arrow.PrimitiveTypes.Uint64, "18446744073709551615\n18446744073709551615\n0\n"},
		{[]bool{true, true, false}, arrow.FixedWidthTypes.Boolean, "true\ntrue\nfalse\n"},
		{[]string{"yes, yes", "yes, yes", "no"}, arrow.BinaryTypes.String, "\"yes, yes\"\n\"yes, yes\"\nno\n"},
	} {
		data, m := trained(t, c.labels)
		out := filepath.Join(t.TempDir(), "p.csv")
		succeed(t, "predict", "--model", m, data, "--out", out)
		if got := read(t, out); got != "prediction\n"+c.lines {
			t.Errorf("predictions of %T are %q, want %q", c.labels, got, c.lines)
		}
		out = filepath.Join(t.TempDir(), "p.parquet")
		succeed(t, "predict", "--model", m, data, "--out", out)
		table := readParquet(t, out)
		if f := table.Schema().Field(0); f.Name != "prediction" || !arrow.TypeEqual(f.Type, c.typ) || f.Nullable {
			t.Errorf("column of %T is %v, want %v", c.labels, f, c.typ)
		}
		if table.NumRows() != 3 || table.NumCols() != 1 {
			t.Errorf("%d rows of %d columns, want 3 of 1", table.NumRows(), table.NumCols())
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestPredictColumns(t *testing.T) {
	data, m := trained(t, []string{"up", "up", "down"})
	out := filepath.Join(t.TempDir(), "p.csv")
	succeed(t, "predict", "--model", m, data, "--keep", "name,x*", "--score", "--out", out)
	if got, want := read(t, out), "name,x1,x2,prediction,score\na,3,3,up,3\nb,4,3,up,4\nc,1,1,down,-1\n"; got != want {
		t.Errorf("predictions are %q, want %q", got, want)
	}
	bare := write(t, "bare.parquet", col{"x2", []int64{-5, 7}}, col{"prediction", []string{"a", "b"}}, col{"x1", []float32{1, 0}})
	succeed(t, "predict", "--model", m, bare, "--out", out)
	if got, want := read(t, out), "prediction\ndown\nup\n"; got != want {
		t.Errorf("without a label, in another order, predictions are %q, want %q", got, want)
	}
}

// TestPredictFloat32: a note says that text changes the float32 numbers that --keep names. Scores have none.
func TestPredictFloat32(t *testing.T) {
	_, m := trained(t, []string{"up", "up", "down"})
	data := write(t, "data.parquet", col{"x1", []float32{0.1, 3}}, col{"x2", []float64{0.1, 1}})
	for _, c := range []struct {
		out, keep string
		noted     bool
	}{{"p.csv", "x1", true}, {"p.csv", "x2", false}, {"p.arrow", "x1", false}} {
		status, _, stderr := command("predict", "--model", m, data, "--keep", c.keep, "--score", "--out", filepath.Join(t.TempDir(), c.out))
		if status != exitDone || strings.Contains(stderr, `1 column of float32, such as "x1": --standardize computes in float64, and reads other numbers`) != c.noted {
			t.Errorf("%+v: status %d, %q", c, status, stderr)
		}
	}
}

func TestPredictZeroIsNotPositive(t *testing.T) {
	_, m := trained(t, []string{"up", "up", "down"})
	_, n := trained(t, []string{"up", "up", "down"}, "--positive", "down")
	edge := write(t, "edge.parquet", col{"x1", []float64{3}}, col{"x2", []float64{0}})
	for model, want := range map[string]string{m: "prediction,score\ndown,0\n", n: "prediction,score\nup,0\n"} {
		out := filepath.Join(t.TempDir(), "p.csv")
		succeed(t, "predict", "--model", model, edge, "--score", "--out", out)
		if got := read(t, out); strings.ReplaceAll(got, "-0", "0") != want {
			t.Errorf("on the plane the prediction is %q, want %q", got, want)
		}
	}
}

// TestPredictManyBlocks compares the scores of several blocks with the kernel's on one row at a time.
func TestPredictManyBlocks(t *testing.T) {
	data := noisy(t, "150000")
	m := filepath.Join(t.TempDir(), "m.json")
	out := filepath.Join(t.TempDir(), "p.parquet")
	succeed(t, "train", "--algo", "perceptron", data, "--label", "label", "--epochs", "1", "--out", m)
	r := decode(t, "predict", "--model", m, data, "--keep", "x*,label", "--score", "--out", out, "--json")
	if r["rows"] != 150000.0 || r["out"] != out || r["model"] != m {
		t.Errorf("report is %v", r)
	}
	loaded, err := model.Load(m)
	if err != nil {
		t.Fatal(err)
	}
	table := readParquet(t, out)
	if table.NumRows() != 150000 || table.NumCols() != 12 {
		t.Fatalf("%d rows of %d columns", table.NumRows(), table.NumCols())
	}
	errors := checkScores(t, loaded, table)
	if int64(errors) != *loaded.Training.Errors {
		t.Errorf("%d predictions are wrong, in training %d were", errors, *loaded.Training.Errors)
	}
}

// checkScores checks the columns of x0 to x8, label, prediction and score, and returns the number of errors.
func checkScores(t *testing.T, m *model.Model, table arrow.Table) (errors int) {
	t.Helper()
	w := model.Vector(m)
	row := make([]float32, len(w))
	row[9] = 1
	text := make([][]string, table.NumCols())
	for c := range text {
		for _, chunk := range table.Column(c).Data().Chunks() {
			for i := range chunk.Len() {
				text[c] = append(text[c], chunk.ValueStr(i))
			}
		}
	}
	for r := range text[0] {
		for c := range 9 {
			v, err := strconv.ParseFloat(text[c][r], 32) // features of gen are float32
			if err != nil {
				t.Fatal(err)
			}
			row[c] = float32(v)
		}
		score, err := strconv.ParseFloat(text[11][r], 64)
		if err != nil {
			t.Fatal(err)
		}
		if want := kernel.Dot(row, w); float32(score) != want {
			t.Fatalf("score of row %d is %v, want %v", r, score, want)
		}
		if (text[10][r] == "1") != (score > 0) {
			t.Fatalf("prediction of row %d is %s for a score of %v", r, text[10][r], score)
		}
		if text[10][r] != text[9][r] {
			errors++
		}
	}
	return errors
}

// TestPredictStdout writes CSV, and nothing else, to standard output.
func TestPredictStdout(t *testing.T) {
	data, m := trained(t, signs)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	status, printed, stderr := command("predict", "--model", m, data, "--out", "-")
	os.Stdout = stdout
	w.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if status != exitDone || string(got) != "prediction\n1\n1\n-1\n" || printed != "" || stderr != "" {
		t.Errorf("status %d, CSV %q, standard output %q, standard error %q", status, got, printed, stderr)
	}
}

func TestPredictNoRows(t *testing.T) {
	_, m := trained(t, []string{"up", "up", "down"})
	none := write(t, "none.parquet", col{"x1", []float64{}}, col{"x2", []float64{}}, col{"id", []int64{}})
	for _, name := range []string{"p.csv", "p.parquet"} {
		out := filepath.Join(t.TempDir(), name)
		succeed(t, "predict", "--model", m, none, "--keep", "id", "--score", "--out", out)
		if name == "p.csv" && read(t, out) != "id,prediction,score\n" {
			t.Errorf("no rows give %q", read(t, out))
		}
		if name == "p.parquet" {
			table := readParquet(t, out)
			if table.NumRows() != 0 || !slices.Equal([]string{"id", "prediction", "score"}, names(table)) {
				t.Errorf("no rows give %d rows of %q", table.NumRows(), names(table))
			}
		}
	}
}

func names(table arrow.Table) []string {
	var all []string
	for _, f := range table.Schema().Fields() {
		all = append(all, f.Name)
	}
	return all
}

// TestPredictReplaces leaves a file that was there before as it was until the new one is complete.
func TestPredictReplaces(t *testing.T) {
	data, m := trained(t, signs)
	dir := t.TempDir()
	out := filepath.Join(dir, "p.csv")
	if err := os.WriteFile(out, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A null in the last row is found after the first rows are written, if not before.
	if status, _, _ := command("predict", "--model", m, data, "--keep", "none", "--out", out); status != exitFailed || read(t, out) != "old" {
		t.Errorf("status %d, file is %q", status, read(t, out))
	}
	succeed(t, "predict", "--model", m, data, "--out", out)
	if !bytes.HasPrefix([]byte(read(t, out)), []byte("prediction\n")) {
		t.Errorf("file is %q", read(t, out))
	}
	onlyFiles(t, dir, "p.csv")
}

// TestScoreLines: docs/score.py predicts what predict does, also of columns that are hashed: texts of every length that XXH3 treats in its
// own way.
func TestScoreLines(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	rng := rand.New(rand.NewPCG(8, 9))
	var lines strings.Builder
	lines.WriteString("word,city,x,y\n")
	for _, n := range []int{1, 2, 3, 4, 7, 8, 9, 16, 17, 32, 33, 64, 65, 96, 97, 128, 129, 145, 240, 241, 1024, 1025, 2049, 3000} {
		for i, letter := range []rune("abcdefghijkö") {
			fmt.Fprintf(&lines, "%s,%s,%g,%s\n", strings.Repeat(string(letter), n), []string{"Rome", "Oslo"}[i%2], rng.NormFloat64(), []string{"no", "yes"}[rng.IntN(2)])
		}
	}
	data := filepath.Join(text(t, map[string]string{"x.csv": lines.String()}), "x.csv")
	saved, out := filepath.Join(t.TempDir(), "m.json"), filepath.Join(t.TempDir(), "p.csv")
	for _, options := range []string{"--algo logistic --categorical word=hash:7,city=onehot --standardize", "--algo averaged --categorical word=hash:18,city=onehot",
		"--algo averaged --cross word,city --cross city,word=hash:4 --exclude word",
		"--algo averaged --categorical word=hash:13,city=onehot"} {
		succeed(t, append([]string{"train", data, "--label", "y", "--out", saved}, strings.Fields(options)...)...)
		succeed(t, "predict", "--model", saved, data, "--out", out)
		want, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(python, "-B", filepath.Join("..", "..", "docs", "score.py"), saved, data)
		got, err := cmd.Output()
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: %v: predictions are\n%s\nwant\n%s", options, err, got, want)
		}
		if yes := strings.Count(string(want), "yes"); yes < 50 || yes > 238 {
			t.Errorf("%s: %d of 288 predictions are yes: too few differ", options, yes)
		}
	}
}
