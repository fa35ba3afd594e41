package ftrl

import (
	"math"
	"slices"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/schema"
	"halfspace/train/learner"
)

// A stepper is the learner.Stepper of FTRL-Proximal and AdaGrad.
type stepper struct {
	loss    Loss
	rates   [4]float64 // 1/alpha, beta, l1 and l2, as f64.Adapt takes them; AdaGrad has no penalties
	w       []float32
	z, n    []float64 // state of each column and of the padding; w follows from them
	root    []float64 // square roots of n
	cols    int
	bias    int // the column without penalties; -1: none
	sigmoid [1]float64
}

func newStepper(spec *schema.Spec, loss Loss, alpha, beta, l1, l2 float64) (*stepper, error) {
	if err := learner.TwoClasses(spec); err != nil {
		return nil, err
	}
	stride := kernel.Stride(spec.Cols())
	s := &stepper{loss: loss, rates: [4]float64{1 / alpha, beta, l1, l2}, w: block.Alloc[float32](stride),
		z: make([]float64, stride), n: make([]float64, stride), root: make([]float64, stride), cols: spec.Cols(), bias: -1}
	if spec.Bias {
		s.bias = s.cols - 1
	}
	return s, nil
}

func (s *stepper) Weights() []float32 { return s.w }

// Begin takes the weights and n. It takes z too if the weights follow from z with the present options. If they don't,
// for example because alpha changed, Begin computes the z from which they follow.
func (s *stepper) Begin(w []float32, state map[string][]float64) {
	copy(s.w, w)
	copy(s.z, state["z"])
	for c, n := range state["n"] {
		if n >= 0 {
			s.n[c], s.root[c] = n, math.Sqrt(n)
		}
	}
	for c, v := range s.w {
		if s.weight(c) == v {
			continue
		}
		r := s.ratesOf(c)
		s.z[c] = -float64(float64(v) * (float64((r[1]+s.root[c])*r[0]) + r[3]))
		if v != 0 {
			s.z[c] -= math.Copysign(r[2], float64(v))
		}
	}
}

func (s *stepper) State() map[string][]float64 {
	return map[string][]float64{"z": slices.Clone(s.z[:s.cols]), "n": slices.Clone(s.n[:s.cols])}
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
	x, c := b.X[r*b.Stride:][:b.Stride], s.bias
	if c < 0 || s.rates[2] == 0 && s.rates[3] == 0 {
		f64.Adapt(s.w, s.z, s.n, s.root, x, g, &s.rates)
		return true
	}
	w, z, n, root := s.w[c], s.z[c], s.n[c], s.root[c] // f64.Adapt would penalise the bias
	f64.Adapt(s.w, s.z, s.n, s.root, x, g, &s.rates)
	s.w[c], s.z[c], s.n[c], s.root[c] = w, z, n, root
	s.add(c, float64(g*float64(x[c])))
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
	s.sigmoid[0] = -m
	f64.Sigmoid(s.sigmoid[:], s.sigmoid[:])
	return -y * s.sigmoid[0]
}

// add makes the update of column c with the gradient g, and computes its weight: f64.Adapt for one column.
func (s *stepper) add(c int, g float64) {
	n := s.n[c] + float64(g*g)
	root := math.Sqrt(n)
	s.z[c] += g - float64(float64((root-s.root[c])*s.rates[0])*float64(s.w[c]))
	s.n[c], s.root[c] = n, root
	s.w[c] = s.weight(c)
}

// ratesOf returns the rates of column c.
func (s *stepper) ratesOf(c int) [4]float64 {
	r := s.rates
	if c == s.bias {
		r[2], r[3] = 0, 0
	}
	return r
}

// weight returns the weight of column c, which follows from its state.
func (s *stepper) weight(c int) float32 {
	r, z := s.ratesOf(c), s.z[c]
	size := math.Abs(z)
	if !(size > r[2]) {
		return 0
	}
	return float32(math.Copysign((size-r[2])/(float64((r[1]+s.root[c])*r[0])+r[3]), -z))
}
