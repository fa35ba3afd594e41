package svm

import (
	"context"
	"slices"

	"halfspace/internal/block"
	"halfspace/train/internal/optimize"
)

func taskOf(src block.Source, opt Settings) *optimize.Task {
	none := opt
	none.L2 = 0
	return &optimize.Task{Penalty: opt.penalty(), Options: opt.Shared(), Rows: src, Loss: squaredHinges,
		Sums: newProblem(src, opt).sumLosses,
		Dense: func(src block.Source) optimize.DenseLoss {
			return &rowLoss{problem: newProblem(src, none)}
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

// rowLoss is the squared hinge of the rows as an optimize.DenseLoss.
type rowLoss struct{ *problem }

// sumLosses makes a pass over the rows. It returns the sum of their losses for each of the given vectors of weights.
func (p *problem) sumLosses(ctx context.Context, all [][]float64) ([]float64, error) {
	var padded [][]float64
	for _, w := range all {
		padded = append(padded, p.padded(w))
	}
	return p.losses(ctx, padded, false)
}

// BiasAlone returns the bias (p-n)/(p+n) and its loss. weights are n and p, the sums of sample weights of the classes
// -1 and +1.
func (l *rowLoss) BiasAlone(weights [2]float64, biased bool) (bias, loss float64) {
	n, p := weights[0], weights[1]
	if biased && n+p > 0 {
		bias = (p - n) / (p + n)
	}
	return bias, float64(p*float64((1-bias)*(1-bias))) + float64(n*float64((1+bias)*(1+bias)))
}

// PointAt makes a pass over the rows and returns the point at w.
func (l *rowLoss) PointAt(ctx context.Context, w []float64) (*optimize.Point, error) {
	var at sums
	h, err := l.pass(ctx, w, true, &at)
	if err != nil {
		return nil, err
	}
	return &optimize.Point{W: slices.Clone(w), Loss: at.Loss, Gradient: at.gradient, Hessian: h,
		Dual: func(*optimize.Step) *optimize.Dual { return l.dual(&at) }}, nil
}

// dual returns the point of the dual problem that the dual variables of the rows define. With a bias, the variables of
// one class are scaled down until their sum is the sum of the other class's.
func (p *problem) dual(at *sums) *optimize.Dual {
	scale := at.balance(p.src.Spec().Bias)
	d := &optimize.Dual{Vector: make([]float64, p.src.Spec().Width())}
	for class, c := range scale {
		d.Linear += float64(c * at.A[class])
		d.Square += float64(float64(c*c) * at.Squares[class])
	}
	for i := range d.Vector {
		d.Vector[i] = float64(scale[1]*at.Ax[1][i]) - float64(scale[0]*at.Ax[0][i])
	}
	return d
}

func resultOf(l *optimize.RoundedSolution) *Result {
	return &Result{Result: l.Result, ExactWeights: l.ExactWeights, Objective: l.Objective, Gap: l.Gap,
		GapLostByRounding: l.GapLostByRounding}
}
