package kernel

import "unsafe"

// CopyPast copies src to dst, of the same length, past the caches where the level can: for results that are larger than
// those, whose lines would be read first only to be overwritten. Call Fence before another goroutine may read dst. They
// don't overlap.
func CopyPast[T Float](dst, src []T) {
	checkPair(dst, src)
	const line = 64
	to := bytes32(dst)
	from := bytes32(src)
	head := int(-uintptr(unsafe.Pointer(unsafe.SliceData(to)))%line) / 4
	if len(to) < head+line/4 {
		copy(dst, src)
		return
	}
	whole := (len(to) - head) / (line / 4) * (line / 4)
	copy(to[:head], from)
	copyPast(to[head:head+whole], from[head:head+whole])
	copy(to[head+whole:], from[head+whole:])
}

// Fence makes what this goroutine has copied by CopyPast visible to others, before it tells them.
func Fence() { fence() }

// bytes32 returns the memory of x as float32, whichever type x has.
func bytes32[T Float](x []T) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(T(0)))/4)
}
