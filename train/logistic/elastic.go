package logistic

import (
	"context"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel/f64"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// taskOf returns the task for rows of two classes.
func taskOf(src block.Source, opt Settings) *optimize.Task {
	t := &optimize.Task{Penalty: opt.penalty(), Options: opt.Shared(), Rows: src, Loss: f64.Logistic,
		Dense: func(src block.Source) optimize.DenseLoss { return &rowLoss{problem: newProblem(src, 0, opt.Workers)} }}
	if !optimize.HasManyColumns(src.Spec().Cols()) {
		t.Sums = newProblem(src, 0, opt.Workers).sumLosses
	}
	return t
}

// learnMethod trains two classes by a method of package optimize. It turns the weights into weights for the original
// rows.
func learnMethod(ctx context.Context, src block.Source, pivots []float64, opt Settings) (*Result, error) {
	task := taskOf(src, opt)
	if opt.Solver == Truncated {
		return learnTruncated(ctx, task, pivots, task.Truncated)
	}
	r, err := task.Learn(ctx, task.Elastic, pivots)
	return resultOf(r, opt.Solver), err
}

// learnTruncated trains two classes by conjugate gradients. It turns the weights into weights for the original rows.
func learnTruncated(ctx context.Context, task *optimize.Task, pivots []float64,
	solve func(context.Context) (*optimize.Solution, error)) (*Result, error) {
	task.Sums = nil // the sums of losses have the order of conjugate gradients
	r, err := task.Learn(ctx, solve, pivots)
	if err == nil && r.Weight == 0 {
		return nil, learner.ErrWeightless
	}
	return resultOf(r, Truncated), err
}

func resultOf(r *optimize.RoundedSolution, by Solver) *Result {
	if r == nil {
		return nil
	}
	return &Result{Result: r.Result, Solver: by, ExactWeights: r.ExactWeights, Objective: r.Objective, Gap: r.Gap,
		GapLostByRounding: r.GapLostByRounding}
}

// rowLoss is the optimize.DenseLoss of the rows.
type rowLoss struct {
	*problem
	largestValues []float64 // the greatest absolute value of each column; nil before the first pass
}

// sumLosses makes a pass over the rows. It returns the sum of their losses for each of the given vectors of weights.
func (l *problem) sumLosses(ctx context.Context, all [][]float64) ([]float64, error) {
	total, padded := make([]float64, len(all)), make([][]float64, len(all))
	for i, w := range all {
		padded[i] = l.spread(w)
	}
	err := lossesPass.Reduce(ctx, l.src, l.workers, padded, func(of []float64) { f64.Axpy(total, 1, of) })
	return total, err
}

var lossesPass = newPass("logistic.losses", (*problem).lossesChunk)

// lossesChunk returns the function that sums the losses of a chunk for each vector of weights.
func (l *problem) lossesChunk(padded [][]float64) func(block.Chunk) []float64 {
	return func(chunk block.Chunk) []float64 {
		of := make([]float64, len(padded))
		l.panels(chunk, func(c *scratch, _ int, rows *block.Block) {
			for i, w := range padded {
				r := sums{}
				l.losses(c, rows, w, c.s[:rows.Len()], &r)
				of[i] += r.Loss
			}
		})
		return of
	}
}

const mostBias = 30 // the greatest |bias| that BiasAlone returns

// BiasAlone returns the bias log(p/n) and its loss. weights are n and p, the sums of sample weights of the classes -1
// and +1.
func (l *rowLoss) BiasAlone(weights [2]float64, biased bool) (bias, loss float64) {
	n, p, odds := weights[0], weights[1], []float64{0}
	if big := max(n, p); biased && n != p {
		odds[0] = big/min(n, p) - 1
		f64.Log1p(odds, odds)
		if bias = min(odds[0], mostBias); n > p {
			bias = -bias
		}
	}
	e := []float64{bias, -bias}
	f64.Exp(e, e)
	f64.Log1p(e, e)
	return bias, float64(n*e[0]) + float64(p*e[1])
}

// PointAt makes a pass over the rows and returns the point at w.
func (l *rowLoss) PointAt(ctx context.Context, w []float64) (*optimize.Point, error) {
	at := sums{}
	if l.largestValues == nil {
		at.LargestValues = make([]float64, l.cols)
	}
	if err := l.pass(ctx, l.spread(w), true, &at); err != nil {
		return nil, err
	}
	if l.largestValues == nil {
		l.largestValues = at.LargestValues
	}
	p := &optimize.Point{W: slices.Clone(w), Loss: at.Loss, Gradient: at.Gradient[:l.cols], Hessian: at.Hessian}
	p.Dual = func(s *optimize.Step) *optimize.Dual { return dualAfter(p, s, l.largestValues, l.penalised()) }
	return p, nil
}

// dualAfter returns the point of the dual problem to which the step s leads, or nil if it finds none.
//
// Let c be the sample weight of a row, p the probability of the class that isn't the row's class, and a = c p the row's
// dual variable. The step d changes a by c p(1-p) y x.d, which turns the gradient g of the loss into g + H d. Let z be
// the greatest |x.d|. If z is below 1, all variables stay between 0 and c. Between the two points, the second
// derivative of the entropy is at most 1/(1-z) times the second derivative at p. So the sum of entropies at the end is
// at least loss - w.(g + H d) - d'Hd / (2 (1-z)). The sum of entropies is concave, and 0 where the variables are 0. So
// s times the variables have at least s times that sum.
func dualAfter(p *optimize.Point, s *optimize.Step, widest []float64, features int) *optimize.Dual {
	z := 0.0
	for i, d := range s.D {
		z += math.Abs(float64(widest[i] * d))
	}
	if !(z < 1) {
		return nil
	}
	d := &optimize.Dual{Linear: p.Loss - f64.Dot(p.W, s.Slope) - s.Square/(2*(1-z))}
	for _, v := range s.Slope[:features] {
		d.Vector = append(d.Vector, -v)
	}
	return d
}
