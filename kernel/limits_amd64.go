//go:build amd64 && !noasm

package kernel

import (
	"halfspace/asm/avx2"
	"halfspace/asm/avx512"
)

func peakF32(n int) (fmas int) {
	switch level {
	case AVX512:
		avx512.PeakF32(n)
		return n * avx512.RoundF32
	case AVX2:
		avx2.PeakF32(n)
		return n * avx2.RoundF32
	}
	return 0
}

func peakF64(n int) (fmas int) {
	switch level {
	case AVX512:
		avx512.PeakF64(n)
		return n * avx512.RoundF64
	case AVX2:
		avx2.PeakF64(n)
		return n * avx2.RoundF64
	}
	return 0
}

func load(x []float32) bool {
	switch level {
	case AVX512:
		avx512.LoadF32(x)
	case AVX2:
		avx2.LoadF32(x)
	default:
		return false
	}
	return true
}

func stream(x []float32) bool {
	switch level {
	case AVX512:
		avx512.StreamF32(x)
	case AVX2:
		avx2.StreamF32(x)
	default:
		return false
	}
	return true
}
