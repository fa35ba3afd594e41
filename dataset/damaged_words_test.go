package dataset

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"

	"halfspace/dataset/internal/frame"
	"halfspace/dataset/internal/parquet/page"
)

// arrowBytes returns an Arrow file of a record.
func arrowBytes(t *testing.T, rec arrow.Record) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "good.arrow")
	w, err := Create(path, rec.Schema(), WriterOptions{})
	if err == nil {
		err = errors.Join(w.Write(rec), w.Close())
	}
	data, read := os.ReadFile(path)
	if err != nil || read != nil {
		t.Fatal(err, read)
	}
	return data
}

// TestDamagedArrow changes every other byte of a file. Nothing panics, and the error is one of the file that was read, in words.
func TestDamagedArrow(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "bad.arrow"), filepath.Join(dir, "out.csv")
	rec := record(t, field("s", arrow.BinaryTypes.String, `["a", null, "ccc"]`), field("x", arrow.PrimitiveTypes.Float64, `[1, 2, null]`))
	data := arrowBytes(t, rec)
	failed := 0
	for i := 1; i < len(data); i += 2 {
		b := 0xff - byte(i/2%2)*0x7f
		bad := slices.Clone(data)
		bad[i] = b
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		_, converted := Convert(context.Background(), []string{path}, out, Options{Memory: 64 << 20}, WriterOptions{})
		_, inspected := InspectTable(context.Background(), path, Options{Memory: 64 << 20})
		for _, err := range []error{converted, inspected} {
			if err == nil {
				continue
			}
			failed++
			if text := err.Error(); !strings.Contains(text, path) && !strings.Contains(text, "column") || strings.Contains(text, "runtime error") ||
				strings.Contains(text, "can't be written") && !strings.Contains(text, "UTF-8") {
				t.Errorf("byte %d is %d: %v", i, b, err)
			}
		}
	}
	if failed < 25 {
		t.Errorf("%d errors", failed)
	}
}

// TestDamagedLists changes bytes of an Arrow stream of sparse lists. Nothing panics, and the error is one of the file.
func TestDamagedLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.arrow")
	p := arrow.PrimitiveTypes
	writeNested(t, path, record(t, field("p", pairType(p.Int16, p.Float32), `[[{"index": 2, "value": 1}, {"index": 0, "value": 2}], null]`),
		field("m", arrow.MapOf(p.Uint64, p.Int8), `[[{"key": 1, "value": 2}], []]`),
		field("v", vectorType(), `[{"type": 0, "size": 4, "indices": [0, 3], "values": [1, 2]}, {"type": 1, "size": null, "indices": null, "values": [1, 2]}]`)), 2)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	opt, failed := Options{Storage: Sparse, Memory: 64 << 20, Nulls: "zero"}, 0
	if _, err := Load(context.Background(), []string{path}, opt); err != nil {
		t.Fatalf("undamaged: %v", err)
	}
	for i := 0; i < len(data); i += 7 {
		bad := slices.Clone(data)
		bad[i] ^= []byte{0x01, 0x80, 0xff}[i%3]
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(context.Background(), []string{path}, opt); err != nil {
			if failed++; !strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "runtime error") || strings.Contains(err.Error(), "\n") {
				t.Errorf("byte %d: %v", i, err)
			}
		}
	}
	if failed < len(data)/70 {
		t.Errorf("%d errors of %d", failed, len(data))
	}
}

// TestShortBitmap: a column whose bitmap of nulls is shorter than its rows is damaged data.
func TestShortBitmap(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bad.arrow")
	rec := record(t, field("x", arrow.PrimitiveTypes.Float32, "[null"+strings.Repeat(", 1.5", 99)+"]"))
	data := arrowBytes(t, rec)
	short := 0
	for i, b := range data {
		if b != 16 { // the bytes of the bitmap, among others
			continue
		}
		bad := slices.Clone(data)
		bad[i] = 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Convert(context.Background(), []string{path}, filepath.Join(filepath.Dir(path), "out.csv"), Options{}, WriterOptions{})
		if err != nil && strings.Contains(err.Error(), path+": the data is damaged (its sizes are out of range)") {
			short++
		}
	}
	if short == 0 {
		t.Error("no short bitmap is an error")
	}
}

// TestOneLine: what the runtime says of code isn't what somebody with a file can use.
func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"runtime error: invalid memory address or nil pointer dereference":        "its sizes are out of range",
		"arrow/ipc: while reading: runtime error: index out of range [1] with\n0": "arrow/ipc: while reading: its sizes are out of range",
		"two\n  lines": "two lines",
	} {
		if got := frame.OneLine(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestInspectDamaged: what a footer says of rows and nulls is shown only if it agrees with itself.
func TestInspectDamaged(t *testing.T) {
	schema := thriftList(0xc, 2, schemaGroup("s", 1), schemaColumn("x"))
	for rows, want := range map[int64]string{0: "", -15: "-15 rows, but 0 in the row groups", 7: "7 rows, but 0 in the row groups"} {
		path := filepath.Join(t.TempDir(), "a.parquet")
		if err := os.WriteFile(path, parquetOf(footer(schema, rows, thriftList(0xc, 1, emptyGroup))), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := Inspect(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d rows: %+v, error %v", rows, info, err)
		}
	}
}

// TestInspectSums: sizes of row groups whose sum int64 can't hold are damage, and so many nulls aren't known.
func TestInspectSums(t *testing.T) {
	const most = math.MaxInt64
	for want, chunk := range map[string]page.ColumnChunk{
		"": {Values: most, Nulls: most},
		`column "x", row group 1: the data up to here has more than 2^63 bytes`: {Values: most, Uncompressed: most},
	} {
		info := &FileInfo{Columns: []ColumnInfo{{Name: "x", Repetition: "repeated"}}}
		err := info.Add(&page.Group{Columns: 1, Chunks: []page.ColumnChunk{chunk}})
		if err == nil {
			err = info.Add(&page.Group{Columns: 1, Chunks: []page.ColumnChunk{chunk}})
		}
		if want == "" && (err != nil || info.Columns[0].Nulls != -1) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%+v, error %v, want %q", info, err, want)
		}
	}
	info := &FileInfo{}
	err := cmp.Or(info.Add(&page.Group{Rows: most}), info.Add(&page.Group{Rows: most}))
	if want := "the row groups up to 1 have more than 2^63 rows"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

// TestDamagedRows: an error of rows that can't be decoded names the file and the rows, and says what to do.
func TestDamagedRows(t *testing.T) {
	err := explain(context.Background(), &frame.Batch{File: "a.csv", Rows: 10}, 5, errors.New("too short"))
	if want := "a.csv: rows 5 to 14: damaged data (too short): write it again"; err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}
