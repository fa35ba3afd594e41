package dataset

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/schema"
)

// TestChangedAtEnd changes a file during its only pass: a reader that is past the change must not take what it read for all.
func TestChangedAtEnd(t *testing.T) {
	dir := t.TempDir()
	src := rand.New(rand.NewPCG(1, 2))
	var csv, svm strings.Builder
	csv.WriteString("x,y\n")
	for i := range 300_000 {
		v := src.Float64()
		fmt.Fprintf(&csv, "%.12f,%d\n", v, i%2)
		fmt.Fprintf(&svm, "%d 1:%.12f\n", i%2, v)
	}
	texts := map[string]string{"a.csv": csv.String(), "a.csv.gz": string(compressed(t, csv.String())), "a.svm": svm.String()}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.arrow", "a.parquet"} {
		convertFile(t, 300_000, filepath.Join(dir, "a.csv"), filepath.Join(dir, name), WriterOptions{RowGroupRows: 300_000})
	}
	grow := func(path string) error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString("0.5,1\n")
		return err
	}
	cut := func(path string) error {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.Truncate(path, int64(strings.LastIndexByte(string(text[:len(text)/8*7]), '\n')+1))
	}
	touch := func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		return os.Chtimes(path, info.ModTime(), info.ModTime().Add(1))
	}
	for _, c := range []struct {
		name, what string
		change     func(path string) error
	}{
		{"a.csv", "cut", cut}, {"a.csv", "grown", grow}, {"a.svm", "cut", cut}, {"a.svm", "grown", grow}, {"a.csv.gz", "touched", touch},
		{"a.arrow", "touched", touch}, {"a.parquet", "touched", touch}, {"a.parquet", "grown", grow},
	} {
		t.Run(c.name+" "+c.what, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.name)
			whole, err := os.ReadFile(filepath.Join(dir, c.name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			batches := 0
			opt := Options{Workers: 1, Features: []string{"*"}, Progress: func(_ Pass, rows, total int64) {
				if batches++; batches == 1 {
					if err := c.change(path); err != nil {
						t.Fatal(err)
					}
				}
			}}
			err = Scan(context.Background(), []string{path}, opt, func(*schema.Spec, *block.Block, arrow.Record) error { return nil })
			if batches < 2 {
				t.Fatalf("the change came after the last of %d batches", batches)
			}
			wantError(t, err, filepath.Dir(path), "DIR/"+c.name+": the file changed while it was read: try again")
		})
	}
}

// TestStreamReplaced: a file that takes the place of another between two passes is seen, though it has its size and time.
func TestStreamReplaced(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "a.csv")
	if err := os.WriteFile(text, []byte("x,y\n1,0\n2,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"b.csv": "y", "b.svm": "", "b.parquet": "y", "b.arrow": "y"}
	for name := range labels {
		path := filepath.Join(dir, name)
		if _, err := Convert(context.Background(), []string{text}, path, Options{}, WriterOptions{Label: "y"}); err != nil {
			t.Fatal(err)
		}
		s := mustStream(t, memory.DefaultAllocator, Options{Label: labels[name]}, path)
		if _, err := block.Collect(context.Background(), s); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+".new", text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path+".new", info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		_, err = block.Collect(context.Background(), s)
		wantError(t, err, filepath.Dir(path), "DIR/"+filepath.Base(path)+": the file changed while it was read: try again")
	}
}

// TestKey: a key shows every option that shapes blocks, and every change of a file, and nothing else.
func TestKey(t *testing.T) {
	dir, p := t.TempDir(), arrow.PrimitiveTypes
	cols := []testField{field("x", p.Float32, "[1, 2]"), field("z", p.Float32, "[1, 2]"), field("y", p.Int32, "[0, 1]")}
	a, b := file1(t, dir, "a.parquet", cols...), file1(t, dir, "b.parquet", cols...)
	key := func(opt Options, paths ...string) string {
		k, err := Key(paths, opt)
		if err != nil {
			t.Fatal(err)
		}
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
	info, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
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
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if key(base, a, b) == before && (what == "time" || runtime.GOOS == "linux" || runtime.GOOS == "darwin") {
			t.Errorf("the key doesn't show another %s", what)
		}
	}
	for paths, want := range map[string]string{
		"-":    "-: a cache of standard input could serve no later run: save it and name the file",
		"none": "none: no such file: check the path", "*.csv": "*.csv: no file matches: check the path",
	} {
		_, err := Key([]string{paths}, base)
		wantError(t, err, dir, want)
	}
}
