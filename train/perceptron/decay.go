package perceptron

import (
	"slices"

	"halfspace/kernel"
)

// decay divides all weights but the bias by 1 + eta l2; see Options.L2. It does nothing without a penalty, or if
// l.decayed is set.
func (l *training) decay() {
	if l.opt.L2 == 0 || l.decayed {
		return
	}
	l.decayed = true
	if l.mean != nil {
		l.mean.end(l.w)
	}
	spec := l.src.Spec()
	stride, features := kernel.Stride(spec.Cols()), spec.Width()
	factor := float32(1 / (1 + float64(l.opt.Eta*l.opt.L2)))
	for v := range slices.Chunk(l.w, stride) {
		for i := range v[:features] {
			v[i] *= factor
		}
	}
	l.streak = 0
}
