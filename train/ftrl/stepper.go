package ftrl

import (
	"math"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/schema"
	"halfspace/train/learner"
)

// A stepper is the learner.Stepper of FTRL-Proximal and AdaGrad.
type stepper struct {
	rates
	w       []float32
	at      []state // state of each column; w follows from the states
	bias    int     // the column without penalties; -1: none
	inverse float64 // 1/alpha
	slope   [1]float64
}

// A state is the sums of one column over the visits so far: z, n and the square root of n.
type state struct{ z, n, root float64 }

func newStepper(spec *schema.Spec, r rates) (*stepper, error) {
	if err := learner.TwoClasses(spec); err != nil {
		return nil, err
	}
	cols := spec.Cols()
	s := &stepper{rates: r, w: block.Alloc[float32](kernel.Stride(cols)), bias: -1, inverse: 1 / r.alpha,
		at: make([]state, cols)}
	if spec.Bias {
		s.bias = cols - 1
	}
	return s, nil
}

func (s *stepper) Weights() []float32 { return s.w }

// Begin takes the weights and n. It takes z too if the weights follow from z with the present options. If they don't,
// for example because alpha changed, Begin computes the z from which they follow.
func (s *stepper) Begin(w []float32, state map[string][]float64) {
	z, n := state["z"], state["n"]
	for c := range s.at {
		at := &s.at[c]
		if c < len(n) && n[c] >= 0 {
			at.n, at.root = n[c], math.Sqrt(n[c])
		}
		if s.w[c] = w[c]; c < len(z) {
			at.z = z[c]
		}
		if s.weight(c, at.z, at.root) == w[c] {
			continue
		}
		l1, l2 := s.l1, s.l2
		if c == s.bias {
			l1, l2 = 0, 0
		}
		at.z = -float64(float64(w[c]) * (float64((s.beta+at.root)*s.inverse) + l2))
		if w[c] != 0 {
			at.z -= math.Copysign(l1, float64(w[c]))
		}
	}
}

func (s *stepper) State() map[string][]float64 {
	z, n := make([]float64, len(s.at)), make([]float64, len(s.at))
	for c, at := range s.at {
		z[c], n[c] = at.z, at.n
	}
	return map[string][]float64{"z": z, "n": n}
}

func (s *stepper) Step(scores []float32, b *block.Block, r int, y float32) (updated bool) {
	scores[0] = b.Dot(r, s.w)
	g := float64(s.derivative(float64(y), float64(scores[0])) * b.Weight(r))
	if g == 0 {
		return false
	}
	if b.Sparse != nil {
		idx, val := b.Sparse.Row(r)
		for k, c := range idx {
			s.add(int(c), float64(g*float64(val[k])))
		}
		return true
	}
	for c, v := range b.X[r*b.Stride:][:b.Cols] {
		if v != 0 {
			s.add(c, float64(g*float64(v)))
		}
	}
	return true
}

// derivative returns the derivative of a row's loss by its score. y is the row's label.
func (s *stepper) derivative(y, score float64) float64 {
	m := float64(y * score)
	if s.loss == Hinge {
		if m < 1 {
			return -y
		}
		return 0
	}
	s.slope[0] = -m
	f64.Sigmoid(s.slope[:], s.slope[:])
	return -y * s.slope[0]
}

// add makes the update of column c with the gradient g, and computes its weight.
func (s *stepper) add(c int, g float64) {
	at := &s.at[c]
	n := at.n + float64(g*g)
	root := math.Sqrt(n)
	z := at.z + (g - float64(float64((root-at.root)*s.inverse)*float64(s.w[c])))
	at.z, at.n, at.root = z, n, root
	s.w[c] = s.weight(c, z, root)
}

// weight returns the weight of column c for its z and the square root of its n.
func (s *stepper) weight(c int, z, root float64) float32 {
	l1, l2 := s.l1, s.l2
	if c == s.bias {
		l1, l2 = 0, 0
	}
	switch {
	case z > l1:
		z -= l1
	case z < -l1:
		z += l1
	default:
		return 0
	}
	return float32(-z / (float64((s.beta+root)*s.inverse) + l2))
}
