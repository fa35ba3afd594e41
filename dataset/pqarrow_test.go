//go:build !race

package dataset

import (
	"io"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"halfspace/internal/require"
)

// writeParquet writes a record as Arrow does, in row groups of that many rows.
func writeParquet(tb testing.TB, out io.Writer, rec arrow.Record, group int64, opts []parquet.WriterProperty) {
	tb.Helper()
	props := parquet.NewWriterProperties(append(opts, parquet.WithMaxRowGroupLength(group))...)
	arrowProps := pqarrow.NewArrowWriterProperties(pqarrow.WithDeprecatedInt96Timestamps(slices.Contains(
		rec.Schema().Metadata().Keys(), "int96")))
	w := require.Value(pqarrow.NewFileWriter(rec.Schema(), out, props, arrowProps))(tb)
	table := array.NewTableFromRecords(rec.Schema(), []arrow.Record{rec})
	defer table.Release()
	if rec.NumRows() > 0 {
		require.NoError(tb, w.WriteTable(table, group))
	}
	require.NoError(tb, w.Close())
}
