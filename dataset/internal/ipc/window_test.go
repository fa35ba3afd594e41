package ipc

import (
	"errors"
	"testing"
)

// TestWindowOf: the window of every frame counts, and frames end where their last blocks do.
func TestWindowOf(t *testing.T) {
	const magic, window512M, repeated5 = "\x28\xb5\x2f\xfd", "\x98", "\x2b\x00\x00a"
	small := magic + "\x20\x05" + repeated5            // a single segment of 5 bytes
	checked := magic + "\x04\x00" + repeated5 + "sum!" // a window of 1 KiB, and a checksum
	large := magic + "\x00" + window512M + repeated5   // of 512 MiB
	skipped := "\x50\x2a\x4d\x18\x03\x00\x00\x00" + "any"
	for _, c := range []struct {
		data string
		want int64
		err  error
	}{
		{"", 0, nil},
		{"no frame", 0, nil},
		{small, 5, nil},
		{small + checked, 1 << 10, nil},
		{skipped + checked + small + large + small, 512 << 20, nil},
		{checked[:len(checked)-1], 1 << 10, errFrame},
		{large[:len(large)-2], 512 << 20, errFrame},
	} {
		got, err := windowOf([]byte(c.data))
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%x: a window of %d bytes, error %v, want %d and %v", c.data, got, err, c.want, c.err)
		}
	}
}
