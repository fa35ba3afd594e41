package dataset

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"halfspace/block"
	"halfspace/dataset/internal/frame"
	"halfspace/internal/store"
)

// A badFile fails from its n-th read on, and reads few bytes at a time.
type badFile struct {
	frame.File
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

func (f badFile) Read(p []byte) (int, error) { return f.read(p[:min(len(p), f.most)], f.File.Read) }

func (f badFile) ReadAt(p []byte, at int64) (int, error) {
	return f.read(p, func(p []byte) (int, error) { return f.File.ReadAt(p, at) })
}

// TestBadDisk: a disk that fails at any read is an error that names the file, and short reads change nothing.
func TestBadDisk(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "a.csv")
	var rows strings.Builder
	rows.WriteString("x,y\n")
	for i := range 3000 {
		fmt.Fprintf(&rows, "%d.5,%d\n", i*i%977, i%2)
	}
	if err := os.WriteFile(text, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	zipped := filepath.Join(dir, "b.csv.gz")
	if err := os.WriteFile(zipped, compressed(t, rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	paths := []string{text, zipped}
	for _, name := range []string{"c.svm", "d.parquet", "e.arrow"} {
		path := filepath.Join(dir, name)
		if _, err := Convert(context.Background(), []string{text}, path, Options{}, WriterOptions{Label: "y", RowGroupRows: 700}); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	defer func() { frame.Open = store.Open }()
	for _, path := range paths {
		label := "y"
		if filepath.Ext(path) == ".svm" {
			label = ""
		}
		load := func(bad badFile) (fingerprint string, err error) {
			bad.reads = new(atomic.Int64)
			frame.Open = func(path string) (frame.File, error) {
				f, err := os.Open(path)
				one := bad
				one.File = f
				return one, err
			}
			in, err := Open(context.Background(), []string{path}, Options{Label: label, Workers: 2})
			if err != nil {
				return "", err
			}
			stream, err := in.Stream(context.Background())
			if err != nil {
				return "", err
			}
			return block.Fingerprint(context.Background(), stream, 2)
		}
		want, err := load(badFile{most: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
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
