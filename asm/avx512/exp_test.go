//go:build amd64 && !noasm && unix

package avx512_test

import (
	"testing"

	"halfspace/asm/avx512"
	"halfspace/internal/kerneltest"
)

var (
	expF32 = kerneltest.ExpSet[float32]{Exp: avx512.ExpF32}
	expF64 = kerneltest.ExpSet[float64]{Exp: avx512.ExpF64, Sigmoid: avx512.SigmoidF64, Log1p: avx512.Log1pF64, Logistic: avx512.LogisticF64}
)

func TestExpF32(t *testing.T) {
	kerneltest.Need(t, "avx512")
	kerneltest.RunExp(t, expF32, kerneltest.ExpF32)
}

func TestExpF64(t *testing.T) {
	kerneltest.Need(t, "avx512")
	kerneltest.RunExp(t, expF64, kerneltest.ExpF64)
}

// TestExpAllF32 compares Exp on every float32.
func TestExpAllF32(t *testing.T) {
	kerneltest.Need(t, "avx512")
	kerneltest.RunExpAllF32(t, expF32, kerneltest.ExpF32)
}
