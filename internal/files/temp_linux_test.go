package files

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"halfspace/internal/require"
)

// TestUnnamedOutput: until it is complete, an output has no name, so that a process that is killed leaves nothing.
func TestUnnamedOutput(t *testing.T) {
	dir, path := target(t)
	f := require.Value(createTemp(path))(t)
	if f.name != "" {
		t.Skip("the file system of temporary files has no files without a name")
	}
	defer f.abort()
	if _, err := f.Write([]byte(fresh)); err != nil {
		t.Fatal(err)
	}
	holds(t, dir, "m.json", old)
	require.NoError(t, f.commit())
	holds(t, dir, "m.json", fresh)
}

// TestNoLink: an output that can't be linked to a name is copied to a file that has one.
func TestNoLink(t *testing.T) {
	linkat = func(int, string, int, string, int) error { return unix.EPERM }
	defer func() { linkat = unix.Linkat }()
	large := strings.Repeat(fresh, bufferSize)
	for _, mode := range []os.FileMode{0o644, 0o666} {
		dir, path := target(t)
		require.NoError(t, os.Chmod(path, mode))
		replace(t, path, large)
		holds(t, dir, "m.json", large)
		if info, err := os.Stat(path); err != nil || info.Mode() != mode {
			t.Errorf("mode %v (%v), not %v", info.Mode(), err, mode)
		}
	}
	dir, path := target(t)
	f := create(t, path)
	write(t, f, fresh)
	require.NoError(t, os.RemoveAll(dir))
	if err := f.Commit(); err == nil || !strings.Contains(err.Error(), "there is no directory "+dir) {
		t.Errorf("without its directory: %v", err)
	}
}

// TestUnnamedNever: a temporary file has no name for an instant, so that a process that is killed then leaves nothing.
func TestUnnamedNever(t *testing.T) {
	dir := t.TempDir()
	tempDir(t, dir)
	if f, err := createUnnamed(filepath.Join(dir, "probe"), perm); err != nil {
		t.Skip("the file system has no files without a name: ", err)
	} else {
		f.Close()
	}
	events, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Skip("nobody tells of new names: ", err)
	}
	defer unix.Close(events)
	if _, err := unix.InotifyAddWatch(events, dir, unix.IN_CREATE); err != nil {
		t.Fatal(err)
	}
	f := require.Value(CreateUnnamed())(t)
	f.Close()
	if n, err := unix.Read(events, make([]byte, 4096)); err != unix.EAGAIN {
		t.Errorf("it had a name: %d bytes of events, %v", n, err)
	}
}

// TestTempDir: temporary files are on a disk unless TMPDIR names a place.
func TestTempDir(t *testing.T) {
	t.Setenv("TMPDIR", "")
	if unix.Access("/var/tmp", unix.W_OK|unix.X_OK) != nil {
		t.Skip("/var/tmp isn't there to write to")
	}
	if got := TempDir(); got != "/var/tmp" {
		t.Errorf("temporary files are in %s", got)
	}
}

// TestSweepTemporary: a run removes the temporary files that ended processes left beside its target. A file that a process has open stays, and so
// does what isn't such a file.
func TestSweepTemporary(t *testing.T) {
	dir, path := target(t)
	other := filepath.Join(dir, "n.json")
	live := require.Value(createNamed(path, perm))(t)
	defer live.abort()
	for _, target := range []string{path, path, other} {
		dead := require.Value(createNamed(target, perm))(t)
		dead.Close() // as the end of a process does
	}
	for _, name := range []string{".m.json123", ".m.json.halfspace-00000000-0123456789abcdef", prefix(path) + "short"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	require.NoError(t, os.Symlink(path, newName(path)))
	before := names(t, dir)
	f := create(t, path)
	f.Abort()
	if got := names(t, dir); len(got) != len(before)-2 {
		t.Errorf("of %q it left %q", before, got)
	}
	if err := live.commit(); err != nil {
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
	replace(t, path, fresh)
	holds(t, filepath.Dir(path), filepath.Base(path), fresh)
	g := require.Value(createNamed(path, perm))(t)
	g.abort()
}

// TestDescriptor: a path such as /dev/fd/7.npy names a descriptor that the process inherited.
func TestDescriptor(t *testing.T) {
	unnamed := require.Value(os.Create(filepath.Join(t.TempDir(), "x")))(t)
	defer unnamed.Close()
	require.NoError(t, os.Remove(unnamed.Name()))
	path := fmt.Sprintf("/dev/fd/%d.npy", unnamed.Fd())
	lock, err := LockFor(path)
	require.NoError(t, err)
	if lock != nil {
		t.Error("a descriptor is locked")
	}
	f := create(t, path)
	write(t, f, fresh)
	require.NoError(t, f.Patch([]byte("FRESH")))
	require.NoError(t, f.Commit())
	got := make([]byte, len(fresh))
	require.Value(unnamed.ReadAt(got, 0))(t)
	if want := "FRESH" + fresh[5:]; string(got) != want {
		t.Errorf("the file holds %q, not %q", got, want)
	}

	r, w, err := os.Pipe()
	require.NoError(t, err)
	f = create(t, fmt.Sprintf("/dev/fd/%d.html", w.Fd()))
	w.Close()
	write(t, f, fresh)
	if f.Patch([]byte("F")) == nil {
		t.Error("a pipe is patched")
	}
	f.Abort()
	if got := require.Value(io.ReadAll(r))(t); string(got) != fresh {
		t.Errorf("the pipe holds %q", got)
	}
	if _, err := Create("/dev/fd/999.npy"); err == nil || !strings.Contains(err.Error(), "/dev/fd/999: no such descriptor") {
		t.Errorf("Create returns %v", err)
	}
}
