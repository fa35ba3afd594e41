package memory

import (
	"testing"
	"unsafe"
)

// TestStatusSize: the system refuses a structure of another size.
func TestStatusSize(t *testing.T) {
	if n := unsafe.Sizeof(memoryStatus{}); n != 64 {
		t.Errorf("MEMORYSTATUSEX has %d bytes, not 64", n)
	}
}
