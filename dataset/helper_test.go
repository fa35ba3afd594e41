package dataset

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet"

	"halfspace/block"
	"halfspace/dataset/records"
)

// writeFile writes rec to a Parquet file with row groups of that many rows.
func writeFile(tb testing.TB, path string, rec arrow.Record, group int64, opts ...parquet.WriterProperty) {
	tb.Helper()
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	writeParquet(tb, f, rec, group, opts)
	if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		tb.Fatal(err)
	}
}

// A field is a column of a test's file: its values as JSON. Name and type are those of an Arrow field.
func field(name string, typ arrow.DataType, values string) testField {
	return testField{arrow.Field{Name: name, Type: typ, Nullable: strings.Contains(values, "null")}, values}
}

type testField struct {
	arrow.Field
	values string
}

// record makes a record of columns.
func record(tb testing.TB, fields ...testField) arrow.Record {
	tb.Helper()
	var schema []arrow.Field
	var cols []arrow.Array
	rows := int64(0)
	for _, f := range fields {
		a, err := fromJSON(f.Type, f.values)
		if err != nil {
			tb.Fatalf("%s: %v", f.Name, err)
		}
		schema, cols, rows = append(schema, f.Field), append(cols, a), int64(a.Len())
	}
	return array.NewRecord(arrow.NewSchema(schema, nil), cols, rows)
}

// fromJSON makes an array. Arrow's own function takes large integers through float64.
func fromJSON(typ arrow.DataType, values string) (arrow.Array, error) {
	var signed []int64
	var unsigned []uint64
	switch {
	case typ.ID() == arrow.INT64 && json.Unmarshal([]byte(values), &signed) == nil && !strings.Contains(values, "null"):
		b := array.NewInt64Builder(memory.DefaultAllocator)
		b.AppendValues(signed, nil)
		return b.NewArray(), nil
	case typ.ID() == arrow.UINT64 && json.Unmarshal([]byte(values), &unsigned) == nil:
		b := array.NewUint64Builder(memory.DefaultAllocator)
		b.AppendValues(unsigned, nil)
		return b.NewArray(), nil
	}
	a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(values))
	return a, err
}

// file1 writes a record of columns to a file of that name in dir.
func file1(tb testing.TB, dir, name string, fields ...testField) string {
	tb.Helper()
	path := filepath.Join(dir, name)
	writeFile(tb, path, record(tb, fields...), 1000)
	return path
}

// rowsOf returns the rows of a data set, the padding left out, and their labels.
func rowsOf(tb testing.TB, d *block.Data) (rows [][]float32, y []float32) {
	tb.Helper()
	for b, err := range d.Blocks(context.Background()) {
		if err != nil {
			tb.Fatal(err)
		}
		for r := range b.Len() {
			rows = append(rows, b.X[r*b.Stride:r*b.Stride+b.Cols])
		}
		y = append(y, b.Y...)
	}
	return rows, y
}

// sameBlocks compares blocks bit for bit, padding included.
func sameBlocks(got, want []*block.Block) error {
	if len(got) != len(want) {
		return fmt.Errorf("%d blocks, want %d", len(got), len(want))
	}
	for i, g := range got {
		w := want[i]
		if g.First != w.First || g.Cols != w.Cols || g.Stride != w.Stride || len(g.X) != len(w.X) || len(g.Y) != len(w.Y) ||
			(g.Y == nil) != (w.Y == nil) {
			return fmt.Errorf("block %d: first %d, cols %d, stride %d, %d and %d elements, want %d, %d, %d, %d, %d", i, g.First,
				g.Cols, g.Stride, len(g.X), len(g.Y), w.First, w.Cols, w.Stride, len(w.X), len(w.Y))
		}
		for k := range g.X {
			if math.Float64bits(float64(g.X[k])) != math.Float64bits(float64(w.X[k])) {
				return fmt.Errorf("block %d, row %d, column %d: %v, want %v", i, k/g.Stride, k%g.Stride, g.X[k], w.X[k])
			}
		}
		if !slices.Equal(g.Y, w.Y) {
			return fmt.Errorf("block %d: labels differ", i)
		}
	}
	return nil
}

func blocksOf(tb testing.TB, d *block.Data) (blocks []*block.Block) {
	tb.Helper()
	for b, err := range d.Blocks(context.Background()) {
		if err != nil {
			tb.Fatal(err)
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// wantError compares an error's text, in which DIR stands for dir.
func wantError(tb testing.TB, err error, dir, want string) {
	tb.Helper()
	if err == nil {
		tb.Errorf("no error, want %q", want)
		return
	}
	if got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "DIR/"); got != want {
		tb.Errorf("error\n%s\nwant\n%s", got, want)
	}
}

var errStop = errors.New("stop")

var nan, inf = math.NaN(), math.Inf(1)

// fromRecords loads records with the options of files.
func fromRecords(ctx context.Context, r array.RecordReader, opt Options) (*block.Data, error) {
	return records.Load(ctx, r, records.Options{Label: opt.Label, Features: opt.Features, Exclude: opt.Exclude, Positive: opt.Positive,
		SampleWeight: opt.SampleWeight, NoBias: opt.NoBias, Nulls: opt.Nulls, Categorical: opt.Categorical, Standardize: opt.Standardize,
		Spec: opt.Spec, Workers: opt.Workers, Memory: opt.Memory, Progress: opt.told(PassRows), Warn: opt.Warn})
}

// writeNested writes a record as Parquet or as an Arrow stream.
func writeNested(t *testing.T, path string, rec arrow.Record, group int64) {
	t.Helper()
	if strings.HasSuffix(path, ".parquet") {
		writeFile(t, path, rec, group)
		return
	}
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(rec.Schema()))
	var err error
	for lo := int64(0); lo < rec.NumRows(); lo += group {
		err = errors.Join(err, w.Write(rec.NewSlice(lo, min(rec.NumRows(), lo+group))))
	}
	if err := errors.Join(err, w.Close(), os.WriteFile(path, file.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
}
