package microkernel

import (
	"unsafe"
)

// The functions below run one operation each at the machine's full speed, for no other purpose than timing. Package
// kernel/limits times them.

// Peak runs rounds of independent fused multiply-adds in registers. It returns the number of fused multiply-adds: 0 if
// the active level lacks the loop.
func Peak(rounds int) (fmas int) {
	peakF32(rounds)
	return rounds * peakShapeF32()
}

// hasLoops tells whether the active level has the loops below.
func hasLoops() bool { return peakShapeF32() > 0 }

// Load loads x, except for up to 511 bytes at its end. It returns false, without touching x, if the active level lacks
// the loop.
func Load(x []float32) bool {
	loadF32(x)
	return hasLoops()
}

// Stream overwrites x with zeros by non-temporal stores, except for up to 511 bytes at its end. x begins at a multiple
// of 64 bytes. It returns false, without touching x, if the active level lacks the loop.
func Stream(x []float32) bool {
	if uintptr(unsafe.Pointer(unsafe.SliceData(x)))%64 != 0 {
		panic("microkernel: x isn't aligned to 64 bytes")
	}
	streamF32(x)
	return hasLoops()
}
