//go:build (!amd64 && !arm64) || noasm

package kernel

import "halfspace/asm/ref"

func expF32(x, y []float32) { ref.ExpF32(x, y) }

func expF64(x, y []float64) { ref.ExpF64(x, y) }

func sigmoidF32(x, y []float32) { ref.SigmoidF32(x, y) }

func sigmoidF64(x, y []float64) { ref.SigmoidF64(x, y) }

func log1pF32(x, y []float32) { ref.Log1pF32(x, y) }

func log1pF64(x, y []float64) { ref.Log1pF64(x, y) }

func logistic(z, y, factor, curvature, loss []float64) {
	ref.LogisticF64(z, y, factor, curvature, loss)
}
