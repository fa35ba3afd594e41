package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/schema"
)

// TestSentinels: a program can tell what kind of error it has; each error is of one kind. TestLargeBody has one of memory.
func TestSentinels(t *testing.T) {
	dir := t.TempDir()
	p := arrow.PrimitiveTypes
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file1(t, dir, "good.parquet", field("x", p.Float64, "[1, 2]"), field("y", p.Int8, "[0, 1]"))
	nulls := file1(t, dir, "nulls.parquet", field("x", p.Float64, "[1, null]"), field("y", p.Int8, "[0, 1]"), field("w", p.Int8, "[0, null]"))
	unlabelled := file1(t, dir, "unlabelled.parquet", field("x", p.Float64, "[1, 3]"), field("y", p.Int8, "[0, null]"))
	whole, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]error{"format": ErrFormat, "column": ErrColumn, "nulls": ErrNulls, "damaged": ErrDamaged, "memory": ErrMemory}
	for _, c := range []struct {
		kind  string
		paths []string
		opt   Options
	}{
		{"", []string{good}, Options{Label: "y"}},
		{"format", []string{good, write("a.csv", "x,y\n1,0\n")}, Options{Label: "y"}},
		{"format", []string{write("a.bin", "\x00\x01\x02\x03")}, Options{}},
		{"column", []string{good}, Options{Label: "z"}},
		{"column", []string{good}, Options{Label: "y", Exclude: []string{"x"}}},
		{"nulls", []string{nulls}, Options{Label: "y"}},
		{"nulls", []string{nulls}, Options{Label: "y", SampleWeight: "w", Nulls: schema.NullsZero}},
		{"nulls", []string{unlabelled}, Options{Label: "y"}},
		{"damaged", []string{write("cut.parquet", string(whole[:len(whole)-20]))}, Options{}},
		{"damaged", []string{write("bad.parquet", string(whole[:4])+strings.Repeat("x", 40)+string(whole[44:]))}, Options{}},
		{"damaged", []string{write("bad.csv.gz", "\x1f\x8b\x08\x00garbage")}, Options{}},
	} {
		_, err := Load(context.Background(), c.paths, c.opt)
		for name, kind := range kinds {
			if errors.Is(err, kind) != (name == c.kind) {
				t.Errorf("%q: the error %v is of kind %s: %t", c.paths, err, name, errors.Is(err, kind))
			}
		}
	}
}

// TestMissingLabelOfModel: where a model says what becomes of missing values, no option is advised.
func TestMissingLabelOfModel(t *testing.T) {
	dir := t.TempDir()
	path := file1(t, dir, "a.parquet", field("x", arrow.PrimitiveTypes.Float64, "[1, 3]"), field("y", arrow.PrimitiveTypes.Int8, "[0, null]"),
		field("w", arrow.PrimitiveTypes.Int8, "[1, null]"))
	spec := &schema.Spec{Bias: true, Features: []string{"x"}, Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}}
	_, err := Load(context.Background(), []string{path}, Options{Spec: spec, Label: "y"})
	wantError(t, err, dir, `DIR/a.parquet: column "y", row 1: null (fill the label in, or leave the row out)`)
	_, err = Load(context.Background(), []string{path}, Options{Spec: spec, SampleWeight: "w"})
	wantError(t, err, dir, `DIR/a.parquet: column "w", row 1: null, and a weight is a finite number of 0 or more (fill it in, or leave the row out)`)
}
