//go:build amd64 && !noasm

package kernel

import (
	"halfspace/asm/avx2"
	"halfspace/asm/avx512"
	"halfspace/asm/ref"
)

func expF32(x, y []float32) {
	if level == AVX512 {
		avx512.ExpF32(x, y)
		return
	}
	if level >= AVX2 {
		avx2.ExpF32(x, y)
		return
	}
	ref.ExpF32(x, y)
}

func expF64(x, y []float64) {
	if level == AVX512 {
		avx512.ExpF64(x, y)
		return
	}
	if level >= AVX2 {
		avx2.ExpF64(x, y)
		return
	}
	ref.ExpF64(x, y)
}

func sigmoidF32(x, y []float32) {
	if level == AVX512 {
		avx512.SigmoidF32(x, y)
		return
	}
	if level >= AVX2 {
		avx2.SigmoidF32(x, y)
		return
	}
	ref.SigmoidF32(x, y)
}

func sigmoidF64(x, y []float64) {
	if level == AVX512 {
		avx512.SigmoidF64(x, y)
		return
	}
	if level >= AVX2 {
		avx2.SigmoidF64(x, y)
		return
	}
	ref.SigmoidF64(x, y)
}

func log1pF32(x, y []float32) {
	if level == AVX512 {
		avx512.Log1pF32(x, y)
		return
	}
	if level >= AVX2 {
		avx2.Log1pF32(x, y)
		return
	}
	ref.Log1pF32(x, y)
}

func log1pF64(x, y []float64) {
	if level == AVX512 {
		avx512.Log1pF64(x, y)
		return
	}
	if level >= AVX2 {
		avx2.Log1pF64(x, y)
		return
	}
	ref.Log1pF64(x, y)
}

func logistic(z, y, factor, curvature, loss []float64) {
	if level == AVX512 {
		avx512.LogisticF64(z, y, factor, curvature, loss)
		return
	}
	if level >= AVX2 {
		avx2.LogisticF64(z, y, factor, curvature, loss)
		return
	}
	ref.LogisticF64(z, y, factor, curvature, loss)
}
