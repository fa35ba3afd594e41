package dataset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	"halfspace/schema"
)

// wideFile writes a file whose rows, of 260 columns, make five blocks of float32.
func wideFile(t *testing.T) (path string, m *mixedTable) {
	t.Helper()
	m = newMixedTable(t, 4*block.RunRows+1, 260, false)
	path = filepath.Join(t.TempDir(), "wide.parquet")
	writeFile(t, path, m.rec, 1500)
	return path, m
}

func mustStream(t *testing.T, mem memory.Allocator, opt Options, paths ...string) *Stream {
	t.Helper()
	in, err := open(context.Background(), paths, opt, mem)
	if err != nil {
		t.Fatal(err)
	}
	s, err := in.Stream(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStreamNested makes passes inside a pass, ends some early, and cancels one: the blocks stay right, and no goroutine
// or memory is left behind.
func TestStreamNested(t *testing.T) {
	path, m := wideFile(t)
	want := mixedBlocks(m, true, true)
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	before := runtime.NumGoroutine()
	s := mustStream(t, mem, Options{Label: "label", Workers: 2}, path)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	outer := 0
	for b, err := range s.Blocks(ctx) {
		if err != nil {
			t.Fatal(err)
		}
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
		if err := sameBlocks([]*block.Block{b}, want[outer:outer+1]); err != nil {
			t.Fatal(err)
		}
		outer++
	}
	if outer != len(want) || outer < block.InFlight+2 {
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

// TestStreamChanges changes, cuts and removes a file between two passes and within one.
func TestStreamChanges(t *testing.T) {
	for want, change := range map[string]func(path string) error{
		"the file changed while it was read: try again": func(path string) error {
			return os.Chtimes(path, time.Time{}, time.Unix(1e9, 0))
		},
		"no such file: check the path": os.Remove,
		"":                             func(path string) error { return os.Truncate(path, 1000) }, // seen when it is opened or when it is read
	} {
		path, _ := wideFile(t)
		s := mustStream(t, memory.DefaultAllocator, Options{Label: "label"}, path)
		blocks, last := 0, error(nil)
		for _, last = range s.Blocks(context.Background()) {
			if blocks++; blocks == 1 {
				if err := change(path); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, err := range s.Blocks(context.Background()) {
			for _, err := range []error{last, err} {
				if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.HasSuffix(err.Error(), want) {
					t.Errorf("error %v, want one with %q", err, want)
				}
			}
			break
		}
	}
}

// TestStreamFewer: a file that has fewer rows than when they were counted, though it looks the same, is an error.
func TestStreamFewer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte("x,y\n1,0\n2,1\n3,1\n4,0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s := mustStream(t, memory.DefaultAllocator, Options{Label: "y"}, path)
	for text, want := range map[string]int64{"x,y\n1,0\n2,1\n3,1\n4,0\n": 4, "x,y\n1,0\n2,1\n30000,1\n": 3, "x,y\n1,0\n2,1\n3,1\n4,0\r": 4} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		_, err := block.Collect(context.Background(), s)
		if want == s.Rows() && err != nil {
			t.Error(err)
		} else if want < s.Rows() {
			wantError(t, err, filepath.Dir(path), "DIR/a.csv: the data changed while it was read: try again")
		}
	}
}

// TestInOrderReleases: what was made ahead is released where nobody takes it.
func TestInOrderReleases(t *testing.T) {
	for _, stop := range []int{0, 1, 3, 100} {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		made := 0
		jobs := func(yield func(frame.Job) bool) {
			for i := range 50 {
				ok := yield(frame.Job{Make: func() (*frame.Batch, error) {
					if stop == 100 && i == 5 {
						return nil, errStop
					}
					b := array.NewInt64Builder(mem)
					defer b.Release()
					b.Append(int64(i))
					return &frame.Batch{Rows: 1, Columns: []arrow.Array{b.NewArray()}}, nil
				}})
				if made++; !ok {
					return
				}
			}
		}
		taken := 0
		for b, err := range frame.InOrder(context.Background(), frame.NewPool(4), 0, jobs) {
			if err == nil && b.Columns[0].(*array.Int64).Value(0) != int64(taken) {
				t.Errorf("batch %d is %v", taken, b.Columns[0])
			}
			b.Release()
			if taken++; taken == stop {
				break
			}
		}
		if stop == 1 && made < 5 {
			t.Errorf("%d were made", made)
		}
		mem.AssertSize(t, 0)
	}
}

// TestStreamErrors: labels are looked at first; errors in features are those of the first row that is wrong.
func TestStreamErrors(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	for _, c := range []struct{ x, y, want string }{
		{"[1, 2, 3]", "[1, null, 2]", `DIR/a.parquet: column "y", row 1: null (fill the label in, or use --nulls drop)`},
		{"[null, 2, 3]", "[1, 2, null]", `DIR/a.parquet: column "y", row 2: null (fill the label in, or use --nulls drop)`},
		{longColumn(2500, -1), longColumn(2500, 2222), `DIR/a.parquet: column "y", row 2222: null (fill the label in, or use --nulls drop)`},
		{"[1, null, null]", "[1, 2, 1]", `DIR/a.parquet: column "x", row 1: null (exclude the column with --exclude, or use --nulls drop, zero or mean)`},
	} {
		path := file1(t, dir, "a.parquet", field("x", p.Float32, c.x), field("y", p.Int32, c.y))
		in, err := Open(context.Background(), []string{path}, Options{Label: "y"})
		if err != nil {
			t.Fatal(err)
		}
		s, err := in.Stream(context.Background())
		if err == nil {
			for _, err = range s.Blocks(context.Background()) {
			}
		}
		wantError(t, err, dir, c.want)
	}
	empty := file1(t, dir, "a.parquet", field("x", p.Float32, "[]"), field("y", p.Int32, "[]"))
	_, err := Open(context.Background(), []string{empty}, Options{Label: "y"})
	wantError(t, err, dir, "DIR/a.parquet: no rows: name a file that has some")
}

// longColumn returns n ones as JSON, a null in the place of one.
func longColumn(n, null int) string {
	values := slices.Repeat([]string{"1"}, n)
	if null >= 0 {
		values[null] = "null"
	}
	return "[" + strings.Join(values, ", ") + "]"
}

// TestTextChanges: a file of any format that changes between Open and the rows, or between two passes, is an error.
func TestTextChanges(t *testing.T) {
	dir := t.TempDir()
	start := file1(t, dir, "a.parquet", field("label", arrow.PrimitiveTypes.Int8, "[0, 1]"), field("f1", arrow.PrimitiveTypes.Int8, "[3, 4]"))
	for _, name := range []string{"a.csv", "a.csv.gz", "a.svm", "a.arrow"} {
		path := filepath.Join(dir, name)
		if name == "a.csv.gz" {
			if err := os.WriteFile(path, compressed(t, "label,f1\n0,3\n1,4\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		} else {
			convertFile(t, 2, start, path, WriterOptions{})
		}
		for what, change := range map[string]func() error{
			"time": func() error { return os.Chtimes(path, time.Time{}, time.Unix(1e9, 0)) },
			"size": func() error {
				info, err := os.Stat(path)
				return errors.Join(err, os.Truncate(path, info.Size()-1), os.Chtimes(path, time.Time{}, info.ModTime()))
			},
		} {
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			in, err := Open(context.Background(), []string{path}, Options{Label: frame.SvmlightLabel})
			if err != nil {
				t.Fatal(err)
			}
			stream := mustStream(t, memory.DefaultAllocator, Options{Label: frame.SvmlightLabel}, path)
			if _, err := block.Collect(context.Background(), stream); err != nil {
				t.Fatal(err)
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			_, errLoad := in.Load(context.Background())
			_, errStream := block.Collect(context.Background(), stream)
			for _, err := range []error{errLoad, errStream} {
				if err == nil || err.Error() != path+": the file changed while it was read: try again" {
					t.Errorf("%s, another %s: error %v", name, what, err)
				}
			}
			if err := os.WriteFile(path, before, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestStreamDrops: rows that aren't kept are left out of a stream as they are in memory, whatever the format, and its
// blocks are cut by the rows that are.
func TestStreamDrops(t *testing.T) {
	g := newGappyTable(t, 20_000, 0.001, 200, true)
	flat := newGappyTable(t, 5*block.RunRows, 0.05, 0, true)
	dir := t.TempDir()
	lists, plain := filepath.Join(dir, "lists.parquet"), filepath.Join(dir, "plain.parquet")
	writeFile(t, lists, g.rec, 3001)
	writeFile(t, plain, flat.rec, 7000)
	csv := filepath.Join(dir, "plain.csv")
	convertFile(t, flat.rec.NumRows(), plain, csv, WriterOptions{})
	for path, want := range map[string][]*block.Block{lists: gappyBlocks(g, true, nil),
		plain: gappyBlocks(flat, true, nil), csv: gappyBlocks(flat, true, nil)} {
		for _, workers := range []int{1, 3} {
			var notes []string
			s := mustStream(t, memory.DefaultAllocator, Options{Label: "label", Nulls: schema.NullsDrop, Workers: workers,
				Warn: func(s string) { notes = append(notes, s) }}, path)
			d, err := block.Collect(context.Background(), s)
			if err != nil {
				t.Fatal(err)
			}
			kept := 0
			for _, b := range want {
				kept += b.Len()
			}
			if s.Rows() != int64(kept) || kept == 0 {
				t.Errorf("%s: %d rows, want %d", filepath.Base(path), s.Rows(), kept)
			}
			if err := sameBlocks(blocksOf(t, d), want); err != nil {
				t.Errorf("%s, %d workers: %v", filepath.Base(path), workers, err)
			}
			if !slices.ContainsFunc(notes, func(s string) bool { return strings.Contains(s, "rows left out") }) {
				t.Errorf("%s: notes %q", filepath.Base(path), notes)
			}
		}
	}
}

// TestStreamWarns gives the warnings of Load, once.
func TestStreamWarns(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	path := file1(t, dir, "a.parquet", field("x", p.Int64, "[1, 16777217]"), field("s", arrow.BinaryTypes.String, `["a", "b"]`),
		field("y", p.Int32, "[0, 1]"))
	var loaded, streamed []string
	opt := Options{Label: "y", Warn: func(s string) { loaded = append(loaded, s) }}
	if _, err := Load(context.Background(), []string{path}, opt); err != nil {
		t.Fatal(err)
	}
	opt.Warn = func(s string) { streamed = append(streamed, s) }
	s := mustStream(t, memory.DefaultAllocator, opt, path)
	for pass := range 3 {
		if (pass > 0) != (s.Warnings() != nil) || pass > 0 && !slices.Equal(s.Warnings(), loaded) {
			t.Errorf("after %d passes: warnings %q, from Load %q", pass, s.Warnings(), loaded)
		}
		if _, err := block.Collect(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(loaded, streamed) || len(loaded) != 2 {
		t.Errorf("warnings %q, from Load %q", streamed, loaded)
	}
}
