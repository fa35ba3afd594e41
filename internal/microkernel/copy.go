package microkernel

import (
	"unsafe"

	"halfspace/internal/race"
)

// CopyNonTemporal is copy with non-temporal stores, if the level has them: dst doesn't enter the caches. Use it for
// results larger than the caches. copy would first read the cache lines of dst and then overwrite them. dst and src
// have the same length. Call Fence before another goroutine reads dst.
func CopyNonTemporal(dst, src []float32) {
	if len(dst) < len(src) {
		panic("microkernel: short dst")
	}
	if len(src) < len(dst) {
		panic("microkernel: short src")
	}
	race.Write(dst)
	race.Read(src)
	const line = 64
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(dst)))%line) / 4
	if len(dst) < head+line/4 {
		copy(dst, src)
		return
	}
	whole := (len(dst) - head) / (line / 4) * (line / 4)
	copy(dst[:head], src)
	copyNonTemporalF32(dst[head:head+whole], src[head:head+whole])
	copy(dst[head+whole:], src[head+whole:])
}

// Fence makes this goroutine's non-temporal stores visible to other goroutines before its later stores.
func Fence() { fenceF32() }
