package atomicfile

import (
	"io"
	"os"
	"testing"
)

// TestUnnamed: what is written can be read, and nothing is left in the directory.
func TestUnnamed(t *testing.T) {
	dir := t.TempDir()
	tempDir(t, dir)
	f, err := Unnamed()
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := Unnamed(); err == nil {
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
