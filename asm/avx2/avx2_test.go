//go:build amd64 && !noasm && unix

package avx2_test

import (
	"testing"

	"halfspace/asm/avx2"
	"halfspace/internal/kerneltest"
)

var (
	f32 = kerneltest.Set[float32]{
		Dot:            avx2.DotF32,
		Axpy:           avx2.AxpyF32,
		Axpy4:          avx2.Axpy4F32,
		FirstMistake:   avx2.FirstMistakeF32,
		Scores:         avx2.ScoresF32,
		Epoch:          avx2.EpochF32,
		EpochIndexed:   avx2.EpochIndexedF32,
		Transpose:      avx2.TransposeF32,
		MaxSquaredNorm: avx2.MaxSquaredNormF32,

		SparseScores:       avx2.SparseScoresF32,
		SparseScores8:      avx2.SparseScores8F32,
		SparseEpoch:        avx2.SparseEpochF32,
		SparseEpochIndexed: avx2.SparseEpochIndexedF32,
		SparseAdd:          avx2.SparseAddF32,

		Tile: avx2.TileF32,
		MR:   avx2.MRF32, NR: avx2.NRF32,
		Pack:     avx2.PackF32,
		Bounds:   avx2.BoundsF32,
		BoundsMR: avx2.BoundsMRF32, BoundsNR: avx2.BoundsNRF32,
		BoundsWeighted: avx2.BoundsWeightedF32,
		ScaleRows:      avx2.ScaleRowsF32,
	}
	f64 = kerneltest.Set[float64]{
		Dot:         avx2.DotF64,
		Axpy:        avx2.AxpyF64,
		Scores:      avx2.ScoresF64,
		RankKUpdate: avx2.RankKUpdateF64,
	}
)

func TestF32(t *testing.T) {
	kerneltest.Need(t, "avx2")
	kerneltest.Run(t, f32, kerneltest.F32)
}

func TestF64(t *testing.T) {
	kerneltest.Need(t, "avx2")
	kerneltest.Run(t, f64, kerneltest.F64)
}

func FuzzFMA32(f *testing.F) {
	kerneltest.Need(f, "avx2")
	kerneltest.FuzzFMA32(f, avx2.AxpyF32)
}

func TestFMA32HalfWay(t *testing.T) {
	kerneltest.Need(t, "avx2")
	kerneltest.FMA32HalfWay(t, avx2.AxpyF32)
}
