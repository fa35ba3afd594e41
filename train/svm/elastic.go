package svm

import (
	"context"
	"errors"
	"slices"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/linalg"
	"halfspace/internal/message"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// refusedOption returns the error of the option that l1 or nonnegative excludes, or nil.
func (o *Settings) refusedOption() *learner.OptionError {
	if !o.needsElastic() || o.Loss != Hinge {
		return nil
	}
	return message.Refusal("loss", string(Hinge), "with %s, which takes %s alone: leave one of them out",
		message.Option(o.penalty().Option()), SquaredHinge)
}

// needsElastic tells whether the options need Task.Elastic of package optimize: l1 is above 0, or nonnegative is set.
func (o *Settings) needsElastic() bool { return o.penalty().NeedsElastic() }

func (o *Settings) penalty() optimize.Penalty {
	return optimize.Penalty{L1: o.L1, L2: o.L2, NonNegative: o.NonNegative}
}

func taskOf(src block.Source, opt Settings) *optimize.Task {
	none := opt
	none.L2 = 0
	return &optimize.Task{Penalty: opt.penalty(), Options: learner.SharedOptions(&opt), Rows: src, Loss: squaredHinges,
		Sums: newProblem(src, opt).sumLosses,
		Dense: func(src block.Source) optimize.DenseLoss {
			l := &rowLoss{problem: newProblem(src, none)}
			if !opt.needsElastic() {
				l.hessian = new(hessian)
			}
			return l
		}}
}

// squaredHinges sets z to the margins, loss to the squared hinge, and factor and curvature to its derivatives by the
// score.
func squaredHinges(z, factor, curvature, loss, y []float64) {
	for i, label := range y {
		z[i] *= label
		u := max(0, 1-float64(z[i]))
		factor[i], loss[i], curvature[i] = -2*float64(label*u), u*u, 0
		if u > 0 {
			curvature[i] = 2
		}
	}
}

// Path returns the minima for up to n falling penalties l1, or for the given penalties; see optimize.Task.Path. Weights
// are not rounded to float32.
func Path(ctx context.Context, src block.Source, opt Settings, n int, penalties []float64) ([]*optimize.Stage, error) {
	opt.L1 = 1
	src, err := begin(ctx, src, &opt)
	if err != nil {
		return nil, err
	}
	return taskOf(src, opt).Path(ctx, n, penalties)
}

// SumLosses returns the sum of the rows' losses for each of the given vectors of weights.
func SumLosses(ctx context.Context, src block.Source, opt Settings, weights [][]float64) ([]float64, error) {
	return newProblem(src, opt).sumLosses(ctx, weights)
}

// rowLoss is the squared hinge of the rows as an optimize.DenseLoss.
type rowLoss struct {
	*problem
	hessian *hessian // Hessian of the last pass, which the next pass updates; nil if each pass makes its own
}

// sumLosses makes a pass over the rows. It returns the sum of their losses for each of the given vectors of weights.
func (p *problem) sumLosses(ctx context.Context, all [][]float64) ([]float64, error) {
	var padded [][]float64
	for _, w := range all {
		padded = append(padded, p.padded(w))
	}
	return p.losses(ctx, padded, false)
}

// padded returns a copy of weights with zeros at its end, of linalg.Pad(cols) elements.
func (p *problem) padded(w []float64) []float64 {
	to := make([]float64, linalg.Pad(p.cols))
	copy(to, w)
	return to
}

// BiasAlone returns the bias (p-n)/(p+n) and its loss. weights are n and p, the sums of sample weights of the classes -1
// and +1.
func (l *rowLoss) BiasAlone(weights [2]float64, biased bool) (bias, loss float64) {
	n, p := weights[0], weights[1]
	if biased && n+p > 0 {
		bias = (p - n) / (p + n)
	}
	return bias, float64(p*float64((1-bias)*(1-bias))) + float64(n*float64((1+bias)*(1+bias)))
}

// State saves or restores the Hessian that the next pass updates.
func (l *rowLoss) State(w *checkpoint.Walk) {
	if l.hessian == nil {
		return
	}
	for _, v := range []*[]float64{&l.hessian.w, &l.hessian.rows, &l.hessian.mostDiagonal} {
		checkpoint.Slice(w, v)
	}
	if len(l.hessian.w) != linalg.Pad(l.cols) || len(l.hessian.rows) != l.cols*(l.cols+1)/2 || len(l.hessian.mostDiagonal) != l.cols {
		w.Fail(errors.New("it has a Hessian of another size"))
	}
}

// PointAt makes a pass over the rows and returns the point at w.
func (l *rowLoss) PointAt(ctx context.Context, w []float64) (*optimize.Point, error) {
	var at sums
	h := new(hessian)
	if l.hessian != nil {
		h = l.hessian
	}
	for again := true; again; again = h.w == nil { // the update may be rounding errors
		if err := l.pass(ctx, l.padded(w), h, &at); err != nil {
			return nil, err
		}
	}
	p := &optimize.Point{W: slices.Clone(w), Loss: at.Loss, Gradient: at.gradient, Hessian: h.rows}
	if l.hessian != nil {
		p.Hessian = slices.Clone(h.rows)
	}
	p.Dual = func(*optimize.Step) *optimize.Dual { return l.dual(&at) }
	return p, nil
}

// dual returns the point of the dual problem that the dual variables of the rows define. With a bias, the variables of
// one class are scaled down until their sum is the sum of the other class's.
func (l *rowLoss) dual(at *sums) *optimize.Dual {
	scale := at.balance(l.src.Spec().Bias)
	d := &optimize.Dual{Vector: make([]float64, l.src.Spec().Width())}
	for class, c := range scale {
		d.Linear += float64(c * at.A[class])
		d.Square += float64(float64(c*c) * at.Squares[class])
	}
	for i := range d.Vector {
		d.Vector[i] = float64(scale[1]*at.Ax[1][i]) - float64(scale[0]*at.Ax[0][i])
	}
	return d
}
