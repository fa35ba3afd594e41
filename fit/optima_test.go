package fit_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"halfspace/block"
	"halfspace/fit"
	"halfspace/internal/testrows"
	"halfspace/kernel"
	"halfspace/separable"
	"halfspace/train/logistic"
)

// TestWide compares the functions of wide with math/big, and with identities.
func TestWide(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	value := func(a wide) *big.Float {
		return new(big.Float).SetPrec(300).Add(big.NewFloat(a.hi), big.NewFloat(a.lo))
	}
	near := func(name string, a wide, b *big.Float) {
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
		e := wide{math.Abs(a.hi), math.Copysign(1, a.hi) * a.lo}
		near("log", e.log1p().exp(), value(e.add(wide{1, 0})))
	}
	near("e", wide{1, 0}.exp(), value(wide{math.E, 1.4456468917292502e-16}))
}

// A hard is a random problem with what breaks solvers: rows that are far larger than others, columns of unlike scales or far
// from zero, and columns that nearly depend on others.
type hard struct {
	name    string
	x       [][]float64
	y       []float64 // -1 and 1, or class numbers
	classes int
	l2      float64
	digits  int // 32 or 64
}

func newHard(seed uint64) *hard {
	rng := rand.New(rand.NewPCG(seed, 37))
	rows, features := 20+rng.IntN(130), 1+rng.IntN(5)
	if seed%40 == 7 {
		rows, features = block.RunRows+rng.IntN(2000), 1+rng.IntN(3)
	}
	h := &hard{classes: 2 + rng.IntN(2), digits: 32 << rng.IntN(2)}
	scores := make([][]float64, rows)
	for r := range rows {
		x := make([]float64, features)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		h.x, scores[r] = append(h.x, x), make([]float64, h.classes)
	}
	for k := range h.classes {
		for i := range features {
			w := 2 * rng.NormFloat64()
			for r := range rows {
				scores[r][k] += w * h.x[r][i]
			}
		}
	}
	noise := []float64{0.3, 1, 3}[rng.IntN(3)]
	for r := range rows {
		for k := range scores[r] {
			scores[r][k] -= noise * math.Log(-math.Log(rng.Float64()))
		}
		best := slices.Index(scores[r], slices.Max(scores[r]))
		if r < h.classes {
			best = r // each class has rows
		}
		h.y = append(h.y, float64(best))
		if h.classes == 2 {
			h.y[r] = float64(2*best - 1)
		}
	}
	is := func(share float64) bool { return rng.Float64() < share }
	room := 1e13                 // what differences, offsets and outliers leave of the digits of a score
	if features > 1 && is(0.5) { // before all else, the difference decides
		by := math.Pow(10, -12*rng.Float64())
		if room *= by; is(0.15) {
			by, room = 0, 1e13
		}
		h.name += fmt.Sprintf(" near %.1g", by)
		for r := range h.x {
			h.x[r][0] = h.x[r][1] + by*h.x[r][0]
			if features > 2 && by > 1e-6 {
				h.x[r][0] += h.x[r][2]
			}
		}
	}
	scaled, far := is(0.4), is(0.3)
	if scaled {
		h.name += " scales"
	}
	if far {
		h.name += " offsets"
	}
	scales, most := make([]float64, features), 1.0
	for i := range scales {
		scale, by := 1.0, 0.0
		if scaled {
			scale = math.Pow(10, 18*rng.Float64()-6)
		}
		if far {
			by = math.Pow(10, min(9, math.Log10(room))*rng.Float64())
			most = max(most, by)
		}
		for r := range h.x {
			h.x[r][i] = float64(scale * (h.x[r][i] + by))
		}
		scales[i] = scale
	}
	room /= most
	if is(0.5) {
		size := math.Pow(10, min(12, math.Log10(room))*rng.Float64())
		h.name += fmt.Sprintf(" outliers %.1g", size)
		sentinel := is(0.5)
		for range 1 + rng.IntN(3) {
			x := h.x[rng.IntN(rows)]
			for i := range x {
				if sentinel {
					x[i] = min(size, room*scales[i])
				} else {
					x[i] *= size
				}
			}
		}
	}
	h.l2 = []float64{0, math.Pow(10, -3-11*rng.Float64()), 1, 1000}[rng.IntN(4)]
	h.name = fmt.Sprintf("set %d: %d x %d, %d classes, float%d, l2 %.2g:%s", seed, rows, features, h.classes, h.digits, h.l2, h.name)
	if h.digits == 32 {
		for _, x := range h.x {
			for i, v := range x {
				x[i] = float64(float32(v))
			}
		}
	}
	return h
}

// problems returns the precise problems of a training: one, or each class versus the rest.
func (h *hard) problems(hinge, versus bool) (all []*precise) {
	p := &precise{classes: h.classes, l2: h.l2, hinge: hinge}
	for r, x := range h.x {
		p.x, p.y = append(p.x, append(slices.Clone(x), 1)), append(p.y, int(h.y[r]))
		if h.classes == 2 {
			p.y[r] = int(h.y[r]+1) / 2
		}
	}
	if !versus {
		return []*precise{p}
	}
	for k := range h.classes {
		one := *p
		one.classes, one.y = 2, nil
		for _, y := range p.y {
			class := 0
			if y == k {
				class = 1
			}
			one.y = append(one.y, class)
		}
		all = append(all, &one)
	}
	return all
}

// A way is a learner with options.
type way struct{ algo, options string }

// ways returns the trainings whose objectives are the same.
func (h *hard) ways() (groups [][]way) {
	solvers := []string{"solver=newton", "solver=lbfgs", "solver=sgd"}
	if h.l2 > 0 {
		solvers = append(solvers, "solver=truncated")
		groups = append(groups, []way{{"svm", "loss=squared_hinge"}})
	}
	var binary, joint []way
	for _, s := range solvers {
		binary = append(binary, way{"logistic", s})
	}
	if h.classes > 2 {
		for k := range binary {
			binary[k].options += " multiclass=ovr"
		}
		joint = []way{{"logistic", "solver=lbfgs multiclass=joint"}, {"logistic", "solver=sgd multiclass=joint"}}
		groups = append(groups, joint)
	}
	return append(groups, binary)
}

// A tally counts what trainings claimed.
type tally struct{ runs, converged, bounded, separable, failed int }

// An outcome is a training of a hard problem.
type outcome struct {
	way
	err       error
	objective float64 // in high precision, at the weights as written; +Inf after an error
	w         []float64
	converged bool
	gap       float64 // as claimed; +Inf if none is
	dependent bool
}

// learn trains one way.
func (h *hard) learn(t *testing.T, w way, problems []*precise) *outcome {
	if h.digits == 32 {
		return learnHard[float32](t, h, w, problems)
	}
	return learnHard[float64](t, h, w, problems)
}

func learnHard[T kernel.Float](t *testing.T, h *hard, w way, problems []*precise) *outcome {
	learner := fit.Describe(w.algo)
	settings, opt := learner.New(), fit.Options{}
	settings.Shared().Workers = 1
	set(t, learner, settings, &opt, append(strings.Fields(w.options), "l2="+strconv.FormatFloat(h.l2, 'g', -1, 64)))
	o := &outcome{way: w, objective: math.Inf(1), gap: math.Inf(1)}
	f, err := fit.Learn(t.Context(), h.rows(t).(block.Source[T]), fit.New(learner, settings), opt)
	if o.err = err; err != nil {
		return o
	}
	for _, v := range f.Result.Weights {
		o.w = append(o.w, float64(v))
	}
	o.objective = value(problems, o.w)
	m := &f.Model.Training
	if o.converged = m.Converged; m.Optimum != nil {
		o.gap = m.Optimum.Gap
		if off := math.Abs(m.Optimum.Objective - o.objective); off > 1e-9*o.objective+1e-11 && off > o.gap {
			t.Errorf("%s, %v: the objective is said to be %v, it is %v", h.name, w, m.Optimum.Objective, o.objective)
		}
	}
	o.dependent = m.Dependent != nil
	return o
}

// rows returns the rows of the problem's type.
func (h *hard) rows(t *testing.T) any {
	if h.digits == 32 {
		if h.classes == 2 {
			return testrows.Dense[float32](h.x, h.y, true)
		}
		return testrows.Classes[float32](h.x, h.y, h.classes, true)
	}
	if h.classes == 2 {
		return testrows.Dense[float64](h.x, h.y, true)
	}
	return testrows.Classes[float64](h.x, h.y, h.classes, true)
}

// value returns the sum of the objectives of problems, whose weights follow one another.
func value(problems []*precise, w []float64) float64 {
	sum, n := wide{}, len(w)/len(problems)
	for k, p := range problems {
		sum = sum.add(p.at(widen(w[k*n:][:n]), nil, nil))
	}
	return sum.hi
}

func widen(w []float64) (all []wide) {
	for _, v := range w {
		all = append(all, wide{v, 0})
	}
	return all
}

// optimum returns the least objective that Newton's method finds in high precision, from zeros and from weights, and whether
// optima exist.
func optimum(problems []*precise, from [][]float64) (least float64, exists bool) {
	sum, exists := wide{}, true
	for k, p := range problems {
		n := len(p.x[0]) * p.vectors()
		best, there := wide{math.Inf(1), 0}, false
		for _, w := range append([][]float64{nil}, from...) {
			start := make([]wide, n)
			if w != nil {
				start = widen(w[k*n:][:n])
			}
			_, f, ok := p.minimise(start)
			if there = there || ok; f.hi < best.hi {
				best = f
			}
		}
		sum, exists = sum.add(best), exists && there
	}
	return sum.hi, exists
}

// TestOptima: on hard problems, claims about the optimum hold for the weights as written. The objective and the optimum are
// computed in high precision. HALFSPACE_TEST=full tries 2,000 problems.
func TestOptima(t *testing.T) {
	t.Parallel()
	sets := uint64(40)
	if os.Getenv("HALFSPACE_TEST") == "full" {
		sets = 2000
	}
	tallies := map[string]*tally{}
	for seed := range sets {
		h := newHard(seed)
		for _, group := range h.ways() {
			h.test(t, group, tallies)
		}
	}
	for name, n := range tallies {
		t.Logf("%-45s %5d trainings, %5d converged, %5d with a gap, %4d errors that planes separate rows, %d other errors", name, n.runs, n.converged, n.bounded, n.separable, n.failed)
		if !strings.Contains(name, "sgd") && 2*(n.converged+n.separable) < n.runs {
			t.Errorf("%s: of %d trainings %d converged", name, n.runs, n.converged)
		}
	}
}

// test trains in each way of a group and tests the claims.
func (h *hard) test(t *testing.T, group []way, tallies map[string]*tally) {
	hinge, versus := group[0].algo == "svm", h.classes > 2 && !strings.Contains(group[0].options, "joint")
	problems := h.problems(hinge, versus)
	var all []*outcome
	var from [][]float64
	for _, w := range group {
		o := h.learn(t, w, problems)
		all = append(all, o)
		if o.w != nil && o.objective-o.objective == 0 {
			from = append(from, o.w)
		}
	}
	slices.SortFunc(all, func(a, b *outcome) int {
		if a.objective < b.objective {
			return -1
		}
		return 1
	})
	least, exists := optimum(problems, from[:min(1, len(from))])
	least = min(least, all[0].objective)
	for _, o := range all {
		name := o.algo + " " + o.options
		n := tallies[name]
		if n == nil {
			n = &tally{}
			tallies[name] = n
		}
		n.runs++
		above := o.objective - least
		switch {
		case errors.Is(o.err, logistic.ErrSeparable):
			n.separable++
			if exists && !h.separable(t, versus) {
				t.Errorf("%s, %s: rows are said to be separable, but there is an optimum of %v", h.name, name, least)
			}
			continue
		case o.err != nil:
			n.failed++
			t.Logf("%s, %s: %v", h.name, name, o.err)
			continue
		}
		most := 1e-6
		if strings.Contains(name, "sgd") {
			most = 1e-3
		}
		masked := o.dependent && math.IsInf(o.gap, 1) // a column is left out that the rounding of its elements hides
		if o.converged {
			if n.converged++; above > most*o.objective*(1+1e-6)+1e-12 && !masked {
				t.Errorf("%s, %s: converged at %v, which is %v above the optimum", h.name, name, o.objective, above)
			}
		}
		if !math.IsInf(o.gap, 1) {
			if n.bounded++; above > o.gap*(1+1e-6)+1e-11*o.objective {
				t.Errorf("%s, %s: the gap of %v is said to be %v, it is %v", h.name, name, o.objective, o.gap, above)
			}
		}
		if h.l2 == 0 && o.converged && !masked && h.separable(t, versus) {
			t.Errorf("%s, %s: converged, but a plane separates the rows", h.name, name)
		}
	}
}

// separable tells whether check proves that a plane separates the rows of two classes, or of a class from all others.
func (h *hard) separable(t *testing.T, versus bool) bool {
	if h.classes > 2 && !versus {
		return false
	}
	for _, p := range h.problems(false, versus) {
		var y []float64
		for _, class := range p.y {
			y = append(y, float64(2*class-1))
		}
		r, err := separable.Check(t.Context(), testrows.Dense[float64](h.x, y, true), separable.Options{})
		if err == nil && r.Verdict == separable.Separable {
			return true
		}
	}
	return false
}
