//go:build race

package parallel

import (
	"runtime"
	"unsafe"
)

// RaceEnabled tells whether the race detector is on.
const RaceEnabled = true

// RaceRead tells the race detector, which cannot see into assembly, that all of s is read.
func RaceRead[E any](s []E) {
	if len(s) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(s)), len(s)*int(unsafe.Sizeof(s[0])))
	}
}

// RaceWrite tells it that all of s is written.
func RaceWrite[E any](s []E) {
	if len(s) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(unsafe.SliceData(s)), len(s)*int(unsafe.Sizeof(s[0])))
	}
}
