package learner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"halfspace/internal/block"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/predict"
)

// Evaluate sets the errors, the rows predicted of each class, the radius, the norm and the margin of r from r.Weights.
// It makes one pass over the rows. Labels are -1 and +1, or class numbers if there are more than two classes and r has
// a vector of weights for each class. Evaluate returns an error if a label stands for no class, if r hasn't a vector of
// weights for each class, or if a score overflows.
//
// With more than two classes, the predicted class is the class with the greatest score, the first of equal ones. The
// margin is the least difference between the score of a row's class and the greatest score of another class, divided by
// the square root of 2 and by the norm of all vectors together. With this definition, two classes with the weights -w
// and w have the same margin as w alone.
func Evaluate(ctx context.Context, src block.Source, workers int, r *Result) error {
	_, err := EvaluateLoss(ctx, src, workers, r, "")
	return err
}

// A RowLoss names the loss of a row as a function of its margin m. m is y(w.x). With more than two classes, m is the
// score of the row's class minus the greatest score of another class. A loss is a name and not a function, so that
// other processes can compute it.
type RowLoss string

const (
	PerceptronLoss   RowLoss = "perceptron"    // max(0, -m)
	HingeLoss        RowLoss = "hinge"         // max(0, 1 - m)
	SquaredHingeLoss RowLoss = "squared_hinge" // max(0, 1 - m)^2
	LogisticLoss     RowLoss = "logistic"      // log(1 + e^-m)
)

// function returns the function that replaces margins by losses, or nil if the loss is unknown.
func (l RowLoss) function() func(m []float64) {
	switch l {
	case PerceptronLoss:
		return func(m []float64) {
			for i, v := range m {
				m[i] = max(0, -v)
			}
		}
	case HingeLoss:
		return func(m []float64) {
			for i, v := range m {
				m[i] = max(0, 1-v)
			}
		}
	case SquaredHingeLoss:
		return func(m []float64) {
			for i, v := range m {
				m[i] = max(0, 1-v) * max(0, 1-v)
			}
		}
	case LogisticLoss:
		return func(m []float64) {
			x := make([]float64, len(m)) // log(1 + e^-m) = log(1 + e^-|m|) - min(0, m)
			for i, v := range m {
				x[i] = -math.Abs(v)
			}
			f64.Exp(x, x)
			f64.Log1p(x, x)
			for i, v := range m {
				m[i] = x[i] - min(0, v)
			}
		}
	}
	return nil
}

// Evaluate evaluates the weights of a result of the learner with the settings s. It sets r.Loss for a learner with a
// RowLoss, or that makes the perceptron's updates; other learners compute their loss themselves, or have none.
func (l *Learner) Evaluate(ctx context.Context, src block.Source, workers int, s Settings, r *Result) error {
	_, err := EvaluateLoss(ctx, src, workers, r, l.RowLoss(s))
	return err
}

var judgePass = passes.New("train.evaluate", judgeChunk)

type judgeArgs struct {
	Weights []float32 // one vector of src's columns, or one for each class
	Loss    RowLoss
}

// judgeChunk returns the function that evaluates one chunk.
func judgeChunk(src block.Source, args judgeArgs) func(block.Chunk) judgement {
	w, of := paddedVectors(args.Weights, src.Spec().Cols()), args.Loss.function()
	return func(chunk block.Chunk) judgement {
		if of == nil {
			return judgement{Err: fmt.Errorf("no loss is called %q: %w", args.Loss, passes.ErrProgramsDiffer)}
		}
		if err := chunk.CheckLabels(len(w)); err != nil {
			return judgement{Err: err}
		}
		if len(w) == 1 {
			return judgeTwoClasses(chunk, w[0], src.Spec().PositiveClass(), of)
		}
		return judgeClasses(chunk, w, of)
	}
}

// EvaluateLoss is Evaluate, and also sets r.Loss unless loss is "": the sum over the rows of loss times sample weight. For
// more than two classes, it returns the sum of the sample weights of wrongly predicted rows.
func EvaluateLoss(ctx context.Context, src block.Source, workers int, r *Result, loss RowLoss) (wrong float64, err error) {
	spec := src.Spec()
	cols := spec.Cols()
	if cols == 0 || len(r.Weights) == 0 || len(r.Weights)%cols != 0 {
		return 0, fmt.Errorf("there are %d weights, not a multiple of %d columns", len(r.Weights), cols)
	}
	vectors := len(r.Weights) / cols
	if len(spec.Classes) > 2 && vectors != len(spec.Classes) {
		return 0, fmt.Errorf("there are %d vectors of weights for %d classes", vectors, len(spec.Classes))
	}
	all := judgement{Predicted: make([]int64, max(2, vectors)), Margin: math.Inf(1)}
	args := judgeArgs{r.Weights, cmp.Or(loss, PerceptronLoss)}
	err = judgePass.Reduce(ctx, src, workers, args, all.add)
	if err = cmp.Or(err, all.Err); err != nil {
		return 0, err
	}
	r.Errors, r.PredictedRows, r.Radius, r.Norm, r.Margin = all.Errors, all.Predicted, math.Sqrt(all.LargestSquare), Norm(r.Weights), 0
	if all.Margin > 0 {
		if r.Margin = all.Margin / r.Norm; vectors > 1 {
			r.Margin /= math.Sqrt2
		}
	}
	sum := r.Norm + r.Radius
	if loss != "" {
		r.Loss = all.Loss
		sum += all.Loss
	}
	if all.Overflows || sum-sum != 0 {
		return 0, OverflowError()
	}
	return all.ErrorWeight, nil
}

// A judgement is the result of Evaluate for one chunk.
type judgement struct {
	Errors                int64
	Predicted             []int64 // number of rows predicted to be of each class
	LargestSquare, Margin float64 // the largest squared norm of a row, and the least margin before it is divided by a norm
	Loss, ErrorWeight     float64 // sums of loss times sample weight, and of the sample weights of wrong rows (for more than two classes)
	Overflows             bool    // a score overflows float32
	Err                   error   // the first error of a label
}

func (j *judgement) add(s judgement) {
	j.Errors += s.Errors
	for c, n := range s.Predicted {
		j.Predicted[c] += n
	}
	j.Loss += s.Loss
	j.ErrorWeight += s.ErrorWeight
	j.LargestSquare, j.Margin = max(j.LargestSquare, s.LargestSquare), min(j.Margin, s.Margin)
	j.Overflows, j.Err = j.Overflows || s.Overflows, cmp.Or(j.Err, s.Err)
}

// judgeTwoClasses evaluates rows labelled -1 and +1, in pieces of which the rows of 32 numbers stay in the first-level cache
// between the passes over them. losses replaces margins by losses.
func judgeTwoClasses(chunk block.Chunk, w []float32, positive int, losses func(m []float64)) (j judgement) {
	const piece = kernel.GroupRows / 4
	var scores [piece]float32
	var margins [piece]float64
	j.Margin, j.Predicted = math.Inf(1), make([]int64, 2)
	above, overflow := int64(0), float32(0) // overflow is 0, or NaN
	for lo := 0; lo < chunk.Len(); lo += piece {
		rows := chunk.Slice(lo, min(lo+piece, chunk.Len()))
		s, y := scores[:rows.Len()], rows.Y[:rows.Len()]
		j.LargestSquare = max(j.LargestSquare, rows.MaxSquaredNorm())
		rows.Scores(w, s)
		for i, score := range s { // without a branch that depends on the class
			up, wrong := int64(0), int64(0)
			if score > 0 {
				up = 1
			}
			if y[i] > 0 {
				wrong = 1
			}
			above += up
			j.Errors += up ^ wrong
			overflow += score - score
			margins[i] = float64(y[i]) * float64(score)
			if margins[i] < j.Margin {
				j.Margin = margins[i]
			}
		}
		j.Loss = addWeightedLosses(rows, margins[:len(s)], losses, j.Loss)
	}
	j.Overflows = overflow != 0
	j.Predicted[positive], j.Predicted[1-positive] = above, int64(chunk.Len())-above
	return j
}

// addWeightedLosses adds the losses times the sample weights of rows to sum. It overwrites margins.
func addWeightedLosses(rows *block.Block, margins []float64, losses func(m []float64), sum float64) float64 {
	losses(margins)
	if rows.W != nil {
		for i, w := range rows.W {
			margins[i] *= w
		}
	}
	for _, loss := range margins {
		sum += loss
	}
	return sum
}

// judgeClasses evaluates rows of more than two classes.
func judgeClasses(chunk block.Chunk, w [][]float32, losses func(m []float64)) (j judgement) {
	j.Margin, j.Predicted = math.Inf(1), make([]int64, len(w))
	scores, margins := classScores(chunk, w), make([]float64, chunk.Len())
	for i, y := range chunk.Y {
		predicted := predict.PredictedClass(scores, i, 0)
		j.Predicted[predicted]++
		if predicted != int(y) {
			j.Errors++
			j.ErrorWeight += chunk.Weight(i)
		}
		own, above := float64(scores[int(y)][i]), math.Inf(1)
		for c, s := range scores {
			j.Overflows = j.Overflows || s[i]-s[i] != 0
			if c != int(y) {
				above = min(above, own-float64(s[i]))
			}
		}
		j.Margin, margins[i] = min(j.Margin, above), above
	}
	j.Loss = addWeightedLosses(chunk.Block, margins, losses, 0)
	j.LargestSquare = chunk.MaxSquaredNorm()
	return j
}

// Norm returns the Euclidean norm of weights. It sums their squares in order.
func Norm[T float32 | float64](w []T) float64 {
	square := 0.0
	for _, v := range w {
		square = math.FMA(float64(v), float64(v), square)
	}
	return math.Sqrt(square)
}

// RoundToFloat32 returns weights rounded to float32.
func RoundToFloat32(w []float64) []float32 {
	out := make([]float32, len(w))
	for i, v := range w {
		out[i] = float32(v)
	}
	return out
}

// OverflowError returns the error for features, or sample weights, with which float32 arithmetic overflows.
func OverflowError() error {
	return errors.New("the features, or the weights of rows, are too large for float32 arithmetic: scale them down")
}
