//go:build arm64 && !noasm

package kernel

import (
	"halfspace/asm/neon"
	"halfspace/asm/ref"
)

func expF32(x, y []float32) {
	if level == NEON {
		neon.ExpF32(x, y)
		return
	}
	ref.ExpF32(x, y)
}

func expF64(x, y []float64) {
	if level == NEON {
		neon.ExpF64(x, y)
		return
	}
	ref.ExpF64(x, y)
}

func sigmoidF32(x, y []float32) {
	if level == NEON {
		neon.SigmoidF32(x, y)
		return
	}
	ref.SigmoidF32(x, y)
}

func sigmoidF64(x, y []float64) {
	if level == NEON {
		neon.SigmoidF64(x, y)
		return
	}
	ref.SigmoidF64(x, y)
}

func log1pF32(x, y []float32) {
	if level == NEON {
		neon.Log1pF32(x, y)
		return
	}
	ref.Log1pF32(x, y)
}

func log1pF64(x, y []float64) {
	if level == NEON {
		neon.Log1pF64(x, y)
		return
	}
	ref.Log1pF64(x, y)
}

func logistic(z, y, factor, curvature, loss []float64) {
	if level == NEON {
		neon.LogisticF64(z, y, factor, curvature, loss)
		return
	}
	ref.LogisticF64(z, y, factor, curvature, loss)
}
