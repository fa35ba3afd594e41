// Command make writes the Parquet files of this folder from the CSV files that come with scikit-learn, byte for byte
// the same each time. Run it in the module's root:
//
//	go run ./examples/make
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset"
)

func main() {
	// Debian's package python3-sklearn puts the CSV files here.
	from := flag.String("from", "/usr/lib/python3/dist-packages/sklearn/datasets/data", "folder of the CSV files")
	out := flag.String("out", "examples", "folder to write to")
	flag.Parse()
	if err := makeAll(*from, *out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func makeAll(from, out string) error {
	cancer, err := readCSV(filepath.Join(from, "breast_cancer.csv"))
	if err != nil {
		return err
	}
	iris, err := readCSV(filepath.Join(from, "iris.csv"))
	if err != nil {
		return err
	}
	for _, f := range []exampleFile{
		{"breast-cancer", cancerFeatures(), cancer.rows, labels{name: "diagnosis", texts: cancer.classes}, cancerSource},
		{"iris", irisFeatures, iris.rows, labels{name: "species", texts: iris.classes}, irisSource},
		{"iris-setosa", irisFeatures, iris.rows, labels{name: "setosa", yes: "setosa", texts: iris.classes}, irisSource},
		{"iris-versicolor-virginica", irisFeatures, iris.rows[50:], labels{name: "species", texts: iris.classes[50:]}, irisSource},
		{"textbook", []string{"x1", "x2"}, [][]float64{{3, 3}, {4, 3}, {1, 1}}, labels{name: "label", numbers: []int8{1, 1, -1}},
			"Li Hang: Statistical Learning Methods, example 2.1"},
	} {
		if err := f.write(out); err != nil {
			return err
		}
	}
	return nil
}

const (
	cancerSource = "W. Wolberg, O. Mangasarian, N. Street, W. Street: Breast Cancer Wisconsin (Diagnostic), " +
		"UCI Machine Learning Repository, 1993, https://doi.org/10.24432/C5DW2B, CC BY 4.0"
	irisSource = "R. A. Fisher: Iris, UCI Machine Learning Repository, 1936, https://doi.org/10.24432/C56C76, CC BY 4.0"
)

var irisFeatures = []string{"sepal_length", "sepal_width", "petal_length", "petal_width"}

// cancerFeatures returns the thirty names: mean, standard error and worst value of ten measures of a cell's nucleus.
func cancerFeatures() []string {
	var names []string
	for _, form := range []string{"mean_%s", "%s_error", "worst_%s"} {
		for _, measure := range []string{"radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
			"concave_points", "symmetry", "fractal_dimension"} {
			names = append(names, fmt.Sprintf(form, measure))
		}
	}
	return names
}

// table is a CSV file of scikit-learn: columns of numbers, then the name of each row's class.
type table struct {
	rows    [][]float64
	classes []string
}

// readCSV reads a file whose first line has the number of rows, the number of features and the names of the classes,
// and whose other lines have the features and the number of the class.
func readCSV(path string) (table, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return table{}, fmt.Errorf("%w: install the Debian package python3-sklearn, or name the folder with -from", err)
	}
	r := csv.NewReader(strings.NewReader(string(text)))
	r.FieldsPerRecord = -1
	lines, err := r.ReadAll()
	if err != nil {
		return table{}, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 || len(lines[0]) < 3 {
		return table{}, fmt.Errorf("%s: the first line of scikit-learn's CSV files is missing", path)
	}
	names := lines[0][2:]
	var t table
	for i, line := range lines[1:] {
		row := make([]float64, len(line)-1)
		for j := range row {
			if row[j], err = strconv.ParseFloat(line[j], 64); err != nil {
				return table{}, fmt.Errorf("%s, line %d: %w", path, i+2, err)
			}
		}
		class, err := strconv.Atoi(line[len(line)-1])
		if err != nil || class < 0 || class >= len(names) {
			return table{}, fmt.Errorf("%s, line %d: %q is no number of a class", path, i+2, line[len(line)-1])
		}
		t.rows = append(t.rows, row)
		t.classes = append(t.classes, names[class])
	}
	return t, nil
}

// labels is a column of labels: numbers; or texts; or, where yes is set, whether the text is yes.
type labels struct {
	name    string
	numbers []int8
	texts   []string
	yes     string
}

func (l labels) array() arrow.Array {
	mem := memory.DefaultAllocator
	switch {
	case l.numbers != nil:
		b := array.NewInt8Builder(mem)
		b.AppendValues(l.numbers, nil)
		return b.NewArray()
	case l.yes != "":
		b := array.NewBooleanBuilder(mem)
		for _, text := range l.texts {
			b.Append(text == l.yes)
		}
		return b.NewArray()
	}
	b := array.NewStringBuilder(mem)
	b.AppendValues(l.texts, nil)
	return b.NewArray()
}

// exampleFile is one of the files: features in float64 and the label, no nulls.
type exampleFile struct {
	name     string
	features []string
	rows     [][]float64
	labels   labels
	source   string // for the file's metadata
}

func (f exampleFile) write(out string) error {
	var fields []arrow.Field
	var cols []arrow.Array
	for j, name := range f.features {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		for _, row := range f.rows {
			b.Append(row[j])
		}
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
		cols = append(cols, b.NewArray())
	}
	label := f.labels.array()
	fields = append(fields, arrow.Field{Name: f.labels.name, Type: label.DataType()})
	schema := arrow.NewSchema(fields, nil)
	rec := array.NewRecord(schema, append(cols, label), int64(len(f.rows)))
	defer rec.Release()
	w, err := dataset.Create(context.Background(), filepath.Join(out, f.name+".parquet"), schema,
		dataset.WriterOptions{Metadata: map[string]string{"source": f.source}})
	if err != nil {
		return err
	}
	defer w.Abort()
	if err := w.Write(rec); err != nil {
		return err
	}
	return w.Close()
}
