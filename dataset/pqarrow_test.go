//go:build !race

package dataset

import (
	"bytes"
	"context"
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"halfspace/dataset/internal/writer"
)

// writeParquet writes a record as Arrow does, in row groups of that many rows.
func writeParquet(tb testing.TB, out io.Writer, rec arrow.Record, group int64, opts []parquet.WriterProperty) {
	tb.Helper()
	props := parquet.NewWriterProperties(append(opts, parquet.WithMaxRowGroupLength(group))...)
	arrowProps := pqarrow.NewArrowWriterProperties(pqarrow.WithDeprecatedInt96Timestamps(slices.Contains(
		rec.Schema().Metadata().Keys(), "int96")))
	w, err := pqarrow.NewFileWriter(rec.Schema(), out, props, arrowProps)
	if err != nil {
		tb.Fatal(err)
	}
	table := array.NewTableFromRecords(rec.Schema(), []arrow.Record{rec})
	defer table.Release()
	if rec.NumRows() > 0 {
		if err := w.WriteTable(table, group); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
}

// arrowsFile returns the bytes of a file with one row group, as Arrow writes them.
func arrowsFile(t *testing.T, element arrow.DataType, recs []arrow.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	props := parquet.NewWriterProperties(parquet.WithCompression(writer.WriteCodecs["snappy"]),
		parquet.WithDictionaryDefault(!arrow.IsFloating(element.ID())))
	w, err := pqarrow.NewFileWriter(recs[0].Schema(), &out, props, pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recs {
		if err := w.WriteBuffered(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readTable returns what Arrow reads of a file.
func readTable(t *testing.T, f *file.Reader) arrow.Table {
	t.Helper()
	reader, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := reader.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return table
}
