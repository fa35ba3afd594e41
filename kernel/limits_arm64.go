//go:build arm64 && !noasm

package kernel

import "halfspace/asm/neon"

func peakF32(n int) (fmas int) {
	if level != NEON {
		return 0
	}
	neon.PeakF32(n)
	return n * neon.RoundF32
}

func peakF64(n int) (fmas int) {
	if level != NEON {
		return 0
	}
	neon.PeakF64(n)
	return n * neon.RoundF64
}

func load(x []float32) bool {
	if level == NEON {
		neon.LoadF32(x)
	}
	return level == NEON
}

func stream(x []float32) bool {
	if level == NEON {
		neon.StreamF32(x)
	}
	return level == NEON
}
