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

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/metadata"

	"halfspace/internal/require"
)

// withFooter returns data with its metadata changed.
func withFooter(t *testing.T, data []byte, change func(*metadata.FileMetaData)) []byte {
	t.Helper()
	r := require.Value(file.NewParquetReader(bytes.NewReader(data)))(t)
	change(r.MetaData())
	footer := require.Value(r.MetaData().SerializeString(context.Background()))(t)
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
		{"file rows", func(m *metadata.FileMetaData) { m.NumRows = 11 }, "DIR/a.parquet: the metadata can't be read (11 rows, but 10 in the row groups): write the file again"},
		{"negative rows", rows(-3), "DIR/a.parquet: the metadata can't be read (row group 0 has -3 rows): write the file again"},
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
		{"codec", func(m *metadata.FileMetaData) { m.RowGroups[1].Columns[0].MetaData.Codec = 3 }, `DIR/a.parquet: column "x", row group 1: compression LZO can't be read: write the file with snappy, zstd or gzip`},
		{"another codec", func(m *metadata.FileMetaData) { m.RowGroups[1].Columns[0].MetaData.Codec = 2 },
			`DIR/a.parquet: column "x", row group 1: can't be decoded (dictionary page: gzip: invalid header): write the file ` +
				`again, or leave the column out`},
		{"another file", func(m *metadata.FileMetaData) { m.RowGroups[1].Columns[0].FilePath = new("b.parquet") }, `DIR/a.parquet: column "x", row group 1: its data is in another file, "b.parquet": write both as one`},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := withFooter(t, data, c.change)
			require.NoError(t, os.WriteFile(path, bad, 0o666))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Load(context.Background(), path, Options{Label: "y", Exclude: []string{"l"}, Workers: 2})
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
	data := require.Value(os.ReadFile(path))(t)
	var at int64
	withFooter(t, data, func(m *metadata.FileMetaData) { at = *m.RowGroups[0].Columns[1].MetaData.DictionaryPageOffset })
	copy(data[at:], "no page header")
	require.NoError(t, os.WriteFile(path, data, 0o666))
	if _, err := Load(context.Background(), path, Options{}); err == nil {
		t.Error("a column that is damaged was read")
	}
	d, err := Load(context.Background(), path, Options{Features: []string{"x"}})
	if err != nil || d.Rows() != 2 {
		t.Errorf("without the damaged column: %v", err)
	}
}

func TestInspect(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	path := filepath.Join(dir, "a.parquet")
	rec := record(t, field("x", p.Float32, "[1, null, 3]"), field("name", arrow.BinaryTypes.String, `["a", "b", "c"]`),
		field("l", arrow.ListOf(p.Int32), "[[1], [2, 3], null]"))
	writeFile(t, path, rec, 2, parquet.WithCompression(compress.Codecs.Snappy), parquet.WithDictionaryFor("name", false),
		parquet.WithCreatedBy("a test"))
	info := require.Value(inspectParquet(path))(t)
	stat := require.Value(os.Stat(path))(t)
	if info.Path != path || info.Bytes != stat.Size() || info.Rows != 3 || info.CreatedBy != "a test" || len(info.RowGroups) != 2 ||
		info.RowGroups[0].Rows != 2 || info.RowGroups[1].Rows != 1 {
		t.Errorf("file: %+v", info)
	}
	var compressed, uncompressed int64
	for i, want := range []ColumnInfo{
		{Name: "x", Physical: "FLOAT", Repetition: "optional", Encodings: []string{"PLAIN", "RLE", "RLE_DICTIONARY"}, Nulls: 1,
			Feature: true},
		{Name: "name", Physical: "BYTE_ARRAY", Logical: "String", Repetition: "required", Encodings: []string{"PLAIN", "RLE"}, Feature: true},
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
	if _, err := inspectParquet(filepath.Join(dir, "none")); err == nil || !strings.HasSuffix(err.Error(), "none: no such file: check the path") {
		t.Errorf("no file: %v", err)
	}
	if _, err := inspectParquet("-"); err == nil {
		t.Error("standard input was read")
	}
}
