package gram

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"halfspace/internal/message"
	"halfspace/internal/microkernel"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// Kind is the form of a kernel function, as options and model files name it.
type Kind string

const (
	Linear     Kind = "linear" // x . y; also the empty Kind
	Polynomial Kind = "poly"   // (gamma x . y + coef0)^degree
	RBF        Kind = "rbf"    // exp(-gamma |x - y|^2)
)

// A Kernel is a kernel function of two rows (Mercer 1909): their inner product in a space of features. The zero value
// is the linear kernel.
type Kernel struct {
	Kind   Kind    `json:"kind"`
	Degree int     `json:"degree,omitempty"` // for Polynomial, at least 1
	Gamma  float64 `json:"gamma,omitempty"`  // for Polynomial and RBF, positive
	Coef0  float64 `json:"coef0,omitempty"`  // for Polynomial
	Bias   bool    `json:"-"`                // adds 1: the product of two biases that the rows don't contain
}

// check returns an error that names the first wrong parameter.
func (k Kernel) check() error {
	switch k.Kind {
	case "", Linear:
		return nil
	case Polynomial, RBF:
	default:
		return fmt.Errorf("there is no kernel of kind %q", k.Kind)
	}
	if !(k.Gamma > 0) || math.IsInf(k.Gamma, 0) {
		return message.Errorf("--gamma is %v: it must be a positive number", k.Gamma)
	}
	if k.Kind == Polynomial && k.Degree < 1 {
		return message.Errorf("--degree is %d: it must be at least 1", k.Degree)
	}
	if math.IsNaN(k.Coef0) || math.IsInf(k.Coef0, 0) {
		return message.Errorf("--coef0 is %v: it must be a number", k.Coef0)
	}
	return nil
}

// A mercerMap turns inner products of rows of x and y into values of a kernel.
type mercerMap struct {
	Kernel
	gamma, coef0 float32
	x, y         []float32 // for RBF: squared norms of the rows
}

// newMap returns the map of k. It computes norms on workers goroutines.
func newMap(k Kernel, x, y *Rows, workers int) (*mercerMap, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	if err := cmp.Or(x.err, y.err); err != nil {
		return nil, err
	}
	m := &mercerMap{Kernel: k, gamma: float32(k.Gamma), coef0: float32(k.Coef0)}
	if k.Kind != Linear && k.Kind != "" && (m.gamma == 0 || math.IsInf(float64(m.gamma), 0) || math.IsInf(float64(m.coef0), 0)) {
		return nil, message.Errorf("--gamma %v and --coef0 %v don't fit float32", k.Gamma, k.Coef0)
	}
	if k.Kind == RBF {
		m.x, m.y = x.squaredNorms(workers), y.squaredNorms(workers)
	}
	return m, nil
}

// row maps the products of row i of x with the rows of y from row j on. Each operation is rounded to float32:
//
//	Polynomial: v = gamma*s + coef0, then v^degree by squaring, from the lowest bit of the degree on
//	RBF:        exp(-gamma * max(0, (|x|^2 + |y|^2) - 2s)), with the squared norms being products s of a row with itself
//	Bias:       v + 1, after the other operations
func (m *mercerMap) row(s []float32, i, j int) {
	switch m.Kind {
	case Polynomial:
		for k, v := range s {
			s[k] = float32(m.gamma*v) + m.coef0
		}
		power(s, m.Degree)
	case RBF:
		xx, yy := m.x[i], m.y[j:][:len(s)]
		for k, v := range s {
			d := float32(xx+yy[k]) - float32(2*v)
			if d < 0 {
				d = 0
			}
			s[k] = -m.gamma * d
		}
		kernel.Exp(s, s)
	}
	if m.Bias {
		for k := range s {
			s[k]++
		}
	}
}

// Diagonal returns the kernel of each row with itself.
func Diagonal(x *Rows, k Kernel) ([]float32, error) {
	if _, err := checkRows(1, x); err != nil {
		return nil, err
	}
	m, err := newMap(k, x, x, 1)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(x.squaredNorms(1))
	if k.Kind == RBF {
		clear(out) // the distance is 0 for any norms: e^0
		kernel.Exp(out, out)
		m.Kind = Linear
	}
	m.row(out, 0, 0)
	return out, nil
}

// power raises each element to the power n. n must be at least 1.
func power(s []float32, n int) {
	for ; n&1 == 0; n >>= 1 {
		for k, v := range s {
			s[k] = v * v
		}
	}
	if n == 1 {
		return
	}
	for k, v := range s {
		p := v
		for rest := n >> 1; rest > 0; rest >>= 1 {
			v *= v
			if rest&1 == 1 {
				p *= v
			}
		}
		s[k] = p
	}
}

// normRows is the number of rows of one task of squaredNorms.
const normRows = 1024

// squaredNorms returns the product of each row with itself, with the order of operations of all products: it takes the
// diagonals of small products. It computes the norms once, on workers goroutines. The result is shared.
func (x *Rows) squaredNorms(workers int) []float32 {
	x.once.Do(func() {
		x.norms = make([]float32, x.n)
		_ = parallel.For(context.Background(), workers, (x.n+normRows-1)/normRows, func(_, task int) {
			x.squareNorms(task*normRows, min(x.n, (task+1)*normRows))
		}) // no error: the context doesn't end
	})
	return x.norms
}

// squareNorms computes the norms of rows lo to hi-1.
func (x *Rows) squareNorms(lo, hi int) {
	t := tableFor(x.cols)
	rows := roundUp(t.nr, t.mr)
	a, b, c := make([]float32, rows*x.cols), make([]float32, t.nr*x.cols), make([]float32, rows*t.nr)
	var p packer
	for r := lo; r < hi && x.cols > 0; r += t.nr {
		end := min(hi, r+t.nr)
		p.pack(x, a, t.mr, rows, 0, r, end)
		p.pack(x, b, t.nr, t.nr, 0, r, end)
		for k := 0; k < x.cols; k += kc {
			n := min(kc, x.cols-k)
			microkernel.Tile(c, t.nr, 0, a[k*rows:][:roundUp(end-r, t.mr)*n], b[k*t.nr:][:n*t.nr], k > 0)
		}
		for i := range end - r {
			x.norms[r+i] = c[i*t.nr+i]
		}
	}
}
