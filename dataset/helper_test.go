package dataset

import (
	"bytes"
	"context"
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

	"halfspace/dataset/internal/datatest"
	"halfspace/dataset/records"
	"halfspace/internal/block"
	"halfspace/internal/require"
)

// writeFile writes rec to a Parquet file with row groups of that many rows.
func writeFile(tb testing.TB, path string, rec arrow.Record, group int64, opts ...parquet.WriterProperty) {
	tb.Helper()
	f := require.Value(os.Create(path))(tb)
	writeParquet(tb, f, rec, group, opts)
	if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		tb.Fatal(err)
	}
}

// file1 writes a record of columns to a file of that name in dir.
func file1(tb testing.TB, dir, name string, fields ...testField) string {
	tb.Helper()
	path := filepath.Join(dir, name)
	writeFile(tb, path, record(tb, fields...), 1000)
	return path
}

// rowsOf returns the rows of a data set, the padding left out, and their labels.
func rowsOf(tb testing.TB, d block.Source) (rows [][]float32, y []float32) {
	tb.Helper()
	for b, err := range d.Blocks(context.Background()) {
		require.NoError(tb, err)
		for r := range b.Len() {
			rows = append(rows, slices.Clone(b.X[r*b.Stride:r*b.Stride+b.Cols]))
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
		if !slices.Equal(g.Y, w.Y) || !slices.Equal(g.W, w.W) {
			return fmt.Errorf("block %d: labels or weights differ", i)
		}
	}
	return nil
}

func blocksOf(tb testing.TB, d *block.Data) (blocks []*block.Block) {
	tb.Helper()
	for b, err := range d.Blocks(context.Background()) {
		require.NoError(tb, err)
		blocks = append(blocks, b)
	}
	return blocks
}

var errStop = errors.New("stop")

var nan, inf = math.NaN(), math.Inf(1)

// fromRecords loads records with the options of files.
func fromRecords(ctx context.Context, r array.RecordReader, opt Options) (*block.Data, error) {
	return records.Load(ctx, r, records.Options{Label: opt.Label, Features: opt.Features, Exclude: opt.Exclude, Positive: opt.Positive,
		SampleWeight: opt.SampleWeight, NoBias: opt.NoBias, Nulls: opt.Nulls, Categorical: opt.Categorical, Standardize: opt.Standardize,
		Spec: opt.Spec, Workers: opt.Workers, Memory: opt.Memory, Storage: opt.Storage, Progress: opt.ofTable().progressOf(PassRows), Warn: opt.Warn})
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
	require.NoError(t, errors.Join(err, w.Close(), os.WriteFile(path, file.Bytes(), 0o600)))
}

// put writes a file, and contents reads one.
func put(tb testing.TB, path string, data []byte) {
	tb.Helper()
	require.NoError(tb, os.WriteFile(path, data, 0o600))
}

func contents(tb testing.TB, path string) []byte {
	tb.Helper()
	return require.Value(os.ReadFile(path))(tb)
}

// testField and the functions are those of datatest.
type testField = datatest.Field

var (
	field, record, built = datatest.Values, datatest.Record, datatest.Built
	textFile, compressed = datatest.TextFile, datatest.Gzip
	show, wantError      = datatest.Show, datatest.WantError
)

// inputOf examines files and selects their columns.
func inputOf(ctx context.Context, paths []string, opt Options) (*openedInput, error) {
	t, err := Examine(ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	d, err := draftOf(opt)
	if err != nil {
		return nil, err
	}
	return t.read(ctx, d)
}

// planOf examines and plans files, whose rows take memory of an allocator.
func planOf(ctx context.Context, paths []string, opt Options, mem memory.Allocator) (*Plan, error) {
	t, err := examineWith(ctx, paths, opt, mem)
	if err != nil {
		return nil, err
	}
	return t.Plan(ctx, opt)
}

func load(ctx context.Context, paths []string, opt Options, mem memory.Allocator) (*block.Data, error) {
	p, err := planOf(ctx, paths, opt, mem)
	if err != nil {
		return nil, err
	}
	return p.Load(ctx)
}

// loadAll is Load for several paths.
func loadAll(ctx context.Context, paths []string, opt Options) (*block.Data, error) {
	return load(ctx, paths, opt, memory.DefaultAllocator)
}
