package dataset

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/block"
	"halfspace/internal/testrows"
	"halfspace/schema"
)

// TestLabels reads labels of every type.
func TestLabels(t *testing.T) {
	p, dict := arrow.PrimitiveTypes, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8,
		ValueType: arrow.BinaryTypes.String}
	for _, c := range []struct {
		typ      arrow.DataType
		values   string
		positive string
		classes  string
		y        []float64
	}{
		{p.Int8, "[-1, 1, 1]", "", "-1 1", []float64{-1, 1, 1}},
		{p.Int16, "[3, 2, 3]", "", "2 3", []float64{1, -1, 1}},
		{p.Int32, "[10, 9, 10]", "9", "9 10", []float64{-1, 1, -1}},
		{p.Int64, "[9007199254740993, 9007199254740992, 0]", "", "0 9007199254740992 9007199254740993", []float64{2, 1, 0}},
		{p.Int8, "[7, 7]", "", "7", []float64{1, 1}},
		{p.Int8, "[7, 7]", "7", "7", []float64{1, 1}},
		{p.Int8, "[7, 7]", "8", "", nil},
		{p.Float64, "[3, 1.5, 10, 3, -2]", "3", "-2 1.5 3 10", []float64{2, 1, 3, 2, 0}},
		{arrow.BinaryTypes.String, `["b", "c", "a", "c"]`, "", "a b c", []float64{1, 2, 0, 2}},
		{dict, `["x", "z", "y"]`, "y", "x y z", []float64{0, 2, 1}},
		{p.Int64, "[9007199254740993, 9007199254740992]", "", "9007199254740992 9007199254740993", []float64{1, -1}},
		{p.Int64, "[9007199254740993, 9007199254740992]", "9007199254740993", "9007199254740992 9007199254740993", []float64{1, -1}},
		{p.Int64, "[9007199254740993, 9007199254740992]", "+9007199254740993", "9007199254740992 9007199254740993", []float64{1, -1}},
		{p.Uint64, "[18446744073709551615, 18446744073709551614]", "0018446744073709551614", "18446744073709551614 18446744073709551615", []float64{-1, 1}},
		{p.Uint64, "[10000000000000000000, 0]", "1e19", "0 10000000000000000000", []float64{1, -1}},
		{p.Float64, "[1e19, -9223372036854775808]", "-9223372036854775808", "-9223372036854775808 10000000000000000000", []float64{-1, 1}},
		{p.Float32, "[123456792, 0.1]", "123456792", "0.1 123456792", []float64{1, -1}},
		{arrow.BinaryTypes.String, `["1", "1.0"]`, "1.0", "1 1.0", []float64{-1, 1}},
		{p.Uint8, "[255, 0]", "0", "0 255", []float64{-1, 1}},
		{p.Uint16, "[7, 8]", "8.0", "7 8", []float64{-1, 1}},
		{p.Uint32, "[4000000000, 0]", "4e9", "0 4000000000", []float64{1, -1}},
		{p.Uint64, "[18446744073709551615, 0]", "", "0 18446744073709551615", []float64{1, -1}},
		{p.Float32, "[0.1, 1, 0.1]", "", "0.1 1", []float64{-1, 1, -1}},
		{p.Float64, "[0, 1, -0.0]", "0", "0 1", []float64{1, -1, 1}},
		{arrow.FixedWidthTypes.Float16, "[0.5, 1]", "", "0.5 1", []float64{-1, 1}},
		{arrow.FixedWidthTypes.Boolean, "[true, false]", "", "false true", []float64{1, -1}},
		{arrow.FixedWidthTypes.Boolean, "[true, false]", "false", "false true", []float64{-1, 1}},
		{arrow.BinaryTypes.String, `["no", "yes", "no"]`, "", "no yes", []float64{-1, 1, -1}},
		{arrow.BinaryTypes.String, `["g", "", "g"]`, "", " g", []float64{1, -1, 1}},
		{arrow.BinaryTypes.Binary, `["YQ==", "Yg=="]`, "", "a b", []float64{-1, 1}},
		{arrow.BinaryTypes.LargeString, `["no", "yes"]`, "no", "no yes", []float64{1, -1}},
		{arrow.BinaryTypes.LargeBinary, `["YQ==", "Yg=="]`, "", "a b", []float64{-1, 1}},
		{dict, `["no", "yes", "no"]`, "", "no yes", []float64{-1, 1, -1}},
	} {
		rec := record(t, field("y", c.typ, c.values), field("x", p.Float32, "["+strings.Repeat("1, ", strings.Count(c.values,
			","))+"1]"))
		path := filepath.Join(t.TempDir(), "a.parquet")
		writeFile(t, path, rec, 1000)
		r, err := array.NewRecordReader(rec.Schema(), []arrow.Record{rec})
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Label: "y", Positive: c.positive}
		fromFile, err1 := Load(context.Background(), []string{path}, opt)
		fromRecord, err2 := fromRecords(context.Background(), r, opt)
		if c.y == nil {
			if err1 == nil || err2 == nil {
				t.Errorf("%s %s: no error", c.typ, c.values)
			}
			continue
		}
		for _, err := range []error{err1, err2} {
			if err != nil {
				t.Errorf("%s %s: %v", c.typ, c.values, err)
			}
		}
		if err1 != nil || err2 != nil {
			continue
		}
		for _, d := range []*block.Data{fromFile, fromRecord} {
			var classes []string
			for _, c := range d.Spec().Classes {
				classes = append(classes, c.Text)
			}
			if _, y := rowsOf(t, d); !slices.Equal(testrows.Float64s(y), c.y) || strings.Join(classes, " ") != c.classes {
				t.Errorf("%s %s: labels %v, classes %q", c.typ, c.values, y, classes)
			}
		}
		if !reflect.DeepEqual(fromFile.Spec(), fromRecord.Spec()) {
			t.Errorf("%s: Specs differ", c.typ)
		}
	}
}

// TestTypesDiffer reads files whose columns are of other types, in another order, and with columns of their own.
func TestTypesDiffer(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	a := file1(t, dir, "a.parquet", field("x", p.Int32, "[1, 2]"), field("y", p.Int8, "[0, 1]"), field("z", p.Float32, "[5, 6]"))
	b := file1(t, dir, "b.parquet", field("extra", p.Int32, "[9]"), field("z", p.Float64, "[7]"), field("y", p.Float64,
		"[1.0]"), field("x", arrow.FixedWidthTypes.Boolean, "[true]"))
	d, err := Load(context.Background(), []string{a, b}, Options{Label: "y"})
	if err != nil {
		t.Fatal(err)
	}
	rows, y := rowsOf(t, d)
	if fmt.Sprint(rows, y) != "[[1 5 1] [2 6 1] [1 7 1]] [-1 1 1]" {
		t.Errorf("rows and labels %v %v", rows, y)
	}
}

// TestModelClasses checks that labels are read as a model's classes, also where only one of them occurs.
func TestModelClasses(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	path := file1(t, dir, "a.parquet", field("x", p.Int32, "[1, 2]"), field("y", p.Float64, "[4, 4]"))
	for positive, want := range map[int]string{0: "[-1 -1]", 1: "[1 1]"} {
		spec := &schema.Spec{Features: []string{"x"}, Label: "other", Classes: []schema.Class{schema.IntClass(3), schema.IntClass(4)}}
		spec.SetPositive(positive)
		d, err := Load(context.Background(), []string{path}, Options{Label: "y", Spec: spec})
		if err != nil {
			t.Fatal(err)
		}
		if rows, y := rowsOf(t, d); fmt.Sprint(y) != want || fmt.Sprint(rows) != "[[1] [2]]" || d.Spec() != spec {
			t.Errorf("positive %d: labels %v, rows %v", positive, y, rows)
		}
	}
}
