package dataset

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/datatest"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// TestOptionErrors: wrong options are errors that name them.
func TestOptionErrors(t *testing.T) {
	const buckets = ": use onehot or hash:BITS, with BITS from 1 to 24, for all columns of text, or COLUMN=onehot,COLUMN=hash:BITS for named columns"
	path := textFile(t, "a.csv", "c,x,y\na,1,1\n")
	for want, opt := range map[string]Options{
		`Categorical is "hash:0"` + buckets:                  {Categorical: "hash:0"},
		`Categorical is "hash:25"` + buckets:                 {Categorical: "hash:25"},
		`nulls is "none": use one of [error drop zero mean]`: {Nulls: "none"},
		`workers is -1: use 1 or more, or 0 for every core`:  {Workers: -1},
		"no data: name a file, a directory or a glob":        {},
	} {
		var paths []string
		if !strings.HasPrefix(want, "no data") {
			paths = []string{path}
		}
		_, err := loadAll(t.Context(), paths, opt)
		wantError(t, err, "", want)
		if opt.Workers == 0 && paths != nil {
			_, err := fromRecord(t, record(t, datatest.Column("x", []int8{1}, nil)), 1, opt)
			wantError(t, err, "", want)
		}
	}
}

// TestCategoryErrors compares errors about text.
func TestCategoryErrors(t *testing.T) {
	t.Parallel()
	p, s := arrow.PrimitiveTypes, arrow.BinaryTypes.String
	many := make([]string, 1500)
	for i := range many {
		many[i] = fmt.Sprintf("%q", fmt.Sprint("id", i%1200))
	}
	model := &schema.Spec{Features: []string{"c=a"}, Preprocessing: &schema.Preprocessing{
		Columns: []schema.Column{{Name: "c", Kind: schema.OneHotColumn, Categories: []string{"a"}}}}}
	checkErrors(t, []errorCase{
		{[]testField{field("id", s, "["+strings.Join(many, ",")+"]")}, Options{Categorical: "onehot", Storage: Dense}, `column "id", row 1000: more than 1000 categories: leave it out with Exclude, or use Categorical hash:BITS`},
		{[]testField{field("c", s, `["a", null]`)}, Options{Categorical: "onehot"}, `column "c", row 1: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{field("c", s, `["a", null]`)}, Options{Categorical: "hash:4"}, `column "c", row 1: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{field("c", s, `[null, null]`)}, Options{Categorical: "onehot", Nulls: "zero"}, `column "c": every value is missing, so that there is no category: leave it out with Exclude`},
		{[]testField{field("c", arrow.BinaryTypes.Binary, `["YQ==", "/2E="]`)}, Options{Categorical: "onehot"}, `column "c", row 1: "\xffa" is not valid UTF-8: mend it, or leave the row out`},
		{[]testField{field("c", s, `["a"]`), field("c=a", p.Int8, "[1]")}, Options{Categorical: "onehot"}, `columns "c" and "c=a" both have a feature "c=a": rename one`},
		{[]testField{field("c", s, `["a"]`)}, Options{Spec: &schema.Spec{Features: []string{"c"}}}, `column "c", row 0: "a" is no number (correct it, or train the model with Nulls zero or mean)`},
		{[]testField{field("c", s, `["a", null]`)}, Options{Spec: model}, `column "c", row 1: null (fill the value in, or train the model with Nulls zero or mean)`},
	})
	dir := t.TempDir()
	a := file1(t, dir, "a.parquet", field("c", s, `["a"]`))
	b := file1(t, dir, "b.parquet", field("c", p.Int8, `[1]`))
	_, err := loadAll(context.Background(), []string{a, b}, Options{Categorical: "onehot"})
	wantError(t, err, dir, `DIR/b.parquet: column "c" is int8, but string in the first file: convert one of them`)
}

// TestNullMessages has the errors and notes about missing values.
func TestNullMessages(t *testing.T) {
	p := arrow.PrimitiveTypes
	x, y := field("x", p.Float64, "[1, null, null, 4]"), field("y", p.Int8, "[0, 1, 0, null]")
	checkErrors(t, []errorCase{
		{[]testField{x, y}, Options{Label: "y", Nulls: "zero"}, `column "y", row 3: null (fill the label in, or use Nulls drop)`},
		{[]testField{x, y}, Options{Label: "y", Nulls: "mean"}, `column "y", row 3: null (fill the label in, or use Nulls drop)`},
		{[]testField{field("x", p.Float64, "[null, null]")}, Options{Nulls: "mean"}, `column "x": every value is missing, so that there is no mean: leave it out with Exclude`},
		{[]testField{field("x", p.Float64, "[1.7e308, -1.7e308]")}, Options{Nulls: "mean"}, `column "x": its numbers are too large for a mean: leave it out with Exclude`},
		{[]testField{field("x", p.Float64, "[null, null]")}, Options{Nulls: "drop"}, `no rows are left of 2, each has a missing value: exclude columns, or fill them in`},
		{[]testField{field("c", arrow.BinaryTypes.String, "[null, null]")}, Options{Nulls: "drop", Categorical: "onehot"}, `no rows are left of 2, each has a missing value: exclude columns, or fill them in`},
		{[]testField{field("x", p.Float64, "[]"), field("emb", arrow.ListOf(p.Float64), "[]")}, Options{Nulls: "mean"}, `no rows: give some`},
		{[]testField{field("x", p.Float64, "[null, 1e300]")}, Options{Nulls: "zero"}, `column "x", row 1: 1e+300 is too large for float32 (divide the column, or train with Standardize)`},
		{[]testField{field("x", p.Float64, "[null, 1, 1e300]")}, Options{Nulls: "drop"}, `column "x", row 2: 1e+300 is too large for float32 (divide the column, or train with Standardize)`},
		{[]testField{field("x", p.Float64, "[1, null, 3]")}, Options{Spec: &schema.Spec{Features: []string{"x"}}}, `column "x", row 1: null (fill the value in, or train the model with Nulls zero or mean)`},
	})
	var notes []string
	opt := Options{Nulls: "drop", Warn: func(s string) { notes = append(notes, s) }}
	d, err := fromRecord(t, record(t, x, field("z", p.Float64, "[0.1, 0.5, 0.1, 0.5]")), 2, opt)
	if err != nil || d.Rows() != 2 {
		t.Fatalf("%v, %v", d, err)
	}
	if want := "[2 of 4 rows left out: a feature or the label is null, NaN or infinite there column \"z\": float32 can't hold " +
		"every value exactly, they are rounded (use Standardize, which subtracts the mean before it rounds)]"; fmt.Sprint(notes) != want {
		t.Errorf("notes %s, want %s", notes, want)
	}
}

// TestListErrors has lists that can't be features.
func TestListErrors(t *testing.T) {
	t.Parallel()
	p := arrow.PrimitiveTypes
	list := arrow.ListOf(p.Float64)
	big := field("big", arrow.ListOf(p.Float64), "[[1, 2], [1, 1e300], [3, 4]]")
	model := &schema.Spec{Features: []string{"emb[0]", "emb[1]"}, Preprocessing: &schema.Preprocessing{
		Columns: []schema.Column{{Name: "emb", Kind: schema.ListColumn, Elements: 2}}}}
	checkErrors(t, []errorCase{
		{[]testField{field("emb", list, "[[1, 2], [1, 2], [3]]")}, Options{}, `column "emb", row 2: a list of 1, where others have 2 (exclude the column with Exclude, or make them equally long)`},
		{[]testField{field("emb", list, "[[], [1, 2], [3]]")}, Options{}, `column "emb", row 0: a list of 0, where others have 2 (exclude the column with Exclude, or make them equally long)`},
		{[]testField{field("emb", list, "[[], null, []]")}, Options{}, `column "emb": no list has an element: leave it out with Exclude`},
		{[]testField{field("emb", list, "[[1, 2], null, [3, 4]]")}, Options{}, `column "emb", row 1: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{field("emb", list, "[[1, 2], [3, 4], [null, 4]]")}, Options{}, `column "emb", row 2: element 0: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{big}, Options{}, `column "big", row 1: element 1: 1e+300 is too large for float32 (divide the column, or train with Standardize)`},
		{[]testField{field("emb", list, "[[1, 2, 3], [4, 5, 6]]")}, Options{Spec: model}, `column "emb", row 0: a list of 3, where others have 2 (exclude the column with Exclude, or make them equally long)`},
		{[]testField{field("emb", p.Float64, "[1, 2]")}, Options{Spec: model}, `column "emb" is float64, and the model takes lists of 2 numbers: convert it`},
		{[]testField{field("emb[0]", p.Float64, "[1]"), field("emb", list, "[[1]]")}, Options{}, `columns "emb[0]" and "emb" both have a feature "emb[0]": rename one`},
		{[]testField{field("a", list, "[[1], [2], [null]]"), field("b", p.Float32, "[1, null, 3]"), field("c", list, "[[1], null, [3]]")},
			Options{}, `column "b", row 1: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{field("a", list, "[[1], [null]]"), field("b", p.Float32, "[1, null]")},
			Options{}, `column "a", row 1: element 0: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{field("day", arrow.FixedWidthTypes.Date32, "[1, 2]")}, Options{Spec: &schema.Spec{Features: []string{"day"}}}, `column "day" is date32, and the model takes a number: convert it`},
		{[]testField{field("t", arrow.FixedWidthTypes.Timestamp_ms, `["2020-01-01"]`)},
			Options{Spec: &schema.Spec{Features: []string{"t"}, Preprocessing: &schema.Preprocessing{
				Columns: []schema.Column{{Name: "t", Kind: schema.NumberColumn, Unit: "us since 1970"}}}}},
			`column "t" is timestamp[ms, tz=UTC], and the model takes us since 1970: convert it`},
	})
}

// TestWeightErrors compares the text of errors about weights, in memory and streamed.
func TestWeightErrors(t *testing.T) {
	t.Parallel()
	p := arrow.PrimitiveTypes
	x, y := field("x", p.Float64, "[1, 2, 3]"), field("y", p.Int8, "[0, 1, 0]")
	model := &schema.Spec{Features: []string{"x"}, Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)}, Positive: 1}
	cases := []errorCase{
		{[]testField{x, y, field("w", p.Float64, "[1, 2, -0.5]")}, Options{}, `column "w", row 2: -0.5, and a weight is a finite number of 0 or more (correct it, or leave the row out)`},
		{[]testField{x, y, field("w", p.Int32, "[null, -2, -1]")}, Options{Nulls: schema.NullsDrop}, `column "w", row 1: -2, and a weight is a finite number of 0 or more (correct it, or leave the row out)`},
		{[]testField{x, y, field("w", p.Float64, "[1, null, 1]")}, Options{Nulls: schema.NullsMean}, `column "w", row 1: null, and a weight is a finite number of 0 or more (fill it in, or use Nulls drop)`},
		{[]testField{field("x", p.Float64, "[1, null, 3]"), y, field("w", p.Float64, "[1, 1, -1]")}, Options{}, `column "x", row 1: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
		{[]testField{field("x", p.Float64, "[1, 2, null]"), y, field("w", p.Float64, "[1, -1, -1]")}, Options{}, `column "w", row 1: -1, and a weight is a finite number of 0 or more (correct it, or leave the row out)`},
		{[]testField{x, y, field("w", p.Int8, "[0, 0, 0]")}, Options{}, `column "w": every sample weight is 0: choose another column with SampleWeight`},
		{[]testField{x, y}, Options{}, `no column "w" (columns: x, y)`},
		{[]testField{x, y}, Options{Spec: model}, `no column "w" (columns: x, y)`},
		{[]testField{x, y}, Options{SampleWeight: "y"}, `column "y" is the label: choose another one with SampleWeight`},
		{[]testField{x, y, field("w", arrow.FixedWidthTypes.Boolean, "[true, true, true]")}, Options{}, `column "w" is bool, and a weight is a number: choose another one with SampleWeight`},
		{[]testField{x, y, field("w", arrow.FixedWidthTypes.Date32, "[1, 2, 3]")}, Options{}, `column "w" is date32, and a weight is a number: choose another one with SampleWeight`},
		{[]testField{x, y, field("w", p.Int8, "[1, 1, 1]")}, Options{Features: []string{"x", "w"}}, `feature "w" is the weight of rows: leave it out of Features`},
	}
	for i := range cases {
		opt := &cases[i].opt
		opt.Label, opt.SampleWeight = "y", cmp.Or(opt.SampleWeight, "w")
	}
	checkErrors(t, cases)
	dir := t.TempDir()
	a := file1(t, dir, "a.parquet", x, y, field("w", p.Int8, "[1, 1, 1]"))
	b := file1(t, dir, "b.parquet", x, y, field("w", arrow.BinaryTypes.String, `["1", "1", "1"]`))
	_, err := loadAll(context.Background(), []string{a, b}, Options{Label: "y", SampleWeight: "w"})
	wantError(t, err, dir, `DIR/b.parquet: column "w" is string, but int8 in the first file: convert one of them`)
	svm := textFile(t, "a.svm", "1 1:1\n-1 1:2\n")
	_, err = Load(context.Background(), svm, Options{Label: column.SvmlightLabel, SampleWeight: "f1"})
	wantError(t, err, filepath.Dir(svm), "DIR/a.svm: svmlight files have no column of weights: convert them to another format, with such a column")
}

// TestMissingIsExact: a missing value doesn't count as one that float32 can't hold.
func TestMissingIsExact(t *testing.T) {
	rec := record(t, datatest.Column("x", []float64{0.5, nan, 0.1, inf}, []bool{true, true, false, true}))
	for _, nulls := range []schema.Nulls{schema.NullsZero, schema.NullsDrop} {
		_, err := fromRecord(t, rec, 4, Options{Nulls: nulls, Warn: func(s string) {
			if nulls != schema.NullsDrop || s != "3 of 4 rows left out: a feature or the label is null, NaN or infinite there" {
				t.Errorf("%s: %s", nulls, s)
			}
		}})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestKeepRows: with a Spec that drops rows and no label, all rows stay, with NaN for what is missing; with a label they
// are left out, and so are their kept columns.
func TestKeepRows(t *testing.T) {
	p := arrow.PrimitiveTypes
	path := file1(t, t.TempDir(), "a.parquet", field("x", p.Float64, "[1, null, 3]"), field("z", p.Int8, "[4, 5, null]"),
		field("y", p.Int8, "[0, 1, 1]"), field("id", p.Int8, "[7, 8, 9]"))
	spec := &schema.Spec{Features: []string{"x", "z"}, Label: "y", Classes: []schema.Class{schema.IntClass(0), schema.IntClass(1)},
		Positive: 1, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsDrop,
			Columns: []schema.Column{{Name: "x", Kind: schema.NumberColumn}, {Name: "z", Kind: schema.NumberColumn}}}}
	for label, want := range map[string]string{"": "3 [[1 4] [NaN 5] [3 NaN]] [] [7 8 9]", "y": "1 [[1 4]] [-1] [7]"} {
		err := Scan(context.Background(), []string{path}, Options{Spec: spec, Label: label, Keep: []string{"id"}},
			func(_ *schema.Spec, b *block.Block, rec arrow.Record) error {
				var rows [][]float32
				for r := range b.Len() {
					rows = append(rows, b.X[r*b.Stride:][:2])
				}
				if got := fmt.Sprint(b.Len(), rows, b.Y, rec.Column(0)); got != want {
					t.Errorf("label %q: %s, want %s", label, got, want)
				}
				return nil
			})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestStandardizeSpecial has columns without a deviation, and numbers that can't be standardized.
func TestStandardizeSpecial(t *testing.T) {
	p := arrow.PrimitiveTypes
	rec := record(t, field("constant", p.Float64, "[0.1, 0.1, 0.1]"), field("flag", arrow.FixedWidthTypes.Boolean, "[true, false, false]"),
		field("huge", p.Float64, "[1e300, 2e300, 3e300]"), field("odd", p.Int64, "[9007199254740993, 1, 2]"))
	var notes []string
	d, err := fromRecord(t, rec, 3, Options{Standardize: true, Exclude: []string{"huge"}, NoBias: true,
		Warn: func(s string) { notes = append(notes, s) }})
	require.NoError(t, err)
	rows, _ := rowsOf(t, d)
	if rows[0][0] != 0 || rows[2][0] != 0 || d.Spec().Preprocessing.Columns[0].Scale[0] != 1 || rows[0][1] != float32(math.Sqrt2) {
		t.Errorf("rows %v, %+v", rows, d.Spec().Preprocessing)
	}
	if want := `[column "odd": float64 can't hold every value exactly, they are rounded]`; fmt.Sprint(notes) != want {
		t.Errorf("notes %s, want %s", notes, want)
	}
	_, err = fromRecord(t, rec, 3, Options{Standardize: true})
	wantError(t, err, "", `column "huge": its numbers are too large for a standard deviation: leave it out with Exclude`)
	_, err = fromRecord(t, record(t, field("constant", p.Float64, "[0.1, 1e300]")), 3, Options{Spec: d.Spec()})
	wantError(t, err, "", `no columns "flag", "odd" (columns: constant)`)
	spec := &schema.Spec{Features: []string{"x"}, Preprocessing: &schema.Preprocessing{Columns: []schema.Column{{Name: "x",
		Kind: schema.NumberColumn, Center: []float64{0}, Scale: []float64{1}}}}}
	_, err = fromRecord(t, record(t, field("x", p.Float64, "[0.1, 1e300]")), 2, Options{Spec: spec})
	wantError(t, err, "", `column "x", row 1: 1e+300 is too far from the mean of the training rows: correct the value`)
	_, err = fromRecord(t, record(t, field("x", p.Float64, "[1, 2, null]")), 3, Options{Standardize: true})
	wantError(t, err, "", `column "x", row 2: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`)
}

// weightsOf returns the weights of a source's rows.
func weightsOf(tb testing.TB, src block.Source) (w []float64) {
	tb.Helper()
	for b, err := range src.Blocks(context.Background()) {
		require.NoError(tb, err)
		if len(b.W) != b.Len() || !src.Spec().Weighted || !slices.Equal(src.Spec().Features, []string{"a", "b"}) {
			tb.Fatalf("block from row %d: %d weights of %d rows, columns %v", b.First, len(b.W), b.Len(), src.Spec())
		}
		w = append(w, b.W...)
	}
	return w
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
	d := require.Value(loadAll(context.Background(), paths, Options{Label: "y", SampleWeight: "w"}))(t)
	if got := weightsOf(t, d); !slices.Equal(got, slices.Repeat([]float64{1, 0, 3}, len(paths))) {
		t.Errorf("the weights are %v", got)
	}
}
