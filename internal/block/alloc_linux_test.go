package block

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestTouched: hasPages tells memory that was written to from memory that wasn't.
func TestTouched(t *testing.T) {
	b, err := unix.Mmap(-1, 0, 2*hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b)
	if hasPages(b) {
		t.Error("memory that nobody used has pages")
	}
	b[len(b)-1] = 1
	if !hasPages(b) {
		t.Error("memory that was written to has no page")
	}
}
