package cache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"halfspace/internal/block"
	"halfspace/internal/require"
)

// TestUnderUs cuts a file short, overwrites it and replaces it while it is in use.
func TestUnderUs(t *testing.T) {
	row := func(f *File) error {
		return f.ReadRows([]uint32{4999}, block.New(0, 512, f.Spec().Cols()))
	}
	group := func(f *File) error { return f.ReadGroup(9, block.New(0, 512, f.Spec().Cols())) }
	pass := func(f *File) error {
		for _, err := range f.Blocks(ctx) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	at := func(path string, f *File) int64 {
		return f.row(4999).x
	}
	for _, c := range []struct {
		name   string
		change func(path string, f *File) error
		want   [3]string // of row, group, pass
	}{
		{"cut", func(path string, f *File) error { return os.Truncate(path, at(path, f)) },
			[3]string{"it was cut short while it was in use", "it was cut short while it was in use", "it was cut short while it was in use"}},
		{"written", func(path string, f *File) error {
			w, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer w.Close()
			_, err = w.WriteAt([]byte("!"), at(path, f)+3)
			return errors.Join(err, os.Chtimes(path, f.info.ModTime().Add(1e9), f.info.ModTime().Add(1e9)))
		}, [3]string{"it was written to while it was in use", "rows 4608 to 4999 are damaged", "rows 4608 to 4999 are damaged"}},
		{"replaced", func(path string, f *File) error {
			_, err := Write(ctx, path, key("other"), random(10, 2), nil)
			return err
		}, [3]string{}},
	} {
		path := filepath.Join(t.TempDir(), "c")
		f := mustWrite(t, path, key(""), random(5000, 2))
		require.NoError(t, c.change(path, f))
		for i, read := range []func(*File) error{row, group, pass} {
			want := ""
			if c.want[i] != "" {
				want = path + ": " + c.want[i] + ": remove it and run again"
			}
			if got := fmt.Sprint(read(f)); got != want && (want != "" || got != "<nil>") {
				t.Errorf("%s: error %q, want %q", c.name, got, want)
			}
		}
	}
}

// A broken source ends after its first block.
type broken struct{ *block.Data }

// A miscounted source has as many rows less than it says.
type miscounted struct {
	*block.Data
	missing int64
}

// TestNothingLeft: a source that fails, one that isn't labelled or has other rows than it says, and a cancelled context
// leave no file behind.
func TestNothingLeft(t *testing.T) {
	data, two := random(5000, 600), random(2*4096, 600) // both of two blocks
	unlabelled := random(10, 2)
	for b := range unlabelled.Blocks(ctx) {
		b.Y = nil
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for want, try := range map[string]func() (*File, error){
		"out of rows": func() (*File, error) {
			return Write(ctx, filepath.Join(dir, "c"), key(""), broken{data}, nil)
		},
		"8192 of 9000 rows": func() (*File, error) {
			return Write(ctx, filepath.Join(dir, "c"), key(""), miscounted{two, 9000 - 8192}, nil)
		},
		"8192 of 4096 rows": func() (*File, error) {
			return Temporary(ctx, miscounted{two, 4096 - 8192}, nil)
		},
		"have no labels": func() (*File, error) { return Write(ctx, filepath.Join(dir, "c"), key(""), unlabelled, nil) },
		"canceled":       func() (*File, error) { return Write(cancelled, filepath.Join(dir, "c"), key(""), data, nil) },
		"out of":         func() (*File, error) { return Temporary(ctx, broken{data}, nil) },
		"can't be created": func() (*File, error) {
			t.Setenv("TMPDIR", filepath.Join(dir, "none"))
			defer t.Setenv("TMPDIR", dir)
			return Temporary(ctx, data, nil)
		},
	} {
		if f, err := try(); f != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%s is left", left[0].Name())
	}
}

// TestRoomGivenBack: a temporary file is closed at the first block that can't be written, and later blocks change nothing.
func TestRoomGivenBack(t *testing.T) {
	data := random(10, 2)
	w := NewTemporary(data)
	defer w.Close()
	file := w.file.file
	for b := range data.Blocks(ctx) {
		unlabelled := *b
		unlabelled.Y = nil
		w.Add(&unlabelled)
		if _, err := file.Stat(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("error %v after a block that can't be written", err)
		}
		w.Add(b)
	}
	if f, err := w.Finish(); f != nil || !errors.Is(err, block.ErrNoLabels) {
		t.Errorf("error %v", err)
	}
}

// TestTwoWriters write the same cache at once: whoever is last, what is there is whole.
func TestTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c")
	data := random(20000, 3)
	var g errgroup.Group
	for range 4 {
		g.Go(func() error {
			for range 5 {
				f, err := Write(ctx, path, key("o"), data, nil)
				if err != nil {
					return err
				}
				if err := f.Close(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	f := require.Value(Open(ctx, path, key("o")))(t)
	defer f.Close()
	if !slices.Equal(rowsOf(t, f), rowsOf(t, data)) {
		t.Error("other rows")
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("%d files are left", len(left))
	}
}

func TestCancel(t *testing.T) {
	f := mustWrite(t, filepath.Join(t.TempDir(), "c"), key(""), random(20000, 600))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	blocks := 0
	for b, err := range f.Blocks(ctx) {
		if b == nil && !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		cancel()
		blocks++
	}
	if blocks != 2 {
		t.Errorf("%d blocks and errors after the context was cancelled at the first", blocks)
	}
}

// A badDisk fails from its n-th read on.
type badDisk struct {
	storage
	left *int
}

func (d badDisk) ReadAt(p []byte, at int64) (int, error) {
	if *d.left--; *d.left < 0 {
		n, _ := d.storage.ReadAt(p[:len(p)/2], at)
		return n, &os.PathError{Op: "read", Path: "x", Err: syscall.EIO}
	}
	return d.storage.ReadAt(p, at)
}

// TestBadDisk: a disk that fails at any read makes a cache stale while it is opened, and is an error that names the file after.
func TestBadDisk(t *testing.T) {
	good := openFile
	defer func() { openFile = good }()
	for what, src := range map[string]block.Source{"dense": random(3000, 2), "sparse": randomSparse(3000, 30, true)} {
		path := filepath.Join(t.TempDir(), "c")
		openFile = good
		mustWrite(t, path, key(""), src)
		stale, failed, passed := 0, 0, false
		for reads := 0; !passed; reads++ {
			left := reads
			openFile = func(path string) (storage, error) {
				f, err := os.Open(path)
				return badDisk{f, &left}, err
			}
			f, err := Open(ctx, path, key(""))
			if err != nil {
				if is := StaleError(""); !errors.As(err, &is) {
					t.Errorf("%s, read %d: %v", what, reads, err)
				}
				stale++
				continue
			}
			passed = true
			for _, err := range f.Blocks(ctx) {
				if err != nil {
					passed = false
					failed++
					if want := path + ": it can't be read (input/output error): remove it and run again"; err.Error() != want {
						t.Errorf("%s, read %d: %v, want %s", what, reads, err, want)
					}
				}
			}
			f.Close()
		}
		if stale < 5 || failed < 3 {
			t.Errorf("%s: %d reads failed when it was opened, %d later", what, stale, failed)
		}
	}
}
