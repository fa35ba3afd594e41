package bench

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

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	format "github.com/apache/arrow/go/v17/parquet/schema"

	"halfspace/dataset"
	"halfspace/internal/require"
	"halfspace/schema"
)

// TestWrite: a file gives the rows of Blocks back, in columns of the documented names and types without nulls, with the truth beside
// them.
func TestWrite(t *testing.T) {
	for _, n := range []int64{1, 4096, 70_000} { // 70,000 rows are more than one batch, of several chunks
		for _, opt := range kinds(n) {
			path := filepath.Join(t.TempDir(), "x.parquet")
			opt.RowGroupRows = 30_000
			var told []int64
			require.NoError(t, WriteSynthetic(t.Context(), path, opt, func(rows int64) { told = append(told, rows) }))
			if !slices.IsSorted(told) || len(told) == 0 || told[len(told)-1] != n || n > 1<<16 && len(told) < 2 {
				t.Errorf("%+v: progress is told %d", opt, told)
			}
			data, err := dataset.Load(t.Context(), path, dataset.Options{Label: "label"})
			require.NoError(t, err)
			if data.Rows() != n || n > 1 && fingerprint(t, data) != fingerprint(t, SyntheticRows(opt)) { // one row has one class
				t.Errorf("%+v: the file has other rows", opt)
			}
			f, err := file.OpenParquetFile(path, false)
			require.NoError(t, err)
			defer f.Close()
			var got Truth
			metadata := f.MetaData().KeyValueMetadata().FindValue(MetadataKey)
			if err := json.Unmarshal([]byte(*metadata), &got); err != nil || !reflect.DeepEqual(got, truth(t, opt)) {
				t.Errorf("%+v: the metadata is %s (%v)", opt, *metadata, err)
			}
			for i, name := range append(Names(opt.Features), "label") {
				typ := map[bool]format.ConvertedType{true: format.ConvertedTypes.Int8, false: format.ConvertedTypes.None}[opt.Conjunction > 0 || i == opt.Features]
				if c := f.MetaData().Schema.Column(i); c.Name() != name || c.MaxDefinitionLevel() > 0 || c.ConvertedType() != typ ||
					(c.PhysicalType() == parquet.Types.Float) != (typ == format.ConvertedTypes.None) {
					t.Errorf("%+v: column %v, not %s of type %v", opt, c, name, typ)
				}
			}
		}
	}
}

// TestWriteSameBytes: files of the same options have the same bytes, and hold the truth under the documented names.
func TestWriteSameBytes(t *testing.T) {
	opt := Synthetic{Rows: 70_000, Features: 3, Noise: 0.25, Seed: 2, Compression: "zstd"}
	dir := t.TempDir()
	var files [2][]byte
	for i := range files {
		path := filepath.Join(dir, "x.parquet")
		before := runtime.GOMAXPROCS(1 + 3*i)
		err := WriteSynthetic(context.Background(), path, opt, nil)
		runtime.GOMAXPROCS(before)
		require.NoError(t, err)
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
		opt  Synthetic
		want string
	}{
		{Synthetic{Features: 1, Noise: 0.1}, "rows is 0: use 1 or more"},
		{Synthetic{Rows: -1, Features: 1, Noise: 0.1}, "rows is -1: use 1 or more"},
		{Synthetic{Rows: 1, Noise: 0.1}, "features is 0: use 1 to 262144"},
		{Synthetic{Rows: 1, Features: schema.MaxFeatures + 1, Noise: 0.1}, "features is 262145: use 1 to 262144"},
		{Synthetic{Rows: 1, Features: 1}, "choose one kind of data"},
		{Synthetic{Rows: 1, Features: 1, Noise: 0.1, Margin: 0.1}, "choose one kind of data"},
		{Synthetic{Rows: 1, Features: 1, Noise: nan, Conjunction: 1}, "choose one kind of data"},
		{Synthetic{Rows: 1, Features: 1, Margin: -1}, "margin is -1: use a distance above 0"},
		{Synthetic{Rows: 1, Features: 1, Margin: nan}, "margin is NaN: use a distance above 0"},
		{Synthetic{Rows: 1, Features: 1, Margin: 2e6}, "margin is 2e+06: use a distance above 0 and up to 1e+06"},
		{Synthetic{Rows: 1, Features: 1, Noise: -0.1}, "noise is -0.1: use a probability above 0 and up to 1"},
		{Synthetic{Rows: 1, Features: 1, Noise: 1.1}, "noise is 1.1: use a probability"},
		{Synthetic{Rows: 1, Features: 1, Noise: nan}, "noise is NaN: use a probability"},
		{Synthetic{Rows: 1, Features: 3, Conjunction: 4}, "conjunction is 4: use 1 to 3 variables, the number of features"},
		{Synthetic{Rows: 1, Features: 3, Conjunction: -1}, "conjunction is -1: use 1 to 3 variables"},
		{Synthetic{Rows: 1, Features: 3, Noise: 1, Compression: "rar"}, `unknown compression "rar"`},
	} {
		err := WriteSynthetic(context.Background(), path, test.opt, nil)
		require.Error(t, err, test.want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	opt := Synthetic{Rows: 1 << 40, Features: 3, Noise: 0.1}
	if err := WriteSynthetic(ctx, path, opt, func(int64) { cancel() }); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left (%v)", left, err)
	}
	defer func() {
		if r := recover(); r != "bench: rows is 0: use 1 or more" {
			t.Errorf("Blocks panics with %v", r)
		}
	}()
	SyntheticRows(Synthetic{Features: 1, Noise: 0.1})
}

func BenchmarkBlocks(b *testing.B) {
	for _, opt := range []Synthetic{{Noise: 0.1}, {Margin: 0.1}, {Conjunction: 3}} {
		opt.Rows, opt.Features = 1<<18, 28
		t, err := opt.Truth()
		require.NoError(b, err)
		b.Run("kind="+t.Kind, func(b *testing.B) {
			for b.Loop() {
				SyntheticRows(opt)
			}
			b.ReportMetric(float64(opt.Rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
