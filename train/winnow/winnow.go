// Package winnow learns from Boolean features by multiplying weights.
package winnow

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/train/learner"
)

// A Variant is a way to update weights.
type Variant string

const (
	// Winnow2 divides the weights of the features of a false positive.
	Winnow2 Variant = "winnow2"
	// Winnow1 sets these weights to zero, for disjunctions without noise.
	Winnow1 Variant = "winnow1"
	// Balanced has a second vector of weights, for the negative class, so that weights may be negative.
	Balanced Variant = "balanced"
)

// Variants lists every variant, the default first.
var Variants = []Variant{Winnow2, Winnow1, Balanced}

// Options are the options of Train. The zero value of a field stands for its default. Train visits the rows in the
// order of the source, and ignores Order, Eta and Seed.
type Options struct {
	learner.Options
	Variant   Variant // Winnow2
	Alpha     float64 // factor of an update, above 1; 2 for Winnow1, 1.5 otherwise
	Threshold float64 // theta of Winnow1 and Winnow2, above 0; half the number of features, or of literals
	Literals  bool    // learn a weight for each feature x and one for not x; features are 0 and 1, or -1 and 1
}

// Train runs Winnow on rows with a bias column, features of 0 and 1, and labels -1 and +1.
//
// Objective: weights w with w.x > theta for the positive rows and for no other rows. All weights are 1 at first. A
// mistake changes the weights of the features that are 1 in the row. If the row is positive, they are multiplied by
// alpha. If the row is negative, they are divided by alpha (Winnow2) or set to 0 (Winnow1).
//
// On a disjunction of k of d features, in any order of rows, the number of mistakes is bounded (Littlestone, "Learning
// quickly when irrelevant attributes abound", 1988, theorems 7 and 9): Winnow1 makes at most alpha k (log_alpha theta +
// 1) + d/theta mistakes; Winnow2 with alpha 1.5 makes at most 8 d/theta + k (5 + 14 ln theta). That is O(k log d). The
// perceptron may need a number of mistakes that is linear in d (Kivinen, Warmuth and Auer 1997).
//
// Balanced has weights u - v, including the bias, and no threshold. All elements of u and v are 1 at first. A mistake
// on a positive row multiplies u by alpha and divides v by alpha; a mistake on a negative row does the opposite. Only
// elements of features that are 1 in the row, and of the bias, change.
//
// In the result the weight of the bias is -theta, so that the scores of positive rows are above 0.
//
// With opt.Literals, x and not x are features of 0 and 1 with separate weights, so the number of features doubles. A
// column of the rows holds 0 and 1, or -1 and 1; the lesser number means false. The result has weights of the columns
// that give the same scores. The weight of a column of 0 and 1 is the weight of x minus the weight of not x. The weight
// of a column of -1 and 1 is half of that difference. A negative weight speaks for not x.
//
// Train stops after as many consecutive visits without a mistake as there are rows, or when opt.Epochs or
// opt.MaxUpdates is reached. The weights don't depend on opt.Workers. Errors: options out of range, no rows, sample
// weights, no bias, classes other than two, other features, weights that overflow, errors of src, and ctx's error.
func Train(ctx context.Context, src block.Source, opt Options) (*learner.Result, error) {
	src, opt, err := check(ctx, src, opt)
	if err != nil {
		return nil, err
	}
	l := newLearner(src.Spec().Cols(), opt)
	l.src, l.rows = src, src.Rows()
	if opt.Literals {
		signed, err := signs(ctx, src)
		if err != nil {
			return nil, err
		}
		l.literals = newLiterals(l.w, signed, opt)
	}
	if _, err := opt.Checkpoint.Load(l.state); err != nil {
		return nil, err
	}
	l.report(nil)
	for l.done < opt.Epochs && !l.over() {
		if err := l.epoch(ctx); err != nil {
			if ctx.Err() != nil {
				l.mark()
			}
			return l.interrupted(ctx), err
		}
		if l.at() == l.rows {
			l.done++
		}
		l.report(learner.SumOf(l.w))
		if opt.Checkpoint.Due(l.done) {
			l.mark()
		}
	}
	l.mark()
	l.learned()
	l.r.Converged = l.streak == l.rows
	return l.r, learner.Evaluate(ctx, src, opt.Workers, l.r)
}

// check returns the rows, checked by block.Validate, and the options with their defaults.
func check(ctx context.Context, src block.Source, opt Options) (_ block.Source, _ Options, err error) {
	if opt.Options, err = opt.Options.WithDefaults(); err != nil {
		return nil, opt, err
	}
	if src, err = block.Validate(ctx, src, opt.Workers); err != nil {
		return nil, opt, err
	}
	attributes := src.Spec().Width()
	if opt.Literals {
		attributes *= 2
	}
	if opt, err = opt.withDefaults(attributes); err != nil {
		return nil, opt, err
	}
	if err := learner.TwoClasses(src.Spec()); err != nil {
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

// over tells whether the training is over: no row is a mistake, or the limit of updates is reached.
func (l *training) over() bool {
	return l.streak == l.rows || l.opt.MaxUpdates > 0 && l.r.Updates == l.opt.MaxUpdates
}

func (l *training) report(sum func() [sha256.Size]byte) {
	if l.opt.Progress == nil {
		return
	}
	rows := l.src.Rows()
	l.opt.Progress(learner.Progress{Epoch: l.r.Visits / rows, Epochs: l.opt.Epochs, Visits: l.r.Visits, Rows: rows, Updates: l.r.Updates,
		Best: -1, Elapsed: time.Since(l.start), Sum: sum})
}

// learned completes the result, without the figures that need another pass over the rows.
func (l *training) learned() {
	l.r.Weights, l.r.Seconds = l.w[:l.src.Spec().Cols()], time.Since(l.start).Seconds()
	l.r.Epochs = (l.r.Visits + l.rows - 1) / l.rows
}

// interrupted returns the weights so far if ctx ended the training after one update or more, and nil otherwise.
func (l *training) interrupted(ctx context.Context) *learner.Result {
	if ctx.Err() == nil || l.r.Updates == 0 {
		return nil
	}
	l.learned()
	l.r.Interrupted = true
	return l.r
}

// withDefaults returns the options with their defaults. attributes is the number of features or literals.
func (o Options) withDefaults(attributes int) (Options, error) {
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
		o.Threshold = float64(attributes) / 2
	}
	if o.Variant != Balanced && !(o.Threshold > 0) || o.Variant == Balanced && o.Threshold != 0 || o.Threshold > math.MaxFloat32 {
		return o, fmt.Errorf("threshold is %v: use a number above 0, and none for balanced", o.Threshold)
	}
	return o, nil
}
