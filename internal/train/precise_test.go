package train_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// A wideNumber is the sum of two float64, the second at most half a unit of the last digit of the first (Dekker, "A
// floating-point technique for extending the available precision", 1971). Operations have relative errors of about 2^-100.
type wideNumber struct{ hi, lo float64 }

func twoSum(a, b float64) wideNumber {
	s := a + b
	t := s - a
	return wideNumber{s, (a - (s - t)) + (b - t)}
}

func fastTwoSum(a, b float64) wideNumber {
	s := a + b
	return wideNumber{s, b - (s - a)}
}

func (a wideNumber) add(b wideNumber) wideNumber {
	s, t := twoSum(a.hi, b.hi), twoSum(a.lo, b.lo)
	s = fastTwoSum(s.hi, s.lo+t.hi)
	return fastTwoSum(s.hi, s.lo+t.lo)
}

func (a wideNumber) neg() wideNumber             { return wideNumber{-a.hi, -a.lo} }
func (a wideNumber) sub(b wideNumber) wideNumber { return a.add(b.neg()) }

func (a wideNumber) mul(b wideNumber) wideNumber {
	p := a.hi * b.hi
	return fastTwoSum(p, math.FMA(a.hi, b.hi, -p)+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a wideNumber) times(b float64) wideNumber { return a.mul(wideNumber{b, 0}) }

func (a wideNumber) div(b wideNumber) wideNumber {
	q := a.hi / b.hi
	r := a.sub(b.times(q))
	q2 := r.hi / b.hi
	r = r.sub(b.times(q2))
	return fastTwoSum(q, q2).add(wideNumber{r.hi / b.hi, 0})
}

func (a wideNumber) root() wideNumber {
	if !(a.hi > 0) {
		return wideNumber{}
	}
	x := 1 / math.Sqrt(a.hi)
	y := a.times(x) // a/sqrt(a), improved by one step of Newton's method
	return y.add(a.sub(y.mul(y)).times(x / 2))
}

var ln2 = wideNumber{0.6931471805599453, 2.3190468138462996e-17}

// inverses are 1/i.
var inverses = func() (all [12]wideNumber) {
	for i := range all {
		all[i] = wideNumber{1, 0}.div(wideNumber{float64(max(1, i)), 0})
	}
	return all
}()

// exp returns e^a for a up to 700.
func (a wideNumber) exp() wideNumber {
	if a.hi < -700 {
		return wideNumber{}
	}
	k := math.Round(a.hi / ln2.hi)
	r := a.sub(ln2.times(k)).times(1.0 / 512)
	e, term := r, r // e^r - 1
	for i := 2; i < len(inverses); i++ {
		term = term.mul(r).mul(inverses[i])
		e = e.add(term)
	}
	for range 9 {
		e = e.times(2).add(e.mul(e))
	}
	e = e.add(wideNumber{1, 0})
	return wideNumber{math.Ldexp(e.hi, int(k)), math.Ldexp(e.lo, int(k))}
}

// log1p returns log(1 + a) for a from 0 on.
func (a wideNumber) log1p() wideNumber {
	if a.hi < 1e-18 {
		return a
	}
	y := wideNumber{math.Log1p(a.hi), 0}
	d := a.add(wideNumber{1, 0}).mul(y.neg().exp()).sub(wideNumber{1, 0})
	return y.add(d).sub(d.mul(d).times(0.5))
}

// A preciseProblem is a problem whose objective is computed with more than 30 digits: logistic regression of two
// classes or of more together, or the squared hinge.
type preciseProblem struct {
	x       [][]float64 // the bias among them
	y       []int       // classes
	classes int
	l2      float64
	hinge   bool
	// kink is the width of the kink of the hinge, which is quadratic there; 0 if the hinge is squared. With exact set, the
	// hinge has a kink of no width and no derivatives.
	kink  float64
	exact bool
}

func (p *preciseProblem) vectors() int {
	if p.classes == 2 {
		return 1
	}
	return p.classes
}

// at returns the objective at w, the vectors of the classes one after another. It adds to gradient and hessian, unless
// they are nil.
func (p *preciseProblem) at(w, gradient []wideNumber, hessian [][]wideNumber) (f wideNumber) {
	cols, n := len(p.x[0]), p.vectors()
	for i, v := range w {
		if i%cols < cols-1 {
			f = f.add(v.mul(v).times(p.l2 / 2))
			if gradient != nil {
				gradient[i] = gradient[i].add(v.times(p.l2))
				hessian[i][i] = hessian[i][i].add(wideNumber{p.l2, 0})
			}
		}
	}
	factors, curvature := make([]wideNumber, n), make([][]wideNumber, n)
	for k := range curvature {
		curvature[k] = make([]wideNumber, n)
	}
	scores := make([]wideNumber, n)
	for r, x := range p.x {
		for k := range scores {
			scores[k] = wideNumber{}
			for i, v := range x {
				scores[k] = scores[k].add(w[k*cols+i].times(v))
			}
		}
		f = f.add(p.loss(p.y[r], scores, factors, curvature))
		if gradient == nil {
			continue
		}
		for k := range n {
			for i, v := range x {
				gradient[k*cols+i] = gradient[k*cols+i].add(factors[k].times(v))
			}
			for l := range k + 1 {
				if curvature[k][l] == (wideNumber{}) {
					continue
				}
				for i, v := range x {
					c := curvature[k][l].times(v)
					for j, u := range x {
						if at := l*cols + j; at <= k*cols+i {
							hessian[k*cols+i][at] = hessian[k*cols+i][at].add(c.times(u))
						}
					}
				}
			}
		}
	}
	return f
}

// loss returns a row's loss. It sets its derivatives by the scores.
func (p *preciseProblem) loss(y int, scores, factors []wideNumber, curvature [][]wideNumber) wideNumber {
	one := wideNumber{1, 0}
	if p.classes == 2 {
		sign := float64(2*y - 1)
		m := scores[0].times(sign)
		if p.hinge {
			u := one.sub(m)
			factors[0], curvature[0][0] = wideNumber{}, wideNumber{}
			if u.hi <= 0 {
				return wideNumber{}
			}
			switch {
			case p.exact:
				return u
			case p.kink > 0 && u.hi >= p.kink:
				factors[0] = wideNumber{-sign, 0}
				return u.sub(wideNumber{p.kink / 2, 0})
			case p.kink > 0:
				factors[0], curvature[0][0] = u.times(-sign/p.kink), wideNumber{1 / p.kink, 0}
				return u.mul(u).times(0.5 / p.kink)
			}
			factors[0], curvature[0][0] = u.times(-2*sign), wideNumber{2, 0}
			return u.mul(u)
		}
		e := m
		if m.hi >= 0 {
			e = m.neg()
		}
		e = e.exp() // e^-|m|
		small, large := e.div(one.add(e)), one.div(one.add(e))
		loss, q := e.log1p(), small // q is the probability of the other class
		if m.hi < 0 {
			loss, q = loss.sub(m), large
		}
		factors[0], curvature[0][0] = q.times(-sign), small.mul(large)
		return loss
	}
	best := 0
	for k, s := range scores {
		if s.sub(scores[best]).hi > 0 {
			best = k
		}
	}
	rest, e := wideNumber{}, make([]wideNumber, len(scores))
	for k, s := range scores {
		if e[k] = one; k != best {
			e[k] = s.sub(scores[best]).exp()
			rest = rest.add(e[k])
		}
	}
	sum := one.add(rest)
	loss := rest.log1p().sub(scores[y].sub(scores[best]))
	for k := range scores {
		e[k] = e[k].div(sum)
	}
	for k := range scores {
		others := wideNumber{}
		for l := range scores {
			if l != k {
				others = others.add(e[l])
			}
		}
		if factors[k] = e[k]; k == y {
			factors[k] = others.neg()
		}
		for l := range k + 1 {
			if curvature[k][l] = e[k].mul(e[l]).neg(); k == l {
				curvature[k][l] = e[k].mul(others)
			}
		}
	}
	return loss
}

// derivatives returns memory for at.
func (p *preciseProblem) derivatives() (gradient []wideNumber, hessian [][]wideNumber) {
	n := len(p.x[0]) * p.vectors()
	for range n {
		hessian = append(hessian, make([]wideNumber, n))
	}
	return make([]wideNumber, n), hessian
}

// minimise runs Newton's method from w, with steps that are damped until the objective falls. exists tells whether the
// last step proves that an optimum exists: it changes all scores by less than 1/4, predicts no gain, and leaves out no
// direction but those in which rows have no extent.
func (p *preciseProblem) minimise(w []wideNumber) (best []wideNumber, f wideNumber, exists bool) {
	n, cols := len(w), len(p.x[0])
	gradient, hessian := p.derivatives()
	p.at(make([]wideNumber, n), gradient, hessian)
	_, flat := solve(hessian, gradient, 0)
	damping := 0.0
	for range 80 {
		gradient, hessian := p.derivatives()
		f = p.at(w, gradient, hessian)
		moved, enough := false, false
		for range 12 {
			step, left := solve(hessian, gradient, damping)
			gain, next := wideNumber{}, make([]wideNumber, n)
			for i, v := range step {
				gain = gain.add(v.mul(gradient[i]))
				next[i] = w[i].sub(v)
			}
			if damping == 0 && gain.hi <= 1e-20*f.hi {
				exists = left == flat
				for _, x := range p.x {
					for k := range p.vectors() {
						z := wideNumber{}
						for i, v := range x {
							z = z.add(step[k*cols+i].times(v))
						}
						exists = exists && math.Abs(z.hi) < 0.25
					}
				}
				enough = true
			}
			if g := p.at(next, nil, nil); g.sub(f).hi < 0 {
				w, moved = next, true
				if damping /= 16; damping < 1e-6 {
					damping = 0
				}
				break
			}
			if enough {
				break
			}
			damping = max(1e-4, 10*damping)
		}
		if !moved || enough {
			break
		}
	}
	return w, p.at(w, nil, nil), exists
}

// minimiseHinge returns a value of the hinge near its least one: that where the hinge with a narrow kink is least.
func (p *preciseProblem) minimiseHinge(w []wideNumber) wideNumber {
	q := *p
	for q.kink = 1; q.kink > 1e-13; q.kink /= 1 << 5 {
		q.exact = false
		w, _, _ = q.minimise(w)
	}
	return p.at(w, nil, nil)
}

// solve returns the solution of a system whose matrix, the lower triangle a, is positive semi-definite, with its diagonal
// times 1 + damping, and how many unknowns are 0 since they have no pivot.
func solve(a [][]wideNumber, b []wideNumber, damping float64) (x []wideNumber, left int) {
	n := len(b)
	scale, l := make([]wideNumber, n), make([][]wideNumber, n)
	x = make([]wideNumber, n)
	out := make([]bool, n)
	for i := range n {
		if scale[i] = (wideNumber{1, 0}); a[i][i].hi > 0 {
			scale[i] = wideNumber{1, 0}.div(a[i][i].root())
		}
		l[i] = make([]wideNumber, i+1)
		for j := range i + 1 {
			v := a[i][j].mul(scale[i]).mul(scale[j])
			if i == j {
				v = v.times(1 + damping)
			}
			for k := range j {
				v = v.sub(l[i][k].mul(l[j][k]))
			}
			switch {
			case i == j && v.hi <= 1e-27:
				out[i], left = true, left+1
				l[i] = make([]wideNumber, i+1)
			case i == j:
				l[i][i] = v.root()
			case !out[j]:
				l[i][j] = v.div(l[j][j])
			}
		}
		if out[i] {
			continue
		}
		x[i] = b[i].mul(scale[i])
		for k := range i {
			x[i] = x[i].sub(l[i][k].mul(x[k]))
		}
		x[i] = x[i].div(l[i][i])
	}
	for i := n - 1; i >= 0; i-- {
		if out[i] {
			continue
		}
		for k := i + 1; k < n; k++ {
			x[i] = x[i].sub(l[k][i].mul(x[k]))
		}
		x[i] = x[i].div(l[i][i])
	}
	for i := range x {
		x[i] = x[i].mul(scale[i])
	}
	return x, left
}

// TestWide compares the functions of wide with math/big, and with identities.
func TestWide(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	value := func(a wideNumber) *big.Float {
		return new(big.Float).SetPrec(300).Add(big.NewFloat(a.hi), big.NewFloat(a.lo))
	}
	near := func(name string, a wideNumber, b *big.Float) {
		t.Helper()
		off, _ := new(big.Float).Sub(value(a), b).Float64()
		if size, _ := b.Float64(); math.Abs(off) > 1e-28*math.Abs(size) {
			t.Errorf("%s: %v is off by %v", name, a, off)
		}
	}
	for range 1000 {
		a, b := twoSum(rng.NormFloat64(), 1e-17*rng.NormFloat64()), twoSum(100*rng.NormFloat64(), 1e-16*rng.NormFloat64())
		x, y := value(a), value(b)
		near("sum", a.add(b), new(big.Float).SetPrec(300).Add(x, y))
		near("product", a.mul(b), new(big.Float).SetPrec(300).Mul(x, y))
		near("quotient", a.div(b), new(big.Float).SetPrec(300).Quo(x, y))
		near("root", a.mul(a).root().mul(a.mul(a).root()), value(a.mul(a)))
		near("e^(a+b)", a.add(b).exp(), value(a.exp().mul(b.exp())))
		e := wideNumber{math.Abs(a.hi), math.Copysign(1, a.hi) * a.lo}
		near("log", e.log1p().exp(), value(e.add(wideNumber{1, 0})))
	}
	near("e", wideNumber{1, 0}.exp(), value(wideNumber{math.E, 1.4456468917292502e-16}))
}
