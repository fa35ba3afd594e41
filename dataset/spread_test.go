package dataset

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"halfspace/dataset/internal/datatest"
	"halfspace/internal/block"
	"halfspace/internal/files"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/schema"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// TestCluster: other processes learn of Parquet files what one process learns: means, deviations, categories, buckets and
// classes. Errors are the same too; the process finds them itself.
func TestCluster(t *testing.T) {
	defer func(n int64) { rangeChunks = n }(rangeChunks)
	rangeChunks = 1
	dir := t.TempDir()
	for i, rows := range []int{2*block.ChunkRows + 9, 100, block.ChunkRows} {
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
		{Options{Label: "class", Features: []string{"none"}, Nulls: "mean"}, "learn"},                                      // every value is missing
		{Options{Label: "class", Features: []string{"id"}, Categorical: "onehot", Nulls: "zero", Storage: Dense}, "learn"}, // too many categories
		{Options{Label: "x"}, "labels"}, // a missing label
	} {
		ctx, paths := context.Background(), []string{dir}
		want, bad := specOf(ctx, paths, c.opt)
		remote := testproblems.NewRemote(block.NewData(new(schema.Spec), nil), 3)
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
			table := require.Value(Examine(ctx, paths, c.opt))(t)
			in := require.Value(table.read(ctx, require.Value(draftOf(c.opt))(t)))(t)
			others := othersOf(table, in, c.opt.Cluster)
			if learned, err := others.learn(ctx, in.bound, in.Total(), table.pool, nil); learned == nil || err != nil {
				t.Errorf("%+v: this process has to read the files: error %v", c.opt, err)
			}
		}
	}
}

// TestClusterLists: the length of lists is known after some rows, and other processes find the classes.
func TestClusterLists(t *testing.T) {
	defer func(n int64) { rangeChunks = n }(rangeChunks)
	rangeChunks = 1
	const rows = 4 * block.ChunkRows
	lists, classes := make([]string, rows), make([]int32, rows)
	for i := range rows {
		lists[i], classes[i] = fmt.Sprintf("[%d,2]", i), int32(i%2)
	}
	path := filepath.Join(t.TempDir(), "a.parquet")
	require.NoError(t, writeAll(path, WriterOptions{RowGroupRows: block.ChunkRows}, record(t, datatest.Column("y", classes, nil),
		datatest.Values("x", arrow.ListOf(arrow.PrimitiveTypes.Float32), "["+strings.Join(lists, ",")+"]"))))
	remote, read := testproblems.NewRemote(block.NewData(new(schema.Spec), nil), 3), int64(0)
	opt := Options{Label: "y", Progress: func(pass Pass, rows, _ int64) {
		if pass == passColumns {
			read = rows
		}
	}}
	opt.Cluster, _ = remote.Remote()
	spec, err := specOf(context.Background(), []string{path}, opt)
	if err != nil || len(spec.Features) != 2 || read == 0 || read == rows || remote.Tasks()["dataset.labels"] == 0 {
		t.Errorf("%+v, error %v, %d rows read for the columns; tasks %v", spec, err, read, remote.Tasks())
	}
}

// specOf returns the spec of a stream of files, with what was learned of them.
func specOf(ctx context.Context, paths []string, opt Options) (*schema.Spec, error) {
	in, err := planOf(ctx, paths, opt, memory.DefaultAllocator)
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
	x, z, valid, texts := make([]float64, rows), make([]int32, rows), make([]bool, rows), map[string][]string{}
	for i := range rows {
		n := uint32(i)*2654435761>>7 + uint32(seed)*97
		x[i], z[i], valid[i] = float64(n)/3, int32(n), i%1000 != 7
		for name, text := range map[string]string{"color": fmt.Sprint("color", n%5), "city": fmt.Sprint("city", n%300), "id": fmt.Sprint("id", seed, i),
			"class": []string{"b", "a", "c"}[(i/5000+seed)%3]} {
			texts[name] = append(texts[name], text)
		}
	}
	require.NoError(t, writeAll(path, WriterOptions{RowGroupRows: 5000}, record(t, datatest.Column("x", x, valid), datatest.Column("z", z, nil),
		datatest.Column("none", make([]float32, rows), make([]bool, rows)), datatest.Column("color", texts["color"], valid),
		datatest.Column("city", texts["city"], nil), datatest.Column("id", texts["id"], nil), datatest.Column("class", texts["class"], nil))))
}

// A mirror is the store of test://, which TestMain registers. The objects are files: test://bucket/a is the file bucket/a below the working
// directory, and test:///folder/a is the file /folder/a. The version of an object is made of its bytes.
type mirror struct{}

// mirrored returns the URL of a file.
func mirrored(path string) string { return "test://" + filepath.ToSlash(path) }

// An openObject is an object that is open.
type openObject struct {
	*os.File
	info fs.FileInfo
}

func (o openObject) Stat() (fs.FileInfo, error) { return o.info, nil }

// An objectInfo has the same time for each object.
type objectInfo struct {
	fs.FileInfo
	version files.Version
}

func (i objectInfo) Sys() any         { return i.version }
func (objectInfo) ModTime() time.Time { return time.Unix(1, 0) }

func (mirror) path(url string) string { return filepath.FromSlash(strings.TrimPrefix(url, "test://")) }

func (m mirror) Open(url string, seen fs.FileInfo) (files.ReadableFile, error) {
	info, err := m.Stat(url)
	if err == nil && seen != nil && !files.SameFile(info, seen) {
		err = &files.StoreError{Text: "the object changed while it was read: try again"}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(m.path(url))
	return openObject{f, info}, err
}

func (m mirror) Stat(url string) (fs.FileInfo, error) {
	if strings.Contains(url, "forbidden") {
		return nil, &files.StoreError{Text: "access is denied: log in"}
	}
	info, err := os.Stat(m.path(url))
	if err == nil && info.IsDir() { // which a store doesn't have
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(m.path(url))
	return objectInfo{info, files.Version(fmt.Sprintf("%x", text))}, err
}

// Put fails: the store is for reading.
func (mirror) Put(context.Context, string, *os.File) error { return fs.ErrInvalid }

// List finds objects below the working directory alone.
func (mirror) List(prefix string) (all []string, err error) {
	err = filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if url := mirrored(p); err == nil && !d.IsDir() && strings.HasPrefix(url, prefix) {
			all = append(all, url)
		}
		return err
	})
	slices.Sort(all)
	return all, err
}

// TestObjectNames: Expand finds the objects that it finds as local files, in their order, and has the same errors; about tables of Delta
// and Iceberg, which are read as local files alone, it has its own.
func TestObjectNames(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for _, name := range []string{"b/a.parquet", "b/a-b/x.parquet", "b/a/x.parquet", "b/a/.x.parquet", "b/a/_logs/x.parquet", "b/a/y/z.PARQUET",
		"b/a/n.csv", "b/_hidden/x.parquet", "b/.h.parquet", "b/text/x.csv", "b/text/y.tsv.gz", "b/none/readme", "b/[1]/x.parquet", "b/1/x.parquet", "b/year=1/m=1/x.parquet",
		"b/year=1/m=2/x.parquet", "b/year=2/m=1/x.parquet", "b/year=2/_m=1/x.parquet", "c/only.arrow",
		"l/t/_delta_log/0.json", "l/t/k=1/x.parquet", "l/i/metadata/v3.metadata.json", "l/i/data/x.parquet", "l/p/metadata/x.parquet", "l/d/ducklake-1.parquet", "l/d/ducklake-1-delete.parquet"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, []byte(name), 0o600))
	}
	local := func(text string) string { return strings.ReplaceAll(filepath.ToSlash(text), root+"/", "test://") }
	for _, name := range []string{"b", "b/", "c", "b/a", "b/a.parquet", "b/a*", "b/*", "b/*/x.parquet", "b/*/*", "b/a/n.csv", "b/text", "b/none", "b/absent", "b/absent*", "absent",
		"b/_*", "b/_hidden", "b/.h*", "b/[1]/x.parquet", "b/[1]", "b/[", "b/year=*/m=1", "b/year=?/*/*.parquet", "b/[a-b]*", "b/*/y/z.*", "b/text/*", "b/year=2", "b/**/*.parquet", "b/**", "b/**/x.*", "b/**/_m=1/*", "b/*/**/x.parquet", "b/year=*/**", "b/**/absent", "b/**/[",
		"l", "l/t", "l/t/k=1", "l/t/k=1/x.parquet", "l/t/**/*.parquet", "l/t/k=*/*.parquet", "l/i/data/*", "l/i/data/x.parquet", "l/p", "l/p/*", "l/d", "l/d/*1.parquet", "l/*/data"} {
		want, bad := Expand(t.Context(), []string{filepath.Join(root, name)}, nil)
		for i := range want {
			want[i] = local(want[i])
		}
		got, err := Expand(t.Context(), []string{"test://" + name}, nil)
		ofTable := strings.Contains(fmt.Sprint(err), "Delta") || strings.Contains(fmt.Sprint(err), "Iceberg") // local tables are read
		if !slices.Equal(got, want) || local(fmt.Sprint(err)) != local(fmt.Sprint(bad)) && !(ofTable && bad != nil) {
			t.Errorf("%s: %q, error %v\nwant %q, error %v", name, got, err, want, bad)
		}
	}
	for path, want := range map[string]string{
		"gs://b/x.parquet":   "gs://b/x.parquet: no store is known for gs://, only for test://: copy it there, or to a local folder",
		"gs://":              "gs://: no store is known for gs://, only for test://: copy it there, or to a local folder",
		"file:///x.parquet":  "file:///x.parquet: this is an address, not a path: leave out file://",
		"test://forbidden/x": "test://forbidden/x: access is denied: log in",
	} {
		if _, err := Expand(t.Context(), []string{path}, nil); fmt.Sprint(err) != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
