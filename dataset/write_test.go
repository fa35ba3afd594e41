package dataset

import (
	"context"
	"errors"
	"io"
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

	"halfspace/dataset/internal/datatest"
	"halfspace/internal/require"
)

// writeAll writes the records to path.
func writeAll(path string, opt WriterOptions, recs ...arrow.Record) error {
	w, err := Create(context.Background(), path, recs[0].Schema(), opt)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			return err
		}
	}
	return w.Close()
}

// thirds returns a record of two columns: rows multiples of 1/3, and rows nulls.
func thirds(t *testing.T, rows int) arrow.Record {
	values := make([]float32, rows)
	for r := range values {
		values[r] = float32(r) / 3
	}
	return record(t, datatest.Column("x.0", values, nil), datatest.Column("name", make([]string, rows), make([]bool, rows)))
}

func TestCreateErrors(t *testing.T) {
	dir := t.TempDir()
	one := thirds(t, 1).Schema()
	twice := arrow.NewSchema([]arrow.Field{one.Field(0), one.Field(1), one.Field(0)}, nil)
	for _, test := range []struct {
		name   string
		schema *arrow.Schema
		opt    WriterOptions
		want   string
	}{
		{"x.txt", one, WriterOptions{}, `extension ".txt" can't be written: use .parquet, .csv, .jsonl, .arrow, .npy or .svm, or - for CSV`},
		{"model", one, WriterOptions{}, "no extension tells which format to write: use .parquet, .csv"},
		{"x.parquet", one, WriterOptions{Compression: "lzma"}, `unknown compression "lzma": use snappy, none, zstd`},
		{"x.parquet", one, WriterOptions{RowGroupRows: -1}, "-1 rows in a row group: use 1 or more"},
		{"x.csv", twice, WriterOptions{}, `two columns are named "x.0": rename one`},
		{"none/x.csv", one, WriterOptions{}, "there is no directory"},
	} {
		path := filepath.Join(dir, test.name)
		w, err := Create(context.Background(), path, test.schema, test.opt)
		if err == nil {
			w.Abort()
			t.Errorf("%s: no error", test.name)
		} else if !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%s: %q doesn't say %q", test.name, err, test.want)
		}
	}
	if left := require.Value(os.ReadDir(dir))(t); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
}

// TestWriteErrors: a record that doesn't fit the file, or has an offset far beyond its bytes, on which Arrow panics, is an error of Write
// and of Close, and what was there before stays.
func TestWriteErrors(t *testing.T) {
	null := record(t, field("s", arrow.PrimitiveTypes.Int8, "[null]"))
	text, required := thirds(t, 1).Schema().Field(1), arrow.Field{Name: "s", Type: arrow.PrimitiveTypes.Int8}
	text.Name = "s"
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 1000, 3}))
	broken := array.NewStringData(array.NewData(text.Type, 2, []*memory.Buffer{nil, offsets, memory.NewBufferBytes([]byte("abc"))}, nil, 0, 0))
	for _, ext := range []string{".parquet", ".csv"} {
		for _, test := range []struct {
			of   arrow.Field
			rec  arrow.Record
			want string
		}{
			{text, record(t, testField{Field: text, Array: broken}), "out of range"},
			{text, null, `column 0 of a record is "s" of type int8, in the file it is "s" of type utf8`},
			{text, thirds(t, 1), "a record has 2 columns, the file 1"},
			{required, null, `column "s" has nulls, and its type in the file allows none`},
		} {
			dir := t.TempDir()
			path := filepath.Join(dir, "x"+ext)
			put(t, path, []byte("old"))
			w := require.Value(Create(context.Background(), path, arrow.NewSchema([]arrow.Field{test.of}, nil), WriterOptions{}))(t)
			err := w.Write(test.rec)
			if err == nil || !strings.HasPrefix(err.Error(), path+" can't be written: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: Write returns %v, not %q", ext, err, test.want)
			}
			if last := w.Close(); last != err {
				t.Errorf("%s: Close returns %v after %v", ext, last, err)
			}
			if left, _ := os.ReadDir(dir); string(contents(t, path)) != "old" || len(left) != 1 {
				t.Errorf("%s: %v is left", ext, left)
			}
		}
	}
}

func TestAbortAndClose(t *testing.T) {
	for _, ext := range []string{".parquet", ".csv"} {
		dir := t.TempDir()
		rec := thirds(t, 10)
		for _, closed := range []bool{false, true} {
			w := require.Value(Create(context.Background(), filepath.Join(dir, "x"+ext), rec.Schema(), WriterOptions{}))(t)
			require.NoError(t, w.Write(rec))
			if closed {
				require.NoError(t, errors.Join(w.Close(), w.Close()))
			}
			w.Abort()
			w.Abort()
			if err := w.Write(rec); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Write afterwards returns %v", err)
			}
			if err := w.Close(); closed != (err == nil) {
				t.Errorf("Close after Abort returns %v; closed before: %v", err, closed)
			}
			if left := require.Value(os.ReadDir(dir))(t); len(left) != map[bool]int{true: 1}[closed] {
				t.Errorf("closed: %v, and %v is left", closed, left)
			}
		}
	}
}

// TestWriteFullDevice: a full disk is an error in either format, of Write or of Close.
func TestWriteFullDevice(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full is Linux's")
	}
	link := filepath.Join(t.TempDir(), "x.parquet")
	require.NoError(t, os.Symlink("/dev/full", link))
	for _, path := range []string{link, "/dev/full"} {
		for _, n := range []int{1, 1 << 15} {
			rec := thirds(t, n)
			err := writeAll(path, WriterOptions{RowGroupRows: 1 << 12}, rec, rec, rec)
			if !errors.Is(err, syscall.ENOSPC) || strings.Count(err.Error(), path+" can't be written: ") != 1 {
				t.Errorf("%s, %d rows: %v", path, n, err)
			}
		}
	}
}

func TestWriteStandardOutput(t *testing.T) {
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	os.Stdout = w
	require.NoError(t, writeAll("-", WriterOptions{}, thirds(t, 2)))
	w.Close()
	if got := require.Value(io.ReadAll(r))(t); string(got) != "x.0,name\n0,\n0.33333334,\n" {
		t.Errorf("got %q", got)
	}
	r.Close()
	r, w, err = os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	r.Close()
	os.Stdout = w
	if err := writeAll("-", WriterOptions{}, thirds(t, 1<<14)); err == nil || runtime.GOOS == "linux" && !errors.Is(err, syscall.EPIPE) {
		t.Errorf("nobody reads: %v", err)
	}
}
