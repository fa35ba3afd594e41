package dataset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/datatest"
	"halfspace/dataset/internal/source"
	"halfspace/internal/block"
	"halfspace/internal/files"
	"halfspace/internal/humanize"
	"halfspace/internal/require"
	"halfspace/schema"
)

// everyFormat names a file of each format. The first five formats hold nulls, text and weights.
var everyFormat = []string{"a.parquet", "a.csv", "b.csv.gz", "a.arrow", "stream.arrow", "a.svm", "b.svm.gz"}

// inFormats writes a record to a file of each name, in groups of that many rows, and returns the paths.
func inFormats(t *testing.T, rec arrow.Record, group int64, names []string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	start := filepath.Join(t.TempDir(), "start.parquet")
	require.NoError(t, writeAll(start, WriterOptions{RowGroupRows: group}, rec))
	for _, name := range names {
		path := filepath.Join(dir, name)
		switch plain := strings.TrimSuffix(path, ".gz"); {
		case name == "stream.arrow":
			writeNested(t, path, rec, group)
		case plain != path:
			convertFile(t, rec.NumRows(), start, plain, WriterOptions{})
			put(t, path, compressed(t, string(contents(t, plain))))
			require.NoError(t, os.Remove(plain))
		default:
			convertFile(t, rec.NumRows(), start, path, WriterOptions{RowGroupRows: group})
		}
		paths = append(paths, path)
	}
	return paths
}

// numbersTable has features f1 to f3, a third of whose values are 0, and a label: what every format holds. With gaps, f1 has nulls, and
// there are weights w, some of which are 0 and some missing.
func numbersTable(t *testing.T, rows int, gaps bool) arrow.Record {
	rng := rand.New(rand.NewPCG(5, 6))
	var cols []testField
	for k := range 5 {
		values, valid := make([]float64, rows), make([]bool, rows)
		for r := range values {
			valid[r] = true
			switch {
			case k == 4:
				values[r] = float64(r % 3 % 2)
			case k == 3:
				values[r], valid[r] = []float64{rng.ExpFloat64(), 0}[r%7/6], r%5 > 0
			case rng.IntN(3) > 0 || r == 0:
				values[r], valid[r] = rng.NormFloat64(), k > 0 || r%100 != 7
			}
		}
		if !gaps {
			valid = nil
		}
		if name := []string{"f1", "f2", "f3", "w", column.SvmlightLabel}[k]; name != "w" || gaps {
			cols = append(cols, datatest.Column(name, values, valid))
		}
	}
	return record(t, cols...)
}

// TestSameInEveryFormat: the rows alone decide about the blocks, the weights and the Spec. Neither the format does, nor the way it is read: by
// any number of workers, in memory or as a stream, in ranges by other processes, and as an object of a store.
func TestSameInEveryFormat(t *testing.T) {
	t.Parallel()
	plain, gaps := numbersTable(t, block.ChunkRows+77, false), numbersTable(t, 2*block.ChunkRows+77, true)
	model := &schema.Spec{Features: []string{"f1", "f2", "f3"}, Bias: true, Label: column.SvmlightLabel, Classes: []schema.Class{schema.IntClass(0),
		schema.IntClass(1)}, Positive: 1, Preprocessing: &schema.Preprocessing{Nulls: schema.NullsDrop, Columns: []schema.Column{
		{Name: "f1", Kind: schema.NumberColumn}, {Name: "f2", Kind: schema.NumberColumn}, {Name: "f3", Kind: schema.NumberColumn}}}}
	for _, c := range []struct {
		rec   arrow.Record
		names []string
		opts  []Options
	}{
		{plain, everyFormat, []Options{{}, {Features: []string{"f3", "f1"}, NoBias: true}, {Standardize: true}}},
		{gaps, everyFormat[:5], []Options{{Nulls: schema.NullsZero, Exclude: []string{"w"}}, {Nulls: schema.NullsMean, Standardize: true, Exclude: []string{"w"}},
			{Nulls: schema.NullsDrop, SampleWeight: "w"}, {SampleWeight: "w", Spec: model}}},
	} {
		paths := inFormats(t, c.rec, 1700, c.names)
		for _, opt := range c.opts {
			opt.Label = column.SvmlightLabel
			want := require.Value(fromRecord(t, c.rec, 1000, opt))(t)
			for _, path := range paths {
				sameEveryWay(t, path, opt, want)
			}
		}
	}
	if model.Weighted {
		t.Error("the model's Spec was changed")
	}
}

// TestSamePreparation: columns of every kind, with and without missing values, become the same features in each format, and the model
// of one format takes the rows of the others.
func TestSamePreparation(t *testing.T) {
	t.Parallel()
	p, w := arrow.PrimitiveTypes, arrow.FixedWidthTypes
	kinds := []struct {
		name   string
		typ    arrow.DataType
		values []string // as JSON
	}{
		{"category", arrow.BinaryTypes.String, []string{`"red"`, `"green"`, `"Blue"`}},
		{"cases", arrow.BinaryTypes.String, []string{`"true"`, `"True"`, `"false"`, `"maybe"`}},
		{"empty", arrow.BinaryTypes.String, []string{`"a"`, `""`, `"b c"`, `"d, \"e\""`}},
		{"code", arrow.BinaryTypes.String, []string{`"01"`, `"1"`, `"007"`, `"x"`}},
		{"money", arrow.BinaryTypes.String, []string{`"$1.50"`, `"$1,234"`, `"(5)"`}},
		{"words", arrow.BinaryTypes.String, []string{`"some words"`, `"other words here"`, `"no"`, `"a longer text"`}},
		{"dictionary", &arrow.DictionaryType{IndexType: p.Int32, ValueType: arrow.BinaryTypes.String}, []string{`"low"`, `"high"`}},
		{"truth", w.Boolean, []string{"true", "false"}},
		{"small", p.Int32, []string{"1", "0"}},
		{"whole", p.Int64, []string{"1", "20", "-3", "9007199254740992"}},
		{"float", p.Float64, []string{"1", "2.5", "-1e-3", "0.1"}},
		{"single", p.Float32, []string{"0.5", "2.25", "3"}},
		{"day", w.Date32, []string{`"2024-01-05"`, `"2023-12-31"`, `"1969-07-20"`}},
		{"at", w.Timestamp_us, []string{`"2024-01-05 08:30:00"`, `"2023-12-31 23:59:59.25"`, `"1969-07-20 20:17:40"`}},
		{"clock", w.Time32ms, []string{`"08:30:00"`, `"23:59:59"`, `"00:00:00"`}},
	}
	const rows = 200
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var cols []testField
		for _, k := range kinds {
			values := make([]string, rows)
			for r := range values {
				if values[r] = k.values[rng.IntN(len(k.values))]; seed%2 == 1 && rng.IntN(9) == 0 {
					values[r] = "null"
				}
			}
			cols = append(cols, field(k.name, k.typ, "["+strings.Join(values, ",")+"]"))
		}
		cols = append(cols, field("y", arrow.BinaryTypes.String, repeated(rows, `"no"`, `"yes"`, `"no"`)))
		rec, dir := record(t, cols...), t.TempDir()
		opt := Options{Label: "y", Prepare: true}
		var spec *schema.Spec
		var want [][]float32
		for _, name := range []string{"a.csv", "a.parquet", "a.jsonl", "a.arrow"} {
			path := filepath.Join(dir, name)
			require.NoError(t, writeAll(path, WriterOptions{}, rec))
			data := require.Value(Load(t.Context(), path, opt))(t)
			got, _ := rowsOf(t, data)
			if spec == nil {
				spec, want = data.Spec(), got
			}
			if !reflect.DeepEqual(data.Spec(), spec) {
				t.Errorf("seed %d: the preparation of %s is\n%+v\nand of CSV\n%+v", seed, name, data.Spec().Preprocessing, spec.Preprocessing)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d: %s has other rows than CSV", seed, name)
			}
			if got, _ = rowsOf(t, require.Value(Load(t.Context(), path, Options{Label: "y", Spec: spec}))(t)); !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d: %s has other rows than CSV for the model of CSV", seed, name)
			}
		}
	}
}

// sameEveryWay reads a file in every way and compares what it has.
func sameEveryWay(t *testing.T, path string, opt Options, want *block.Data) {
	t.Helper()
	ctx := t.Context()
	check := func(way string, src block.Source) {
		t.Helper()
		got := require.Value(block.Collect(ctx, src))(t)
		if err := sameBlocks(blocksOf(t, got), blocksOf(t, want)); err != nil || src.Rows() != want.Rows() || !reflect.DeepEqual(src.Spec(), want.Spec()) {
			t.Errorf("%s, %s, nulls %s: %d rows, %v; Spec %+v, want %+v", filepath.Base(path), way, opt.Nulls, src.Rows(), err, src.Spec(), want.Spec())
		}
	}
	for _, opt.Workers = range []int{1, 3} {
		check("loaded", require.Value(Load(ctx, path, opt))(t))
	}
	s := mustStream(t, memory.DefaultAllocator, opt, mirrored(path))
	check("streamed from a store", s)
	check("streamed again", s)
	in := require.Value(planOf(ctx, []string{path}, opt, memory.DefaultAllocator))(t)
	shared := in.Shared(want.Spec())
	again := require.Value(shared.Plan(ctx, opt.Workers))(t)
	all, n := blocksOf(t, want)[0], want.Rows() // the rows are few: one block
	for _, r := range [][2]int64{{0, n}, {0, block.ChunkRows}, {block.ChunkRows, n}} {
		got := require.Value(again.LoadRange(ctx, r[0], r[1], n))(t)
		if len(got) != int(r[1]-r[0]+block.ChunkRows-1)/block.ChunkRows {
			t.Errorf("%s: %d chunks of rows %d", path, len(got), r)
		}
		for i, b := range got {
			lo := int(r[0]) + i*block.ChunkRows
			if err := sameBlocks([]*block.Block{b}, []*block.Block{all.Slice(lo, min(all.Len(), lo+block.ChunkRows))}); err != nil {
				t.Errorf("%s, %+v, in ranges: %v", path, opt, err)
			}
		}
	}
	if _, err := again.LoadRange(ctx, 0, n+1, n+1); err == nil {
		t.Errorf("%s: rows that are not there were read", path)
	}
}

// TestConvert writes a table from every format to every other that can hold it.
func TestConvert(t *testing.T) {
	paths := inFormats(t, mixed(t), 2, everyFormat[:5])
	want := show(require.Value(table(t, Options{}, paths[0]))(t))
	for _, from := range paths {
		for _, to := range []string{"c.parquet", "c.csv", "c.arrow"} {
			target := filepath.Join(t.TempDir(), to)
			convertFile(t, 4, from, target, WriterOptions{RowGroupRows: 3})
			if got := show(require.Value(table(t, Options{}, target))(t)); got != want {
				t.Errorf("%s to %s:\n%s\nwant\n%s", from, to, got, want)
			}
		}
	}
}

// TestFurtherColumns: in every format the columns are those of all files, in any order of the files. A note names the file that lacks one.
func TestFurtherColumns(t *testing.T) {
	p, names := arrow.PrimitiveTypes, append(everyFormat[:5:5], "a.jsonl")
	first := inFormats(t, record(t, field("x", p.Int64, "[1]"), field("y", p.Int64, "[0]")), 10, names)
	second := inFormats(t, record(t, field("z", p.Int64, "[7]"), field("y", p.Int64, "[1]"), field("x", p.Int64, "[2]")), 10, names)
	for i := range first {
		for _, c := range []struct {
			paths []string
			want  string
		}{
			{[]string{first[i], second[i]}, "x int64 1 2; y int64 0 1; z int64 null 7"},
			{[]string{second[i], first[i]}, "z int64 7 null; y int64 1 0; x int64 2 1"},
			{[]string{first[i], second[i], first[i]}, "x int64 1 2 1; y int64 0 1 0; z int64 null 7 null"},
		} {
			var notes []string
			got := show(require.Value(table(t, Options{Warn: func(s string) { notes = append(notes, s) }}, c.paths...))(t))
			note := fmt.Sprintf(`column "z" is missing in %s (%s)`, first[i], humanize.Plural(int64(len(c.paths)-1), "row"))
			if len(c.paths) == 3 {
				notes = notes[1:] // the first file is named twice
			}
			if got != c.want || !slices.Equal(notes, []string{note}) {
				t.Errorf("%s: %s, want %s; notes %q, want %q", c.paths, got, c.want, notes, note)
			}
		}
	}
}

// A badFile fails from its n-th read on, and reads few bytes at a time.
type badFile struct {
	files.ReadableFile
	reads *atomic.Int64 // of all files
	fails int64         // 0 for never
	most  int           // bytes of a Read
}

func (f badFile) read(p []byte, read func([]byte) (int, error)) (int, error) {
	if n := f.reads.Add(1); f.fails > 0 && n >= f.fails {
		n, _ := read(p[:len(p)/2]) // some of them
		return n, &os.PathError{Op: "read", Path: "x", Err: syscall.EIO}
	}
	return read(p)
}

func (f badFile) Read(p []byte) (int, error) {
	return f.read(p[:min(len(p), f.most)], f.ReadableFile.Read)
}

func (f badFile) ReadAt(p []byte, at int64) (int, error) {
	return f.read(p, func(p []byte) (int, error) { return f.ReadableFile.ReadAt(p, at) })
}

// TestBadDisk: a disk that fails at any read is an error that names the file, and short reads change nothing.
func TestBadDisk(t *testing.T) {
	defer func() { source.Open = files.Open }()
	for _, path := range inFormats(t, numbersTable(t, 900, false), 300, everyFormat) {
		load := func(bad badFile) (fingerprint string, err error) {
			bad.reads = new(atomic.Int64)
			source.Open = func(path string) (files.ReadableFile, error) {
				f, err := os.Open(path)
				one := bad
				one.ReadableFile = f
				return one, err
			}
			in, err := planOf(t.Context(), []string{path}, Options{Label: column.SvmlightLabel, Workers: 2}, memory.DefaultAllocator)
			if err != nil {
				return "", err
			}
			stream, err := in.Stream(t.Context())
			if err != nil {
				return "", err
			}
			return block.Fingerprint(t.Context(), stream, 2)
		}
		want := require.Value(load(badFile{most: 1 << 20}))(t)
		for _, most := range []int{1, 7, 4097} {
			if got, err := load(badFile{most: most}); got != want {
				t.Errorf("%s, %d bytes at a time: %q, error %v, want %q", path, most, got, err, want)
			}
		}
		failed := 0
		for fails := int64(1); fails < 200; fails++ {
			_, err := load(badFile{most: 4096, fails: fails})
			if err == nil {
				break // there are fewer reads
			}
			failed++
			if !strings.HasPrefix(err.Error(), path+": ") || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "input/output error") {
				t.Errorf("%s, read %d fails: %v", path, fails, err)
			}
		}
		if failed < 2 {
			t.Errorf("%s: %d reads failed", path, failed)
		}
	}
}

// TestCancel ends the context in the middle of files of every format. The error is the context's, no rows pass for all, no file is
// written, and neither goroutines nor memory are left behind.
func TestCancel(t *testing.T) {
	names, counts := everyFormat, []int{1, 4}
	if require.Small() {
		names, counts = []string{"a.parquet", "a.csv", "b.csv.gz", "a.arrow", "a.svm"}, counts[1:]
	}
	paths := inFormats(t, numbersTable(t, 40_000, false), 3000, names)
	before := runtime.NumGoroutine()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	none := func(*schema.Spec, *block.Block, arrow.Record) error { return nil }
	for _, path := range paths {
		out := filepath.Join(t.TempDir(), "out.csv")
		for _, workers := range counts {
			for way, read := range map[string]func(ctx context.Context, opt Options) error{
				"load": func(ctx context.Context, opt Options) error {
					_, err := load(ctx, []string{path}, opt, mem)
					return err
				},
				"scan": func(ctx context.Context, opt Options) error {
					opt.Label = ""
					return scan(ctx, []string{path}, opt, mem, none)
				},
				"convert": func(ctx context.Context, opt Options) error {
					_, err := Convert(ctx, []string{path}, out, opt, WriterOptions{})
					return err
				},
			} {
				ctx, cancel := context.WithCancel(t.Context())
				opt := Options{Workers: workers, Label: column.SvmlightLabel, Progress: stopper(cancel)}
				for range 2 { // the second time it is cancelled before
					if err := read(ctx, opt); !errors.Is(err, context.Canceled) {
						t.Errorf("%s, %s: error %v", path, way, err)
					}
				}
			}
			if err := scan(t.Context(), []string{path}, Options{Workers: workers, Keep: []string{"f1"}}, mem,
				func(*schema.Spec, *block.Block, arrow.Record) error { return errStop }); err != errStop {
				t.Errorf("%s: Scan: %v", path, err)
			}
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s was written", out)
		}
	}
	for range 100 { // goroutines that have done their last statement may still be counted
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// stopper returns a function that cancels, and lets what reads in the background end first.
func stopper(cancel func()) func(pass Pass, rows, total int64) {
	before := runtime.NumGoroutine()
	return func(Pass, int64, int64) {
		cancel()
		for k := 0; k < 1e5 && runtime.NumGoroutine() > before; k++ {
			runtime.Gosched()
		}
	}
}

// TestStandardInput reads - as a file of every format but Parquet.
func TestStandardInput(t *testing.T) {
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	feed := func(path string) {
		f := require.Value(os.Open(path))(t)
		t.Cleanup(func() { f.Close() })
		os.Stdin = f
	}
	paths := inFormats(t, numbersTable(t, 100, false), 30, everyFormat)
	want := show(require.Value(table(t, Options{}, paths[0]))(t))
	for _, path := range paths[1:] {
		feed(path)
		got := show(require.Value(table(t, Options{}, "-"))(t))
		if i := strings.LastIndex(got, "label"); strings.HasPrefix(got, "label") { // svmlight has it first
			got = strings.SplitN(got, "; ", 2)[1] + "; " + strings.SplitN(got, "; ", 2)[0]
		} else if i < 0 {
			t.Error("no label")
		}
		if got = strings.ReplaceAll(got, "int64", "float64"); got != want { // labels are whole numbers
			t.Errorf("%s: %s", path, got)
		}
	}
	for _, others := range [][]string{nil, paths[:1]} {
		feed(paths[0])
		_, err := table(t, Options{}, append([]string{"-"}, others...)...)
		wantError(t, err, "", "-: a Parquet file can't come from standard input, since it is read from its end: save it and name the file")
	}
	feed(paths[1])
	_, err := table(t, Options{}, paths[1], "-")
	wantError(t, err, "", "-: standard input can't be read beside other files: save it and name the file")
}

// mixed is a record of columns that every format but svmlight can hold.
func mixed(tb testing.TB) arrow.Record {
	p := arrow.PrimitiveTypes
	return record(tb, field("x", p.Float64, "[1.5, -0.0, 3e300, 0.1]"), field("n", p.Float64, "[1.5, null, 3, 4]"),
		field("s", arrow.BinaryTypes.String, `["a", "NA", "", null]`), field("b", arrow.FixedWidthTypes.Boolean,
			"[true, false, null, true]"), field("y", p.Int64, "[0, 1, 0, 1]"))
}
