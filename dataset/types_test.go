package dataset

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	pschema "github.com/apache/arrow/go/v17/parquet/schema"

	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/schema"
)

// fromRecord loads a record, cut into records of that many rows.
func fromRecord(tb testing.TB, rec arrow.Record, size int64, opt Options) (*block.Data, error) {
	tb.Helper()
	var recs []arrow.Record
	for lo := int64(0); lo < rec.NumRows(); lo += size {
		recs = append(recs, rec.NewSlice(lo, min(rec.NumRows(), lo+size)))
	}
	r := require.Value(array.NewRecordReader(rec.Schema(), recs))(tb)
	return fromRecords(context.Background(), r, opt)
}

// TestNumberTypes reads a column of each type from a file and from a record.
func TestNumberTypes(t *testing.T) {
	t.Parallel()
	p, w := arrow.PrimitiveTypes, arrow.FixedWidthTypes
	for _, c := range []struct {
		typ    arrow.DataType
		values string
		want   []float64
		unit   string
	}{
		{p.Int8, "[-128, 127]", []float64{-128, 127}, ""},
		{p.Int16, "[-32768, 32767]", []float64{-32768, 32767}, ""},
		{p.Int32, "[-2147483648, 2147483647]", []float64{-2147483648, 2147483647}, ""},
		{p.Int64, "[-9223372036854775808, 1]", []float64{-9223372036854775808, 1}, ""},
		{p.Uint8, "[0, 255]", []float64{0, 255}, ""},
		{p.Uint16, "[0, 65535]", []float64{0, 65535}, ""},
		{p.Uint32, "[0, 4294967295]", []float64{0, 4294967295}, ""},
		{p.Uint64, "[0, 18446744073709549568]", []float64{0, 18446744073709549568}, ""},
		{w.Float16, "[-0.5, 65504]", []float64{-0.5, 65504}, ""},
		{p.Float32, "[0.5, 3e38]", []float64{0.5, float64(float32(3e38))}, ""},
		{p.Float64, "[0.1, 1e30]", []float64{0.1, 1e30}, ""},
		{w.Boolean, "[false, true]", []float64{0, 1}, ""},
		{&arrow.Decimal128Type{Precision: 5, Scale: 2}, `["-123.45", "0.10"]`, []float64{-123.45, 0.1}, ""},
		{&arrow.Decimal128Type{Precision: 18, Scale: 3}, `["-123456789012345.678", "0.001"]`, []float64{-123456789012345.678, 0.001}, ""},
		{&arrow.Decimal128Type{Precision: 38, Scale: 10}, `["1234567890123456789012345678.0123456789", "-0.0000000001"]`,
			[]float64{1234567890123456789012345678.0123456789, -1e-10}, ""},
		{w.Date32, `["1970-01-02", "1969-12-31"]`, []float64{1, -1}, "days since 1970"},
		{w.Time32ms, `["00:00:01", "00:00:02.003"]`, []float64{1000, 2003}, "ms since midnight"},
		{w.Time64us, `["00:00:01", "00:00:02.003"]`, []float64{1e6, 2003000}, "us since midnight"},
		{w.Time64ns, `["00:00:01", "00:00:02.003"]`, []float64{1e9, 2003e6}, "ns since midnight"},
		{w.Timestamp_ms, `["1970-01-01 00:00:01", "1969-12-31 23:59:59"]`, []float64{1e3, -1e3}, "ms since 1970"},
		{w.Timestamp_us, `["1970-01-01 00:00:01", "1969-12-31 23:59:59"]`, []float64{1e6, -1e6}, "us since 1970"},
		{w.Timestamp_ns, `["1970-01-01 00:00:01", "1969-12-31 23:59:59"]`, []float64{1e9, -1e9}, "ns since 1970"},
	} {
		t.Run(c.typ.String(), func(t *testing.T) {
			rec := record(t, field("x", c.typ, c.values), field("y", p.Int8, "[0, 1]"))
			for _, int96 := range []string{"", "int96"} {
				path := filepath.Join(t.TempDir(), "a.parquet")
				meta := arrow.NewMetadata([]string{int96}, []string{""})
				writeFile(t, path, array.NewRecord(arrow.NewSchema(rec.Schema().Fields(), &meta), rec.Columns(), 2), 1)
				unit := c.unit
				if int96 != "" && arrow.TypeEqual(c.typ, w.Timestamp_ns) {
					unit = "ns since 1970"
				}
				d, err := Load(context.Background(), path, Options{Label: "y", NoBias: true})
				checkNumbers(t, "file", d, err, c.want, unit)
			}
			d, err := fromRecord(t, rec, 2, Options{Label: "y", NoBias: true})
			checkNumbers(t, "record", d, err, c.want, c.unit)
		})
	}
	// types that Arrow's Parquet writer doesn't write, or writes as others
	for typ, c := range map[arrow.DataType]string{
		w.Date64: "ms since 1970", w.Duration_s: "s", w.Timestamp_s: "s since 1970", w.Time32s: "s since midnight",
	} {
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues([]int64{1000 << 32, -5 << 32}, nil)
		if typ.(arrow.FixedWidthDataType).BitWidth() == 32 {
			b = array.NewInt64Builder(memory.DefaultAllocator)
			b.Append(-5<<32 | 1000)
		}
		data := b.NewArray().Data()
		a := array.MakeFromData(array.NewData(typ, 2, data.Buffers(), nil, 0, 0))
		want := []float64{1000 << 32, -5 << 32}
		if data.Len() == 1 {
			want = []float64{1000, -5}
		}
		rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: typ}}, nil), []arrow.Array{a}, 2)
		d, err := fromRecord(t, rec, 2, Options{NoBias: true})
		checkNumbers(t, typ.String(), d, err, want, c)
	}
}

func checkNumbers(t *testing.T, where string, d *block.Data, err error, want []float64, unit string) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	rows, _ := rowsOf(t, d)
	for i, v := range want {
		want[i] = float64(float32(v))
	}
	if got := testproblems.Float64s(slices.Concat(rows...)); !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", where, got, want)
	}
	if c := d.Spec().Columns()[0]; c.Unit != unit || (d.Spec().Preprocessing == nil) != (unit == "") {
		t.Errorf("%s: unit %q, want %q", where, c.Unit, unit)
	}
}

// TestDecimalRecords reads decimals of 256 bits, which no other test does, and labels that are decimals.
func TestDecimalRecords(t *testing.T) {
	d256 := &arrow.Decimal256Type{Precision: 60, Scale: 2}
	rec := record(t, field("x", d256, `["0.25", "-1000000000000000000000000000000000000000000000000.00"]`), field("v", d256, `["0.25", "-1000000000000000000000000000000.00"]`),
		field("y", &arrow.Decimal128Type{Precision: 20, Scale: 2}, `["1.00", "9007199254740993.00"]`),
		field("z", d256, `["0.10", "-0.50"]`))
	var warned string
	d := require.Value(fromRecord(t, rec, 2, Options{Label: "y", Exclude: []string{"x"}, NoBias: true, Warn: func(s string) { warned = s }}))(t)
	rows, y := rowsOf(t, d)
	if fmt.Sprint(rows, y, d.Spec().Classes) != "[[0.25 0.1] [-1e+30 -0.5]] [-1 1] [1 9007199254740993]" {
		t.Errorf("rows %v, labels %v, classes %v", rows, y, d.Spec().Classes)
	}
	if warned != "" { // of their last digits
		t.Errorf("warning %q", warned)
	}
	_, err := fromRecord(t, rec, 2, Options{Label: "y", Features: []string{"x"}})
	wantError(t, err, "", `column "x", row 1: -1e+48 is too large for float32 (divide the column, or train with Standardize)`)
	d, err = fromRecord(t, rec, 2, Options{Label: "z", Exclude: []string{"x"}})
	if err != nil || fmt.Sprint(d.Spec().Classes) != "[-0.5 0.1]" {
		t.Errorf("classes of a label of 256 bits: %v, %v", d, err)
	}
}

// TestDroppedLists: a list in a row that isn't kept says nothing of how long the others are.
func TestDroppedLists(t *testing.T) {
	p := arrow.PrimitiveTypes
	rec := record(t, field("emb", arrow.ListOf(p.Float64), "[[1], [null, 2, 3], [], [4, 5], [6], [7, 8]]"),
		field("x", p.Float64, "[null, 1, null, 2, 3, 4]"), field("y", p.Int8, "[0, 1, 0, 1, null, 0]"))
	for _, size := range []int64{1, 2, 100} {
		d := require.Value(fromRecord(t, rec, size, Options{Label: "y", Nulls: schema.NullsDrop}))(t)
		if rows, y := rowsOf(t, d); fmt.Sprint(rows, y) != "[[4 5 2 1] [7 8 4 1]] [1 -1]" {
			t.Errorf("records of %d: %v, %v", size, rows, y)
		}
		_, err := fromRecord(t, rec.NewSlice(0, 3), size, Options{Label: "y", Nulls: schema.NullsDrop})
		wantError(t, err, "", "no rows are left of 3, each has a missing value: exclude columns, or fill them in")
	}
}

// TestUnitsDiffer reads files whose dates count different units.
func TestUnitsDiffer(t *testing.T) {
	dir, w := t.TempDir(), arrow.FixedWidthTypes
	a := file1(t, dir, "a.parquet", field("t", w.Timestamp_ms, `["2020-01-01"]`))
	b := file1(t, dir, "b.parquet", field("t", w.Timestamp_us, `["2020-01-01"]`))
	utc := file1(t, dir, "utc.parquet", field("t", &arrow.TimestampType{Unit: arrow.Millisecond}, `["2020-01-01"]`))
	_, err := loadAll(context.Background(), []string{a, b}, Options{})
	wantError(t, err, dir, `DIR/b.parquet: column "t" is timestamp[us, tz=UTC], but timestamp[ms, tz=UTC] in the first file: convert one of them`)
	day := file1(t, dir, "day.parquet", field("t", w.Date32, `["2020-01-03"]`))
	days := func(first, second string) string {
		x := require.Value(loadAll(t.Context(), []string{first, second, day}, Options{NoBias: true, Prepare: true}))(t)
		rows, _ := rowsOf(t, x)
		return fmt.Sprint(rows)
	}
	if got, want := days(a, b), days(b, a); got != want || !strings.HasPrefix(got, "[[0 ") || !strings.Contains(got, "[2 ") {
		t.Errorf("prepared rows %s, and %s with the units exchanged", got, want)
	}
	clock := file1(t, dir, "clock.parquet", field("t", w.Time32s, `["08:00:00"]`))
	_, err = loadAll(t.Context(), []string{a, clock}, Options{Prepare: true})
	wantError(t, err, dir, `DIR/clock.parquet: column "t" is time32[ms], but timestamp[ms, tz=UTC] in the first file: convert one of them`)
	d := require.Value(loadAll(context.Background(), []string{a, utc}, Options{NoBias: true}))(t)
	if rows, _ := rowsOf(t, d); fmt.Sprint(rows) != fmt.Sprint([][]float32{{1577836800e3}, {1577836800e3}}) {
		t.Errorf("rows %v", rows)
	}
}

// TestLabels reads labels of every type.
func TestLabels(t *testing.T) {
	t.Parallel()
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
		r := require.Value(array.NewRecordReader(rec.Schema(), []arrow.Record{rec}))(t)
		opt := Options{Label: "y", Positive: c.positive}
		fromFile, err1 := Load(context.Background(), path, opt)
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
			if _, y := rowsOf(t, d); !slices.Equal(testproblems.Float64s(y), c.y) || strings.Join(classes, " ") != c.classes {
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
	d := require.Value(loadAll(context.Background(), []string{a, b}, Options{Label: "y", Exclude: []string{"extra"}}))(t)
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
		d := require.Value(Load(context.Background(), path, Options{Label: "y", Spec: spec}))(t)
		if rows, y := rowsOf(t, d); fmt.Sprint(y) != want || fmt.Sprint(rows) != "[[1] [2]]" || d.Spec() != spec {
			t.Errorf("positive %d: labels %v, rows %v", positive, y, rows)
		}
	}
}

// TestSentinels: a program can tell what kind of error it has; each error is of one kind. TestLargeBody has one of memory.
func TestSentinels(t *testing.T) {
	dir := t.TempDir()
	p := arrow.PrimitiveTypes
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	good := file1(t, dir, "good.parquet", field("x", p.Float64, "[1, 2]"), field("y", p.Int8, "[0, 1]"))
	nulls := file1(t, dir, "nulls.parquet", field("x", p.Float64, "[1, null]"), field("y", p.Int8, "[0, 1]"), field("w", p.Int8, "[0, null]"))
	unlabelled := file1(t, dir, "unlabelled.parquet", field("x", p.Float64, "[1, 3]"), field("y", p.Int8, "[0, null]"))
	whole := require.Value(os.ReadFile(good))(t)
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
		_, err := loadAll(context.Background(), c.paths, c.opt)
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
	_, err := Load(context.Background(), path, Options{Spec: spec, Label: "y"})
	wantError(t, err, dir, `DIR/a.parquet: column "y", row 1: null (fill the label in, or leave the row out)`)
	_, err = Load(context.Background(), path, Options{Spec: spec, SampleWeight: "w"})
	wantError(t, err, dir, `DIR/a.parquet: column "w", row 1: null, and a weight is a finite number of 0 or more (fill it in, or leave the row out)`)
}

// TestUnusableTypes: columns from which no feature can be made are left out with one note that names them and their
// types, and the others are read. Named by an option, such a column is an error that says so.
func TestUnusableTypes(t *testing.T) {
	const rows = 60
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "half",
		Type: arrow.FixedWidthTypes.Float16}, {Name: "blob", Type: arrow.BinaryTypes.Binary},
		{Name: "words", Type: arrow.BinaryTypes.Binary}, {Name: "id", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}},
		{Name: "pair", Type: arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "b",
			Type: arrow.BinaryTypes.String})}, {Name: "y", Type: arrow.BinaryTypes.String}}, nil))
	r := rand.New(rand.NewPCG(5, 5))
	for i := range rows {
		b.Field(0).(*array.Float16Builder).Append(float16.New(float32(i % 7)))
		b.Field(1).(*array.BinaryBuilder).Append([]byte{1, byte(r.Uint32()), byte(r.Uint32()), 0})
		b.Field(2).(*array.BinaryBuilder).Append([]byte([]string{"red", "blue"}[i%2]))
		b.Field(3).(*array.FixedSizeBinaryBuilder).Append([]byte("0123456789abcdef"))
		pair := b.Field(4).(*array.StructBuilder)
		pair.Append(true)
		pair.FieldBuilder(0).(*array.Int32Builder).Append(1)
		pair.FieldBuilder(1).(*array.StringBuilder).Append("x")
		b.Field(5).(*array.StringBuilder).Append([]string{"a", "b"}[i/7%2])
	}
	rec, dir := b.NewRecord(), t.TempDir()
	for _, name := range []string{"a.parquet", "a.arrow"} {
		path := filepath.Join(dir, name)
		writeNested(t, path, rec, rows)
		var notes []string
		data, err := Load(t.Context(), path, Options{Label: "y", Prepare: true,
			Warn: func(text string) { notes = append(notes, text) }})
		require.NoError(t, err)
		if got := data.Spec().Features; !slices.Equal(got, []string{"half", "words=blue", "words=red"}) {
			t.Errorf("%s: features %q", name, got)
		}
		left := slices.DeleteFunc(notes, func(text string) bool { return !strings.Contains(text, "left out") })
		want := `columns "id" (fixed_size_binary[16]), "pair" (struct), "blob" (bytes that are no text): left out, ` +
			`a feature is a number, a boolean or a list of numbers`
		if len(left) != 1 || left[0] != want {
			t.Errorf("%s: %q, want %q", name, left, want)
		}
		wrong := map[string]Options{`column "blob" has bytes that are no text, such as "\x01`: {Features: []string{"half",
			"blob"}},
			`column "blob" has bytes that are no text`:                     {Types: []string{"blob=category"}},
			`column "pair" is struct, and a feature is`:                    {Features: []string{"half", "pair"}},
			`column "id" is fixed_size_binary[16], and a feature is`:       {Features: []string{"id"}},
			`column "id": it is fixed_size_binary[16], which can't be com`: {Where: "id = 'x'"}}
		if name == "a.parquet" {
			wrong[`column "pair": it is struct, which can't be read`] = Options{Where: "pair is null"}
		}
		for want, opt := range wrong {
			opt.Label, opt.Prepare = "y", true
			_, err := Load(t.Context(), path, opt)
			require.Error(t, err, want)
		}
	}
}

// TestInt96Range: a timestamp of INT96 that nanoseconds since 1970 can't hold is missing in a feature, with a note.
// Where the column is kept or chooses rows, it is an error.
func TestInt96Range(t *testing.T) {
	const rows = 300
	root := require.Value(pschema.NewGroupNode("schema", parquet.Repetitions.Required, pschema.FieldList{
		pschema.NewInt96Node("t", parquet.Repetitions.Required, -1), pschema.NewInt32Node("y", parquet.Repetitions.Required,
			-1)}, -1))(t)
	for _, days := range []int{1, 50} {
		path := filepath.Join(t.TempDir(), "a.parquet")
		f := require.Value(os.Create(path))(t)
		w := file.NewParquetWriter(f, root)
		group := w.AppendRowGroup()
		var times []parquet.Int96
		var classes []int32
		outside := 0
		for i := range rows {
			day := uint32(2440588 + i%days) // the Julian day of 1970-01-01, and later ones
			if i%7 == 3 {
				day = 5373484 // of 9999-12-31
				outside++
			}
			var v parquet.Int96
			binary.LittleEndian.PutUint32(v[8:], day)
			times, classes = append(times, v), append(classes, int32(i%2))
		}
		require.Value(require.Value(group.NextColumn())(t).(*file.Int96ColumnChunkWriter).WriteBatch(times, nil, nil))(t)
		require.Value(require.Value(group.NextColumn())(t).(*file.Int32ColumnChunkWriter).WriteBatch(classes, nil, nil))(t)
		require.NoError(t, errors.Join(group.Close(), w.Close()))
		var notes []string
		opt := Options{Label: "y", Nulls: schema.NullsDrop, Warn: func(text string) { notes = append(notes, text) }}
		data := require.Value(Load(t.Context(), path, opt))(t)
		got, _ := rowsOf(t, data)
		if len(got) != rows-outside || slices.ContainsFunc(got, func(row []float32) bool {
			return row[0] < 0 ||
				row[0] > 50*86400e9
		}) {
			t.Errorf("%d days: %d rows, want %d", days, len(got), rows-outside)
		}
		if said := strings.Join(notes, "; "); strings.Count(said, "timestamps before 1677 and after 2262 are missing") != 1 {
			t.Errorf("%d days: notes %q", days, notes)
		}
		const want = "a timestamp out of the range of nanoseconds, 1677 to 2262, can't be read"
		_, err := Convert(t.Context(), []string{path}, filepath.Join(t.TempDir(), "out.csv"), Options{}, WriterOptions{})
		require.Error(t, err, want)
		opt.Where = "t > '1970-01-05'"
		_, err = Load(t.Context(), path, opt)
		require.Error(t, err, want)
	}
}

// TestInfiniteDates: the integers by which DuckDB writes infinite dates and times are missing in features, with a note, and kept as they are.
func TestInfiniteDates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	day, at, y := arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us, arrow.PrimitiveTypes.Int8
	infinite := file1(t, dir, "infinite.parquet", field("day", day, "[20000, 2147483647, -2147483647, 20003, 20005, 20011]"),
		field("at", at, "[1000000000, 2000000000, 9223372036854775807, 3000000000, -9223372036854775807, 4000000000]"), field("y", y, "[0, 1, 0, 1, 0, 1]"))
	null := file1(t, dir, "null.parquet", field("day", day, "[20000, null, null, 20003, 20005, 20011]"),
		field("at", at, "[1000000000, 2000000000, null, 3000000000, null, 4000000000]"), field("y", y, "[0, 1, 0, 1, 0, 1]"))
	for _, opt := range []Options{{Label: "y", Prepare: true}, {Label: "y", Nulls: "mean"}, {Label: "y", Nulls: "drop"}, {Label: "y", Nulls: "zero", Standardize: true}} {
		var notes []string
		opt.Warn = func(note string) { notes = append(notes, note) }
		got := require.Value(Load(t.Context(), infinite, opt))(t)
		if !slices.Contains(notes, `columns "day" and "at": infinite dates count as missing`) {
			t.Errorf("%+v: notes %q", opt, notes)
		}
		opt.Warn = func(note string) {
			if strings.Contains(note, "infinite") && opt.Nulls != "drop" {
				t.Errorf("%+v: note %q about nulls", opt, note)
			}
		}
		want := require.Value(Load(t.Context(), null, opt))(t)
		a, _ := rowsOf(t, got)
		b, _ := rowsOf(t, want)
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%+v: rows %v, with nulls %v", opt, a, b)
		}
	}
	_, err := Load(t.Context(), infinite, Options{Label: "y"})
	wantError(t, err, dir, `DIR/infinite.parquet: column "day", row 1: an infinite date (exclude the column with Exclude, or use Nulls drop, zero or mean)`)
	kept := filepath.Join(dir, "kept.parquet")
	require.Value(Convert(t.Context(), []string{infinite}, kept, Options{}, WriterOptions{}))(t)
	if got := require.Value(Load(t.Context(), kept, Options{Label: "y", Nulls: "mean"}))(t); got.Rows() != 6 {
		t.Errorf("%d rows", got.Rows())
	}
	notes := notesOf(t, kept, Options{Label: "y", Nulls: "mean"})
	if !slices.Contains(notes, `columns "day" and "at": infinite dates count as missing`) {
		t.Errorf("the converted file has the notes %q", notes)
	}
}
