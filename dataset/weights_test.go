package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// weightsOf returns the weights of a source's rows.
func weightsOf(tb testing.TB, src block.Source) (w []float64) {
	tb.Helper()
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			tb.Fatal(err)
		}
		if len(b.W) != b.Len() || !src.Spec().Weighted || !slices.Equal(src.Spec().Features, []string{"a", "b"}) {
			tb.Fatalf("block from row %d: %d weights of %d rows, columns %v", b.First, len(b.W), b.Len(), src.Spec())
		}
		w = append(w, b.W...)
	}
	return w
}

// TestWeights reads weights of rows from every format that can hold them, in memory and streamed, by any number of workers, with
// rows left out, for the classes of a model too: they are the column's, exactly, and the features those without it.
func TestWeights(t *testing.T) {
	const rows = 20_000
	rng := rand.New(rand.NewPCG(5, 6))
	var want []float64 // of the rows that have one
	var fields []arrow.Field
	var cols []arrow.Array
	for _, name := range []string{"a", "w", "b", "y"} {
		b := array.NewFloat64Builder(memory.DefaultAllocator)
		for r := range rows {
			switch v := rng.Float64(); {
			case name == "w" && r%7 == 0:
				b.Append(0)
				want = append(want, 0)
			case name == "w" && r%5 == 0:
				b.AppendNull()
			case name == "w" && r%11 == 0:
				b.Append([]float64{nan, inf, -inf}[r%3])
			case name == "w":
				b.Append(v)
				want = append(want, v)
			case name == "y":
				b.Append(float64(r % 2))
			default:
				b.Append(v)
			}
		}
		fields, cols = append(fields, arrow.Field{Name: name, Type: b.Type(), Nullable: name == "w"}), append(cols, b.NewArray())
	}
	dir := t.TempDir()
	start := filepath.Join(dir, "a.parquet")
	writeFile(t, start, array.NewRecord(arrow.NewSchema(fields, nil), cols, rows), 1700)
	model := &schema.Spec{Features: []string{"a", "b"}, Bias: true, Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)},
		Positive: 1, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsDrop, Columns: []schema.Column{{Name: "a", Kind: schema.NumberColumn},
			{Name: "b", Kind: schema.NumberColumn}}}}
	for _, ext := range []string{".parquet", ".csv", ".arrow"} {
		path := filepath.Join(dir, "b"+ext)
		convertFile(t, rows, start, path, WriterOptions{})
		for _, workers := range []int{1, 3} {
			for _, spec := range []*schema.Spec{nil, model} {
				opt := Options{Label: "y", SampleWeight: "w", Nulls: schema.NullsDrop, Workers: workers, Spec: spec}
				d, err := Load(context.Background(), []string{path}, opt)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(weightsOf(t, d), want) {
					t.Errorf("%s, %d workers: the weights differ", ext, workers)
				}
				s := mustStream(t, memory.DefaultAllocator, opt, path)
				for range 2 {
					if !slices.Equal(weightsOf(t, s), want) {
						t.Errorf("%s, %d workers, streamed: the weights differ", ext, workers)
					}
				}
				if spec != nil && spec.Weighted {
					t.Fatal("the model's spec was changed")
				}
			}
			_, err := Load(context.Background(), []string{path}, Options{Label: "y", SampleWeight: "w", Workers: workers})
			wantError(t, err, dir, `DIR/b`+ext+`: column "w", row 5: null, and a weight is a finite number of 0 or more `+
				`(fill it in, or use --nulls drop)`)
		}
	}
}

// TestWeightTypes: a weight is a number of any type, and the column may have another in a further file.
func TestWeightTypes(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	var paths []string
	for i, typ := range []arrow.DataType{p.Int8, p.Uint64, p.Float32, arrow.FixedWidthTypes.Float16, &arrow.Decimal128Type{Precision: 10, Scale: 2}} {
		values := "[1, 0, 3]"
		if typ.ID() == arrow.DECIMAL128 {
			values = `["1", "0", "3"]`
		}
		paths = append(paths, file1(t, dir, fmt.Sprint(i, ".parquet"), field("a", p.Int8, "[1, 2, 3]"), field("b", p.Int8, "[1, 2, 3]"),
			field("y", p.Int8, "[0, 1, 0]"), field("w", typ, values)))
	}
	d, err := Load(context.Background(), paths, Options{Label: "y", SampleWeight: "w"})
	if err != nil {
		t.Fatal(err)
	}
	if got := weightsOf(t, d); !slices.Equal(got, slices.Repeat([]float64{1, 0, 3}, len(paths))) {
		t.Errorf("the weights are %v", got)
	}
}

// TestWeightErrors compares the text of errors about weights, in memory and streamed.
func TestWeightErrors(t *testing.T) {
	p := arrow.PrimitiveTypes
	x, y := field("x", p.Float64, "[1, 2, 3]"), field("y", p.Int8, "[0, 1, 0]")
	model := &schema.Spec{Features: []string{"x"}, Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}, Positive: 1}
	for _, c := range []struct {
		name   string
		fields []testField
		opt    Options
		want   string
	}{
		{"negative", []testField{x, y, field("w", p.Float64, "[1, 2, -0.5]")}, Options{},
			`DIR/a.parquet: column "w", row 2: -0.5, and a weight is a finite number of 0 or more (correct it, or leave the row out)`},
		{"negative, rows left out", []testField{x, y, field("w", p.Int32, "[null, -2, -1]")}, Options{Nulls: schema.NullsDrop},
			`DIR/a.parquet: column "w", row 1: -2, and a weight is a finite number of 0 or more (correct it, or leave the row out)`},
		{"null where others are filled in", []testField{x, y, field("w", p.Float64, "[1, null, 1]")}, Options{Nulls: schema.NullsMean},
			`DIR/a.parquet: column "w", row 1: null, and a weight is a finite number of 0 or more (fill it in, or use --nulls drop)`},
		{"after a worse row", []testField{field("x", p.Float64, "[1, null, 3]"), y, field("w", p.Float64, "[1, 1, -1]")}, Options{},
			`DIR/a.parquet: column "x", row 1: null (exclude the column with --exclude, or use --nulls drop, zero or mean)`},
		{"before a worse row", []testField{field("x", p.Float64, "[1, 2, null]"), y, field("w", p.Float64, "[1, -1, -1]")}, Options{},
			`DIR/a.parquet: column "w", row 1: -1, and a weight is a finite number of 0 or more (correct it, or leave the row out)`},
		{"zeros", []testField{x, y, field("w", p.Int8, "[0, 0, 0]")}, Options{},
			`DIR/a.parquet: column "w": every sample weight is 0: choose another column with --sample-weight`},
		{"none", []testField{x, y}, Options{}, `DIR/a.parquet: no column "w" (columns: x, y)`},
		{"none of a model's", []testField{x, y}, Options{Spec: model}, `DIR/a.parquet: no column "w" (columns: x, y)`},
		{"the label", []testField{x, y}, Options{SampleWeight: "y"},
			`DIR/a.parquet: column "y" is the label: choose another one with --sample-weight`},
		{"a boolean", []testField{x, y, field("w", arrow.FixedWidthTypes.Boolean, "[true, true, true]")}, Options{},
			`DIR/a.parquet: column "w" is bool, and a weight is a number: choose another one with --sample-weight`},
		{"a date", []testField{x, y, field("w", arrow.FixedWidthTypes.Date32, "[1, 2, 3]")}, Options{},
			`DIR/a.parquet: column "w" is date32, and a weight is a number: choose another one with --sample-weight`},
		{"a feature", []testField{x, y, field("w", p.Int8, "[1, 1, 1]")}, Options{Features: []string{"x", "w"}},
			`DIR/a.parquet: feature "w" is the weight of rows: leave it out of --features`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := file1(t, dir, "a.parquet", c.fields...)
			c.opt.Label = "y"
			if c.opt.SampleWeight == "" {
				c.opt.SampleWeight = "w"
			}
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			defer mem.AssertSize(t, 0)
			_, err := load(context.Background(), []string{path}, c.opt, mem)
			wantError(t, err, dir, c.want)
			in, err := open(context.Background(), []string{path}, c.opt, mem)
			if err == nil {
				var s *Stream
				if s, err = in.Stream(context.Background()); err == nil {
					for _, err = range s.Blocks(context.Background()) {
					}
				}
			}
			wantError(t, err, dir, c.want)
		})
	}
	dir := t.TempDir()
	a := file1(t, dir, "a.parquet", x, y, field("w", p.Int8, "[1, 1, 1]"))
	b := file1(t, dir, "b.parquet", x, y, field("w", arrow.BinaryTypes.String, `["1", "1", "1"]`))
	_, err := Load(context.Background(), []string{a, b}, Options{Label: "y", SampleWeight: "w"})
	wantError(t, err, dir, `DIR/b.parquet: column "w" is string, but int8 in the first file: convert one of them`)
	svm := textFile(t, "a.svm", "1 1:1\n-1 1:2\n")
	_, err = Load(context.Background(), []string{svm}, Options{Label: frame.SvmlightLabel, SampleWeight: "f1"})
	wantError(t, err, filepath.Dir(svm), "DIR/a.svm: svmlight files have no column of weights: convert them to another format, with such a column")
}
