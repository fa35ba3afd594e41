// Package winnow learns from Boolean features by multiplying weights.
package winnow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/kernel"
	"halfspace/train"
)

// A Variant is a way to change weights.
type Variant string

const (
	// Winnow2 divides the weights of the features of a false positive.
	Winnow2 Variant = "winnow2"
	// Winnow1 sets them to zero, for disjunctions without noise.
	Winnow1 Variant = "winnow1"
	// Balanced has a second vector for what speaks against the positive class, so that weights may be negative.
	Balanced Variant = "balanced"
)

// Variants lists every variant, the default first.
var Variants = []Variant{Winnow2, Winnow1, Balanced}

// Options are the options of Train. The order is that of the source; Order, Eta and Seed have no say.
type Options struct {
	train.Options
	Variant   Variant // Winnow2
	Alpha     float64 // what weights are multiplied with, above 1; 2 for Winnow1, else 1.5
	Threshold float64 // of Winnow1 and Winnow2, above 0; half the number of features
}

// Train runs Winnow on rows of features that are 0 or 1, with labels -1 and +1 and a bias column.
//
// Objective: weights w with w.x > theta for the positive rows and for no others. All are 1 at first; a row that is positive and
// isn't predicted to be multiplies those of its features (those that are 1) by alpha; one that is predicted to be and isn't
// divides them by alpha (Winnow2) or sets them to 0 (Winnow1). Of d features, a disjunction of k costs Winnow1 at most
// alpha k (log_alpha theta + 1) + d/theta mistakes, and Winnow2 with alpha 1.5 at most 8 d/theta + k (5 + 14 ln theta), in any
// order (Littlestone, "Learning quickly when irrelevant attributes abound", 1988, theorems 7 and 9): O(k log d), where the
// perceptron may need a number that is linear in d (Kivinen, Warmuth and Auer 1997). Balanced has weights u - v, which both
// begin as 1, the bias among them and no threshold; a mistake multiplies u by alpha and divides v by it, or the other way round.
//
// The result has -theta as the weight of the bias, so that its scores are above 0 where a row is positive. It stops after as many
// visits without a mistake as there are rows, or when opt.Epochs or opt.MaxUpdates are reached. The weights are the same for any
// number of workers. Errors: options out of range, no rows, rows with weights, no bias, classes other than two, features other than 0 and 1, weights
// that overflow, whatever src fails with, and ctx's error.
func Train[T kernel.Float](ctx context.Context, src block.Source[T], opt Options) (*train.Result[T], error) {
	var err error
	if opt.Options, err = opt.Options.WithDefaults(); err != nil {
		return nil, err
	}
	if src, err = block.Check(ctx, src, opt.Workers); err != nil {
		return nil, err
	}
	if opt, err = opt.withDefaults(len(src.Spec().Features)); err != nil {
		return nil, err
	}
	if err := train.TwoClasses(src.Spec()); err != nil {
		return nil, err
	}
	switch {
	case src.Spec().Weighted:
		return nil, errors.New("rows have weights, which winnow has no use for: leave them out")
	case src.Rows() == 0:
		return nil, errors.New("there are no rows to learn from")
	case !src.Spec().Bias:
		return nil, errors.New("winnow has a threshold: it needs the bias")
	}
	l := newLearner[T](src.Spec().Cols(), opt)
	start := time.Now()
	r := &train.Result[T]{}
	report := func() {
		if opt.Progress != nil {
			opt.Progress(train.Progress{Epoch: r.Visits / src.Rows(), Epochs: opt.Epochs, Visits: r.Visits, Rows: src.Rows(), Updates: r.Updates,
				Best: -1, Elapsed: time.Since(start)})
		}
	}
	report()
	quiet := int64(0)
	over := func() bool { return quiet == src.Rows() || opt.MaxUpdates > 0 && r.Updates == opt.MaxUpdates }
	row := make([]T, kernel.Stride[T](src.Spec().Cols()))
	for r.Epochs < opt.Epochs && !over() {
		r.Epochs++
		for b, err := range src.Blocks(ctx) {
			if err != nil {
				return l.interrupted(ctx, src, r, start), err
			}
			if b.Y == nil {
				return nil, block.ErrNoLabels
			}
			for i := 0; i < b.Len() && !over(); i++ {
				if i%1024 == 0 && ctx.Err() != nil {
					return l.interrupted(ctx, src, r, start), ctx.Err()
				}
				x := rowOf(b, i, row)
				if r.Epochs == 1 {
					if c := slices.IndexFunc(x, func(v T) bool { return v != 0 && v != 1 }); c >= 0 {
						return nil, fmt.Errorf("column %q, row %d: %v is neither 0 nor 1: winnow learns from Boolean features, leave others out",
							src.Spec().Features[c], b.First+int64(i), x[c])
					}
				}
				r.Visits++
				if quiet++; l.visit(x, b.Y[i]) {
					r.Updates++
					quiet = 0
				}
			}
			if over() {
				break
			}
		}
		report()
	}
	r.Weights, r.Converged, r.Seconds = l.w[:src.Spec().Cols()], quiet == src.Rows(), time.Since(start).Seconds()
	return r, train.Evaluate(ctx, src, opt.Workers, r)
}

// interrupted completes the result where ctx ended the training after some updates, else it returns nil.
func (l *learner[T]) interrupted(ctx context.Context, src block.Source[T], r *train.Result[T], start time.Time) *train.Result[T] {
	if ctx.Err() == nil || r.Updates == 0 {
		return nil
	}
	r.Weights, r.Seconds, r.Interrupted = l.w[:src.Spec().Cols()], time.Since(start).Seconds(), true
	return r
}

func (o Options) withDefaults(features int) (Options, error) {
	if o.Variant == "" {
		o.Variant = Winnow2
	}
	if !slices.Contains(Variants, o.Variant) {
		return o, fmt.Errorf("unknown variant %q: use one of %v", o.Variant, Variants)
	}
	if o.Alpha == 0 {
		if o.Alpha = 1.5; o.Variant == Winnow1 {
			o.Alpha = 2
		}
	}
	if !(o.Alpha > 1) || o.Alpha > math.MaxFloat32 {
		return o, fmt.Errorf("alpha is %v: use a number above 1", o.Alpha)
	}
	if o.Threshold == 0 && o.Variant != Balanced {
		o.Threshold = float64(features) / 2
	}
	if o.Variant != Balanced && !(o.Threshold > 0) || o.Variant == Balanced && o.Threshold != 0 || o.Threshold > math.MaxFloat32 {
		return o, fmt.Errorf("threshold is %v: use a number above 0, and none for balanced", o.Threshold)
	}
	return o, nil
}

// rowOf returns row i of a block, in buf where the block is sparse.
func rowOf[T kernel.Float](b *block.Block[T], i int, buf []T) []T {
	if b.Sparse == nil {
		return b.X[i*b.Stride : (i+1)*b.Stride]
	}
	clear(buf)
	b.Sparse.Add(buf, 1, i)
	return buf
}

// A learner is the weights of a training.
type learner[T kernel.Float] struct {
	w        []T // what rows are scored with
	u, v     []T // of Balanced: w is their difference
	up, down T   // what promotion and demotion multiply weights with
	weights  int // how many elements of w may change
}

func newLearner[T kernel.Float](cols int, opt Options) *learner[T] {
	stride := kernel.Stride[T](cols)
	l := &learner[T]{w: block.Alloc[T](stride), up: T(opt.Alpha), down: T(1 / opt.Alpha), weights: cols - 1}
	if opt.Variant == Winnow1 {
		l.down = 0
	}
	if opt.Variant == Balanced {
		l.weights = cols
		l.u, l.v = make([]T, cols), make([]T, cols)
		for c := range cols {
			l.u[c], l.v[c] = 1, 1
		}
		return l
	}
	for c := range l.weights {
		l.w[c] = 1
	}
	l.w[cols-1] = T(-opt.Threshold)
	return l
}

// visit predicts a row, learns from it, and tells whether the prediction was wrong.
func (l *learner[T]) visit(x []T, y T) bool {
	if (kernel.Dot(x, l.w) > 0) == (y > 0) {
		return false
	}
	factor, against := l.up, l.down
	if y < 0 {
		factor, against = against, factor
	}
	if l.u == nil {
		for c, v := range x[:l.weights] {
			if v != 0 {
				l.w[c] *= factor
			}
		}
		return true
	}
	for c, v := range x[:l.weights] {
		if v != 0 {
			l.u[c] *= factor
			l.v[c] *= against
			l.w[c] = l.u[c] - l.v[c]
		}
	}
	return true
}
