package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/datatest"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// TestManyCategories: a column of more categories than a dense row may have features is one of sparse rows.
func TestManyCategories(t *testing.T) {
	t.Parallel()
	const rows = schema.MaxFeatures + 1000
	text := []byte("id,x,y\n")
	for r := range rows {
		text = fmt.Appendf(text, "u%d,%d,%d\n", r, r%3, r%2)
	}
	path := textFile(t, "a.csv", string(text))
	for categorical, width := range map[string]int{"onehot": rows, "hash:24": 0} {
		if require.Small() && width == 0 {
			continue
		}
		data := require.Value(Load(context.Background(), path, Options{Label: "y", Categorical: categorical, Storage: Auto}))(t)
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
	_, err := planOf(context.Background(), []string{path}, Options{Label: "y", Categorical: "onehot", Storage: Dense}, memory.DefaultAllocator)
	if err == nil || !strings.Contains(err.Error(), `column "id", line 1002, row 1000: more than 1000 categories`) {
		t.Errorf("dense: error %v", err)
	}
}

// TestLists reads lists of every type beside numbers.
func TestLists(t *testing.T) {
	t.Parallel()
	const rows = 3001
	p := arrow.PrimitiveTypes
	for _, typ := range []arrow.DataType{arrow.ListOf(p.Float32), arrow.LargeListOf(p.Int16), arrow.FixedSizeListOf(3, p.Float32),
		arrow.FixedSizeListOf(70, p.Uint8), arrow.ListOf(arrow.FixedWidthTypes.Float16), arrow.ListOf(arrow.FixedWidthTypes.Boolean)} {
		rng := rand.New(rand.NewPCG(5, 6))
		width := 5
		if fixed, ok := typ.(*arrow.FixedSizeListType); ok {
			width = int(fixed.Len())
		}
		a, b := array.NewFloat32Builder(memory.DefaultAllocator), array.NewBuilder(memory.DefaultAllocator, typ).(array.ListLikeBuilder)
		want := block.New(0, rows, width+2)
		want.Y = nil
		for r := range rows {
			row := want.X[r*want.Stride:]
			row[0], row[width+1] = float32(datatest.AppendRandom(a, rng, true)), 1
			b.Append(true)
			for k := range width {
				row[1+k] = float32(datatest.AppendRandom(b.ValueBuilder(), rng, false))
			}
		}
		rec := record(t, built("a", a, false), built("emb", b, false))
		for _, size := range []int64{rows, 1000} {
			for _, workers := range []int{1, 3} {
				d := require.Value(fromRecord(t, rec, size, Options{Workers: workers}))(t)
				if err := sameBlocks(blocksOf(t, d), []*block.Block{want}); err != nil {
					t.Errorf("%s: %v", typ, err)
				}
				names := d.Spec().Features
				if len(names) != width+1 || names[0] != "a" || names[1] != "emb[0]" || d.Spec().Preprocessing.Columns[1].Elements != width {
					t.Errorf("%s: features %q, preprocessing %+v", typ, names, d.Spec().Preprocessing)
				}
				again := require.Value(fromRecord(t, rec, size, Options{Workers: workers, Spec: d.Spec()}))(t)
				if err := sameBlocks(blocksOf(t, again), []*block.Block{want}); err != nil {
					t.Errorf("%s: read with its own Spec: %v", typ, err)
				}
			}
		}
	}
}
