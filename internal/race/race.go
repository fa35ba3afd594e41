//go:build race

// Package race tells the race detector, which can't see into assembly, what a kernel reads and writes.
package race

import (
	"runtime"
	"unsafe"
)

// Enabled tells whether the race detector is on.
const Enabled = true

// Read notes that all of s is read.
func Read[E any](s []E) {
	if len(s) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(s)), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// Write notes that all of s is written.
func Write[E any](s []E) {
	if len(s) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(s)), len(s)*int(unsafe.Sizeof(s[0])))
	}
}
