package ftrl

import (
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/schema"
	"halfspace/train/learner"
)

// A stepper is the learner.Stepper of FTRL-Proximal and AdaGrad. The weights follow from the state.
type stepper struct {
	kernel.Adaptive // of each column and of the padding; AdaGrad has no penalties, the bias has none either
	w               []float32
	cols            int
	sigmoid         [1]float64
	log             [1]uint32
}

func newStepper(spec *schema.Spec, loss Loss, alpha, beta, l1, l2 float64) (*stepper, error) {
	if err := learner.TwoClasses(spec); err != nil {
		return nil, err
	}
	stride := kernel.Stride(spec.Cols())
	numbers := func(v float64) []float64 { return slices.Repeat([]float64{v}, stride) }
	l1Penalties := numbers(l1)
	l2Penalties := l1Penalties // one vector for both, by default of zeros
	if l2 != l1 {
		l2Penalties = numbers(l2)
	}
	s := &stepper{w: block.Alloc[float32](stride), cols: spec.Cols(),
		Adaptive: kernel.Adaptive{Z: numbers(0), N: numbers(0), Root: numbers(0),
			L1: l1Penalties, L2: l2Penalties, Inverse: 1 / alpha, Beta: beta, Hinge: loss == Hinge}}
	if spec.Bias {
		s.L1[s.cols-1], s.L2[s.cols-1] = 0, 0
	}
	return s, nil
}

func (s *stepper) Weights() []float32 { return s.w }

// Begin takes the weights and n. It takes z too if the weights follow from z with the present options. If they don't,
// for example because alpha changed, Begin computes the z from which they follow.
func (s *stepper) Begin(w []float32, state map[string][]float64) {
	copy(s.w, w)
	copy(s.Z, state["z"])
	for c, n := range state["n"] {
		if n >= 0 {
			s.N[c], s.Root[c] = n, math.Sqrt(n)
		}
	}
	for c, v := range s.w {
		if s.weight(c) == v {
			continue
		}
		s.Z[c] = -float64(float64(v) * (float64((s.Beta+s.Root[c])*s.Inverse) + s.L2[c]))
		if v != 0 {
			s.Z[c] -= math.Copysign(s.L1[c], float64(v))
		}
	}
}

func (s *stepper) State() map[string][]float64 {
	return map[string][]float64{"z": slices.Clone(s.Z[:s.cols]), "n": slices.Clone(s.N[:s.cols])}
}

// TakesBatch tells whether rows are dense.
func (s *stepper) TakesBatch(b *block.Block) bool { return b.Sparse == nil }

func (s *stepper) Steps(log []uint32, b *block.Block, lo, hi int) (visits, updates int) {
	weights := b.W
	if weights != nil {
		weights = weights[lo:hi]
	}
	return s.Epoch(s.w, log, b.X[lo*b.Stride:hi*b.Stride], b.Y[lo:hi], weights)
}

func (s *stepper) Step(scores []float32, b *block.Block, r int, y float32) (updated bool) {
	scores[0] = b.Dot(r, s.w)
	if b.Sparse == nil {
		_, n := s.Epoch(s.w, s.log[:], b.X[r*b.Stride:][:b.Stride], []float32{y}, []float64{b.Weight(r)})
		return n > 0
	}
	g := float64(s.derivative(float64(y), float64(scores[0])) * b.Weight(r))
	if g == 0 {
		return false
	}
	idx, val := b.Sparse.Row(r)
	for k, c := range idx {
		s.add(int(c), float64(g*float64(val[k])))
	}
	return true
}

// derivative returns the derivative of a row's loss by its score. y is the row's label.
func (s *stepper) derivative(y, score float64) float64 {
	m := float64(y * score)
	if s.Hinge {
		if m < 1 {
			return -y
		}
		return 0
	}
	s.sigmoid[0] = -m
	f64.Sigmoid(s.sigmoid[:], s.sigmoid[:])
	return -y * s.sigmoid[0]
}

// add makes the update of column c with the gradient g, and computes its weight, as kernel.Adaptive does.
func (s *stepper) add(c int, g float64) {
	s.N[c] += float64(g * g)
	root := math.Sqrt(s.N[c])
	s.Z[c] += g - float64(float64((root-s.Root[c])*s.Inverse)*float64(s.w[c]))
	s.Root[c] = root
	s.w[c] = s.weight(c)
}

// weight returns the weight of column c, which follows from its state.
func (s *stepper) weight(c int) float32 {
	z := s.Z[c]
	size := math.Abs(z)
	if !(size > s.L1[c]) {
		return 0
	}
	return float32(math.Copysign((size-s.L1[c])/(float64((s.Beta+s.Root[c])*s.Inverse)+s.L2[c]), -z))
}
