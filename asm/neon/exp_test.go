//go:build arm64 && !noasm && unix

package neon_test

import (
	"testing"

	"halfspace/asm/neon"
	"halfspace/internal/kerneltest"
)

var (
	expF32 = kerneltest.ExpSet[float32]{Exp: neon.ExpF32}
	expF64 = kerneltest.ExpSet[float64]{Exp: neon.ExpF64, Sigmoid: neon.SigmoidF64, Log1p: neon.Log1pF64, Logistic: neon.LogisticF64}
)

func TestExpF32(t *testing.T) {
	kerneltest.Need(t, "neon")
	kerneltest.RunExp(t, expF32, kerneltest.ExpF32)
}

func TestExpF64(t *testing.T) {
	kerneltest.Need(t, "neon")
	kerneltest.RunExp(t, expF64, kerneltest.ExpF64)
}

// TestExpAllF32 compares Exp on every float32.
func TestExpAllF32(t *testing.T) {
	kerneltest.Need(t, "neon")
	kerneltest.RunExpAllF32(t, expF32, kerneltest.ExpF32)
}
