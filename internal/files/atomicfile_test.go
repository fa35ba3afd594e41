package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"halfspace/internal/require"
)

const (
	old   = "old content"
	fresh = "fresh content"
)

// names returns the names in dir.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries := require.Value(os.ReadDir(dir))(t)
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
	require.NoError(t, os.WriteFile(path, []byte(old), 0o644))
	return dir, path
}

func create(t *testing.T, path string) *File {
	t.Helper()
	return require.Value(Create(path))(t)
}

func write(t *testing.T, f *File, content string) {
	t.Helper()
	if n, err := f.Write([]byte(content)); err != nil || n != len(content) {
		t.Fatalf("Write returns %d, %v", n, err)
	}
}

func commit(t *testing.T, f *File) {
	t.Helper()
	require.NoError(t, f.Commit())
}

// replace writes content to path.
func replace(t *testing.T, path, content string) {
	t.Helper()
	f := create(t, path)
	write(t, f, content)
	commit(t, f)
}

// TestCommit: a file is replaced at Commit and not before. A reader that opened the old file reads on in it, and a large write isn't cut.
func TestCommit(t *testing.T) {
	dir, path := target(t)
	reader := require.Value(os.Open(path))(t)
	defer reader.Close()
	large := strings.Repeat("0123456789", bufferSize/5)
	f := create(t, path)
	write(t, f, large[:5])
	write(t, f, large[5:])
	if got, _ := os.ReadFile(path); string(got) != old {
		t.Errorf("before Commit, %s holds %q", path, got)
	}
	commit(t, f)
	holds(t, dir, "m.json", large)
	f.Abort()
	commit(t, f)
	holds(t, dir, "m.json", large)
	if _, err := f.Write([]byte("x")); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Write after Commit returns %v", err)
	}
	got := make([]byte, len(old))
	if _, err := reader.Read(got); err != nil || string(got) != old {
		t.Errorf("the reader gets %q (%v)", got, err)
	}
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
	for _, cause := range []string{"flush", "rename"} {
		dir, path := t.TempDir(), ""
		path = filepath.Join(dir, "m.json")
		f := create(t, path)
		write(t, f, fresh)
		if cause == "flush" {
			f.out.(*tempFile).Close()
		} else {
			require.NoError(t, os.Mkdir(path, 0o755))
		}
		if err := f.Commit(); err == nil || !strings.HasPrefix(err.Error(), path+" can't be written: ") {
			t.Errorf("%s: Commit returns %v", cause, err)
		}
		if got := names(t, dir); len(got) != map[string]int{"rename": 1}[cause] {
			t.Errorf("%s: the directory holds %q", cause, got)
		}
	}
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
	require.NoError(t, os.Chmod(dir, 0o555))
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
	existing, far := filepath.Join(dir, "real"), filepath.Join(dir, "far", "deep")
	for _, d := range []string{existing, far} {
		require.NoError(t, os.MkdirAll(d, 0o755))
	}
	// "shortcut/.." is dir/far, not dir.
	for name, link := range map[string]string{
		"shortcut": "far/deep", "a": "real/m.json", "b": "a", "c": "shortcut/../m.json", "loop": "loop",
		"absolute": filepath.Join(existing, "m.json"),
	} {
		require.NoError(t, os.Symlink(link, filepath.Join(dir, name)))
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
		require.NoError(t, err)
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
	if got := names(t, existing); len(got) != 1 {
		t.Errorf("%s holds %q", existing, got)
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
		replace(t, filepath.Join(dir, name), fresh)
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v (%v), not %v", name, info.Mode(), err, want)
		}
	}
	probe := filepath.Join(dir, "probe")
	if err := os.WriteFile(probe, nil, 0o644); err != nil { // 0644 less the umask
		t.Fatal(err)
	}
	info := require.Value(os.Stat(probe))(t)
	check("new", info.Mode())
	for _, mode := range []fs.FileMode{0o600, 0o664, 0o666, 0o744} {
		require.NoError(t, os.Chmod(probe, mode))
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
	file := require.Value(os.Create(filepath.Join(t.TempDir(), "redirected")))(t)
	defer file.Close()
	stdout := os.Stdout
	os.Stdout = file
	defer func() { os.Stdout = stdout }()
	file.WriteString("before, ")
	replace(t, "/dev/stdout", "within, ")
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

// TestUnnamed: what is written can be read, and nothing is left in the directory.
func TestUnnamed(t *testing.T) {
	dir := t.TempDir()
	tempDir(t, dir)
	f := require.Value(CreateUnnamed())(t)
	if _, err := f.WriteString("rows"); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(io.NewSectionReader(f, 0, 4)); err != nil || string(got) != "rows" {
		t.Errorf("%q, %v", got, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v are left, %v", left, err)
	}
	tempDir(t, dir+"/absent")
	if _, err := CreateUnnamed(); err == nil {
		t.Error("a directory that isn't there")
	}
}

// tempDir has temporary files in dir.
func tempDir(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"TMPDIR", "TMP"} {
		t.Setenv(name, dir)
	}
	if got := TempDir(); got != dir {
		t.Errorf("temporary files are in %s, not in %s", got, dir)
	}
}
