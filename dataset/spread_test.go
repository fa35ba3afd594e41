package dataset

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	"halfspace/internal/testrows"
	"halfspace/schema"
)

// TestCluster: other processes learn of Parquet files what one process learns: means, deviations, categories, buckets and
// classes. Errors are the same too; the process finds them itself.
func TestCluster(t *testing.T) {
	defer func(n int64) { rangeRuns = n }(rangeRuns)
	rangeRuns = 1
	dir := t.TempDir()
	for i, rows := range []int{2*block.RunRows + 9, 100, block.RunRows} {
		mixedFile(t, filepath.Join(dir, fmt.Sprint(i, ".parquet")), rows, i)
	}
	for _, c := range []struct {
		opt   Options
		tasks string
	}{
		{Options{Label: "class"}, "labels"},
		{Options{Label: "class", Exclude: []string{"none"}, Nulls: "mean", Standardize: true}, "learn labels"},
		{Options{Label: "class", Exclude: []string{"id"}, Nulls: "zero", Standardize: true, Categorical: "onehot"}, "learn labels"},
		{Options{Label: "class", Features: []string{"color", "city"}, Categorical: "color=onehot,city=hash:20", Cross: []string{"color,city"}}, "learn labels"},
		{Options{Features: []string{"x"}, Nulls: "mean"}, "learn"},
		{Options{Label: "class", Nulls: "drop", Standardize: true}, ""},
		{Options{Label: "class", Categorical: "hash:20", HashTexts: true}, ""},
		{Options{Label: "class", Features: []string{"none"}, Nulls: "mean"}, "learn"},                      // every value is missing
		{Options{Label: "class", Features: []string{"id"}, Categorical: "onehot", Nulls: "zero"}, "learn"}, // too many categories
		{Options{Label: "x"}, "labels"}, // a missing label
	} {
		ctx, paths := context.Background(), []string{dir}
		want, bad := specOf(ctx, paths, c.opt)
		remote := testrows.NewRemote(block.NewData(new(schema.Spec), nil), 3)
		c.opt.Cluster, _ = remote.Remote()
		got, err := specOf(ctx, paths, c.opt)
		if fmt.Sprint(err) != fmt.Sprint(bad) || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: %+v, error %v; want %+v, error %v", c.opt, got, err, want, bad)
		}
		var tasks []string
		for _, name := range []string{"learn", "labels"} {
			if remote.Tasks()["dataset."+name] > 0 {
				tasks = append(tasks, name)
			}
		}
		if got := strings.Join(tasks, " "); got != c.tasks {
			t.Errorf("%+v: tasks %q elsewhere, want %q", c.opt, got, c.tasks)
		}
		if bad == nil && slices.Contains(tasks, "learn") {
			p := frame.NewPool(1)
			in, err := openInput(ctx, paths, c.opt, p)
			if err != nil {
				t.Fatal(err)
			}
			if done, err := othersOf(in, paths, c.opt).learn(ctx, in.sel, in.Total(), p, nil); !done || err != nil {
				t.Errorf("%+v: this process has to read the files: error %v", c.opt, err)
			}
		}
	}
}

// specOf returns the spec of a stream of files, with what was learned of them.
func specOf(ctx context.Context, paths []string, opt Options) (*schema.Spec, error) {
	in, err := Open(ctx, paths, opt)
	if err != nil {
		return nil, err
	}
	s, err := in.Stream(ctx)
	if err != nil {
		return nil, err
	}
	return s.Spec(), nil
}

// mixedFile writes numbers, some missing, and texts.
func mixedFile(t *testing.T, path string, rows, seed int) {
	t.Helper()
	text := arrow.BinaryTypes.String
	s := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "z", Type: arrow.PrimitiveTypes.Int32},
		{Name: "none", Type: arrow.PrimitiveTypes.Float32, Nullable: true}, {Name: "color", Type: text, Nullable: true}, {Name: "city", Type: text},
		{Name: "id", Type: text}, {Name: "class", Type: text}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	for i := range rows {
		n := uint32(i)*2654435761>>7 + uint32(seed)*97
		if i%1000 == 7 {
			b.Field(0).AppendNull()
			b.Field(3).AppendNull()
		} else {
			b.Field(0).(*array.Float64Builder).Append(float64(n) / 3)
			b.Field(3).(*array.StringBuilder).Append(fmt.Sprint("color", n%5))
		}
		b.Field(1).(*array.Int32Builder).Append(int32(n))
		b.Field(2).AppendNull()
		b.Field(4).(*array.StringBuilder).Append(fmt.Sprint("city", n%300))
		b.Field(5).(*array.StringBuilder).Append(fmt.Sprint("id", seed, i))
		b.Field(6).(*array.StringBuilder).Append([]string{"b", "a", "c"}[(i/5000+seed)%3])
	}
	w, err := Create(path, s, WriterOptions{RowGroupRows: 5000})
	if err == nil {
		err = w.Write(b.NewRecord())
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
