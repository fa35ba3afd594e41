//go:build !race

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// readParquet returns what Arrow reads of a file.
func readParquet(t *testing.T, path string) arrow.Table {
	t.Helper()
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := r.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// onePage writes rows of the columns a and b, a label, and a text of so many bytes, none for 0. Each column is a single page of one row
// group.
func onePage(t *testing.T, rows, text int) string {
	t.Helper()
	number := arrow.PrimitiveTypes.Float64
	fields := []arrow.Field{{Name: "a", Type: number}, {Name: "b", Type: number}, {Name: "label", Type: number}}
	if text > 0 {
		fields = append(fields, arrow.Field{Name: "text", Type: arrow.BinaryTypes.String})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for r := range rows {
		for c := range 2 {
			b.Field(c).(*array.Float64Builder).Append(float64((r*7919+c)%rows) - float64(rows/2))
		}
		b.Field(2).(*array.Float64Builder).Append(float64(r % 2))
		if text > 0 {
			b.Field(3).(*array.StringBuilder).Append(fmt.Sprintf("%0*d", text, r))
		}
	}
	rec := b.NewRecord()
	defer rec.Release()
	path := filepath.Join(t.TempDir(), "page.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(rec.Schema(), f, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy),
		parquet.WithDictionaryDefault(false), parquet.WithDataPageSize(1<<30)), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(rec)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
