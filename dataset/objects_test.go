package dataset

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"halfspace/block"
	"halfspace/internal/passes"
	"halfspace/internal/store"
)

// A mirror is a store whose objects are the files below a folder: test://bucket/a is the file bucket/a. The version of an object is a
// hash of its bytes.
type mirror struct{ root string }

// A mirrored is an object that is open.
type mirrored struct {
	*os.File
	info fs.FileInfo
}

func (m mirrored) Stat() (fs.FileInfo, error) { return m.info, nil }

// An objectInfo has the same time for each object.
type objectInfo struct {
	fs.FileInfo
	version store.Version
}

func (i objectInfo) Sys() any         { return i.version }
func (objectInfo) ModTime() time.Time { return time.Unix(1, 0) }

func (m mirror) path(url string) string {
	return filepath.Join(m.root, filepath.FromSlash(strings.TrimPrefix(url, "test://")))
}

func (m mirror) Open(url string, seen fs.FileInfo) (store.File, error) {
	info, err := m.Stat(url)
	if err == nil && seen != nil && !store.Same(info, seen) {
		err = &store.Error{Text: "the object changed while it was read: try again"}
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(m.path(url))
	return mirrored{f, info}, err
}

func (m mirror) Stat(url string) (fs.FileInfo, error) {
	if strings.Contains(url, "forbidden") {
		return nil, &store.Error{Text: "access is denied: log in"}
	}
	info, err := os.Stat(m.path(url))
	if err == nil && info.IsDir() { // which a store doesn't have
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(m.path(url))
	return objectInfo{info, store.Version(fmt.Sprintf("%x", text))}, err
}

func (m mirror) List(prefix string) (all []string, err error) {
	err = filepath.WalkDir(m.root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			p, err = filepath.Rel(m.root, p)
			if url := "test://" + filepath.ToSlash(p); strings.HasPrefix(url, prefix) {
				all = append(all, url)
			}
		}
		return err
	})
	slices.Sort(all)
	return all, err
}

// TestObjectNames: Expand finds the objects that it finds as local files, in their order, and has the same errors.
func TestObjectNames(t *testing.T) {
	root := t.TempDir()
	store.Register("test", mirror{root})
	for _, name := range []string{"b/a.parquet", "b/a-b/x.parquet", "b/a/x.parquet", "b/a/.x.parquet", "b/a/_logs/x.parquet", "b/a/y/z.PARQUET",
		"b/a/n.csv", "b/_hidden/x.parquet", "b/.h.parquet", "b/text/x.csv", "b/text/y.tsv.gz", "b/none/readme", "b/[1]/x.parquet", "b/1/x.parquet", "b/year=1/m=1/x.parquet",
		"b/year=1/m=2/x.parquet", "b/year=2/m=1/x.parquet", "b/year=2/_m=1/x.parquet", "c/only.arrow"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	local := func(text string) string { return strings.ReplaceAll(filepath.ToSlash(text), root+"/", "test://") }
	for _, name := range []string{"b", "b/", "c", "b/a", "b/a.parquet", "b/a*", "b/*", "b/*/x.parquet", "b/*/*", "b/a/n.csv", "b/text", "b/none", "b/absent", "b/absent*", "absent",
		"b/_*", "b/_hidden", "b/.h*", "b/[1]/x.parquet", "b/[1]", "b/[", "b/year=*/m=1", "b/year=?/*/*.parquet", "b/[a-b]*", "b/*/y/z.*", "b/text/*", "b/year=2"} {
		want, bad := Expand([]string{filepath.Join(root, name)})
		for i := range want {
			want[i] = local(want[i])
		}
		got, err := Expand([]string{"test://" + name})
		if !slices.Equal(got, want) || local(fmt.Sprint(err)) != local(fmt.Sprint(bad)) {
			t.Errorf("%s: %q, error %v\nwant %q, error %v", name, got, err, want, bad)
		}
	}
	for path, want := range map[string]string{
		"gs://b/x.parquet":   "gs://b/x.parquet: no store is known for gs://, only for test://: copy it there, or to a local folder",
		"gs://":              "gs://: no store is known for gs://, only for test://: copy it there, or to a local folder",
		"file:///x.parquet":  "file:///x.parquet: this is an address, not a path: leave out file://",
		"test://forbidden/x": "test://forbidden/x: access is denied: log in",
	} {
		if _, err := Expand([]string{path}); fmt.Sprint(err) != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestObjects: objects of every format give the blocks of the files. Another version of the same size and time is another file: for
// caches, during a pass, and for other processes.
func TestObjects(t *testing.T) {
	root, ctx := t.TempDir(), context.Background()
	store.Register("test", mirror{root})
	text := func(k int) string {
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range 3 * block.RunRows {
			fmt.Fprintf(&b, "%d.5,%d\n", 100+i*k%900, i%2)
		}
		return b.String()
	}
	csv := filepath.Join(root, "a.csv")
	write := func(k int) {
		if err := os.WriteFile(csv, []byte(text(k)), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"b.parquet", "c.svm", "d.arrow"} {
			if _, err := Convert(ctx, []string{csv}, filepath.Join(root, name), Options{}, WriterOptions{Label: "y", RowGroupRows: block.RunRows}); err != nil {
				t.Fatal(err)
			}
		}
	}
	sum := func(in *Input) (string, error) {
		s, err := in.Stream(ctx)
		if err != nil {
			return "", err
		}
		return block.Fingerprint(ctx, s, 2)
	}
	for _, name := range []string{"a.csv", "b.parquet", "c.svm", "d.arrow"} {
		write(7)
		opt := Options{Label: "y", Workers: 2}
		if name == "c.svm" {
			opt.Label = ""
		}
		open := func(path string, opt Options) *Input {
			t.Helper()
			in, err := Open(ctx, []string{path}, opt)
			if err != nil {
				t.Fatal(err)
			}
			return in
		}
		want, err := sum(open(filepath.Join(root, name), opt))
		if err != nil {
			t.Fatal(err)
		}
		url := "test://" + name
		in := open(url, opt)
		if got, err := sum(in); got != want {
			t.Errorf("%s: %s, error %v, want %s", url, got, err, want)
		}
		before, err := Key([]string{url}, opt)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := in.Stream(ctx)
		if err != nil {
			t.Fatal(err)
		}
		bytes, err := passes.Encode(in.Spread(stream.Spec()))
		if err != nil {
			t.Fatal(err)
		}
		var spread Options
		if err := passes.Decode(bytes, &spread); err != nil {
			t.Fatal(err)
		}
		if got, err := sum(open(url, spread)); got != want {
			t.Errorf("%s in another process: %s, error %v, want %s", url, got, err, want)
		}
		write(11)
		if now, err := Key([]string{url}, opt); err != nil || now.Sources[0] == before.Sources[0] || now.Sources[0].Modified != before.Sources[0].Modified {
			t.Errorf("%s changed: %+v, error %v", url, now, err)
		}
		if _, err := sum(in); err == nil || !strings.Contains(err.Error(), "changed while it was read") {
			t.Errorf("%s changed: error %v", url, err)
		}
		if _, err := Open(ctx, []string{url}, spread); err == nil || !strings.Contains(err.Error(), "differs between computers") {
			t.Errorf("%s changed for another process: error %v", url, err)
		}
	}
}
