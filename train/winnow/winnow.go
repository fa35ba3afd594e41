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

// A Variant is a way to update weights.
type Variant string

const (
	// Winnow2 divides the weights of a false positive's features.
	Winnow2 Variant = "winnow2"
	// Winnow1 sets them to zero, for disjunctions without noise.
	Winnow1 Variant = "winnow1"
	// Balanced has a second vector of weights, for the negative class, so that weights may be negative.
	Balanced Variant = "balanced"
)

// Variants lists every variant, the default first.
var Variants = []Variant{Winnow2, Winnow1, Balanced}

// Options are the options of Train. The zero value of a field stands for its default. Train visits rows in the order of
// the source and doesn't use Order, Eta and Seed.
type Options struct {
	train.Options
	Variant   Variant // Winnow2
	Alpha     float64 // the factor of an update, above 1; 2 for Winnow1, else 1.5
	Threshold float64 // theta of Winnow1 and Winnow2, above 0; half the number of features
}

// Train runs Winnow on rows of features that are 0 or 1, with labels -1 and +1 and a bias column.
//
// Objective: weights w with w.x > theta for the positive rows and for no others. All weights are 1 at first. A mistake
// changes the weights of the row's features, those that are 1. If the row is positive, they are multiplied by alpha. If
// it is negative, they are divided by alpha (Winnow2) or set to 0 (Winnow1).
//
// Mistakes on a disjunction of k of d features, in any order (Littlestone, "Learning quickly when irrelevant attributes
// abound", 1988, theorems 7 and 9): Winnow1 makes at most alpha k (log_alpha theta + 1) + d/theta; Winnow2 with alpha
// 1.5 makes at most 8 d/theta + k (5 + 14 ln theta). That is O(k log d). The perceptron may need a number that is
// linear in d (Kivinen, Warmuth and Auer 1997).
//
// Balanced has weights u - v, the bias among them, and no threshold. All of u and v are 1 at first. A mistake on a
// positive row multiplies u by alpha and divides v by it; a mistake on a negative row does the opposite.
//
// The result has -theta as the weight of the bias, so that the scores of positive rows are above 0. Train stops after
// as many visits in a row without a mistake as there are rows, or when opt.Epochs or opt.MaxUpdates are reached. The
// weights don't depend on opt.Workers. Errors: options out of range, no rows, sample weights, no bias, classes other
// than two, features other than 0 and 1, weights that overflow, errors of src, and ctx's error.
func Train[T kernel.Float](ctx context.Context, src block.Source[T], opt Options) (*train.Result[T], error) {
	src, opt, err := check(ctx, src, opt)
	if err != nil {
		return nil, err
	}
	l := newLearner[T](src.Spec().Cols(), opt)
	l.src = src
	l.report()
	for l.r.Epochs < opt.Epochs && !l.over() {
		if err := l.epoch(ctx); err != nil {
			return l.interrupted(ctx), err
		}
		l.report()
	}
	l.learned()
	l.r.Converged = l.streak == src.Rows()
	return l.r, train.Evaluate(ctx, src, opt.Workers, l.r)
}

// check returns the rows, checked by block.Check, and the options with their defaults.
func check[T kernel.Float](ctx context.Context, src block.Source[T], opt Options) (_ block.Source[T], _ Options, err error) {
	if opt.Options, err = opt.Options.WithDefaults(); err != nil {
		return nil, opt, err
	}
	if src, err = block.Check(ctx, src, opt.Workers); err != nil {
		return nil, opt, err
	}
	if opt, err = opt.withDefaults(len(src.Spec().Features)); err != nil {
		return nil, opt, err
	}
	if err := train.TwoClasses(src.Spec()); err != nil {
		return nil, opt, err
	}
	switch {
	case src.Spec().Weighted:
		err = errors.New("rows have weights, which winnow doesn't use: leave them out")
	case src.Rows() == 0:
		err = errors.New("there are no rows to learn from")
	case !src.Spec().Bias:
		err = errors.New("winnow has a threshold: it needs the bias")
	}
	return src, opt, err
}

// epoch visits all rows in the order of the source. It ends early when the training is over.
func (l *learner[T]) epoch(ctx context.Context) error {
	l.r.Epochs++
	row := make([]T, len(l.w))
	for b, err := range l.src.Blocks(ctx) {
		if err != nil {
			return err
		}
		if b.Y == nil {
			return block.ErrNoLabels
		}
		for i := 0; i < b.Len() && !l.over(); i++ {
			if i%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			x := rowOf(b, i, row)
			if l.r.Epochs == 1 {
				if c := slices.IndexFunc(x, func(v T) bool { return v != 0 && v != 1 }); c >= 0 {
					return fmt.Errorf("column %q, row %d: %v is neither 0 nor 1: winnow learns from Boolean features; leave others out",
						l.src.Spec().Features[c], b.First+int64(i), x[c])
				}
			}
			l.r.Visits++
			if l.streak++; l.visit(x, b.Y[i]) {
				l.r.Updates++
				l.streak = 0
			}
		}
		if l.over() {
			return nil
		}
	}
	return nil
}

// over tells whether the training is over: no row is a mistake, or the updates are at their limit.
func (l *learner[T]) over() bool {
	return l.streak == l.src.Rows() || l.opt.MaxUpdates > 0 && l.r.Updates == l.opt.MaxUpdates
}

func (l *learner[T]) report() {
	if l.opt.Progress == nil {
		return
	}
	rows := l.src.Rows()
	l.opt.Progress(train.Progress{Epoch: l.r.Visits / rows, Epochs: l.opt.Epochs, Visits: l.r.Visits, Rows: rows, Updates: l.r.Updates,
		Best: -1, Elapsed: time.Since(l.start)})
}

// learned completes the result, except for figures that need another pass over the rows.
func (l *learner[T]) learned() {
	l.r.Weights, l.r.Seconds = l.w[:l.src.Spec().Cols()], time.Since(l.start).Seconds()
}

// interrupted returns the weights so far if ctx ended the training after some updates, else nil.
func (l *learner[T]) interrupted(ctx context.Context) *train.Result[T] {
	if ctx.Err() == nil || l.r.Updates == 0 {
		return nil
	}
	l.learned()
	l.r.Interrupted = true
	return l.r
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

// rowOf returns row i of a block, in buf if the block is sparse.
func rowOf[T kernel.Float](b *block.Block[T], i int, buf []T) []T {
	if b.Sparse == nil {
		return b.X[i*b.Stride : (i+1)*b.Stride]
	}
	clear(buf)
	b.Sparse.Add(buf, 1, i)
	return buf
}

// A learner is the state of a training.
type learner[T kernel.Float] struct {
	src     block.Source[T]
	opt     Options
	r       *train.Result[T]
	w       []T   // the weights that score rows
	u, v    []T   // of Balanced: w is their difference
	raise   T     // factor of a promotion
	lower   T     // factor of a demotion
	weights int   // how many elements of w may change
	streak  int64 // visits since the last mistake
	start   time.Time
}

func newLearner[T kernel.Float](cols int, opt Options) *learner[T] {
	l := &learner[T]{opt: opt, r: new(train.Result[T]), start: time.Now(), w: block.Alloc[T](kernel.Stride[T](cols)),
		raise: T(opt.Alpha), lower: T(1 / opt.Alpha), weights: cols - 1}
	if opt.Variant == Winnow1 {
		l.lower = 0
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
	factor, against := l.raise, l.lower
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
