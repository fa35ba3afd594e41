package kernel

import "unsafe"

// The functions below do nothing useful as fast as the machine can: package kernel/limits times them.

// Peak runs rounds of independent fused multiply-adds in registers and returns how many it did, 0 if the active level
// has no such loop.
func Peak[T Float](rounds int) (fmas int) {
	if is32[T]() {
		return peakF32(rounds)
	}
	return peakF64(rounds)
}

// Load loads x, up to 511 bytes at its end excepted. It returns false, without touching x, if the active level has no
// such loop.
func Load(x []float32) bool { return load(x) }

// Stream overwrites x with zeros, up to 511 bytes at its end excepted, with stores that go past the caches. x begins at a
// multiple of 64 bytes. It returns false, without touching x, if the active level has no such loop.
func Stream(x []float32) bool {
	if uintptr(unsafe.Pointer(unsafe.SliceData(x)))%64 != 0 {
		panic("kernel: x isn't aligned to 64 bytes")
	}
	return stream(x)
}
