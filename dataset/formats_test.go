package dataset

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
)

// table reads all columns of files.
func table(tb testing.TB, opt Options, paths ...string) (arrow.Table, error) {
	tb.Helper()
	opt.Spec, opt.Keep = &block.Spec{Bias: true}, []string{"*"}
	in, err := openInput(context.Background(), paths, opt, newPool(2))
	if err != nil {
		return nil, err
	}
	schema := keptSchema(in.selection())
	var recs []arrow.Record
	for b, err := range in.batches(context.Background(), newPool(2), memory.DefaultAllocator) {
		if err != nil {
			return nil, err
		}
		recs = append(recs, array.NewRecord(schema, b.columns, b.rows))
	}
	return array.NewTableFromRecords(schema, recs), nil
}

// TestPublishedData reads real files and counts rows, features and classes as their publishers do.
func TestPublishedData(t *testing.T) {
	root := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no data: %s is absent", root)
	}
	for _, c := range []struct {
		file, label    string
		rows, features int
		classes        map[string]int
	}{
		{"a9a.svm.gz", "label", 32561, 123, map[string]int{"1": 7841, "-1": 24720}},
		{"a9a.test.svm.gz", "label", 16281, 122, map[string]int{"1": 3846, "-1": 12435}},
		{"magic04.csv.gz", "last", 19020, 10, map[string]int{"g": 12332, "h": 6688}},
		{"htru2.csv.gz", "class", 17898, 8, map[string]int{"1": 1639, "0": 16259}},
		{"letter.csv.gz", "c17", 20000, 16, map[string]int{"A": 789, "Z": 734}},
		{"banknote.csv", "c5", 1372, 4, map[string]int{"1": 610, "0": 762}},
		{"sonar.csv", "61", 208, 60, map[string]int{"M": 111, "R": 97}},
		{"credit-default.csv.gz", "Y", 30000, 24, map[string]int{"1": 6636, "0": 23364}},
		{"bank-marketing.csv.gz", "y", 45211, 7, map[string]int{"Y": 5289, "N": 39922}},
		{"kddcup99-10percent.csv.gz", "last", 494021, 38, map[string]int{"normal.": 97278}},
	} {
		path := filepath.Join(root, c.file)
		all, err := table(t, Options{}, path)
		if err != nil {
			t.Errorf("%s: %v", c.file, err)
			continue
		}
		var cols []column
		for i, f := range all.Schema().Fields() {
			cols = append(cols, column{name: f.Name, typ: f.Type, index: i})
		}
		label := namedLabel(Options{Label: c.label}, cols).Label
		features := 0
		for _, col := range cols {
			if numeric(col.typ) && col.name != label {
				features++
			}
		}
		if int(all.NumRows()) != c.rows || features != c.features {
			t.Errorf("%s: %d rows of %d features, want %d of %d", c.file, all.NumRows(), features, c.rows, c.features)
		}
		counts := map[string]int{}
		for _, a := range all.Column(all.Schema().FieldIndices(label)[0]).Data().Chunks() {
			for i := range a.Len() {
				class, what := classOf(a, i)
				if what != "" {
					t.Fatalf("%s: %s", c.file, what)
				}
				counts[class.Text]++
			}
		}
		for class, n := range c.classes {
			if counts[class] != n {
				t.Errorf("%s: %d rows of class %s, want %d", c.file, counts[class], class, n)
			}
		}
	}
}

var _ = math.NaN
