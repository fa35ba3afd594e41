package predict_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset"
	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/require"
	"halfspace/predict"
	"halfspace/schema"
)

// TestDatesOfFiles: a time.Time, and the days since 1970-01-01, have the features that the dates and times of a file have.
func TestDatesOfFiles(t *testing.T) {
	fields := []arrow.Field{{Name: "ms", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true}, {Name: "us", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "y", Type: arrow.BinaryTypes.String}}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	rng := rand.New(rand.NewPCG(4, 4))
	var rows [][]any
	for i := range 1000 {
		at := time.UnixMilli(rng.Int64N(4e12) - 1e12).UTC()
		micro := at.Add(time.Duration(rng.IntN(1000)) * time.Microsecond).Truncate([]time.Duration{time.Hour, time.Microsecond}[i%2])
		days := at.Unix() / 86400
		x := rng.NormFloat64()
		row := []any{at, micro, float64(days), x}
		if i%17 == 0 {
			row[0] = nil
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.TimestampBuilder).Append(arrow.Timestamp(at.UnixMilli()))
		}
		b.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(micro.UnixMicro()))
		if i%5 == 0 {
			row[2] = nil
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.Date32Builder).Append(arrow.Date32(days))
		}
		b.Field(3).(*array.Float64Builder).Append(x)
		b.Field(4).(*array.StringBuilder).Append([]string{"no", "yes"}[i%2])
		rows = append(rows, row)
	}
	path := filepath.Join(t.TempDir(), "dates.arrow")
	f := require.Value(os.Create(path))(t)
	w := require.Value(ipc.NewFileWriter(f, ipc.WithSchema(b.Schema())))(t)
	require.NoError(t, w.Write(b.NewRecord()))
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	data := require.Value(dataset.Load(context.Background(), path, dataset.Options{Label: "y", Prepare: true}))(t)
	spec := data.Spec()
	weights := make([]float32, spec.Cols())
	for k := range weights {
		weights[k] = float32(rng.NormFloat64())
	}
	m := model.New(spec, weights)
	one, many := require.Value(predict.New(m))(t), require.Value(predict.NewScorer(m, 1))(t)
	if n := len(one.Columns()); n != 4 || spec.Width() != 8+7+6+1 {
		t.Fatalf("%d columns, %d features", n, spec.Width())
	}
	r := 0
	require.NoError(t, dataset.Scan(context.Background(), []string{path}, dataset.Options{Spec: spec}, func(_ *schema.Spec, b *block.Block, _ arrow.Record) error {
		scores := require.Value(many.Scores(context.Background(), b))(t)
		for _, want := range scores[0] {
			row := require.Value(one.AppendRow(nil, rows[r]...))(t)
			if got := require.Value(one.Score(row))(t); got != float64(want) {
				t.Errorf("row %d, %v: %v, in the file %v", r, rows[r], got, want)
			}
			r++
		}
		return nil
	}))
	if r != len(rows) {
		t.Errorf("%d rows", r)
	}
}
