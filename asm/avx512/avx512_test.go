//go:build amd64 && !noasm && unix

package avx512_test

import (
	"testing"

	"halfspace/asm/avx512"
	"halfspace/internal/kerneltest"
)

func TestF32(t *testing.T) {
	kerneltest.Need(t, "avx512")
	kerneltest.Run(t, kerneltest.Set[float32]{
		Errors: avx512.ErrorsF32,
		Tile:   avx512.TileF32, MR: avx512.MRF32, NR: avx512.NRF32,
	}, kerneltest.F32)
}

func TestF64(t *testing.T) {
	kerneltest.Need(t, "avx512")
	kerneltest.Run(t, kerneltest.Set[float64]{
		Errors: avx512.ErrorsF64,
		Tile:   avx512.TileF64, MR: avx512.MRF64, NR: avx512.NRF64,
	}, kerneltest.F64)
}
