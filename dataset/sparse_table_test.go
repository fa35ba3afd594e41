package dataset

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/schema"
)

// sparseTable returns a record of texts, numbers, lists and weights. Many numbers are 0 or -0, and a share of the values are missing.
func sparseTable(t *testing.T, rows int, missing float64) arrow.Record {
	t.Helper()
	table := newTextTable(t, rows, missing)
	rng := rand.New(rand.NewPCG(41, 42))
	few := array.NewFloat64Builder(memory.DefaultAllocator)
	lists := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Float32)
	weights := array.NewFloat64Builder(memory.DefaultAllocator)
	for range rows {
		if rng.Float64() < missing {
			few.AppendNull()
		} else {
			few.Append([]float64{0, 0, 0, math.Copysign(0, -1), 0.5, -3}[rng.IntN(6)])
		}
		lists.Append(true)
		for range 3 {
			lists.ValueBuilder().(*array.Float32Builder).Append(float32(rng.IntN(3)))
		}
		weights.Append(float64(1 + rng.IntN(3)))
	}
	fields := append(table.rec.Schema().Fields(), arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		arrow.Field{Name: "v", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32)}, arrow.Field{Name: "w", Type: arrow.PrimitiveTypes.Float64})
	columns := append(table.rec.Columns(), few.NewArray(), lists.NewArray(), weights.NewArray())
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(rows))
}

// TestSparseTables: sparse rows of numbers, lists and categories have the values of dense ones, bit for bit, from files of every
// format, whatever becomes of missing values, in memory and streamed. So have rows for a model.
func TestSparseTables(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	for _, nulls := range schema.AllNulls {
		missing := 0.02
		if nulls == schema.NullsError {
			missing = 0
		}
		path := filepath.Join(dir, string(nulls)+".parquet")
		writeFile(t, path, sparseTable(t, 5001, missing), 1000)
		files := []string{path, filepath.Join(dir, string(nulls)+".csv"), filepath.Join(dir, string(nulls)+".arrow")}
		for _, out := range files[1:] {
			var leave []string
			if strings.HasSuffix(out, ".csv") {
				leave = []string{"v"}
			}
			if _, err := Convert(ctx, []string{path}, out, Options{Exclude: leave}, WriterOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		for i, categorical := range []string{"onehot", "hash:20", "hash:3,t0=onehot,n=hash:17"} {
			opt := Options{Label: "label", SampleWeight: "w", Nulls: nulls, Categorical: categorical, Standardize: i == 1, Workers: 1 + i}
			if i == 2 {
				opt.SampleWeight, opt.Exclude, opt.NoBias = "", []string{"w"}, true
			}
			sameForms(t, files[i], opt)
		}
	}
}

// sameForms loads, streams and scans a file as dense and as sparse rows, and compares them.
func sameForms(t *testing.T, path string, opt Options) {
	t.Helper()
	ctx, what := context.Background(), fmt.Sprintf("%s, %s", filepath.Base(path), opt.Categorical)
	load := func(opt Options, streamed bool) (*block.Data, string) {
		t.Helper()
		heard := ""
		opt.Warn = func(text string) { heard += text + "\n" }
		in, err := Open(ctx, []string{path}, opt)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		var data *block.Data
		if !streamed {
			data, err = in.Load(ctx)
		} else if s, wrong := in.Stream(ctx); wrong != nil {
			err = wrong
		} else {
			data, err = block.Collect(ctx, s)
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return data, heard
	}
	dense, want := load(opt, false)
	if opt.Storage = Sparse; opt.Categorical == "onehot" {
		opt.Storage = Auto // which takes an eighth of the memory here, or not
	}
	for _, streamed := range []bool{false, true} {
		sparse, heard := load(opt, streamed)
		if !reflect.DeepEqual(sparse.Spec(), dense.Spec()) || heard != want && !streamed {
			t.Errorf("%s, streamed %t: spec %v, want %v; heard %q, want %q", what, streamed, sparse.Spec(), dense.Spec(), heard, want)
		}
		got := blocksOf(t, sparse)
		if opt.Storage == Sparse || got[0].Sparse != nil {
			got = denseOf(t, got)
		}
		if err := sameBlocks(got, blocksOf(t, dense)); err != nil {
			t.Errorf("%s, streamed %t: %v", what, streamed, err)
		}
		for i, b := range blocksOf(t, sparse) {
			if w := blocksOf(t, dense)[i].W; !slices.Equal(b.W, w) {
				t.Errorf("%s, streamed %t: other weights", what, streamed)
			}
		}
	}
	var rows [2][]*block.Block
	for i, storage := range []Storage{Dense, Sparse} {
		err := Scan(ctx, []string{path}, Options{Spec: dense.Spec(), Storage: storage, Workers: opt.Workers, Keep: []string{"x"}},
			func(_ *schema.Spec, b *block.Block, kept arrow.Record) error {
				if storage == Sparse {
					b = denseOf(t, []*block.Block{b})[0]
				}
				copied := *b
				copied.X, copied.Y = slices.Clone(b.X), nil
				rows[i] = append(rows[i], &copied)
				if kept.NumRows() != int64(b.Len()) {
					t.Errorf("%s: %d kept rows of %d", what, kept.NumRows(), b.Len())
				}
				return nil
			})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	if err := sameBlocks(rows[1], rows[0]); err != nil {
		t.Errorf("%s, with its own spec: %v", what, err)
	}
}

// TestSparseTableErrors: sparse rows have the errors of dense ones.
func TestSparseTableErrors(t *testing.T) {
	p, s := arrow.PrimitiveTypes, arrow.BinaryTypes.String
	label := field("y", p.Int8, "[1, 0, 1]")
	for _, fields := range [][]testField{
		{field("c", s, `["a", null, "b"]`), field("x", p.Float64, `[1, 2, null]`)},
		{field("c", s, `["a", "b", null]`), field("x", p.Float64, `[1, null, 2]`)},
		{field("x", p.Float64, `[1e60, 2, 3]`), field("c", s, `[null, "b", "a"]`)},
		{field("v", arrow.ListOf(p.Int8), `[[1], [2], [1, 2]]`), field("c", s, `["a", "b", null]`)},
		{field("v", arrow.ListOf(p.Int8), `[[1], [2], null]`), field("u", arrow.ListOf(p.Int8), `[[1], null, [3]]`)},
		{field("x", p.Float64, `[1, 2, 3]`), field("c", arrow.BinaryTypes.Binary, `["YQ==", "/2E=", "YQ=="]`)},
	} {
		path := file1(t, t.TempDir(), "a.parquet", append(fields, label)...)
		for _, categorical := range []string{"onehot", "hash:4", "hash:24"} {
			opt := Options{Label: "y", Categorical: categorical}
			_, want := Load(context.Background(), []string{path}, opt)
			opt.Storage = Sparse
			_, err := Load(context.Background(), []string{path}, opt)
			if want == nil || err == nil || err.Error() != want.Error() {
				t.Errorf("%s: error %v, want %v", categorical, err, want)
			}
		}
	}
}

// TestManyCategories: a column of more categories than a dense row may have features is one of sparse rows.
func TestManyCategories(t *testing.T) {
	const rows = schema.MaxFeatures + 1000
	text := []byte("id,x,y\n")
	for r := range rows {
		text = fmt.Appendf(text, "u%d,%d,%d\n", r, r%3, r%2)
	}
	path := textFile(t, "a.csv", string(text))
	for categorical, width := range map[string]int{"onehot": rows, "hash:24": 0} {
		data, err := Load(context.Background(), []string{path}, Options{Label: "y", Categorical: categorical, Storage: Auto})
		if err != nil {
			t.Fatalf("%s: %v", categorical, err)
		}
		spec := data.Spec()
		if err := spec.Preprocessing.Check(spec.Features); err != nil || width > 0 && len(spec.Features) != width+1 {
			t.Errorf("%s: %d features, error %v", categorical, len(spec.Features), err)
		}
		if categorical == "hash:24" && !(len(spec.Features) > rows*9/10 && len(spec.Features) < rows) { // about 1 % of the texts share a bucket
			t.Errorf("%d features of %d texts", len(spec.Features), rows)
		}
		for _, b := range blocksOf(t, data) {
			if b.Sparse == nil || b.CheckShape(spec.Cols()) != nil || len(b.Sparse.Idx) > 3*b.Len() {
				t.Fatalf("%s: rows aren't sparse", categorical)
			}
		}
	}
	_, err := Open(context.Background(), []string{path}, Options{Label: "y", Categorical: "onehot", Storage: Dense})
	if err == nil || !strings.Contains(err.Error(), `column "id", row 1000: more than 1000 categories`) {
		t.Errorf("dense: error %v", err)
	}
}
