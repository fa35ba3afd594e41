package files

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"halfspace/internal/require"
)

// takes names a path whose lock the test binary takes. It then says so, and keeps the lock until its standard input ends.
const takes = "HALFSPACE_TEST_TAKES"

func TestMain(m *testing.M) {
	path := os.Getenv(takes)
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := TakeLock(path); err != nil {
		os.Stdout.WriteString(err.Error())
		os.Exit(1)
	}
	os.Stdout.WriteString("taken\n")
	os.Stdin.Read(make([]byte, 1))
	os.Exit(0) // without Release, as a killed process
}

// other takes the lock of path in another process, which end kills.
func other(t *testing.T, path string) (process int, end func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), takes+"="+path)
	stdin := require.Value(cmd.StdinPipe())(t)
	stdout := require.Value(cmd.StdoutPipe())(t)
	require.NoError(t, cmd.Start())
	var said [6]byte
	if _, err := stdout.Read(said[:]); err != nil || string(said[:]) != "taken\n" {
		t.Fatalf("the other process says %q, %v", said, err)
	}
	return cmd.Process.Pid, func() {
		stdin.Close()
		cmd.Wait()
	}
}

// left returns the names in a folder.
func left(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries := require.Value(os.ReadDir(dir))(t)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestTake: the lock of another process is refused, and the error names that process. Once it has ended, its lock is
// taken, and nothing is left after Release.
func TestTake(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "folder")
	require.NoError(t, os.Mkdir(folder, 0o755))
	for path, want := range map[string]string{filepath.Join(dir, "m.json"): "file", folder: "folder", filepath.Join(dir, strings.Repeat("n", 250)): "file"} {
		process, end := other(t, path)
		_, err := TakeLock(path)
		if runtime.GOOS == "aix" || runtime.GOOS == "solaris" {
			t.Skip("the system has no such locks")
		}
		host, _ := os.Hostname()
		pattern := regexp.QuoteMeta(path) + ` is in use by another run, process (\d+) on ` + regexp.QuoteMeta(host) +
			` since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, .*: wait until it ends, or name another ` + want + "$"
		if err == nil || !regexp.MustCompile(pattern).MatchString(err.Error()) || !strings.Contains(err.Error(), "process "+itoa(process)+" on ") {
			t.Fatalf("%v; want %s with process %d", err, pattern, process)
		}
		end()
		held := require.Value(TakeLock(path))(t)
		if _, err := TakeLock(path); err == nil || !strings.HasSuffix(err.Error(), " is written by this run already: name another "+want) {
			t.Errorf("a second time: %v", err)
		}
		held.Release()
		held.Release()
	}
	if got := append(left(t, dir), left(t, folder)...); len(got) != 1 {
		t.Errorf("%q are left", got)
	}
	if _, err := TakeLock(filepath.Join(dir, "none", "m.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without its folder: %v", err)
	}
	(*Lock)(nil).Release()
}

func itoa(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

// TestTakeDamaged: a lock that says nothing of its holder is refused while it is locked. Otherwise what is in it doesn't matter.
func TestTakeDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.json")
	for _, text := range []string{"", "{", `{"process":-1}`, "\x00\xff", strings.Repeat("[", 1<<17)} {
		require.NoError(t, os.WriteFile(nameOf(path), []byte(text), 0o600))
		f := require.Value(os.Open(nameOf(path)))(t)
		if err := lockFile(f); err != nil {
			t.Skip("no locks here: ", err)
		}
		if _, err := TakeLock(path); err == nil || err.Error() != path+" is in use by another run: wait until it ends, or name another file" {
			t.Errorf("%.20q: %v", text, err)
		}
		f.Close()
		held := require.Value(TakeLock(path))(t)
		held.Release()
	}
}

// TestTakeOdd: what has the name of a lock and is no regular file is refused in a sentence, without waiting for it, and stays.
func TestTakeOdd(t *testing.T) {
	dir := t.TempDir()
	for name, createOdd := range odd {
		path := filepath.Join(dir, name)
		require.NoError(t, createOdd(nameOf(path)))
		if _, err := TakeLock(path); err == nil || !strings.Contains(err.Error(), nameOf(path)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(nameOf(path)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCreateGivesUp: a name that is never free is an error, and the file there stays.
func TestCreateGivesUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	if _, err := createOwned(func() string { return path }, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestSweep: locks and files of ended processes of this computer go; those in use, other files and links stay.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	_, end := other(t, in("dead"))
	end()
	live := require.Value(TakeLock(in("live")))(t)
	defer live.Release()
	made := require.Value(createOwned(func() string { return in("temp-live") }, 0o600))(t)
	defer removeOwned(made)
	for name, text := range map[string]string{"temp-dead": "x", "data.csv": "x", ".other" + lockSuffix: `{"process":1,"host":"elsewhere"}`, ".mine" + lockSuffix: "not ours"} {
		require.NoError(t, os.WriteFile(in(name), []byte(text), 0o600))
	}
	want := []string{".live" + lockSuffix, ".mine" + lockSuffix, ".other" + lockSuffix, "data.csv", "temp-live"}
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Symlink(in("data.csv"), in("temp-link")))
		want = []string{".live" + lockSuffix, ".mine" + lockSuffix, ".other" + lockSuffix, "data.csv", "temp-link", "temp-live"}
	}
	sweepFolder(dir, func(name string) bool { return strings.HasPrefix(name, "temp-") })
	if got := left(t, dir); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q are left, not %q", got, want)
	}
}

// TestRemoveAll: a process that ends at once leaves none of its files but those that it keeps.
func TestRemoveAll(t *testing.T) {
	dir := t.TempDir()
	if _, err := TakeLock(filepath.Join(dir, "m.json")); err != nil {
		t.Fatal(err)
	}
	var files [2]*os.File
	for i := range files {
		f := require.Value(createOwned(func() string { return filepath.Join(dir, itoa(i)) }, 0o600))(t)
		files[i] = f
	}
	release(files[1])
	RemoveAllOwned()
	if got := left(t, dir); len(got) != 1 || got[0] != "1" {
		t.Errorf("%q are left", got)
	}
	files[1].Close()
}
