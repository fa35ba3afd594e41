//go:build race

// Package race reports the memory of a kernel to the race detector, which can't see into assembly.
package race

import (
	"runtime"
	"unsafe"
)

// Enabled tells whether the race detector is on.
const Enabled = true

// Read reports that all of s is read.
func Read[E any](s []E) {
	if len(s) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(s)), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// Write reports that all of s is written.
func Write[E any](s []E) {
	if len(s) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(s)), len(s)*int(unsafe.Sizeof(s[0])))
	}
}
