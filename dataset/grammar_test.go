package dataset_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"halfspace/dataset"
	"halfspace/internal/decimal/decimaltest"
	"halfspace/schema"
)

// writeText writes a file for a test.
func writeText(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCSVGrammar writes a column for each of many random texts. A column is of numbers if and only if its text is a number.
func TestCSVGrammar(t *testing.T) {
	const columns = 400
	for seed := range uint64(5) {
		var texts, names, row []string
		for text := range decimaltest.Texts(100+seed, columns) {
			if strings.ContainsAny(text, ",'") {
				continue
			}
			texts, names, row = append(texts, text), append(names, fmt.Sprintf("c%d", len(names))), append(row, text)
		}
		numbers := strings.Repeat("7.5,", len(row)-1) + "7.5\n" // more than one value: else a column of one odd value is text
		path := writeText(t, "a.csv", strings.Join(names, ",")+"\n"+numbers+strings.Join(row, ",")+"\n")
		info, err := dataset.InspectTable(t.Context(), path, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range info.Columns {
			want := "string"
			if decimaltest.IsNumber(texts[i]) {
				want = "float64"
			}
			if f.Type != want && texts[i] != "-" { // a missing number
				t.Errorf("%q makes a column of type %s, want %s", texts[i], f.Type, want)
			}
		}
	}
}

// TestSvmlightGrammar reads random texts as values of features and as labels: those that are no numbers are errors.
func TestSvmlightGrammar(t *testing.T) {
	for text := range decimaltest.Texts(7, 400) {
		for what, line := range map[string]string{"value": "1 1:" + text + "\n-1 1:2\n", "label": text + " 1:2\n-9 1:3\n"} {
			if strings.HasPrefix(text, "#") {
				continue
			}
			_, err := dataset.Load(t.Context(), []string{writeText(t, "a.svm", line)}, dataset.Options{Nulls: schema.NullsZero})
			if err == nil && !decimaltest.IsNumber(text) {
				t.Errorf("%s %q was read as a number", what, text)
			}
		}
	}
}

// TestDistinctCodes reads labels and features that Go programs take for the same numbers: they stay text, each class its own.
func TestDistinctCodes(t *testing.T) {
	path := writeText(t, "a.csv", "x,code,y\n1,0x1p3,1_10\n2,8,110\n3,11_0,11_0\n")
	d, err := dataset.Load(t.Context(), []string{path}, dataset.Options{Label: "y", Categorical: "onehot"})
	if err != nil {
		t.Fatal(err)
	}
	if got := schema.ListClasses(d.Spec().Classes); got != `"110", "11_0", "1_10"` {
		t.Errorf("the classes are %s", got)
	}
	if got, want := d.Spec().Width(), 4; got != want {
		t.Errorf("there are %d features, want %d: x and one for each code", got, want)
	}
	out := filepath.Join(t.TempDir(), "b.csv")
	if _, err := dataset.Convert(t.Context(), []string{path}, out, dataset.Options{}, dataset.WriterOptions{}); err != nil {
		t.Fatal(err)
	}
	read, _ := os.ReadFile(path)
	wrote, _ := os.ReadFile(out)
	if string(read) != string(wrote) {
		t.Errorf("convert wrote\n%s\nof\n%s", wrote, read)
	}
}
