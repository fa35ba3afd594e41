package atomicfile

import (
	"io"
	"os"
	"testing"
)

// TestUnnamed: what is written can be read, and nothing is left in the directory.
func TestUnnamed(t *testing.T) {
	dir := t.TempDir()
	f, err := Unnamed(dir)
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
	if _, err := Unnamed(dir + "/absent"); err == nil {
		t.Error("a directory that isn't there")
	}
}
