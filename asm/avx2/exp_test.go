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
	expF32 = kerneltest.ExpSet[float32]{Exp: avx2.ExpF32}
	expF64 = kerneltest.ExpSet[float64]{Exp: avx2.ExpF64, Sigmoid: avx2.SigmoidF64, Log1p: avx2.Log1pF64, Logistic: avx2.LogisticF64}
)

func TestExpF32(t *testing.T) {
	kerneltest.Need(t, "avx2")
	kerneltest.RunExp(t, expF32, kerneltest.ExpF32)
}

func TestExpF64(t *testing.T) {
	kerneltest.Need(t, "avx2")
	kerneltest.RunExp(t, expF64, kerneltest.ExpF64)
}

// TestExpAllF32 compares Exp on every float32.
func TestExpAllF32(t *testing.T) {
	kerneltest.Need(t, "avx2")
	kerneltest.RunExpAllF32(t, expF32, kerneltest.ExpF32)
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
