package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/model"
	"halfspace/schema"
)

// TestONNXExamples: onnxruntime-web gives each row of the examples the label that predict gives it, with one input and with one for each column.
func TestONNXExamples(t *testing.T) {
	for _, e := range [][2]string{{"textbook", "label"}, {"iris", "species"}, {"iris-setosa", "setosa"}, {"iris-versicolor-virginica", "species"}, {"breast-cancer", "diagnosis"}} {
		data := filepath.Join("..", "..", "examples", e[0]+".parquet")
		for _, algo := range []string{"perceptron", "averaged", "svm", "logistic", "lda"} {
			checkRuntime(t, data, data, []string{"--onnx", "--onnx-columns"}, "--label", e[1], "--algo", algo, "--standardize")
		}
	}
}

// TestONNXCategories: the file with an input for each column takes raw rows with categories of text, numbers and booleans, unknown ones among them, and
// missing values. Its labels and scores are those of predict.
func TestONNXCategories(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(5, 6))
	write := func(name string, cities, zips []string) string {
		var b strings.Builder
		b.WriteString("city,age,year,zip,scores_,member,y\n")
		for range 1000 {
			pick := func(list []string) string { return list[rng.IntN(len(list))] }
			city, age, zip, member := pick(cities), 20+rng.IntN(60), pick(zips), rng.IntN(2) == 1
			y := []string{"no", "yes", "perhaps"}[(age/30+len(city)+rng.IntN(2))%3]
			field := strconv.Itoa(age)
			if rng.IntN(10) == 0 {
				field = ""
			}
			fmt.Fprintf(&b, "%s,%s,%d,%s,%v,%t,%s\n", city, field, 2000+rng.IntN(5), zip, float32(rng.NormFloat64()), member, y)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	learn := write("learn.csv", []string{"Ulm", "Bonn", "Köln", ""}, []string{"89073", "53111", "0.5", ""})
	apply := write("apply.csv", []string{"Ulm", "Bonn", "Köln", "", "Rom"}, []string{"89073", "53111", "0.5", "", "7"})
	for _, algo := range []string{"perceptron", "svm", "logistic"} {
		for _, nulls := range []string{"mean", "zero"} {
			checkRuntime(t, learn, apply, []string{"--onnx-columns"}, "--label", "y", "--algo", algo, "--standardize", "--nulls", nulls,
				"--categorical", "city=onehot,zip=onehot,member=onehot")
		}
	}
	bank := shared(t, "bank-marketing.csv.gz")
	checkRuntime(t, bank, bank, []string{"--onnx-columns"}, "--label", "y", "--algo", "logistic", "--categorical", "onehot", "--standardize")
	checkRuntime(t, bank, bank, []string{"--onnx-columns"}, "--label", "y", "--algo", "svm", "--categorical", "onehot", "--standardize")
}

// An onnxInput is an input in exchange/testdata/run.mjs.
type onnxInput struct {
	Name    string   `json:"name"`
	Columns int      `json:"columns"`
	Text    bool     `json:"text"`
	Values  []string `json:"values"`
}

// checkRuntime trains on rows, exports the model by each flag, and holds labels, scores and probabilities of other rows in onnxruntime-web against those of
// predict: numbers of a row within 1e-5 of the largest of them, or of the mean of these where it is larger: a score of almost 0 is a difference
// of larger terms in predict too.
func checkRuntime(t *testing.T, learn, apply string, flags []string, options ...string) {
	t.Helper()
	modules := os.Getenv("HALFSPACE_ONNXRUNTIME")
	if modules == "" {
		t.Skip("make onnx runs it, with HALFSPACE_ONNXRUNTIME")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	succeed(t, append([]string{"train", learn, "--out", at("m.json")}, options...)...)
	succeed(t, "convert", apply, "--out", at("rows.csv"))
	m, err := model.Load(at("m.json"))
	if err != nil {
		t.Fatal(err)
	}
	args, kind := []string{"predict", "--model", at("m.json"), apply, "--score", "--out", at("p.csv")}, "score"
	if m.HasProbabilities() {
		args, kind = append(args, "--proba"), "probability"
	}
	succeed(t, args...)
	want, rows := table(t, at("p.csv")), table(t, at("rows.csv"))
	for _, flag := range flags {
		succeed(t, "export", at("m.json"), flag, at("m.onnx"))
		data, err := json.Marshal(runtimeInputs(m, rows, flag == "--onnx"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at("rows.json"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.Command("node", filepath.Join("..", "..", "exchange", "testdata", "run.mjs"), modules)
		c.Stdin, c.Stderr = strings.NewReader(at("m.onnx")+" "+at("rows.json")), os.Stderr
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) != len(rows)-1 || len(want) != len(rows) {
			t.Fatalf("%s %q: %d lines for %d rows, and %d predictions", flag, options, len(lines), len(rows)-1, len(want)-1)
		}
		largest := make([]float64, len(lines)) // of each row
		sum := 0.0
		for r := range lines {
			for _, v := range wanted(t, m, want[0], want[r+1], kind) {
				largest[r] = max(largest[r], math.Abs(v))
			}
			sum += largest[r]
		}
		for r, line := range lines {
			tolerance := 1e-5 * max(largest[r], sum/float64(len(lines)))
			checkLine(t, strings.Split(line, "\t"), want[r+1][0], wanted(t, m, want[0], want[r+1], kind), tolerance)
		}
	}
}

// wanted returns the scores or probabilities of a row of predict, of each class.
func wanted(t *testing.T, m *model.Model, names, row []string, kind string) []float64 {
	t.Helper()
	numbers := make([]float64, 0, len(m.Classes))
	for i, name := range names {
		if strings.HasPrefix(name, kind) {
			numbers = append(numbers, number(t, row[i]))
		}
	}
	if len(numbers) == 1 { // the scores of two classes
		numbers = []float64{-numbers[0], numbers[0]}
	}
	return numbers
}

// checkLine holds a line of the runtime against a row of predict.
func checkLine(t *testing.T, got []string, label string, numbers []float64, tolerance float64) {
	t.Helper()
	if got[1] != strconv.Quote(label) {
		t.Errorf("the runtime predicts %s, want %q", got[1], label)
	}
	if len(numbers) != len(got)-2 {
		t.Fatalf("the runtime has %q, want %v", got, numbers)
	}
	for k, v := range numbers {
		if !(math.Abs(number(t, got[2+k])-v) <= tolerance) {
			t.Errorf("the runtime has %q, want %v within %v", got, numbers, tolerance)
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func table(t *testing.T, path string) [][]string {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(read(t, path))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// runtimeInputs returns the rows of a table as the inputs of an ONNX file: one, or one for each column.
func runtimeInputs(m *model.Model, rows [][]string, one bool) []onnxInput {
	columns := m.Spec().Columns()
	all := make([]onnxInput, len(columns))
	for k := range columns {
		c := &columns[k]
		in := onnxInput{Name: c.Name, Columns: 1, Text: c.Kind == schema.OneHotColumn && c.Values == ""}
		at := slices.Index(rows[0], c.Name)
		for _, row := range rows[1:] {
			text := row[at]
			if !in.Text {
				if number, ok := map[string]string{"": "NaN", "false": "0", "true": "1"}[text]; ok {
					text = number
				}
			}
			in.Values = append(in.Values, text)
		}
		all[k] = in
	}
	if !one {
		return all
	}
	x := onnxInput{Name: "X", Columns: len(all)}
	for r := range rows[1:] {
		for k := range all {
			x.Values = append(x.Values, all[k].Values[r])
		}
	}
	return []onnxInput{x}
}
