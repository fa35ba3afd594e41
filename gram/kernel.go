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

// newMap returns the map of k. It computes norms on workers goroutines. If ctx ends meanwhile, newMap returns ctx's error.
func newMap(ctx context.Context, k Kernel, x, y *Rows, workers int) (*mercerMap, error) {
	err := cmp.Or(k.check(), x.err, y.err)
	if err != nil {
		return nil, err
	}
	m := &mercerMap{Kernel: k, gamma: float32(k.Gamma), coef0: float32(k.Coef0)}
	if k.Kind != Linear && k.Kind != "" && (m.gamma == 0 || math.IsInf(float64(m.gamma), 0) || math.IsInf(float64(m.coef0), 0)) {
		return nil, message.Errorf("--gamma %v and --coef0 %v don't fit float32", k.Gamma, k.Coef0)
	}
	if k.Kind == RBF {
		if m.x, err = x.squaredNorms(ctx, workers); err == nil {
			m.y, err = y.squaredNorms(ctx, workers)
		}
	}
	return m, err
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
	ctx := context.Background()
	m, err := newMap(ctx, k, x, x, 1)
	if err != nil {
		return nil, err
	}
	norms, err := x.squaredNorms(ctx, 1)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(norms)
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

// squaredNorms returns the product of each row with itself, with the order of operations of all products. It computes
// the norms once, on workers goroutines. The result is shared. If ctx ends first, squaredNorms returns ctx's error.
func (x *Rows) squaredNorms(ctx context.Context, workers int) ([]float32, error) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if x.norms != nil {
		return x.norms, nil
	}
	norms, square := make([]float32, x.n), x.squareDense
	if _, sparse := x.elements(); sparse {
		square = x.squareSparse
	}
	err := parallel.For(ctx, workers, (x.n+normRows-1)/normRows, func(_, task int) {
		lo := task * normRows
		square(norms[lo:min(x.n, lo+normRows)], lo)
	})
	if err != nil {
		return nil, err
	}
	x.norms = norms
	return norms, nil
}

// squareDense sets norms to the squared norms of the rows from row first on. It takes the diagonals of small products.
func (x *Rows) squareDense(norms []float32, first int) {
	t := tableFor(x.cols)
	rows := roundUp(t.nr, t.mr)
	a, b, c := make([]float32, rows*x.cols), make([]float32, t.nr*x.cols), make([]float32, rows*t.nr)
	var p packer
	for r := 0; r < len(norms) && x.cols > 0; r += t.nr {
		n := min(len(norms)-r, t.nr)
		p.pack(x, a, t.mr, rows, 0, first+r, first+r+n)
		p.pack(x, b, t.nr, t.nr, 0, first+r, first+r+n)
		for k := 0; k < x.cols; k += kc {
			cols := min(kc, x.cols-k)
			microkernel.Tile(c, t.nr, 0, a[k*rows:][:roundUp(n, t.mr)*cols], b[k*t.nr:][:cols*t.nr], k > 0)
		}
		for i := range n {
			norms[r+i] = c[i*t.nr+i]
		}
	}
}

// squareSparse is squareDense for sparse rows. It sums the squares of the stored values alone. The results have the same
// bits: the other elements would add +0 to sums that are never -0.
func (x *Rows) squareSparse(norms []float32, first int) {
	for r := range norms {
		columns, values := x.sparseRow(first + r)
		for len(columns) > 0 {
			var sum [1]float32
			n := 0
			for n < len(columns) && columns[n]/kc == columns[0]/kc {
				kernel.Axpy(sum[:], values[n], values[n:n+1])
				n++
			}
			norms[r] += sum[0]
			columns, values = columns[n:], values[n:]
		}
	}
}
