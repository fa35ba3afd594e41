//go:build race

package dataset

import (
	"io"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/parquet"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/writer"
	"halfspace/internal/require"
)

// writeParquet does without pqarrow under the race detector: to compile it and gRPC once more takes a minute and a half of
// processor time. Files are written by this module, plainly, and tests that compare with Arrow's are skipped.
func writeParquet(tb testing.TB, out io.Writer, rec arrow.Record, group int64, _ []parquet.WriterProperty) {
	tb.Helper()
	for _, f := range rec.Schema().Fields() {
		if _, _, ok := column.ListOf(f.Type); arrow.IsNested(f.Type.ID()) && !ok {
			tb.Skip("writes with Arrow")
		}
	}
	w, err := writer.NewParquet(tb.Context(), out, rec.Schema(), writer.ParquetOptions{GroupRows: group})
	if err == nil {
		err = w.Write(rec)
	}
	if err == nil {
		err = w.Finish()
	}
	require.NoError(tb, err)
}
