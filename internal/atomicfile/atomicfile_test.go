package atomicfile

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

const (
	old   = "old content"
	fresh = "fresh content"
)

// names returns the names in dir.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// holds checks that dir holds the one file name with that content, so no temporary one either.
func holds(t *testing.T, dir, name, content string) {
	t.Helper()
	if got := names(t, dir); len(got) != 1 || got[0] != name {
		t.Errorf("the directory holds %q, not only %q", got, name)
	}
	if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != content {
		t.Errorf("%s holds %q (%v), not %q", name, got, err, content)
	}
}

// target returns a path in a new directory where a file with the old content is.
func target(t *testing.T) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "m.json")
	if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, path
}

func create(t *testing.T, path string) *File {
	t.Helper()
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, f *File, content string) {
	t.Helper()
	if n, err := f.Write([]byte(content)); err != nil || n != len(content) {
		t.Fatalf("Write returns %d, %v", n, err)
	}
}

func commit(t *testing.T, f *File) {
	t.Helper()
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestCommitReplaces(t *testing.T) {
	dir, path := target(t)
	f := create(t, path)
	write(t, f, fresh[:5])
	write(t, f, fresh[5:])
	if got, _ := os.ReadFile(path); string(got) != old {
		t.Errorf("before Commit, %s holds %q", path, got)
	}
	commit(t, f)
	holds(t, dir, "m.json", fresh)
	f.Abort()
	commit(t, f)
	holds(t, dir, "m.json", fresh)
	if _, err := f.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write after Commit returns %v", err)
	}
}

// A reader that opened the old file reads on in it, and a large write isn't cut.
func TestCommitKeepsOpenReaders(t *testing.T) {
	dir, path := target(t)
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	large := strings.Repeat("0123456789", bufferSize/5)
	f := create(t, path)
	write(t, f, large)
	commit(t, f)
	got := make([]byte, len(old))
	if _, err := reader.Read(got); err != nil || string(got) != old {
		t.Errorf("the reader gets %q (%v)", got, err)
	}
	holds(t, dir, "m.json", large)
}

func TestAbort(t *testing.T) {
	dir, path := target(t)
	f := create(t, path)
	write(t, f, strings.Repeat(fresh, bufferSize))
	f.Abort()
	f.Abort()
	holds(t, dir, "m.json", old)

	f = create(t, filepath.Join(dir, "new"))
	write(t, f, fresh)
	f.Abort()
	holds(t, dir, "m.json", old)
}

func TestWriteError(t *testing.T) {
	dir, path := target(t)
	f := create(t, path)
	f.out.(*tempFile).Close() // so that the system refuses the next write
	_, err := f.Write(make([]byte, 2*bufferSize))
	if err == nil || !strings.HasPrefix(err.Error(), path+" can't be written: ") {
		t.Errorf("Write returns %v", err)
	}
	if _, again := f.Write([]byte("x")); again == nil || again.Error() != err.Error() {
		t.Errorf("a second Write returns %v", again)
	}
	if last := f.Commit(); last == nil || last.Error() != err.Error() {
		t.Errorf("Commit returns %v", last)
	}
	holds(t, dir, "m.json", old)
}

func TestCommitErrors(t *testing.T) {
	t.Run("flush", func(t *testing.T) {
		dir, path := target(t)
		f := create(t, path)
		write(t, f, fresh)
		f.out.(*tempFile).Close()
		if err := f.Commit(); err == nil {
			t.Error("no error")
		}
		holds(t, dir, "m.json", old)
	})
	t.Run("rename", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, "m.json")
		f := create(t, path)
		write(t, f, fresh)
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err == nil || !strings.HasPrefix(err.Error(), path+" can't be written: ") {
			t.Errorf("Commit returns %v", err)
		}
		if got := names(t, dir); len(got) != 1 {
			t.Errorf("the directory holds %q", got)
		}
	})
}

func TestCreateErrors(t *testing.T) {
	dir, path := target(t)
	for _, test := range []struct{ path, want string }{
		{"", "the name of the file to write is empty: give one"},
		{dir, dir + " is a directory: name a file in it"},
		{"/proc/m.json", "/proc/m.json can't be created: the directory /proc takes no new files"},
		{dir + "/none/m.json", "there is no directory " + dir + "/none"},
		{dir + "/none/", "there is no directory " + dir + "/none"},
		{path + "/m.json", path + "/m.json can't be created: there is no directory " + path},
	} {
		f, err := Create(test.path)
		if err == nil {
			f.Abort()
			t.Errorf("%q: no error", test.path)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %q doesn't say %q", test.path, err, test.want)
		}
	}
	holds(t, dir, "m.json", old)
}

func TestUnwritableDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		dir = "/sys" // the superuser may write to any directory but those of the kernel
	}
	if runtime.GOOS == "windows" || dir == "/sys" && runtime.GOOS != "linux" {
		t.Skip("no directory here is unwritable")
	}
	path := filepath.Join(dir, "m.json")
	_, err := Create(path)
	if !errors.Is(err, fs.ErrPermission) || !strings.HasPrefix(err.Error(), path+" can't be written: ") ||
		!strings.HasSuffix(err.Error(), "choose a directory that you may write to") {
		t.Errorf("Create returns %v", err)
	}
}

func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege on Windows")
	}
	dir := t.TempDir()
	real, far := filepath.Join(dir, "real"), filepath.Join(dir, "far", "deep")
	for _, d := range []string{real, far} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// "shortcut/.." is dir/far, not dir.
	for name, link := range map[string]string{
		"shortcut": "far/deep", "a": "real/m.json", "b": "a", "c": "shortcut/../m.json", "loop": "loop",
		"absolute": filepath.Join(real, "m.json"),
	} {
		if err := os.Symlink(link, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ path, file string }{
		{"a", "real"}, {"a", "real"}, {"b", "real"}, {"absolute", "real"}, {"c", "far"}, {"shortcut/../real/m.json", ""},
	} {
		path := dir + "/" + test.path
		f, err := Create(path)
		if test.file == "" { // there is no far/real
			if err == nil {
				f.Abort()
				t.Errorf("%s: no error", test.path)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		write(t, f, test.path)
		commit(t, f)
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("the link %s is gone", test.path)
		}
		got, err := os.ReadFile(filepath.Join(dir, test.file, "m.json"))
		if err != nil || string(got) != test.path {
			t.Errorf("by way of %s, %s/m.json holds %q (%v)", test.path, test.file, got, err)
		}
	}
	if got := names(t, real); len(got) != 1 {
		t.Errorf("%s holds %q", real, got)
	}
	if _, err := Create(filepath.Join(dir, "loop")); err == nil {
		t.Error("a link to itself: no error")
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions on Windows")
	}
	dir := t.TempDir()
	check := func(name string, want fs.FileMode) {
		t.Helper()
		f := create(t, filepath.Join(dir, name))
		write(t, f, fresh)
		commit(t, f)
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v (%v), not %v", name, info.Mode(), err, want)
		}
	}
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, nil, 0o644); err != nil { // 0644 less the umask
		t.Fatal(err)
	}
	info, err := os.Stat(probe)
	if err != nil {
		t.Fatal(err)
	}
	check("new", info.Mode())
	for _, mode := range []fs.FileMode{0o600, 0o664, 0o666, 0o444} {
		if err := os.Chmod(probe, mode); err != nil {
			t.Fatal(err)
		}
		check("probe", mode)
	}
}

func TestFullDevice(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full is Linux's")
	}
	f := create(t, "/dev/full")
	write(t, f, fresh) // fits the buffer
	err := f.Commit()
	if err == nil || !strings.Contains(err.Error(), "/dev/full can't be written: no space left on device: free some space") {
		t.Errorf("Commit returns %v", err)
	}
	f = create(t, "/dev/full")
	if _, err := f.Write(make([]byte, 2*bufferSize)); err == nil {
		t.Error("Write returns no error")
	}
	f.Abort()
	if info, err := os.Stat("/dev/full"); err != nil || info.Mode()&fs.ModeDevice == 0 {
		t.Error("/dev/full isn't a device any more")
	}
}

func TestIsStdout(t *testing.T) {
	for path, want := range map[string]bool{"/dev/stdout": true, "/dev/fd/1": true, "/proc/self/fd/1": true, "//dev/./stdout": true,
		"/dev/stderr": false, "/dev/fd/2": false, "/dev/fd/11": false, "stdout": false, "": false, "-": false} {
		if IsStdout(path) != want {
			t.Errorf("IsStdout(%q) is not %t", path, want)
		}
	}
}

func TestStandardOutput(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "redirected"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	stdout := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = stdout }()
	file.WriteString("before, ")
	f := create(t, "/dev/stdout")
	write(t, f, "within, ")
	commit(t, f)
	if _, err := file.WriteString("after"); err != nil {
		t.Errorf("Commit closed standard output: %v", err)
	}
	got, err := os.ReadFile(file.Name())
	if want := "before, within, after"; err != nil || !bytes.Equal(got, []byte(want)) {
		t.Errorf("standard output holds %q (%v), not %q", got, err, want)
	}
}

// TestReaderErrors: an error of the reader of a pipe says what to do.
func TestReaderErrors(t *testing.T) {
	for err, want := range map[error]string{
		context.Canceled: "p can't be written: its reader didn't read in time (context canceled): start the reader first, or name a file",
		syscall.EPIPE:    "p can't be written: broken pipe: its reader ended early, check the command that reads it",
	} {
		if got := explain("p", err); got.Error() != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
