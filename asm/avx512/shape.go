// Package avx512 holds the kernels for amd64 that measure faster with AVX-512 than with AVX2. The CPU needs AVX-512 F,
// DQ, BW and VL. asm/gen generates them; asm/README.md documents them.
package avx512

// MRF32 and NRF32 are the rows and columns of the output tile that one step of Tile computes.
const (
	MRF32, NRF32 = 12, 32
)

// BoundsMRF32 and BoundsNRF32 are the candidates and rows of a tile of Bounds. Pack packs rows in groups of
// BoundsNRF32.
const (
	BoundsMRF32, BoundsNRF32 = 8, 32
)

// RoundF32 is the number of fused multiply-adds in one round of Peak.
const (
	RoundF32 = 192
)
