//go:build amd64 && !noasm && unix

package avx2_test

import (
	"os"
	"path/filepath"
	"regexp"
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
		EpochAveraged:  avx2.EpochAveragedF32,
		EpochPassive:   avx2.EpochPassiveF32,
		EpochAdaptive:  avx2.EpochAdaptiveF32,
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
		Standardize:    avx2.StandardizeF32,
		NarrowWhole:    avx2.NarrowWholeF32,
		Exp:            avx2.ExpF32,
		Decimals:       avx2.DecimalsF32,
		OddStart:       avx2.OddStartF32,
	}
	f64 = kerneltest.Set[float64]{
		Dot:         avx2.DotF64,
		Axpy:        avx2.AxpyF64,
		Scores:      avx2.ScoresF64,
		RankKUpdate: avx2.RankKUpdateF64,
		Exp:         avx2.ExpF64,
		Standardize: avx2.StandardizeF64,
		Narrow:      avx2.NarrowF64,
		Sigmoid:     avx2.SigmoidF64,
		Log1p:       avx2.Log1pF64,
		Logistic:    avx2.LogisticF64,
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

// TestExpAllF32 compares Exp on every float32.
func TestExpAllF32(t *testing.T) {
	kerneltest.Need(t, "avx2")
	kerneltest.ExpAllF32(t, avx2.ExpF32)
}

func FuzzFMA32(f *testing.F) {
	kerneltest.Need(f, "avx2")
	kerneltest.FuzzFMA32(f, avx2.AxpyF32)
}

// TestRegisters: a generator that runs out of registers takes those that only AVX-512 has, which assembles and then
// faults on a CPU without it.
func TestRegisters(t *testing.T) {
	files, err := filepath.Glob("*.s")
	if err != nil || len(files) == 0 {
		t.Fatal("no assembly here:", err)
	}
	beyond := regexp.MustCompile(`\b([XY](1[6-9]|2[0-9]|3[01])|Z[0-9]+|K[0-7])\b`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if r := beyond.Find(text); r != nil {
			t.Errorf("%s uses %s, which AVX2 lacks", name, r)
		}
	}
}
