package dataset

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	twice := arrow.NewSchema([]arrow.Field{writeSchema.Field(0), writeSchema.Field(1), writeSchema.Field(0)}, nil)
	for _, test := range []struct {
		name   string
		schema *arrow.Schema
		opt    WriterOptions
		want   string
	}{
		{"x.txt", writeSchema, WriterOptions{}, `extension ".txt" can't be written: use .parquet, .csv, .arrow or .svm, or - for CSV`},
		{"model", writeSchema, WriterOptions{}, "no extension tells which format to write: use .parquet, .csv"},
		{"x.parquet", writeSchema, WriterOptions{Compression: "lzma"}, `unknown compression "lzma": use snappy, none, zstd`},
		{"x.parquet", writeSchema, WriterOptions{RowGroupRows: -1}, "-1 rows in a row group: use 1 or more"},
		{"x.csv", twice, WriterOptions{}, `two columns are named "x.0": rename one`},
		{"none/x.csv", writeSchema, WriterOptions{}, "there is no directory"},
	} {
		path := filepath.Join(dir, test.name)
		w, err := Create(path, test.schema, test.opt)
		if err == nil {
			w.Abort()
			t.Errorf("%s: no error", test.name)
		} else if !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %q doesn't say %q", test.name, err, test.want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
}

// brokenRecord returns a record whose text column has an offset far beyond its bytes, on which Arrow panics.
func brokenRecord(schema *arrow.Schema) arrow.Record {
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 1000, 3}))
	data := array.NewData(arrow.BinaryTypes.String, 2,
		[]*memory.Buffer{nil, offsets, memory.NewBufferBytes([]byte("abc"))}, nil, 0, 0)
	return array.NewRecord(schema, []arrow.Array{array.NewStringData(data)}, 2)
}

func TestWriteErrors(t *testing.T) {
	text := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	other := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.PrimitiveTypes.Int8, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, other)
	defer b.Release()
	b.Field(0).AppendNull()
	null := b.NewRecord()
	defer null.Release()
	required := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.PrimitiveTypes.Int8}}, nil)
	for _, ext := range []string{".parquet", ".csv"} {
		for _, test := range []struct {
			schema *arrow.Schema
			rec    arrow.Record
			want   string
		}{
			{text, brokenRecord(text), "out of range"},
			{text, null, `column 0 of a record is "s" of type int8, in the file it is "s" of type utf8`},
			{text, sampleRecord(t, 0, 1), "a record has 7 columns, the file 1"},
			{required, null, `column "s" has nulls, and its type in the file allows none`},
		} {
			dir := t.TempDir()
			path := filepath.Join(dir, "x"+ext)
			if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
				t.Fatal(err)
			}
			w, err := Create(path, test.schema, WriterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			err = w.Write(test.rec)
			if err == nil || !strings.HasPrefix(err.Error(), path+" can't be written: ") ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: Write returns %v, not %q", ext, err, test.want)
			}
			if last := w.Close(); last != err {
				t.Errorf("%s: Close returns %v after %v", ext, last, err)
			}
			left, _ := os.ReadDir(dir)
			if got, _ := os.ReadFile(path); string(got) != "old" || len(left) != 1 {
				t.Errorf("%s: %q is left, among %v", ext, got, left)
			}
		}
	}
}

func TestAbortAndClose(t *testing.T) {
	for _, ext := range []string{".parquet", ".csv"} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x"+ext)
		for _, closed := range []bool{false, true} {
			w, err := Create(path, writeSchema, WriterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(sampleRecord(t, 0, 10)); err != nil {
				t.Fatal(err)
			}
			if closed {
				if err := errors.Join(w.Close(), w.Close()); err != nil {
					t.Fatal(err)
				}
			}
			w.Abort()
			w.Abort()
			if err := w.Write(sampleRecord(t, 0, 1)); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Write afterwards returns %v", err)
			}
			if err := w.Close(); closed != (err == nil) {
				t.Errorf("Close after Abort returns %v; closed before: %v", err, closed)
			}
			left, _ := os.ReadDir(dir)
			if want := map[bool]int{true: 1}[closed]; len(left) != want {
				t.Errorf("closed: %v, and %v is left", closed, left)
			}
		}
	}
}

// A full disk is an error in either format, of Write or of Close.
func TestWriteFullDevice(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full is Linux's")
	}
	link := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.Symlink("/dev/full", link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, "/dev/full"} {
		for _, n := range []int{1, 1 << 15} {
			rec := sampleRecord(t, 0, n)
			err := writeAll(path, WriterOptions{RowGroupRows: 1 << 12}, rec, rec, rec)
			if !errors.Is(err, syscall.ENOSPC) || strings.Count(err.Error(), path+" can't be written: ") != 1 {
				t.Errorf("%s, %d rows: %v", path, n, err)
			}
		}
	}
}
