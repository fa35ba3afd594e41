package svm

import (
	"context"
	"math"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/train"
)

const (
	boundary = 0.995 // of the step to the nearest bound is taken at most
	central  = 0.1   // product that learning begins with
)

// An interior is the state of the interior point method. Of each row it has the dual variable a over the weight c, the slack s and the
// loss l,
// whose difference l - s is 1 less the margin; and what the step's three parts change the margin by: plain goes towards the bounds,
// centre, times mu, away from them, to where the products a s and (1-a) l are mu, and correct makes up for what plain changes the products
// by beyond the first order.
type interior[T kernel.Float] struct {
	*solver[T]
	a, s, l                []float64
	plain, centre, correct []float64
	c                      []float64    // weights; nil if each is 1
	step                   [3][]float64 // of the weights: plain, centre and correct
}

// hinge finds the optimum for the hinge, from w and products of mu on.
func (s *solver[T]) hinge(ctx context.Context, mu float64) error {
	in := &interior[T]{solver: s}
	for _, v := range []*[]float64{&in.a, &in.s, &in.l, &in.plain, &in.centre, &in.correct} {
		*v = block.Alloc[float64](int(s.src.Rows()))
	}
	if s.src.Spec().Weighted {
		in.c = block.Alloc[float64](int(s.src.Rows()))
	}
	err := in.place(ctx, mu)
	for err == nil {
		if err = in.equations(ctx); err != nil || s.done() || s.passes+3 > s.opt.Epochs {
			return err
		}
		err = in.move(ctx)
	}
	return err
}

// place puts each row where its products are mu, given its margin.
func (in *interior[T]) place(ctx context.Context, mu float64) error {
	_, err := in.scores(ctx, [][]float64{in.w}, [][]float64{in.plain}, func(i int, _ *stepSums) {
		t := (1 - in.plain[i]) / mu
		root := math.Sqrt(float64(t*t) + 4)
		a, other := 2/(root+2-t), 2/(root+2+t) // with 1/a - 1/other = -t, and without cancelling
		in.a[i], in.s[i], in.l[i] = a, mu/a, mu/other
	}, false)
	return err
}

// weight returns the weight of row i.
func (in *interior[T]) weight(i int) float64 {
	if in.c == nil {
		return 1
	}
	return in.c[i]
}

// stepSums are of the rows of a run.
type stepSums struct {
	most     float64   // the reciprocal of the longest step within bounds, 1 at least
	weight   float64   // sum of weights
	products float64   // sum of the products a s and (1-a) l, times weights
	curved   float64   // what the square of a step's length adds to them
	rhs      []float64 // of the correction
	noLabels bool
}

func (r *stepSums) add(other stepSums) {
	r.most = max(r.most, other.most)
	r.weight += other.weight
	r.products += other.products
	r.curved += other.curved
	if r.rhs == nil {
		r.rhs = other.rhs
	} else {
		for i, v := range other.rhs {
			r.rhs[i] += v
		}
	}
	r.noLabels = r.noLabels || other.noLabels
}

// scores makes a pass over the rows, which sets elements of into to what the steps change the rows' margins by, and calls part for
// each row that doesn't weigh 0. Others take no part in anything. With gather, it also sums up the right side of the correction.
func (in *interior[T]) scores(ctx context.Context, steps, into [][]float64, part func(i int, r *stepSums), gather bool) (stepSums, error) {
	of := func(run block.Run[T]) stepSums {
		r := stepSums{most: 1, noLabels: run.Y == nil}
		if r.noLabels {
			return r
		}
		panel := in.scratch.Get().(*dense.Panel[T])
		defer in.scratch.Put(panel)
		for lo := 0; lo < run.Len(); lo += dense.PanelRows {
			y, first := run.Y[lo:min(run.Len(), lo+dense.PanelRows)], int(run.First)+lo
			if in.c != nil {
				copy(in.c[first:], run.W[lo:lo+len(y)])
			}
			panel.Load(run.Slice(lo, lo+len(y)))
			for k, step := range steps {
				margins := into[k][first : first+len(y)]
				panel.Scores(step, margins)
				for i, y := range y {
					margins[i] *= float64(y)
				}
			}
			for i := range y {
				if in.weight(first+i) > 0 {
					part(first+i, &r)
				}
			}
			if gather {
				in.corrections(panel.Factors(), first, y)
				panel.Add()
			}
		}
		if gather {
			r.rhs = panel.Take(0, make([]float64, 0, in.cols))
		}
		return r
	}
	sum := stepSums{most: 1}
	err := in.counted(func() error { return block.ReduceRuns(ctx, in.src, in.opt.Workers, of, sum.add) })
	if err == nil && sum.noLabels {
		err = block.ErrNoLabels
	}
	if sum.rhs == nil {
		sum.rhs = make([]float64, in.cols) // there are no rows
	}
	return sum, err
}

// corrections sets the factors of rows from one on in the right side of the correction.
func (in *interior[T]) corrections(factors []float64, first int, y []T) {
	for k, y := range y {
		f, i := factors[k*dense.PanelCols:][:dense.PanelCols], first+k
		clear(f)
		if c := in.weight(i); c > 0 {
			a, other := in.a[i], 1-in.a[i]
			low, high := in.beyond(i)
			f[0] = float64(y) * (float64(high*a) - float64(low*other)) * c / (float64(in.s[i]*other) + float64(in.l[i]*a))
		}
	}
}

// each calls part for each row that doesn't weigh 0, on several goroutines.
func (in *interior[T]) each(ctx context.Context, part func(i int)) error {
	runs := (len(in.a) + block.RunRows - 1) / block.RunRows
	return block.Parallel(ctx, in.opt.Workers, runs, func(_, n int) {
		for i := n * block.RunRows; i < min(len(in.a), (n+1)*block.RunRows); i++ {
			if in.weight(i) > 0 {
				part(i)
			}
		}
	})
}

// hingeSums are sums over the rows of a run.
type hingeSums struct {
	runSums
	rhs [2][]float64
}

// equations makes a pass over the rows that gives the objectives and both parts of the step.
func (in *interior[T]) equations(ctx context.Context) error {
	m, err := gram.NewSymmetric[float64](in.cols, gram.Packed)
	if err != nil {
		return err
	}
	in.at = in.newSums()
	rhs := [2][]float64{make([]float64, in.cols), make([]float64, in.cols)}
	err = in.counted(func() error {
		return train.Scatter(ctx, m, in.src, in.opt.Workers, func(run block.Run[T], s, _ []float64) hingeSums { return in.run(run, s) }, func(t hingeSums) {
			in.at.add(t.runSums)
			for k := range rhs {
				for i, v := range t.rhs[k] {
					rhs[k][i] += v
				}
			}
		})
	})
	if err != nil {
		return err
	}
	in.objectives(in.w, &in.at)
	for i, v := range in.at.gradient {
		rhs[0][i] -= v
	}
	for i := range in.src.Spec().Features {
		m.Data[i*(i+1)/2+i] += in.l2
	}
	factor, _ := dense.Factorise(m.Data, in.cols)
	if factor == nil || in.at.objective-in.at.objective != 0 {
		return train.TooLarge[T]()
	}
	in.factor = factor
	for k := range rhs {
		in.step[k] = in.padded(factor.Solve(rhs[k]))
	}
	return nil
}

// padded returns weights with zeros at their end.
func (in *interior[T]) padded(w []float64) []float64 {
	return append(w, make([]float64, len(in.w)-in.cols)...)
}

// run computes sums over the rows of a run, and their weights in the equations' matrix.
func (in *interior[T]) run(run block.Run[T], weights []float64) (r hingeSums) {
	panel := in.scratch.Get().(*dense.Panel[T])
	defer in.scratch.Put(panel)
	for lo := 0; lo < run.Len(); lo += dense.PanelRows {
		hi := min(run.Len(), lo+dense.PanelRows)
		panel.Load(run.Slice(lo, hi))
		factors, first := panel.Factors(), int(run.First)
		for i := lo; i < hi; i++ {
			f, y, class := factors[(i-lo)*dense.PanelCols:], float64(run.Y[i]), 0
			if y > 0 {
				class = 1
			}
			c := run.Weight(i)
			if c == 0 {
				weights[i] = 0
				clear(f[:dense.PanelCols])
				continue
			}
			a, s, l := in.a[first+i], in.s[first+i], in.l[first+i]
			other := 1 - a
			inverse := c / (float64(s*other) + float64(l*a))
			weights[i] = float64(a*other) * inverse
			f[class], f[1-class] = float64(c*a), 0
			f[2] = float64(y*(l-s)) * weights[i]
			f[3] = float64(y*(other-a)) * inverse
			r.weight += c
			r.loss += float64(c * max(0, l-s))
			r.a[class] += float64(c * a)
		}
		panel.Add()
	}
	for k := range r.rhs {
		r.ax[k] = panel.Take(k, make([]float64, 0, in.cols))
		r.rhs[k] = panel.Take(2+k, make([]float64, 0, in.cols))
	}
	return r
}

// plainly returns what the plain step changes in row i.
func (in *interior[T]) plainly(i int) (a, s, l float64) { return in.change(i, in.plain[i], 0, 0, 0) }

// beyond returns what the plain step changes the products of row i by beyond the first order.
func (in *interior[T]) beyond(i int) (low, high float64) {
	a, s, l := in.plainly(i)
	return float64(a * s), -float64(a * l)
}

// wholly returns what the whole step changes in row i.
func (in *interior[T]) wholly(i int, mu float64) (a, s, l float64) {
	low, high := in.beyond(i)
	return in.change(i, in.plain[i]+float64(mu*in.centre[i])+in.correct[i], mu, low, high)
}

// change returns what a step changes in row i that changes its margin by so much, and its products to mu less low and high.
func (in *interior[T]) change(i int, margin, mu, low, high float64) (a, s, l float64) {
	inverse, other := 1/in.a[i], 1/(1-in.a[i])
	s, l = in.s[i], in.l[i]
	a = (l - s - margin + float64((mu-low)*inverse) - float64((mu-high)*other)) / (float64(s*inverse) + float64(l*other))
	return a, float64((mu-low-float64(s*a))*inverse) - s, float64((mu-high+float64(l*a))*other) - l
}

// bound notes how long a step may be that changes v, which is to stay above 0, by d.
func (r *stepSums) bound(v, d float64) {
	if -d > r.most*v {
		r.most = -d / v
	}
}

// bounds notes how long a step may be with these changes in row i.
func (in *interior[T]) bounds(i int, r *stepSums, a, s, l float64) {
	r.bound(in.a[i], a)
	r.bound(1-in.a[i], -a)
	r.bound(in.s[i], s)
	r.bound(in.l[i], l)
}

// move takes a step as long as it may be, which keeps the farther from the bounds the less far one straight towards them would
// get, and is corrected by what that one changes products by (Mehrotra, "On the Implementation of a Primal-Dual Interior Point Method",
// SIAM J. Optimization 2, 1992).
func (in *interior[T]) move(ctx context.Context) error {
	r, err := in.scores(ctx, in.step[:2], [][]float64{in.plain, in.centre}, func(i int, r *stepSums) {
		a, s, l := in.plainly(i)
		in.bounds(i, r, a, s, l)
		c := in.weight(i)
		r.weight += c
		r.products += float64(c * (float64(in.a[i]*in.s[i]) + float64((1-in.a[i])*in.l[i])))
		r.curved += float64(c * float64(a*(s-l)))
	}, true)
	if err != nil {
		return err
	}
	t := 1 / r.most
	left := max(0, (float64(r.products*(1-t))+float64(float64(t*t)*r.curved))/r.products)
	mu := left * left * left * r.products / (2 * r.weight)
	in.step[2] = in.padded(in.factor.Solve(r.rhs))
	r, err = in.scores(ctx, in.step[2:], [][]float64{in.correct}, func(i int, r *stepSums) {
		a, s, l := in.wholly(i, mu)
		in.bounds(i, r, a, s, l)
	}, false)
	if err != nil {
		return err
	}
	t = boundary / r.most
	for i := range in.w {
		in.w[i] += float64(t * (in.step[0][i] + float64(mu*in.step[1][i]) + in.step[2][i]))
	}
	in.steps++
	return in.each(ctx, func(i int) {
		a, s, l := in.wholly(i, mu)
		in.a[i] += float64(t * a)
		in.s[i] += float64(t * s)
		in.l[i] += float64(t * l)
	})
}
