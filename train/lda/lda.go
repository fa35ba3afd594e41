// Package lda trains linear classifiers of two classes by linear discriminant analysis.
package lda

import (
	"context"
	"errors"
	"fmt"
	"time"

	"halfspace/block"
	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/train"
)

// Options are the options of Train. Of train.Options it uses Workers and Progress.
type Options struct {
	train.Options
}

// Result is what Train learned. Of train.Result, Weights are Exact rounded to T, and Errors, Radius, Norm and Margin are theirs;
// Epochs are passes over the rows, one or two; Loss isn't defined and is 0.
type Result[T kernel.Float] struct {
	train.Result[T]
	Exact []float64    // the weights, one for each column of the data, the bias last where there is one
	Means [2][]float64 // of each feature, of the rows labelled -1 and of those labelled +1
	Ridge float64      // what the scaled diagonal of the scatter took to be regular, see dense.Factorise; 0 if nothing
}

// maxColumns keeps the scatter matrix within 1 GiB.
const maxColumns = 1 << 14

// Train computes Fisher's discriminant of rows with labels y of -1 and +1.
//
// Objective: the direction w in which the means of the classes are farthest from each other, in units of the deviation within
// classes: it maximises (w.(m1 - m0))^2 / (w' S w), with the means m1 and m0 of the rows labelled +1 and -1, and S the covariance
// within classes, the sum over rows of (x - m)(x - m)' by the row's class, divided by the number of rows n (Fisher, "The Use of
// Multiple Measurements in Taxonomic Problems", Annals of Eugenics 7(2), 1936).
//
// Given rows of any source, the result is w = S^-1 (m1 - m0) and the bias b = log(n1/n0) - w.(m0 + m1)/2: w.x + b is the
// logarithm of the odds of +1 for classes that are normal with equal covariances and as frequent as among the rows (Hastie,
// Tibshirani and Friedman, "The Elements of Statistical Learning", section 4.3), so that 1/(1 + e^-(w.x+b)) is the
// probability. Without a bias column, b is left out.
//
// One pass adds up X'X and the sums of each class; then S = X'X - n0 m0 m0' - n1 m1 m1'. Where that would cancel more than six
// of sixteen digits, the mean of a feature being more than a thousand of its deviations from zero, the pass is repeated with that
// mean taken from the rows, which changes S in nothing but rounding. Cholesky's factor solves for w. Where S is singular, as
// with a column twice, a small ridge makes it regular.
//
// All is float64, in the order of packages gram and dense within a run, and then over runs in row order: the result depends neither
// on opt.Workers nor on the source's kind. Errors: no rows, another number of classes than two, a class without rows, no feature
// that varies within a class, features that overflow, too many columns, whatever src fails with, and ctx's error.
func Train[T kernel.Float](ctx context.Context, src block.Source[T], opt Options) (*Result[T], error) {
	var err error
	if opt.Options, err = opt.Options.WithDefaults(); err != nil {
		return nil, err
	}
	spec := src.Spec()
	if src.Rows() == 0 {
		return nil, errors.New("there are no rows to learn from")
	}
	if err := train.TwoClasses(spec); err != nil {
		return nil, err
	}
	if spec.Cols() > maxColumns {
		return nil, fmt.Errorf("%d columns are too many for lda, which takes up to %d: choose some with features", spec.Cols(), maxColumns)
	}
	start := time.Now()
	report := func(passes int64) {
		if opt.Progress != nil {
			opt.Progress(train.Progress{Epoch: passes, Epochs: max(1, passes), Visits: passes * src.Rows(), Rows: src.Rows(), Best: -1,
				Elapsed: time.Since(start)})
		}
	}
	report(0)
	m, err := sum(ctx, src, opt.Workers)
	if err != nil {
		return nil, err
	}
	r := &Result[T]{}
	r.Epochs = 1
	report(1)
	shift := make([]float64, len(spec.Features))
	if far := m.far(len(shift)); far != nil {
		for i, v := range far {
			shift[i] = float64(T(v))
		}
		if m, err = sum(ctx, shifted[T]{src, shift}, opt.Workers); err != nil {
			return nil, err
		}
		r.Epochs = 2
		report(2)
	}
	if err := r.discriminate(m, shift, spec); err != nil {
		return nil, err
	}
	r.Visits, r.Converged = r.Epochs*src.Rows(), true
	r.Seconds = time.Since(start).Seconds()
	return r, train.Evaluate(ctx, src, opt.Workers, &r.Result)
}

// discriminate computes the weights from the moments of rows from which shift was taken.
func (r *Result[T]) discriminate(m *moments, shift []float64, spec *block.Spec) error {
	for class, n := range m.n {
		if n == 0 {
			name := spec.Classes[spec.Positive]
			if class == 0 {
				name = spec.Classes[1-spec.Positive]
			}
			return fmt.Errorf("column %q: no row is of the class %s, training takes two classes: add rows of it", spec.Label, name)
		}
	}
	d := len(spec.Features)
	s, varies := m.covariance(d)
	if !varies {
		return errors.New("no feature varies within a class: lda has nothing to measure their distance by; learn with a perceptron")
	}
	var factor *dense.Factor
	if factor, r.Ridge = dense.Factorise(s, d); factor == nil {
		return train.TooLarge[T]()
	}
	m0, m1 := m.means(0), m.means(1)
	diff := make([]float64, d)
	for i := range diff {
		diff[i] = m1[i] - m0[i]
	}
	r.Exact = factor.Solve(diff)
	middle := make([]float64, d)
	for i, v := range shift {
		middle[i] = float64((m0[i]+m1[i])/2) + v
		m0[i] += v
		m1[i] += v
	}
	r.Means = [2][]float64{m0, m1}
	if spec.Bias {
		r.Exact = append(r.Exact, logRatio(m.n[1], m.n[0])-kernel.Dot(r.Exact, middle))
	}
	for _, v := range r.Exact {
		r.Weights = append(r.Weights, T(v))
	}
	return nil
}

// logRatio returns log(a/b), by the kernel, which has the same bits everywhere.
func logRatio(a, b int64) float64 {
	if a < b {
		return -logRatio(b, a)
	}
	x := []float64{float64(a-b) / float64(b)}
	kernel.Log1p(x, x)
	return x[0]
}
