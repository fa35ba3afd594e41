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
		Tile: avx512.TileF32, MR: avx512.MRF32, NR: avx512.NRF32,
		Pack: avx512.PackF32, Bounds: avx512.BoundsF32, BoundsMR: avx512.BoundsMRF32, BoundsNR: avx512.BoundsNRF32,
		BoundsWeighted: avx512.BoundsWeightedF32, Exp: avx512.ExpF32, EpochAdaptive: avx512.EpochAdaptiveF32,
	}, kerneltest.F32)
}

func TestF64(t *testing.T) {
	kerneltest.Need(t, "avx512")
	kerneltest.Run(t, kerneltest.Set[float64]{
		Scores: avx512.ScoresF64, RankKUpdate: avx512.RankKUpdateF64, Exp: avx512.ExpF64, Sigmoid: avx512.SigmoidF64, Log1p: avx512.Log1pF64, Logistic: avx512.LogisticF64,
	}, kerneltest.F64)
}

// TestExpAllF32 compares Exp on every float32.
func TestExpAllF32(t *testing.T) {
	kerneltest.Need(t, "avx512")
	kerneltest.ExpAllF32(t, avx512.ExpF32)
}
