package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnnamedOutput: until it is complete, an output has no name, so that a process that is killed leaves nothing.
func TestUnnamedOutput(t *testing.T) {
	dir, path := target(t)
	f, err := createTemp(path)
	if err != nil {
		t.Fatal(err)
	}
	if f.name != "" {
		t.Skip("the file system of temporary files has no files without a name")
	}
	defer f.Cleanup()
	if _, err := f.Write([]byte(fresh)); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, "m.json", old)
	if err := f.CloseAtomicallyReplace(); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, "m.json", fresh)
}

// TestSweep: a run removes the temporary files that ended processes left beside its target. A file that a process has open stays, and so
// does what isn't such a file.
func TestSweep(t *testing.T) {
	dir, path := target(t)
	other := filepath.Join(dir, "n.json")
	live, err := named(path, perm)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Cleanup()
	for _, target := range []string{path, path, other} {
		dead, err := named(target, perm)
		if err != nil {
			t.Fatal(err)
		}
		dead.Close() // as the end of a process does
	}
	for _, name := range []string{".m.json123", ".m.json.halfspace-00000000-0123456789abcdef", prefix(path) + "short"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(path, newName(path)); err != nil {
		t.Fatal(err)
	}
	before := names(t, dir)
	f := create(t, path)
	f.Abort()
	if got := names(t, dir); len(got) != len(before)-2 {
		t.Errorf("of %q it left %q", before, got)
	}
	if err := live.CloseAtomicallyReplace(); err != nil {
		t.Errorf("the file of a live process: %v", err)
	}
	create(t, other).Abort()
	if got := names(t, dir); len(got) != len(before)-4 {
		t.Errorf("of %q it left %q", before, got)
	}
}

// TestLongName: a target may have the longest name that the system takes, whether its temporary file has a name or not.
func TestLongName(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("m", 255))
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Skip("the system takes shorter names only: ", err)
	}
	f := create(t, path)
	write(t, f, fresh)
	commit(t, f)
	holds(t, filepath.Dir(path), filepath.Base(path), fresh)
	g, err := named(path, perm)
	if err != nil {
		t.Fatal(err)
	}
	g.Cleanup()
}
