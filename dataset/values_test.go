package dataset

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"

	"halfspace/dataset/internal/column"
	parquetfile "halfspace/dataset/internal/parquet"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// openColumns opens a file with all columns that can be read, lists too, or those of the given names.
func openColumns(path string, names ...string) (*parquetfile.Input, error) {
	in := &parquetfile.Input{}
	err := parquetfile.WithMetadata(path, func(m *parquetfile.Metadata) error {
		cols, err := m.TopColumns()
		if err != nil {
			return err
		}
		cols = slices.DeleteFunc(cols, func(c column.Column) bool {
			return c.Type == nil || len(names) > 0 && !slices.Contains(names, c.Name)
		})
		f, err := m.Selected(cols, nil)
		if err == nil {
			in.Files, in.Roles, in.Rows = []*parquetfile.File{f}, &column.Roles{Columns: cols}, m.Rows
		}
		return err
	})
	return in, err
}

// readColumns calls f with each array of every column.
func readColumns(in *parquetfile.Input, workers int, mem memory.Allocator, f func(col int, a arrow.Array)) error {
	rows := int64(0)
	for b, err := range in.Batches(context.Background(), column.NewPool(workers), mem) {
		if err != nil {
			return err
		}
		for i, a := range b.Columns {
			if int64(a.Len()) != b.Rows {
				return fmt.Errorf("%d of %d rows", a.Len(), b.Rows)
			}
			f(i, a)
		}
		rows += b.Rows
		b.Release()
	}
	if rows != in.Rows {
		return fmt.Errorf("%d of %d rows", rows, in.Rows)
	}
	return nil
}

// valueText writes a value as testdata/duckdb.mjs does.
func valueText(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "null"
	}
	float := func(v float64) string {
		if math.IsNaN(v) {
			return "nan"
		}
		return fmt.Sprintf("%016x", math.Float64bits(v))
	}
	micros := func(v int64, unit arrow.TimeUnit) string {
		per := map[arrow.TimeUnit]int64{arrow.Second: 1e6, arrow.Millisecond: 1e3, arrow.Microsecond: 1}[unit]
		if unit == arrow.Nanosecond {
			return fmt.Sprint((v - (v%1000+1000)%1000) / 1000)
		}
		return fmt.Sprint(v * per)
	}
	switch a := a.(type) {
	case *array.Float16:
		return float(float64(column.HalfFloat(a.Value(i))))
	case *array.Float32:
		return float(float64(a.Value(i)))
	case *array.Float64:
		return float(a.Value(i))
	case *array.Boolean:
		return map[bool]string{false: "0", true: "1"}[a.Value(i)]
	case *array.String:
		return hex.EncodeToString([]byte(a.Value(i)))
	case *array.Binary:
		return hex.EncodeToString(a.Value(i))
	case *array.FixedSizeBinary:
		return hex.EncodeToString(a.Value(i))
	case *array.Decimal128:
		return a.Value(i).BigInt().String()
	case *array.Date32:
		return fmt.Sprint(int32(a.Value(i)))
	case *array.Time32:
		return micros(int64(a.Value(i)), a.DataType().(*arrow.Time32Type).Unit)
	case *array.Time64:
		return micros(int64(a.Value(i)), a.DataType().(*arrow.Time64Type).Unit)
	case *array.Timestamp:
		return micros(int64(a.Value(i)), a.DataType().(*arrow.TimestampType).Unit)
	case *array.List:
		var list []string
		lo, hi := a.ValueOffsets(i)
		for k := lo; k < hi; k++ {
			list = append(list, valueText(a.ListValues(), int(k)))
		}
		return "[" + strings.Join(list, " ") + "]"
	}
	return a.ValueStr(i) // integers
}

// refused are files of the corpus of which DuckDB reads columns that we don't, and what the error says.
var refused = map[string]string{
	// DuckDB verifies no checksums.
	"valid/datapage_v1-corrupt-checksum.parquet":                  "its checksum is wrong",
	"valid/rle-dict-uncompressed-corrupt-checksum.parquet":        "its checksum is wrong",
	"valid/int96_from_spark.parquet":                              "out of the range of nanoseconds",
	"valid/null_list.parquet":                                     "0 columns of that name can be read",
	"valid/repeated_no_annotation.parquet":                        "0 rows, but 6 in the row groups",
	"valid/unknown-logical-type.parquet":                          "0 columns of that name can be read",
	"bad/ARROW-GH-45185.parquet":                                  "the first repetition level is 1, not 0",
	fuzzer + "minimized-parquet-arrow-fuzz-5068991573000192":      "0 columns of that name can be read",
	fuzzer + "minimized-parquet-arrow-fuzz-5654199003250688":      "not a Parquet file",
	fuzzer + "minimized-parquet-arrow-fuzz-5992530547310592.fuzz": "its header has negative numbers",
	fuzzer + "minimized-parquet-arrow-fuzz-6358005443592192":      "200 deltas for 8 values",
	fuzzer + "parquet-arrow-fuzz-6307367001784320":                "not a Parquet file",
}

const fuzzer = "fuzz/clusterfuzz-testcase-"

// TestCorpusValues compares every column of every file of the corpus with what DuckDB read in it, which
// testdata/duckdb.txt has. What DuckDB refuses may be read: what is right then isn't known.
func TestCorpusValues(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "shared", "data", "parquet")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no corpus: %v", err)
	}
	fixture := require.Value(os.Open(filepath.Join("testdata", "duckdb.txt")))(t)
	defer fixture.Close()
	lines, read := 0, 0
	for s := bufio.NewScanner(fixture); s.Scan(); lines++ {
		want := strings.Split(s.Text(), "\t")
		// Lists of text can't be read; DuckDB changes times of a day with a zone that are later than the day.
		if want[2] == "error" || want[2] == "VARCHAR[]" || want[2] == "TIME WITH TIME ZONE" {
			continue
		}
		got, err := columnText(filepath.Join(root, want[0]), want[1])
		why, known := refused[want[0]]
		switch {
		case err == nil:
			if got != strings.Join(want[3:], "\t") {
				t.Errorf("%s, column %q, %s: rows, nulls and hash %s, want %s", want[0], want[1], want[2], got, want[3:])
			}
			read++
		case !known || !strings.Contains(err.Error(), why):
			t.Errorf("%s, column %q, %s: error %v, want %q", want[0], want[1], want[2], err, why)
		}
	}
	if lines < 800 || read < 250 {
		t.Errorf("%d lines, %d columns compared", lines, read)
	}
}

// columnText returns the rows of a column, its nulls and a hash of its values.
func columnText(path, column string) (string, error) {
	in, err := openColumns(path, column)
	if err != nil {
		return "", err
	}
	if len(in.Roles.Columns) != 1 {
		return "", fmt.Errorf("%d columns of that name can be read", len(in.Roles.Columns))
	}
	rows, nulls, hash := 0, 0, sha256.New()
	err = readColumns(in, 2, memory.DefaultAllocator, func(_ int, a arrow.Array) {
		rows, nulls = rows+a.Len(), nulls+a.NullN()
		for i := range a.Len() {
			fmt.Fprintln(hash, valueText(a, i))
		}
	})
	return fmt.Sprintf("%d\t%d\t%x", rows, nulls, hash.Sum(nil)[:8]), err
}

// everyType is a record of every flat type that can be read, and of lists.
func everyType(tb testing.TB, rng *rand.Rand, rows int) arrow.Record {
	p, f, b := arrow.PrimitiveTypes, arrow.FixedWidthTypes, arrow.BinaryTypes
	types := []arrow.DataType{p.Int8, p.Int16, p.Int32, p.Int64, p.Uint8, p.Uint16, p.Uint32, p.Uint64, p.Float32, p.Float64,
		f.Float16, f.Boolean, f.Date32, f.Time32ms, f.Time64us, f.Timestamp_ms, f.Timestamp_us, f.Timestamp_ns, b.String, b.Binary, &arrow.TimestampType{Unit: arrow.Microsecond},
		&arrow.FixedSizeBinaryType{ByteWidth: 3}, &arrow.Decimal128Type{Precision: 7, Scale: 2},
		&arrow.Decimal128Type{Precision: 16, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 2}, arrow.ListOf(p.Float32),
		arrow.ListOf(p.Int64), arrow.ListOfNonNullable(p.Float64)}
	var cols []testField
	for _, typ := range types {
		for _, nullable := range []bool{false, true} {
			build := array.NewBuilder(memory.DefaultAllocator, typ)
			stretch := 0 // of values without nulls
			for range rows {
				if stretch--; stretch < -20 {
					stretch = rng.IntN(2000)
				}
				if nullable && stretch < 0 && rng.IntN(3) == 0 {
					build.AppendNull()
				} else {
					appendAny(rng, build)
				}
			}
			cols = append(cols, testField{Field: arrow.Field{Name: fmt.Sprintf("%s %v", typ, nullable), Type: typ, Nullable: nullable}, Array: build.NewArray()})
		}
	}
	return record(tb, cols...)
}

// appendAny appends a random value, often one of few.
func appendAny(rng *rand.Rand, b array.Builder) {
	n := rng.IntN(7)
	if rng.IntN(2) == 0 {
		n = rng.IntN(90_000)
	}
	switch b := b.(type) {
	case *array.ListBuilder:
		b.Append(true)
		for range rng.IntN(4) {
			if b.Type().(*arrow.ListType).ElemField().Nullable && rng.IntN(5) == 0 {
				b.ValueBuilder().AppendNull()
			} else {
				appendAny(rng, b.ValueBuilder())
			}
		}
	case *array.StringBuilder:
		b.Append(fmt.Sprint("text", n))
	case *array.BinaryBuilder:
		b.AppendString(fmt.Sprint(n))
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte(fmt.Sprintf("%03d", n%1000)))
	case *array.BooleanBuilder:
		b.Append(n%2 == 0)
	default:
		text := fmt.Sprint(n % 100)
		switch b.Type().ID() {
		case arrow.DATE32, arrow.TIMESTAMP:
			text = fmt.Sprintf("1970-01-%02d", 1+n%28)
		case arrow.TIME32, arrow.TIME64:
			text = fmt.Sprintf("00:00:%02d", n%60)
		}
		if err := b.AppendValueFromString(text); err != nil {
			panic(err)
		}
	}
}

// TestEveryType writes every type with Arrow in many ways, and reads what was written.
func TestEveryType(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 4))
	rec := everyType(t, rng, 2000)
	path := filepath.Join(t.TempDir(), "a.parquet")
	codecs := []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip,
		compress.Codecs.Brotli, compress.Codecs.Zstd}
	trials := 10
	if require.Small() {
		trials = 2
	}
	for trial := range trials {
		pageSize := []int64{1, 500, 1 << 20}[rng.IntN(3)]
		opts := []parquet.WriterProperty{parquet.WithCompression(codecs[trial%len(codecs)]), parquet.WithBatchSize(100),
			parquet.WithDataPageVersion([]parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2}[rng.IntN(2)]),
			parquet.WithDataPageSize(pageSize), parquet.WithDictionaryDefault(rng.IntN(3) > 0),
			parquet.WithDictionaryPageSizeLimit([]int64{200, 1 << 20}[rng.IntN(2)])}
		for _, f := range rec.Schema().Fields() {
			switch {
			case rng.IntN(2) == 0:
			case f.Type.ID() == arrow.INT32 || f.Type.ID() == arrow.INT64:
				opts = append(opts, parquet.WithDictionaryFor(f.Name, false), parquet.WithEncodingFor(f.Name, parquet.Encodings.DeltaBinaryPacked))
			case f.Type.ID() == arrow.STRING:
				e := []parquet.Encoding{parquet.Encodings.DeltaByteArray, parquet.Encodings.DeltaLengthByteArray}[rng.IntN(2)]
				opts = append(opts, parquet.WithDictionaryFor(f.Name, false), parquet.WithEncodingFor(f.Name, e))
			case f.Type.ID() == arrow.BOOL && pageSize == 1<<20: // Arrow writes it wrong into a second page
				opts = append(opts, parquet.WithDictionaryFor(f.Name, false), parquet.WithEncodingFor(f.Name, parquet.Encodings.RLE))
			}
		}
		meta := arrow.NewMetadata([]string{[]string{"", "int96"}[trial%2]}, []string{""})
		writeFile(t, path, array.NewRecord(arrow.NewSchema(rec.Schema().Fields(), &meta), rec.Columns(), 2000), int64([]int{300, 2000}[rng.IntN(2)]), opts...)
		info := require.Value(inspectParquet(path))(t)
		has := func(physical string) bool {
			return slices.ContainsFunc(info.Columns, func(c ColumnInfo) bool { return c.Physical == physical })
		}
		if has("INT96") != (trial%2 == 1) || !has("FIXED_LEN_BYTE_ARRAY(3)") || len(info.Metadata) == 0 {
			t.Errorf("trial %d: columns %+v, metadata %q", trial, info.Columns, info.Metadata)
		}
		in := require.Value(openColumns(path))(t)
		if len(in.Roles.Columns) != int(rec.NumCols()) {
			t.Fatalf("%d columns can be read", len(in.Roles.Columns))
		}
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		at := make([]int, rec.NumCols())
		err := readColumns(in, 2, mem, func(i int, a arrow.Array) {
			for k := range a.Len() {
				if got, want := valueText(a, k), valueText(rec.Column(i), at[i]); got != want {
					t.Fatalf("trial %d, %q, row %d: %s, want %s", trial, rec.ColumnName(i), at[i], got, want)
				}
				at[i]++
			}
		})
		if err != nil {
			t.Fatalf("trial %d: %v", trial, err)
		}
		row := int64(0)
		require.NoError(t, scan(t.Context(), []string{path}, Options{Keep: []string{"*"}, Spec: &schema.Spec{Bias: true}}, mem, func(_ *schema.Spec, b *block.Block, got arrow.Record) error {
			want := rec.NewSlice(row, row+got.NumRows())
			for i := range want.Columns() {
				if !arrow.IsNested(want.Column(i).DataType().ID()) && !array.Equal(got.Column(i), want.Column(i)) {
					t.Errorf("trial %d, %q: handed on as %v, want %v", trial, rec.ColumnName(i), got.Column(i), want.Column(i))
				}
			}
			row += got.NumRows()
			return nil
		}))
		if row != 2000 {
			t.Errorf("%d rows are handed on", row)
		}
		mem.AssertSize(t, 0)
	}
}

// TestOldWriters: files of parquet-mr before 1.2.9 leave the dictionary page's header out of a chunk's size (PARQUET-816).
// Such a size in other files is damage.
func TestOldWriters(t *testing.T) {
	t.Parallel()
	var values []string
	for i := range 500 {
		values = append(values, fmt.Sprint(i%7))
	}
	rec := record(t, field("x", arrow.PrimitiveTypes.Int64, "["+strings.Join(values, ", ")+"]"))
	for writer, want := range map[string]string{"parquet-mr version 1.2.8 (build 1)": "", "parquet-mr version 1.2.9 (build 1)": "can't be decoded",
		"another version 1.0.0 (build 1)": "can't be decoded"} {
		path := filepath.Join(t.TempDir(), "a.parquet")
		writeFile(t, path, rec, 1000, parquet.WithCreatedBy(writer), parquet.WithCompression(compress.Codecs.Uncompressed))
		in := require.Value(openColumns(path))(t)
		file := require.Value(os.ReadFile(path))(t)
		c := in.Files[0].Groups[0].Chunks[0]
		if (c.Padding > 0) != (want == "") {
			t.Errorf("%s: padding of %d bytes", writer, c.Padding)
		}
		// The size stands twice, uncompressed and compressed, each behind the mark of a field that is the next one, of 64 bits.
		size := func(n int64) []byte { return binary.AppendVarint([]byte{0x16}, n) }
		n := c.Size - int64(c.Padding)
		old := bytes.Replace(file, slices.Concat(size(n), size(n)), slices.Concat(size(n), size(n-14)), 1)
		if len(old) != len(file) || bytes.Equal(old, file) {
			t.Fatal("no size to change")
		}
		require.NoError(t, os.WriteFile(path, old, 0o600))
		in = require.Value(openColumns(path))(t)
		rows := 0
		err := readColumns(in, 1, memory.DefaultAllocator, func(_ int, a arrow.Array) {
			for i := range a.Len() {
				if got := valueText(a, i); got != values[rows] {
					t.Fatalf("row %d is %s", rows, got)
				}
				rows++
			}
		})
		if want == "" && (err != nil || rows != 500) {
			t.Errorf("%s: %d rows, error %v", writer, rows, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v", writer, err)
		}
	}
}
