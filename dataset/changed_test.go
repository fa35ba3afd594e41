package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/internal/block"
	"halfspace/internal/require"
	"halfspace/schema"
)

// changes are what may happen to a file while it is read.
var changes = map[string]func(path string) error{
	"touched": func(path string) error { return os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)) },
	"removed": os.Remove,
	"grown": func(path string) error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString("0.5,1\n")
		return errors.Join(err, f.Close())
	},
	"cut": func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		return errors.Join(err, os.Truncate(path, int64(bytes.LastIndexByte(text[:len(text)/8*7], '\n')+1)), os.Chtimes(path, time.Time{}, info.ModTime()))
	},
	"replaced": func(path string) error { // by a file of the same content, size and time
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(path+".new", text, 0o600), os.Chtimes(path+".new", info.ModTime(), info.ModTime()), os.Rename(path+".new", path))
	},
}

// checkChanged checks the error of a file that changed. Cut data that say where they end may be found damaged.
func checkChanged(t *testing.T, path, what, when string, err error) {
	t.Helper()
	want := path + ": the file changed while it was read: try again"
	if what == "removed" {
		want = path + ": no such file: check the path"
	}
	text := strings.HasSuffix(path, ".csv") || strings.HasSuffix(path, ".svm")
	if err == nil || err.Error() != want && (what != "cut" || text || !strings.HasPrefix(err.Error(), path+": ")) {
		t.Errorf("%s, %s %s: error %v", filepath.Base(path), what, when, err)
	}
}

// TestChanges: a file of any format that changes between Open and the rows, or between two passes, is an error.
func TestChanges(t *testing.T) {
	t.Parallel()
	for _, path := range inFormats(t, numbersTable(t, 500, false), 100, everyFormat) {
		data := contents(t, path)
		for what, change := range changes {
			put(t, path, data)
			opt := Options{Label: column.SvmlightLabel}
			in := require.Value(planOf(t.Context(), []string{path}, opt, memory.DefaultAllocator))(t)
			stream := mustStream(t, memory.DefaultAllocator, opt, path)
			require.Value(block.Collect(t.Context(), stream))(t)
			require.NoError(t, change(path))
			_, err := in.Load(t.Context())
			checkChanged(t, path, what, "before its rows", err)
			_, err = block.Collect(t.Context(), stream)
			checkChanged(t, path, what, "between passes", err)
		}
	}
}

// TestChangesInPass changes a file during its only pass: a reader that is past the change must not take what it read for all.
func TestChangesInPass(t *testing.T) {
	t.Parallel()
	names := everyFormat
	if require.Small() {
		names = []string{"a.parquet", "a.csv", "b.csv.gz", "a.arrow", "a.svm"}
	}
	for _, path := range inFormats(t, numbersTable(t, 90_000, false), 30_000, names) { // more text than is read to find the types
		data := contents(t, path)
		for _, what := range []string{"touched", "grown", "cut"} {
			put(t, path, data)
			batches := 0
			opt := Options{Workers: 1, Features: []string{"f1"}, Progress: func(Pass, int64, int64) {
				if batches++; batches == 1 {
					require.NoError(t, changes[what](path))
				}
			}}
			err := Scan(t.Context(), []string{path}, opt, func(*schema.Spec, *block.Block, arrow.Record) error { return nil })
			if checkChanged(t, path, what, "within a pass", err); batches == 0 {
				t.Errorf("%s didn't change", path)
			}
		}
	}
}

// TestChangedObject: another version of an object, of the same size and time, is another one: for caches, during a pass, and for other
// processes.
func TestChangedObject(t *testing.T) {
	first, second := inFormats(t, numbersTable(t, 500, false), 100, everyFormat), inFormats(t, numbersTable(t, 501, false), 100, everyFormat)
	for i, path := range first {
		url, opt := mirrored(path), Options{Label: column.SvmlightLabel}
		table := require.Value(Examine(t.Context(), []string{url}, opt))(t)
		before := require.Value(table.key(opt))(t)
		in := require.Value(planOf(t.Context(), []string{url}, opt, memory.DefaultAllocator))(t)
		shared := in.Shared(require.Value(in.Stream(t.Context()))(t).Spec())
		_ = require.Value(table.Plan(t.Context(), opt))(t)
		put(t, path, contents(t, second[i]))
		plan, err := table.Plan(t.Context(), opt) // which reads no text again
		if err == nil {
			_, err = plan.Load(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), "changed while it was read") {
			t.Errorf("%s changed before a plan: error %v", url, err)
		}
		if now, err := table.key(opt); err != nil || now.Sources[0] == before.Sources[0] || now.Sources[0].ModifiedAt != before.Sources[0].ModifiedAt {
			t.Errorf("%s changed: %+v, error %v", url, now, err)
		}
		if _, err := in.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
			t.Errorf("%s changed: error %v", url, err)
		}
		if _, err := shared.Plan(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "differs between computers") {
			t.Errorf("%s changed for another process: error %v", url, err)
		}
	}
}

// TestStreamFewer: a file that has fewer rows than when they were counted, though it looks the same, is an error.
func TestStreamFewer(t *testing.T) {
	path := textFile(t, "a.csv", "x,y\n1,0\n2,1\n3,1\n4,0\n")
	info := require.Value(os.Stat(path))(t)
	s := mustStream(t, memory.DefaultAllocator, Options{Label: "y"}, path)
	for text, want := range map[string]int64{"x,y\n1,0\n2,1\n3,1\n4,0\n": 4, "x,y\n1,0\n2,1\n30000,1\n": 3, "x,y\n1,0\n2,1\n3,1\n4,0\r": 4} {
		put(t, path, []byte(text))
		require.NoError(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		_, err := block.Collect(t.Context(), s)
		if want == s.Rows() && err != nil {
			t.Error(err)
		} else if want < s.Rows() {
			wantError(t, err, filepath.Dir(path), "DIR/a.csv: the data changed while it was read: try again")
		}
	}
}

// TestKey: a key shows every option that shapes blocks, and every change of a file, and nothing else.
func TestKey(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	cols := []testField{field("x", p.Float32, "[1, 2]"), field("z", p.Float32, "[1, 2]"), field("y", p.Int32, "[0, 1]")}
	a, b := file1(t, dir, "a.parquet", cols...), file1(t, dir, "b.parquet", cols...)
	key := func(opt Options, paths ...string) string {
		k := require.Value(require.Value(Examine(t.Context(), paths, opt))(t).key(opt))(t)
		return fmt.Sprintf("%s %v", k.Options, k.Sources)
	}
	base := Options{Label: "y"}
	want := key(base, a, b)
	for what, opt := range map[string]Options{
		"workers": {Label: "y", Workers: 3}, "keep": {Label: "y", Keep: []string{"x"}},
		"functions":   {Label: "y", Warn: func(string) {}, Progress: func(Pass, int64, int64) {}},
		"the default": {Label: "y", Nulls: schema.NullsError},
	} {
		if got := key(opt, a, b); got != want {
			t.Errorf("%s change the key: %s, want %s", what, got, want)
		}
	}
	for what, opt := range map[string]Options{
		"label": {Label: "z"}, "features": {Label: "y", Features: []string{"x"}}, "exclude": {Label: "y", Exclude: []string{"x"}},
		"positive": {Label: "y", Positive: "0"}, "bias": {Label: "y", NoBias: true},
		"nulls": {Label: "y", Nulls: schema.NullsDrop}, "standardize": {Label: "y", Standardize: true},
		"categorical": {Label: "y", Categorical: "onehot"}, "weight": {Label: "y", SampleWeight: "z"}, "text": {Label: "y", Text: TextOptions{Header: "no"}},
	} {
		if key(opt, a, b) == want {
			t.Errorf("the key doesn't show another %s", what)
		}
	}
	if key(base, a) == want || key(base, b, a) == want {
		t.Error("the key doesn't show other files")
	}
	t.Chdir(dir)
	if got := key(base, "a.parquet", "b.parquet"); got != want {
		t.Errorf("relative paths change the key: %s, want %s", got, want)
	}
	info := require.Value(os.Stat(b))(t)
	for what, change := range map[string]func() error{
		"time": func() error { return os.Chtimes(b, time.Time{}, time.Unix(1e9, 0)) },
		"content but neither size nor time": func() error {
			if err := os.WriteFile(b, make([]byte, info.Size()), 0o644); err != nil {
				return err
			}
			return os.Chtimes(b, time.Time{}, info.ModTime())
		},
		"file of the same size and time": func() error {
			if err := os.WriteFile(b+".new", make([]byte, info.Size()), 0o644); err != nil {
				return err
			}
			if err := os.Chtimes(b+".new", time.Time{}, info.ModTime()); err != nil {
				return err
			}
			return os.Rename(b+".new", b)
		},
	} {
		before := key(base, a, b)
		time.Sleep(20 * time.Millisecond) // some systems count time in steps of 10 ms
		require.NoError(t, change())
		if key(base, a, b) == before && (what == "time" || runtime.GOOS == "linux" || runtime.GOOS == "darwin") {
			t.Errorf("the key doesn't show another %s", what)
		}
	}
	for paths, want := range map[string]string{
		"-":    "-: a cache of standard input could serve no later run: save it and name the file",
		"none": "none: no such file: check the path", "*.csv": "*.csv: no file matches: check the path",
	} {
		_, err := Open(t.Context(), []string{paths}, base, Budget{Cache: "x.cache"})
		wantError(t, err, dir, want)
	}
}

func mustStream(t *testing.T, mem memory.Allocator, opt Options, paths ...string) *Stream {
	t.Helper()
	in := require.Value(planOf(context.Background(), paths, opt, mem))(t)
	s := require.Value(in.Stream(context.Background()))(t)
	return s
}

// TestStreamNested makes passes inside a pass, ends some early, and cancels one: the blocks stay right, and no goroutine
// or memory is left behind.
func TestStreamNested(t *testing.T) {
	g := newGappyTable(t, 4*block.ChunkRows+1, 0, 248, false) // five blocks
	path, want := filepath.Join(t.TempDir(), "wide.parquet"), g.blocks(false, nil)
	writeFile(t, path, g.rec, 1500)
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	before := runtime.NumGoroutine()
	s := mustStream(t, mem, Options{Label: "label", Workers: 2}, path)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	outer := 0
	for b, err := range s.Blocks(ctx) {
		require.NoError(t, err)
		inner := 0
		for c, err := range s.Blocks(ctx) {
			if err == nil {
				err = sameBlocks([]*block.Block{c}, want[inner:inner+1])
			}
			if err != nil {
				t.Fatalf("inner pass %d: %v", outer, err)
			}
			if inner++; inner == outer+1 {
				break
			}
		}
		require.NoError(t, sameBlocks([]*block.Block{b}, want[outer:outer+1]))
		outer++
	}
	if outer != len(want) || outer < block.BlocksInFlight+2 {
		t.Errorf("%d blocks, want %d", outer, len(want))
	}
	last := error(nil)
	for _, last = range s.Blocks(ctx) {
		cancel()
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("error %v after the context was cancelled", last)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// TestStreamErrors: labels are looked at first; errors in features are those of the first row that is wrong.
func TestStreamErrors(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	for _, c := range []struct{ x, y, want string }{
		{"[1, 2, 3]", "[1, null, 2]", `DIR/a.parquet: column "y", row 1: null (fill the label in, or use Nulls drop)`},
		{"[null, 2, 3]", "[1, 2, null]", `DIR/a.parquet: column "y", row 2: null (fill the label in, or use Nulls drop)`},
		{"[1" + strings.Repeat(", 1", 2499) + "]", "[1" + strings.Repeat(", 1", 2221) + ", null" + strings.Repeat(", 1", 277) + "]", `DIR/a.parquet: column "y", row 2222: null (fill the label in, or use Nulls drop)`},
		{"[1, null, null]", "[1, 2, 1]", `DIR/a.parquet: column "x", row 1: null (exclude the column with Exclude, or use Nulls drop, zero or mean)`},
	} {
		path := file1(t, dir, "a.parquet", field("x", p.Float32, c.x), field("y", p.Int32, c.y))
		in := require.Value(planOf(context.Background(), []string{path}, Options{Label: "y"}, memory.DefaultAllocator))(t)
		s, err := in.Stream(context.Background())
		if err == nil {
			for _, err = range s.Blocks(context.Background()) {
			}
		}
		wantError(t, err, dir, c.want)
	}
	empty := file1(t, dir, "a.parquet", field("x", p.Float32, "[]"), field("y", p.Int32, "[]"))
	_, err := planOf(context.Background(), []string{empty}, Options{Label: "y"}, memory.DefaultAllocator)
	wantError(t, err, dir, "DIR/a.parquet: no rows: name a file that has some")
}
