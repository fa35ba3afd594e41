package synth

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"halfspace/schema"
)

// read returns the columns of a Parquet file as rows of numbers, with the label, the last column, apart.
func read(t *testing.T, path string) (x [][]float32, y []float32, schema *arrow.Schema, metadata string) {
	t.Helper()
	f, err := file.OpenParquetFile(path, false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if v := f.MetaData().KeyValueMetadata().FindValue(MetadataKey); v != nil {
		metadata = *v
	}
	reader, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := reader.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	batches := array.NewTableReader(table, 0)
	defer batches.Release()
	for batches.Next() {
		rec := batches.Record()
		last := int(rec.NumCols()) - 1
		for r := range int(rec.NumRows()) {
			row := make([]float32, last)
			for c := range last {
				row[c] = number(rec.Column(c), r)
			}
			x = append(x, row)
			y = append(y, number(rec.Column(last), r))
		}
	}
	return x, y, table.Schema(), metadata
}

func number(col arrow.Array, r int) float32 {
	if col, ok := col.(*array.Int8); ok {
		return float32(col.Value(r))
	}
	return col.(*array.Float32).Value(r)
}

func TestWrite(t *testing.T) {
	for _, n := range []int64{1, 4096, 70_000} { // 70,000 rows are more than one batch, of several runs
		for _, opt := range kinds(n) {
			path := filepath.Join(t.TempDir(), "x.parquet")
			opt.RowGroupRows = 30_000
			var told []int64
			if err := Write(context.Background(), path, opt, func(rows int64) { told = append(told, rows) }); err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(told) || len(told) == 0 || told[len(told)-1] != n || n > 1<<16 && len(told) < 2 {
				t.Errorf("%+v: progress is told %d", opt, told)
			}
			x, y, schema, metadata := read(t, path)
			wantX, wantY := rows(t, Blocks(opt))
			if !same(x, wantX) || !slices.Equal(y, wantY) {
				t.Errorf("%+v: the file has other rows", opt)
			}
			var got Truth
			if err := json.Unmarshal([]byte(metadata), &got); err != nil || !reflect.DeepEqual(got, truth(t, opt)) {
				t.Errorf("%+v: the metadata is %s (%v)", opt, metadata, err)
			}
			typ := map[bool]arrow.DataType{true: arrow.PrimitiveTypes.Int8, false: arrow.PrimitiveTypes.Float32}
			names := append(Names(opt.Features), "label")
			for i, f := range schema.Fields() {
				want := typ[opt.Conjunction > 0 || i == opt.Features]
				if f.Name != names[i] || f.Nullable || !arrow.TypeEqual(f.Type, want) {
					t.Errorf("%+v: column %v, not %s of type %v", opt, f, names[i], want)
				}
			}
		}
	}
}

// TestWriteSameBytes: files of the same options have the same bytes, and hold the truth under the documented names.
func TestWriteSameBytes(t *testing.T) {
	opt := Options{Rows: 70_000, Features: 3, Noise: 0.25, Seed: 2, Compression: "zstd"}
	dir := t.TempDir()
	var files [2][]byte
	for i := range files {
		path := filepath.Join(dir, "x.parquet")
		before := runtime.GOMAXPROCS(1 + 3*i)
		err := Write(context.Background(), path, opt, nil)
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		if files[i], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(files[0], files[1]) {
		t.Errorf("two files of %d and %d bytes differ", len(files[0]), len(files[1]))
	}
	for _, want := range []string{`"kind":"noise"`, `"seed":2`, `"noise":0.25`, `"weights":[`} {
		if !strings.Contains(string(files[0]), want) {
			t.Errorf("%s isn't in the metadata", want)
		}
	}
}

func TestWriteErrors(t *testing.T) {
	nan := math.NaN()
	dir := t.TempDir()
	path := filepath.Join(dir, "x.parquet")
	for _, test := range []struct {
		opt  Options
		want string
	}{
		{Options{Features: 1, Noise: 0.1}, "rows is 0: use 1 or more"},
		{Options{Rows: -1, Features: 1, Noise: 0.1}, "rows is -1: use 1 or more"},
		{Options{Rows: 1, Noise: 0.1}, "features is 0: use 1 to 262144"},
		{Options{Rows: 1, Features: schema.MaxFeatures + 1, Noise: 0.1}, "features is 262145: use 1 to 262144"},
		{Options{Rows: 1, Features: 1}, "choose one kind of data"},
		{Options{Rows: 1, Features: 1, Noise: 0.1, Margin: 0.1}, "choose one kind of data"},
		{Options{Rows: 1, Features: 1, Noise: nan, Conjunction: 1}, "choose one kind of data"},
		{Options{Rows: 1, Features: 1, Margin: -1}, "margin is -1: use a distance above 0"},
		{Options{Rows: 1, Features: 1, Margin: nan}, "margin is NaN: use a distance above 0"},
		{Options{Rows: 1, Features: 1, Margin: 2e6}, "margin is 2e+06: use a distance above 0 and up to 1e+06"},
		{Options{Rows: 1, Features: 1, Noise: -0.1}, "noise is -0.1: use a probability above 0 and up to 1"},
		{Options{Rows: 1, Features: 1, Noise: 1.1}, "noise is 1.1: use a probability"},
		{Options{Rows: 1, Features: 1, Noise: nan}, "noise is NaN: use a probability"},
		{Options{Rows: 1, Features: 3, Conjunction: 4}, "conjunction is 4: use 1 to 3 variables, the number of features"},
		{Options{Rows: 1, Features: 3, Conjunction: -1}, "conjunction is -1: use 1 to 3 variables"},
		{Options{Rows: 1, Features: 3, Noise: 1, Compression: "rar"}, `unknown compression "rar"`},
	} {
		err := Write(context.Background(), path, test.opt, nil)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, not %q", test.opt, err, test.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	opt := Options{Rows: 1 << 40, Features: 3, Noise: 0.1}
	if err := Write(ctx, path, opt, func(int64) { cancel() }); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
	defer func() {
		if r := recover(); r != "synth: rows is 0: use 1 or more" {
			t.Errorf("Blocks panics with %v", r)
		}
	}()
	Blocks(Options{Features: 1, Noise: 0.1})
}

func BenchmarkBlocks(b *testing.B) {
	for _, opt := range []Options{{Noise: 0.1}, {Margin: 0.1}, {Conjunction: 3}} {
		opt.Rows, opt.Features = 1<<18, 28
		t, err := opt.Truth()
		if err != nil {
			b.Fatal(err)
		}
		b.Run("kind="+t.Kind, func(b *testing.B) {
			for b.Loop() {
				Blocks(opt)
			}
			b.ReportMetric(float64(opt.Rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	opt := Options{Rows: 1 << 18, Features: 28, Noise: 0.1}
	path := filepath.Join(b.TempDir(), "x.parquet")
	for b.Loop() {
		if err := Write(context.Background(), path, opt, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(opt.Rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
