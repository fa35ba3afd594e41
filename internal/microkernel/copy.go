package microkernel

import (
	"unsafe"

	"halfspace/internal/race"
	"halfspace/kernel"
)

// CopyNonTemporal is copy with non-temporal stores, where the level has them: dst doesn't enter the caches. It is for
// results larger than the caches. copy would first read their lines and then overwrite them. dst and src have the same
// length. Call Fence before another goroutine reads dst.
func CopyNonTemporal[T kernel.Float](dst, src []T) {
	if len(dst) < len(src) {
		panic("microkernel: short dst")
	}
	if len(src) < len(dst) {
		panic("microkernel: short src")
	}
	race.Write(dst)
	race.Read(src)
	const line = 64
	to, from := bytes32(dst), bytes32(src)
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(to)))%line) / 4
	if len(to) < head+line/4 {
		copy(dst, src)
		return
	}
	whole := (len(to) - head) / (line / 4) * (line / 4)
	copy(to[:head], from)
	copyNonTemporalF32(to[head:head+whole], from[head:head+whole])
	copy(to[head+whole:], from[head+whole:])
}

// Fence makes this goroutine's non-temporal stores visible to others before its later stores.
func Fence() { fenceF32() }

// bytes32 returns the memory of x as float32, whichever type x has.
func bytes32[T kernel.Float](x []T) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(T(0)))/4)
}
