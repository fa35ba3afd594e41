package dataset

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"halfspace/block"
	"halfspace/dataset/internal/encode"
	"halfspace/dataset/internal/frame"
	parquetfile "halfspace/dataset/internal/parquet"
	"halfspace/schema"
)

// withFooter returns data with its metadata changed.
func withFooter(t *testing.T, data []byte, change func(*metadata.FileMetaData)) []byte {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	change(r.MetaData())
	footer, err := r.MetaData().SerializeString(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	old := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	data = append(bytes.Clone(data[:len(data)-8-old]), footer...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
	return append(data, "PAR1"...)
}

// TestFooterLies reads files whose metadata claims what can't be: it is found out, and memory isn't allocated for it.
func TestFooterLies(t *testing.T) {
	data := smallFile(t, true, parquet.WithStats(false))
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	rows := func(n int64) func(*metadata.FileMetaData) {
		return func(m *metadata.FileMetaData) {
			m.NumRows = n + 5
			m.RowGroups[0].NumRows = n
			for _, c := range m.RowGroups[0].Columns {
				c.MetaData.NumValues = n
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*metadata.FileMetaData)
		want   string
	}{
		{"nothing", func(*metadata.FileMetaData) {}, ""},
		{"file rows", func(m *metadata.FileMetaData) { m.NumRows = 11 },
			"DIR/a.parquet: the metadata can't be read (11 rows, but 10 in the row groups): write the file again"},
		{"negative rows", rows(-3),
			"DIR/a.parquet: the metadata can't be read (row group 0 has -3 rows): write the file again"},
		{"10^12 rows", rows(1e12), "DIR/a.parquet: row group 0 has 1000000000000 rows: write smaller row groups"},
		{"10^9 rows", rows(1e9), `DIR/a.parquet: column "x", row group 0: can't be decoded (5 of 1000000000 values): write the ` +
			`file again, or leave the column out`},
		{"one row more", rows(6), `DIR/a.parquet: column "x", row group 0: can't be decoded (5 of 6 values): write the file ` +
			`again, or leave the column out`},
		{"one row less", rows(4), `DIR/a.parquet: column "x", row group 0: can't be decoded (more than 4 values): write the file ` +
			`again, or leave the column out`},
		{"column values", func(m *metadata.FileMetaData) { m.RowGroups[1].Columns[1].MetaData.NumValues = 6 },
			`DIR/a.parquet: the metadata can't be read (column "i", row group 1: 6 values for 5 rows): write the file again`},
		{"fewer columns", func(m *metadata.FileMetaData) { m.RowGroups[1].Columns = m.RowGroups[1].Columns[:3] },
			"DIR/a.parquet: the metadata can't be read (row group 1 has 3 columns, but the schema 5): write the file again"},
		{"size", func(m *metadata.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 60 },
			`DIR/a.parquet: the metadata can't be read (column "x", row group 0: 1152921504606846976 bytes of data from byte 4 on, ` +
				`but the file has SIZE): write the file again`},
		{"offset", func(m *metadata.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.DictionaryPageOffset = new(int64(-9))
		},
			`DIR/a.parquet: column "x", row group 0: can't be decoded (page 0: no dictionary): write the file again, or leave the column out`},
		{"codec", func(m *metadata.FileMetaData) { m.RowGroups[1].Columns[0].MetaData.Codec = 3 },
			`DIR/a.parquet: column "x", row group 1: compression LZO can't be read: write the file with snappy, zstd or gzip`},
		{"another codec", func(m *metadata.FileMetaData) { m.RowGroups[1].Columns[0].MetaData.Codec = 2 },
			`DIR/a.parquet: column "x", row group 1: can't be decoded (dictionary page: gzip: invalid header): write the file ` +
				`again, or leave the column out`},
		{"another file", func(m *metadata.FileMetaData) { m.RowGroups[1].Columns[0].FilePath = new("b.parquet") },
			`DIR/a.parquet: column "x", row group 1: its data is in another file, "b.parquet": write both as one`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := withFooter(t, data, c.change)
			if err := os.WriteFile(path, bad, 0o666); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Load(context.Background(), []string{path}, Options{Label: "y", Exclude: []string{"l"}, Workers: 2})
			runtime.ReadMemStats(&after)
			if c.want != "" {
				wantError(t, err, dir, strings.ReplaceAll(c.want, "SIZE", fmt.Sprint(len(bad))))
			} else if err != nil {
				t.Error(err)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
				t.Errorf("%d MiB were allocated", grown>>20)
			}
		})
	}
}

// TestUnselected reads around a damaged column: it is decoded only if it is asked for.
func TestUnselected(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	path := file1(t, dir, "a.parquet", field("x", p.Float32, "[1, 2]"), field("bad", p.Float32, "[3, 4]"))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var at int64
	withFooter(t, data, func(m *metadata.FileMetaData) { at = *m.RowGroups[0].Columns[1].MetaData.DictionaryPageOffset })
	copy(data[at:], "no page header")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(context.Background(), []string{path}, Options{}); err == nil {
		t.Error("a column that is damaged was read")
	}
	d, err := Load(context.Background(), []string{path}, Options{Features: []string{"x"}})
	if err != nil || d.Rows() != 2 {
		t.Errorf("without the damaged column: %v", err)
	}
}

// TestChangedFile changes a file between the reading of its metadata and of its data.
func TestChangedFile(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	path := file1(t, dir, "a.parquet", field("x", p.Float32, "[1, 2]"))
	for want, change := range map[string]func() error{
		"DIR/a.parquet: the file changed while it was read: try again": func() error {
			return os.Chtimes(path, time.Time{}, time.Unix(1e9, 0))
		},
		"DIR/a.parquet: no such file: check the path": func() error { return os.Remove(path) },
	} {
		path = file1(t, dir, "a.parquet", field("x", p.Float32, "[1, 2]"))
		in, err := parquetfile.Open(context.Background(), []string{path}, frame.Request{Choose: &encode.Picker{}}, frame.NewPool(1))
		if err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		for b, err := range in.Batches(context.Background(), frame.NewPool(1), memory.DefaultAllocator) {
			if b != nil {
				t.Error("it was read")
			}
			wantError(t, err, dir, want)
		}
	}
}

// TestKeep hands columns of every flat type through, nulls included, as Arrow's own reader reads them.
func TestKeep(t *testing.T) {
	p, b := arrow.PrimitiveTypes, arrow.BinaryTypes
	fields := []testField{
		field("i8", p.Int8, "[-128, 127, null, 1, 2]"), field("i16", p.Int16, "[-32768, 32767, 0, null, 2]"),
		field("i32", p.Int32, "[-2147483648, null, null, null, 2]"), field("i64", p.Int64, "[null, 1, 2, 3, 4]"),
		field("u8", p.Uint8, "[255, null, 2, 3, null]"), field("u16", p.Uint16, "[65535, 0, 2, 3, null]"),
		field("u32", p.Uint32, "[4294967295, null, 2, 3, 4]"), field("u64", p.Uint64, "[18446744073709551615, 1, 2, 3, 4]"),
		field("f32", p.Float32, "[0.1, null, 2, 3, 4]"), field("f64", p.Float64, "[null, null, null, null, null]"),
		field("bool", arrow.FixedWidthTypes.Boolean, "[true, null, false, null, true]"),
		field("string", b.String, `["a", "", null, "ccc", null]`), field("binary", b.Binary, `["YQ==", "", null, "Yg==", "Yg=="]`),
		field("fixed", &arrow.FixedSizeBinaryType{ByteWidth: 2}, `["YWI=", null, "Y2Q=", null, "Y2Q="]`),
		field("date", arrow.FixedWidthTypes.Date32, "[1, null, 3, 4, 5]"),
		field("time_ms", arrow.FixedWidthTypes.Time32ms, "[1, null, 3, 4, 5]"),
		field("time_us", arrow.FixedWidthTypes.Time64us, "[1, null, 3, 4, 5]"),
		field("ts_ms", &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, "[1, null, 3, 4, 5]"),
		field("ts_us", &arrow.TimestampType{Unit: arrow.Microsecond}, "[1, null, 3, 4, 5]"),
		field("ts_ns", &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"},
			`["2001-09-09T01:46:40.123456789Z", null, "1900-01-01T12:00:00.000000001Z", "1970-01-01T00:00:00Z", null]`),
		field("dec4", &arrow.Decimal128Type{Precision: 4, Scale: 2}, `["1.25", null, "-3.50", "99.99", "0.00"]`),
		field("dec12", &arrow.Decimal128Type{Precision: 12, Scale: 2}, `["1.25", null, "-3.50", "99.99", "0.00"]`),
		field("dec38", &arrow.Decimal128Type{Precision: 38, Scale: 2}, `["1.25", null, "-123456789012345678.50", "99.99", "0.00"]`),
	}
	rec := record(t, fields...)
	dir := t.TempDir()
	for name, opts := range map[string][]parquet.WriterProperty{
		"dictionary": nil,
		"plain v2":   {parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(parquet.DataPageV2)},
		"int96":      nil,
		"snappy":     {parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDataPageSize(1)},
	} {
		path := filepath.Join(dir, name+".parquet")
		in := rec
		if name == "int96" {
			meta := arrow.NewMetadata([]string{"int96"}, []string{""})
			in = array.NewRecord(arrow.NewSchema(rec.Schema().Fields(), &meta), rec.Columns(), rec.NumRows())
		}
		writeFile(t, path, in, 2, opts...)
		info, err := Inspect(path)
		if err != nil {
			t.Fatal(err)
		}
		if ts := rec.Schema().FieldIndices("ts_ns")[0]; (info.Columns[ts].Physical == "INT96") != (name == "int96") {
			t.Fatalf("%s: ts_ns is written as %s", name, info.Columns[ts].Physical)
		}
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		spec := &schema.Spec{Bias: true}
		err = scan(context.Background(), []string{path, path}, Options{Keep: []string{"*"}, Spec: spec}, mem,
			func(_ *schema.Spec, b *block.Block, got arrow.Record) error {
				if b.Len() != 10 || got.NumRows() != 10 || int(got.NumCols()) != len(fields) {
					return fmt.Errorf("%d rows, %d columns", got.NumRows(), got.NumCols())
				}
				for i, f := range fields {
					want := rec.Column(i)
					for _, lo := range []int64{0, 5} {
						part := array.NewSlice(got.Column(i), lo, lo+5)
						if !array.Equal(part, want) {
							t.Errorf("%s: %s is %v, want %v", name, f.Name, part, want)
						}
						part.Release()
					}
				}
				return nil
			})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		mem.AssertSize(t, 0)
	}
}

func TestInspect(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	path := filepath.Join(dir, "a.parquet")
	rec := record(t, field("x", p.Float32, "[1, null, 3]"), field("name", arrow.BinaryTypes.String, `["a", "b", "c"]`),
		field("l", arrow.ListOf(p.Int32), "[[1], [2, 3], null]"))
	writeFile(t, path, rec, 2, parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryFor("name", false),
		parquet.WithCreatedBy("a test"))
	info, err := Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Path != path || info.Bytes != stat.Size() || info.Rows != 3 || info.CreatedBy != "a test" || len(info.RowGroups) != 2 ||
		info.RowGroups[0].Rows != 2 || info.RowGroups[1].Rows != 1 {
		t.Errorf("file: %+v", info)
	}
	var compressed, uncompressed int64
	for i, want := range []ColumnInfo{
		{Name: "x", Physical: "FLOAT", Repetition: "optional", Encodings: []string{"PLAIN", "RLE", "RLE_DICTIONARY"}, Nulls: 1,
			Feature: true},
		{Name: "name", Physical: "BYTE_ARRAY", Logical: "String", Repetition: "required", Encodings: []string{"PLAIN", "RLE"}},
		{Name: "l.list.element", Physical: "INT32", Logical: "Int(bitWidth=32, isSigned=true)", Repetition: "repeated",
			Encodings: []string{"PLAIN", "RLE", "RLE_DICTIONARY"}, Nulls: 1, Feature: true},
	} {
		got := info.Columns[i]
		if got.Compressed <= 0 || got.Uncompressed <= 0 {
			t.Errorf("column %s: %+v", want.Name, got)
		}
		compressed, uncompressed = compressed+got.Compressed, uncompressed+got.Uncompressed
		got.Compressed, got.Uncompressed = 0, 0
		slices.Sort(got.Encodings) // Arrow writes them in any order
		want.Codecs = []string{"snappy"}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("column\n%+v\nwant\n%+v", got, want)
		}
	}
	for _, g := range info.RowGroups {
		compressed, uncompressed = compressed-g.Compressed, uncompressed-g.Uncompressed
	}
	if compressed != 0 || uncompressed != 0 {
		t.Errorf("bytes of columns and row groups differ by %d and %d", compressed, uncompressed)
	}
	if _, err := Inspect(filepath.Join(dir, "none")); err == nil || !strings.HasSuffix(err.Error(), "none: no such file: check the path") {
		t.Errorf("no file: %v", err)
	}
	if _, err := Inspect("-"); err == nil {
		t.Error("standard input was read")
	}
}
