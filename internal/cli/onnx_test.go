package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
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
// missing values. Its labels are those of predict.
func TestONNXCategories(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(5, 6))
	write := func(name string, cities, zips []string) string {
		var b strings.Builder
		b.WriteString("city,age,zip,scores_,member,y\n")
		for range 1000 {
			pick := func(list []string) string { return list[rng.IntN(len(list))] }
			city, age, zip, member := pick(cities), 20+rng.IntN(60), pick(zips), rng.IntN(2) == 1
			y := []string{"no", "yes", "perhaps"}[(age/30+len(city)+rng.IntN(2))%3]
			field := strconv.Itoa(age)
			if rng.IntN(10) == 0 {
				field = ""
			}
			fmt.Fprintf(&b, "%s,%s,%s,%v,%t,%s\n", city, field, zip, float32(rng.NormFloat64()), member, y)
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

// checkRuntime trains on rows, exports the model by each flag, and holds labels of other rows in onnxruntime-web against those of predict.
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
	succeed(t, "predict", "--model", at("m.json"), apply, "--out", at("p.csv"))
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
		for r, line := range lines {
			if got, label := strings.Split(line, "\t")[1], strconv.Quote(want[r+1][0]); got != label {
				t.Errorf("%s %q, row %d: the runtime predicts %s, want %s", flag, options, r, got, label)
			}
		}
	}
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
