package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
)

// BenchmarkLoad loads 2^20 rows of 28 float32 features and an int32 label. Bytes are those of the values.
func BenchmarkLoad(b *testing.B) {
	const rows, features = 1 << 20, 28
	rec := benchRecord(rows, features)
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd} {
		for _, group := range []int64{1 << 17, rows} {
			path := filepath.Join(b.TempDir(), "bench.parquet")
			writeFile(b, path, rec, group, parquet.WithCompression(codec), parquet.WithDictionaryDefault(false))
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("codec=%s/group=%d/workers=%d", codec, group, workers), func(b *testing.B) {
					benchLoad(b, path, rows, features, workers)
				})
			}
			os.Remove(path)
		}
	}
}

func benchLoad(b *testing.B, path string, rows, features, workers int) {
	b.SetBytes(int64(rows) * int64(features+1) * 4)
	for b.Loop() {
		d, err := Load(context.Background(), []string{path}, Options{Label: "label", Workers: workers})
		if err != nil {
			b.Fatal(err)
		}
		if d.Rows() != int64(rows) {
			b.Fatal("rows are missing")
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

func benchRecord(rows, features int) arrow.Record {
	rng := rand.New(rand.NewPCG(1, 2))
	var fields []arrow.Field
	var cols []arrow.Array
	for c := range features {
		values := make([]float32, rows)
		for i := range values {
			values[i] = float32(rng.NormFloat64())
		}
		fields = append(fields, arrow.Field{Name: fmt.Sprint("x", c), Type: arrow.PrimitiveTypes.Float32})
		cols = append(cols, array.NewFloat32Data(array.NewData(arrow.PrimitiveTypes.Float32, rows,
			[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Float32Traits.CastToBytes(values))}, nil, 0, 0)))
	}
	labels := make([]int32, rows)
	for i := range labels {
		labels[i] = rng.Int32N(2)
	}
	fields = append(fields, arrow.Field{Name: "label", Type: arrow.PrimitiveTypes.Int32})
	cols = append(cols, array.NewInt32Data(array.NewData(arrow.PrimitiveTypes.Int32, rows,
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(labels))}, nil, 0, 0)))
	return array.NewRecord(arrow.NewSchema(fields, nil), cols, int64(rows))
}
