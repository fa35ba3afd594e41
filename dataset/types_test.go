package dataset

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	"github.com/apache/arrow/go/v17/arrow/decimal256"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	"halfspace/internal/testrows"
	"halfspace/schema"
)

// fromRecord loads a record, cut into records of that many rows.
func fromRecord(tb testing.TB, rec arrow.Record, size int64, opt Options) (*block.Data, error) {
	tb.Helper()
	var recs []arrow.Record
	for lo := int64(0); lo < rec.NumRows(); lo += size {
		recs = append(recs, rec.NewSlice(lo, min(rec.NumRows(), lo+size)))
	}
	r, err := array.NewRecordReader(rec.Schema(), recs)
	if err != nil {
		tb.Fatal(err)
	}
	return fromRecords(context.Background(), r, opt)
}

// TestNumberTypes reads a column of each type from a file and from a record.
func TestNumberTypes(t *testing.T) {
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
				d, err := Load(context.Background(), []string{path}, Options{Label: "y", NoBias: true})
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
	if got := testrows.Float64s(slices.Concat(rows...)); !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", where, got, want)
	}
	if c := d.Spec().Columns()[0]; c.Unit != unit || (d.Spec().Preprocessing == nil) != (unit == "") {
		t.Errorf("%s: unit %q, want %q", where, c.Unit, unit)
	}
}

// TestDecimal holds decimals of every size against exact arithmetic.
func TestDecimal(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 20_000 {
		n := new(big.Int).SetUint64(rng.Uint64() >> rng.IntN(64))
		if i%3 == 0 {
			n.Lsh(n, uint(rng.IntN(60))).Add(n, big.NewInt(int64(rng.IntN(1000))))
		}
		if i%2 == 0 {
			n.Neg(n)
		}
		scale := int32(rng.IntN(45) - 5)
		want, ok := new(big.Rat).SetString(fmt.Sprintf("%de%d", n, -scale))
		if !ok {
			t.Fatal("no number")
		}
		f, exact := want.Float64()
		if got, all := frame.Decimal(decimal128.FromBigInt(n), scale); got != f || all != exact {
			t.Fatalf("decimal128 %v, scale %d: %v exact %t, want %v %t", n, scale, got, all, f, exact)
		}
		if got, all := frame.Decimal(decimal256.FromBigInt(n), scale); got != f || all != exact {
			t.Fatalf("decimal256 %v, scale %d: %v exact %t, want %v %t", n, scale, got, all, f, exact)
		}
	}
}

// TestDecimalRecords reads decimals of 256 bits, which no other test does, and labels that are decimals.
func TestDecimalRecords(t *testing.T) {
	d256 := &arrow.Decimal256Type{Precision: 60, Scale: 2}
	rec := record(t, field("x", d256, `["0.25", "-1000000000000000000000000000000000000000000000000.00"]`), field("v", d256, `["0.25", "-1000000000000000000000000000000.00"]`),
		field("y", &arrow.Decimal128Type{Precision: 20, Scale: 2}, `["1.00", "9007199254740993.00"]`),
		field("z", d256, `["0.10", "-0.50"]`))
	var warned string
	d, err := fromRecord(t, rec, 2, Options{Label: "y", Exclude: []string{"x"}, NoBias: true, Warn: func(s string) { warned = s }})
	if err != nil {
		t.Fatal(err)
	}
	rows, y := rowsOf(t, d)
	if fmt.Sprint(rows, y, d.Spec().Classes) != "[[0.25 0.1] [-1e+30 -0.5]] [-1 1] [1 9007199254740993]" {
		t.Errorf("rows %v, labels %v, classes %v", rows, y, d.Spec().Classes)
	}
	if warned != "" { // of their last digits
		t.Errorf("warning %q", warned)
	}
	_, err = fromRecord(t, rec, 2, Options{Label: "y", Features: []string{"x"}})
	wantError(t, err, "", `column "x", row 1: -1e+48 is too large for float32 (divide the column, or train with --standardize)`)
	d, err = fromRecord(t, rec, 2, Options{Label: "z", Exclude: []string{"x"}})
	if err != nil || fmt.Sprint(d.Spec().Classes) != "[-0.5 0.1]" {
		t.Errorf("classes of a label of 256 bits: %v, %v", d, err)
	}
}

// lists makes a column of rows lists of width random elements, of a list type or a fixed-size one.
func lists(tb testing.TB, typ arrow.DataType, rows int, rng *rand.Rand) (arrow.Array, [][]float64) {
	b := array.NewBuilder(memory.DefaultAllocator, typ).(array.ListLikeBuilder)
	elements, width, ok := frame.ListOf(typ)
	if !ok {
		tb.Fatalf("%s isn't a list of numbers", elements)
	}
	if width == 0 {
		width = 5
	}
	var want [][]float64
	for range rows {
		b.Append(true)
		row := make([]float64, width)
		for i := range row {
			row[i] = appendRandom(b.ValueBuilder(), rng, false)
		}
		want = append(want, row)
	}
	return b.NewArray(), want
}

// TestLists reads lists beside numbers, from records of any size with any number of workers.
func TestLists(t *testing.T) {
	const rows = 9001
	p := arrow.PrimitiveTypes
	for _, typ := range []arrow.DataType{arrow.ListOf(p.Float32), arrow.ListOf(p.Float64), arrow.LargeListOf(p.Int16),
		arrow.FixedSizeListOf(3, p.Float32), arrow.FixedSizeListOf(70, p.Uint8), arrow.ListOf(arrow.FixedWidthTypes.Float16),
		arrow.ListOf(arrow.FixedWidthTypes.Boolean)} {
		rng := rand.New(rand.NewPCG(5, 6))
		emb, want := lists(t, typ, rows, rng)
		m := newMixedTable(t, rows, 2, false)
		rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: m.rec.Column(0).DataType()}, {Name: "emb", Type: typ},
			{Name: "b", Type: m.rec.Column(1).DataType()}}, nil), []arrow.Array{m.rec.Column(0), emb, m.rec.Column(1)}, rows)
		for _, size := range []int64{rows, 1000} {
			for _, workers := range []int{1, 3} {
				d, err := fromRecord(t, rec, size, Options{Workers: workers})
				if err != nil {
					t.Fatal(err)
				}
				got, _ := rowsOf(t, d)
				for r, row := range got {
					all := slices.Concat([]float64{m.values[0][r]}, want[r], []float64{m.values[1][r], 1})
					for k, v := range all {
						if row[k] != float32(v) {
							t.Fatalf("%s: row %d, column %d is %v, want %v", typ, r, k, row[k], v)
						}
					}
				}
				names := d.Spec().Features
				if len(names) != len(want[0])+2 || names[0] != "a" || names[1] != "emb[0]" || names[len(names)-1] != "b" ||
					d.Spec().Preprocessing.Columns[1].Elements != len(want[0]) {
					t.Errorf("%s: features %q, preprocessing %+v", typ, names, d.Spec().Preprocessing)
				}
				again, err := fromRecord(t, rec, size, Options{Workers: workers, Spec: d.Spec()})
				if err != nil {
					t.Fatal(err)
				}
				if err := sameBlocks(blocksOf(t, again), blocksOf(t, d)); err != nil {
					t.Errorf("%s: read with its own Spec: %v", typ, err)
				}
			}
		}
	}
}

// TestListErrors has lists that can't be features.
func TestListErrors(t *testing.T) {
	p := arrow.PrimitiveTypes
	list := arrow.ListOf(p.Float64)
	big := field("big", arrow.ListOf(p.Float64), "[[1, 2], [1, 1e300], [3, 4]]")
	model := &schema.Spec{Features: []string{"emb[0]", "emb[1]"}, Preprocessing: &schema.Preprocessing{
		Columns: []schema.Column{{Name: "emb", Kind: schema.ListColumn, Elements: 2}}}}
	for _, c := range []struct {
		fields []testField
		opt    Options
		want   string
	}{
		{[]testField{field("emb", list, "[[1, 2], [1, 2], [3]]")}, Options{},
			`column "emb", row 2: a list of 1, where others have 2 (exclude the column with --exclude, or make them equally long)`},
		{[]testField{field("emb", list, "[[], [1, 2], [3]]")}, Options{},
			`column "emb", row 0: a list of 0, where others have 2 (exclude the column with --exclude, or make them equally long)`},
		{[]testField{field("emb", list, "[[], null, []]")}, Options{},
			`column "emb": no list has an element: leave it out with --exclude`},
		{[]testField{field("emb", list, "[[1, 2], null, [3, 4]]")}, Options{},
			`column "emb", row 1: null (exclude the column with --exclude, or use --nulls drop, zero or mean)`},
		{[]testField{field("emb", list, "[[1, 2], [3, 4], [null, 4]]")}, Options{},
			`column "emb", row 2: element 0: null (exclude the column with --exclude, or use --nulls drop, zero or mean)`},
		{[]testField{big}, Options{}, `column "big", row 1: element 1: 1e+300 is too large for float32 (divide the column, or train with --standardize)`},
		{[]testField{field("emb", list, "[[1, 2, 3], [4, 5, 6]]")}, Options{Spec: model},
			`column "emb", row 0: a list of 3, where others have 2 (exclude the column with --exclude, or make them equally long)`},
		{[]testField{field("emb", p.Float64, "[1, 2]")}, Options{Spec: model},
			`column "emb" is float64, and the model takes lists of 2 numbers: convert it`},
		{[]testField{field("emb[0]", p.Float64, "[1]"), field("emb", list, "[[1]]")}, Options{},
			`columns "emb[0]" and "emb" both have a feature "emb[0]": rename one`},
		{[]testField{field("a", list, "[[1], [2], [null]]"), field("b", p.Float32, "[1, null, 3]"), field("c", list, "[[1], null, [3]]")},
			Options{}, `column "b", row 1: null (exclude the column with --exclude, or use --nulls drop, zero or mean)`},
		{[]testField{field("a", list, "[[1], [null]]"), field("b", p.Float32, "[1, null]")},
			Options{}, `column "a", row 1: element 0: null (exclude the column with --exclude, or use --nulls drop, zero or mean)`},
		{[]testField{field("day", arrow.FixedWidthTypes.Date32, "[1, 2]")}, Options{Spec: &schema.Spec{Features: []string{"day"}}},
			`column "day" is date32, and the model takes a number: convert it`},
		{[]testField{field("t", arrow.FixedWidthTypes.Timestamp_ms, `["2020-01-01"]`)},
			Options{Spec: &schema.Spec{Features: []string{"t"}, Preprocessing: &schema.Preprocessing{
				Columns: []schema.Column{{Name: "t", Kind: schema.NumberColumn, Unit: "us since 1970"}}}}},
			`column "t" is timestamp[ms, tz=UTC], and the model takes us since 1970: convert it`},
	} {
		for _, size := range []int64{1, 100} {
			_, err := fromRecord(t, record(t, c.fields...), size, c.opt)
			wantError(t, err, "", c.want)
		}
	}
}

// TestDroppedLists: a list in a row that isn't kept says nothing of how long the others are.
func TestDroppedLists(t *testing.T) {
	p := arrow.PrimitiveTypes
	rec := record(t, field("emb", arrow.ListOf(p.Float64), "[[1], [null, 2, 3], [], [4, 5], [6], [7, 8]]"),
		field("x", p.Float64, "[null, 1, null, 2, 3, 4]"), field("y", p.Int8, "[0, 1, 0, 1, null, 0]"))
	for _, size := range []int64{1, 2, 100} {
		d, err := fromRecord(t, rec, size, Options{Label: "y", Nulls: schema.NullsDrop})
		if err != nil {
			t.Fatal(err)
		}
		if rows, y := rowsOf(t, d); fmt.Sprint(rows, y) != "[[4 5 2 1] [7 8 4 1]] [1 -1]" {
			t.Errorf("records of %d: %v, %v", size, rows, y)
		}
		_, err = fromRecord(t, rec.NewSlice(0, 3), size, Options{Label: "y", Nulls: schema.NullsDrop})
		wantError(t, err, "", "no rows are left of 3, each has a missing value: exclude columns, or fill them in")
	}
}

// TestUnitsDiffer reads files whose dates count different units.
func TestUnitsDiffer(t *testing.T) {
	dir, w := t.TempDir(), arrow.FixedWidthTypes
	a := file1(t, dir, "a.parquet", field("t", w.Timestamp_ms, `["2020-01-01"]`))
	b := file1(t, dir, "b.parquet", field("t", w.Timestamp_us, `["2020-01-01"]`))
	utc := file1(t, dir, "utc.parquet", field("t", &arrow.TimestampType{Unit: arrow.Millisecond}, `["2020-01-01"]`))
	_, err := Load(context.Background(), []string{a, b}, Options{})
	wantError(t, err, dir, `DIR/b.parquet: column "t" is timestamp[us, tz=UTC], but timestamp[ms, tz=UTC] in the first file: convert one of them`)
	d, err := Load(context.Background(), []string{a, utc}, Options{NoBias: true})
	if err != nil {
		t.Fatal(err)
	}
	if rows, _ := rowsOf(t, d); fmt.Sprint(rows) != fmt.Sprint([][]float32{{1577836800e3}, {1577836800e3}}) {
		t.Errorf("rows %v", rows)
	}
}

// TestNestedColumns are left out with a note.
func TestNestedColumns(t *testing.T) {
	p := arrow.PrimitiveTypes
	path := filepath.Join(t.TempDir(), "a.parquet")
	writeFile(t, path, record(t, field("x", p.Int8, "[1]"), field("s", arrow.StructOf(arrow.Field{Name: "a", Type: p.Int8}), `[{"a": 1}]`),
		field("names", arrow.ListOf(arrow.BinaryTypes.String), `[["a"]]`)), 10, parquet.WithStats(false))
	var got []string
	_, err := Load(context.Background(), []string{path}, Options{Warn: func(s string) { got = append(got, s) }})
	if want := `columns "s" (struct), "names" (list): left out, a feature is a number, a boolean or a list of numbers`; err != nil ||
		strings.Join(got, "\n") != want {
		t.Errorf("error %v, notes %q, want %q", err, got, want)
	}
	_, err = Load(context.Background(), []string{path}, Options{Features: []string{"s"}})
	wantError(t, err, filepath.Dir(path),
		`DIR/a.parquet: column "s" is struct, and a feature is a number, a boolean or a list of numbers: leave it out or convert it`)
}
