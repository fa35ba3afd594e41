//go:build arm64 && !noasm && unix

package neon_test

import (
	"testing"

	"halfspace/asm/neon"
	"halfspace/internal/kerneltest"
)

var (
	f32 = kerneltest.Set[float32]{
		Dot:            neon.DotF32,
		Axpy:           neon.AxpyF32,
		Axpy4:          neon.Axpy4F32,
		FirstMistake:   neon.FirstMistakeF32,
		Scores:         neon.ScoresF32,
		Epoch:          neon.EpochF32,
		EpochAveraged:  neon.EpochAveragedF32,
		EpochPassive:   neon.EpochPassiveF32,
		EpochAdaptive:  neon.EpochAdaptiveF32,
		EpochIndexed:   neon.EpochIndexedF32,
		Transpose:      neon.TransposeF32,
		MaxSquaredNorm: neon.MaxSquaredNormF32,

		SparseScores:       neon.SparseScoresF32,
		SparseScores8:      neon.SparseScores8F32,
		SparseEpoch:        neon.SparseEpochF32,
		SparseEpochIndexed: neon.SparseEpochIndexedF32,
		SparseAdd:          neon.SparseAddF32,

		Tile: neon.TileF32,
		MR:   neon.MRF32, NR: neon.NRF32,
		Pack:     neon.PackF32,
		Bounds:   neon.BoundsF32,
		BoundsMR: neon.BoundsMRF32, BoundsNR: neon.BoundsNRF32,
		BoundsWeighted: neon.BoundsWeightedF32,
		ScaleRows:      neon.ScaleRowsF32,
		Standardize:    neon.StandardizeF32,
		Exp:            neon.ExpF32,
	}
	f64 = kerneltest.Set[float64]{
		Dot:         neon.DotF64,
		Axpy:        neon.AxpyF64,
		Scores:      neon.ScoresF64,
		RankKUpdate: neon.RankKUpdateF64,
		Exp:         neon.ExpF64,
		Standardize: neon.StandardizeF64,
		Sigmoid:     neon.SigmoidF64,
		Log1p:       neon.Log1pF64,
		Logistic:    neon.LogisticF64,
	}
)

func TestF32(t *testing.T) {
	kerneltest.Need(t, "neon")
	kerneltest.Run(t, f32, kerneltest.F32)
}

func TestF64(t *testing.T) {
	kerneltest.Need(t, "neon")
	kerneltest.Run(t, f64, kerneltest.F64)
}

// TestExpAllF32 compares Exp on every float32.
func TestExpAllF32(t *testing.T) {
	kerneltest.Need(t, "neon")
	kerneltest.ExpAllF32(t, neon.ExpF32)
}

func FuzzFMA32(f *testing.F) {
	kerneltest.Need(f, "neon")
	kerneltest.FuzzFMA32(f, neon.AxpyF32)
}

// TestSweeps: the loops that measure memory stay within their slice.
func TestSweeps(t *testing.T) {
	kerneltest.Need(t, "neon")
	b := kerneltest.NewGuardedBuffer(t, 1<<12)
	for n := range 300 {
		for _, back := range []bool{false, true} {
			x := kerneltest.Put(b, kerneltest.Place{Back: back}, make([]float32, n))
			for i := range x {
				x[i] = 1
			}
			neon.LoadF32(x)
			neon.StreamF32(x)
			for i, v := range x {
				if whole := i < n/64*64; (v == 0) != whole {
					t.Fatalf("n=%d: element %d is %v after Stream", n, i, v)
				}
			}
			if !b.IsIntact() {
				t.Fatalf("n=%d: wrote outside of the slice", n)
			}
		}
	}
}
