package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"

	"halfspace/internal/require"
)

// csvFirst is a rank of tests: CSV before JSON Lines.
func csvFirst(name string) int { return map[string]int{".csv": 1, ".jsonl": 2}[Extension(name)] }

// tree makes files in a temporary folder, in which the test runs then. A name such as "a -> b" is a link.
func tree(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		name, to, link := strings.Cut(name, " -> ")
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		if link {
			require.NoError(t, os.Symlink(to, name))
		} else {
			require.NoError(t, os.WriteFile(name, []byte(name), 0o600))
		}
	}
}

// TestLinks: a folder and ** find each file once and end, whatever the links to folders are, which a note names. Links
// to files, and links that a path or a pattern names, are followed.
func TestLinks(t *testing.T) {
	tree(t, "d/a.csv", "d/b/c.csv", "d/b/up -> ..", "d/b/self -> .", "d/loop -> ../d", "d/out -> ../o", "d/f.csv -> b/c.csv", "o/x.csv", "o/up -> ../d", "e/link -> ../o")
	note := "d/b/self, d/b/up, d/loop and d/out: links to folders are not followed (name the folder to read its files)"
	for _, c := range []struct{ path, want, note string }{
		{"d", "d/a.csv d/b/c.csv d/f.csv", note}, {"d/", "d/a.csv d/b/c.csv d/f.csv", note},
		{"d/**/*.csv", "d/a.csv d/b/c.csv d/f.csv", note}, {"d/**", "d/a.csv d/b/c.csv d/f.csv", note},
		{"./d/**/c.csv", "d/b/c.csv", note}, {"**/c.csv", "d/b/c.csv", strings.Replace(note, " and d/out", ", d/out, e/link and o/up", 1)},
		{"d/out", "d/out/x.csv", "d/out/up: links to folders are not followed (name the folder to read its files)"},
		{"d/out/*.csv", "d/out/x.csv", ""}, {"d/*/*.csv", "d/b/c.csv d/loop/a.csv d/loop/f.csv d/out/x.csv", ""},
	} {
		found, notes, err := Expand(t.Context(), []string{c.path}, csvFirst, Choice{})
		if got := strings.Join(found, " "); err != nil || got != c.want || strings.Join(notes, "|") != c.note {
			t.Errorf("%s: %s, notes %q, error %v\nwant %s, %s", c.path, got, notes, err, c.want, c.note)
		}
	}
	_, _, err := Expand(t.Context(), []string{"e"}, csvFirst, Choice{})
	if want := "e: no *.parquet file in this directory, nor one of another format: check the path, or name e/link: links to folders are not followed"; fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, path := range []string{"d", "d/**", "d/*/*.csv", "d/a.csv"} {
		if _, _, err := Expand(ctx, []string{path}, csvFirst, Choice{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v after the end", path, err)
		}
	}
}

// TestGlobs: a pattern finds the files that path/filepath finds, or doublestar for **, in their order, but for hidden
// ones.
func TestGlobs(t *testing.T) {
	tree(t, "a.csv", "b.csv", "[1].csv", "a*b.csv", "d/a.csv", "d/e/a.csv", "d/e/f/b.csv", ".h/a.csv", "d/_t/a.csv", "d/.b.csv", "é/x y.csv", "k=1/l=2/a.csv", "k=2/l=1/a.csv")
	pieces := []string{"*", "**", "?", "a*", "*.csv", "[a-d]*", "d", "e", "[[]*", "k=*", "l=?", ".", "..", "a\\*b.csv", "[!a]*", "_*", ".*", "é"}
	n := 0
	try := func(pattern string) {
		want, err := filepath.Glob(pattern)
		if strings.Contains(pattern, "**") {
			want, err = doublestar.FilepathGlob(pattern, doublestar.WithFilesOnly())
			slices.Sort(want)
			want = slices.Compact(want)
		}
		if dots := strings.Contains("/"+pattern+"/", "/./") || strings.Contains("/"+pattern+"/", "/../"); err != nil || !strings.ContainsAny(pattern, "*?[") || dots && strings.Contains(pattern, "**") {
			return
		}
		spells := strings.Contains("/"+filepath.ToSlash(filepath.Clean(pattern)), "/_") || strings.Contains("/"+filepath.ToSlash(filepath.Clean(pattern)), "/.")
		want = slices.DeleteFunc(want, func(p string) bool {
			info, err := os.Stat(p)
			return err != nil || info.IsDir() || !spells && slices.ContainsFunc(strings.Split(p, "/"), hidden)
		})
		l := lister{ctx: t.Context(), rank: func(string) int { return 0 }}
		if strings.Contains(pattern, "**") {
			err = l.deepGlob(pattern)
		} else { // folders that match have no data
			var matches []string
			matches, err = l.matches(pattern)
			for _, m := range matches {
				if info, err := os.Stat(m); err == nil && !info.IsDir() {
					l.files = append(l.files, m)
				}
			}
		}
		if err != nil || !slices.Equal(l.files, want) && !spells {
			t.Errorf("%s: %q, %v, want %q", pattern, l.files, err, want)
		}
		n += len(want)
	}
	for _, a := range pieces {
		try(a)
		for _, b := range pieces {
			try(a + "/" + b)
			for _, c := range pieces {
				try(a + "/" + b + "/" + c)
			}
		}
	}
	if n < 500 {
		t.Errorf("%d matches", n)
	}
}

// TestDenied: a folder that may not be read is an error if no other file matches, and a note otherwise.
func TestDenied(t *testing.T) {
	tree(t, "d/a.csv", "e/a.csv", "f/g/a.csv")
	defer func() { readDir = os.ReadDir }()
	readDir = func(dir string) ([]os.DirEntry, error) {
		if strings.Contains("ef", filepath.Clean(dir)) { // a test that runs as root may read every folder
			return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrPermission}
		}
		return os.ReadDir(dir)
	}
	for _, path := range []string{"e/*.csv", "e/*", "e/**/*.csv", "f/*/a.csv", "e", "./e/a*", "e/", "*/g*/*.csv"} {
		_, _, err := Expand(t.Context(), []string{path}, csvFirst, Choice{})
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(fmt.Sprint(err), ": permission denied: check the file's mode") {
			t.Errorf("%s: error %v", path, err)
		}
	}
	found, notes, err := Expand(t.Context(), []string{"*/*.csv"}, csvFirst, Choice{})
	if err != nil || !slices.Equal(found, []string{"d/a.csv"}) || !slices.Equal(notes, []string{"e and f: permission denied, so files there are left out"}) {
		t.Errorf("%q, notes %q, error %v", found, notes, err)
	}
}
