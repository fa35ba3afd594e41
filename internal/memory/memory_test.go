package memory

import (
	"math"
	"runtime"
	"testing"
)

func TestShare(t *testing.T) {
	for _, c := range []struct {
		bytes   uint64
		percent uint32
		want    int64
	}{
		{16 << 30, 50, 8 << 30}, {16 << 30, 100, 16 << 30}, {16 << 30, 0, 16 << 30}, {16 << 30, 101, 16 << 30}, {16 << 30, math.MaxUint32, 16 << 30},
		{1 << 30, 1, leastMemory}, {1 << 20, 100, leastMemory}, {0, 50, 0}, {math.MaxUint64, 100, 0}, {1 << 61, 1, 0},
	} {
		if got := share(c.bytes, c.percent); got != c.want && (got > c.want || got < c.want-100) { // of whole hundreds
			t.Errorf("%d percent of %d: %d, want %d", c.percent, c.bytes, got, c.want)
		}
	}
}

// TestThisMachine: there is some memory.
func TestThisMachine(t *testing.T) {
	known := map[string]bool{"linux": true, "darwin": true, "windows": true}[runtime.GOOS]
	if got := Available(); known && got < leastMemory || !known && got != 0 {
		t.Errorf("%d bytes are available", got)
	}
}
