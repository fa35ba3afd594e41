// Package lda trains linear classifiers by linear discriminant analysis.
package lda

import (
	"context"
	"fmt"
	"math"
	"time"

	"halfspace/block"
	"halfspace/internal/linalg"
	"halfspace/internal/message"
	"halfspace/kernel/f64"
	"halfspace/schema"
	"halfspace/train/learner"
)

// A Solver selects the results that Train computes.
type Solver string

const (
	Cholesky Solver = "cholesky" // computes the weights
	Eigen    Solver = "eigen"    // computes the weights and the discriminant directions
)

// Solvers lists every solver, the default first.
var Solvers = []Solver{Cholesky, Eigen}

// LedoitWolf is the value of Options.Shrinkage with which Train estimates the shrinkage.
const LedoitWolf = -1

// Options are the options of Train.
type Options struct {
	Solver    Solver  // Cholesky
	Shrinkage float64 // share of a multiple of the identity in the covariance, from 0 to 1; or LedoitWolf
}

// Settings are Options, and how the training runs.
type Settings struct {
	Options
	learner.Run
}

// Result is the result of Train. Of learner.Result, Weights are ExactWeights rounded to float32, and Errors, Radius,
// Norm and Margin are computed from Weights. Epochs counts passes over the rows. Loss is 0.
type Result struct {
	learner.Result
	// ExactWeights is the weights: one for each column, the bias last. For more than two classes it has one vector for
	// each class.
	ExactWeights []float64
	// Means has the mean of each feature for each class. Of two classes, the class labelled -1 comes first.
	Means [][]float64
	Ridge float64 // number added to the scaled diagonal of the covariance, see linalg.Factorise; mostly 0

	Shrinkage []float64 // with LedoitWolf, the share for each class

	// Projection is the directions v of the solver Eigen, in falling order of their eigenvalues. Each has one element
	// for each feature. A row's coordinate is v.x. ExplainedShares is each eigenvalue divided by their sum.
	Projection      [][]float64
	ExplainedShares []float64
}

// maxColumns is the largest number of columns. It keeps the scatter matrix within 1 GiB.
const maxColumns = 1 << 14

// Train computes Fisher's linear discriminant of rows. The labels y are -1 and +1, or class numbers if there are more
// than two classes.
//
// Objective: the direction w in which the class means are farthest from each other, in units of the deviation within
// classes. w maximises (w.(m1 - m0))^2 / (w' S w). m1 and m0 are the means of the rows labelled +1 and -1. S is the
// covariance within classes: the sum over rows of (x - m)(x - m)', divided by the number n of rows, where m is the mean
// of the row's class (Fisher, "The Use of Multiple Measurements in Taxonomic Problems", Annals of Eugenics 7(2), 1936).
//
// The result is w = S^-1 (m1 - m0) and the bias b = log(n1/n0) - w.(m0 + m1)/2. Without a bias column there is no b. If
// the classes are normal with equal covariances, w.x + b is the logarithm of the odds of +1, and 1/(1 + e^-(w.x+b)) is
// the probability of +1 (Hastie, Tibshirani and Friedman, "The Elements of Statistical Learning", section 4.3). The
// prior probabilities of the classes are their shares of the rows.
//
// With K > 2 classes, each class has w_k = S^-1 (m_k - m) and b_k = log(n_k/n) - w_k.(m_k + m)/2, where m is the mean
// of all rows. The differences of the scores are again logarithms of odds. The discriminant functions with S^-1 m_k
// have the same differences.
//
// With shrinkage a, S becomes (1-a) S + a trace(S)/d I for d features. LedoitWolf estimates a for each class, in units
// of the class's deviations, as scikit-learn does. This a minimises the expected squared error of the covariance
// (Ledoit and Wolf, "A Well-Conditioned Estimator for Large-Dimensional Covariance Matrices", 2004, lemma 3.2 to 3.5).
// S is then the mean of the classes' shrunk covariances, weighted by their numbers of rows.
//
// The directions of Eigen are the first eigenvectors v of B v = e S v. B is the covariance between classes, the sum of
// (m_k - m)(m_k - m)' n_k/n. The number of directions is the dimension that the means span, at most K-1. Each direction
// has v'Sv = 1, and the mean of the last class has a positive coordinate. B = M M' with one column for each class. So v
// = S^-1 M u with the eigenvectors u of the K x K matrix M' S^-1 M. ExplainedShares is their eigenvalues, divided by
// the sum of the eigenvalues. Two classes have one direction, the direction of w.
//
// One pass sums X'X and the rows of each class; then S = (X'X - n0 m0 m0' - n1 m1 m1')/n. The subtraction cancels more
// than six of sixteen digits if the mean of a feature is more than a thousand deviations from zero. Then a second pass
// subtracts the mean from the rows, which changes only the rounding of S. LedoitWolf makes one pass for each class and
// one more. A Cholesky factor of S solves for w. If S is nearly singular, a further pass finds the factor from a QR
// factorisation of the rows, which keeps the digits that squares lose. If S is singular, for example because a column
// occurs twice, a small ridge makes it regular. With up to 1,024 features the ridge is added to the directions without
// variance alone, so that rounding changes only the last digits of w.
//
// A row with sample weight k counts as k rows, also for LedoitWolf.
//
// Sums are float64, in the order of package gram within a chunk, and then over the chunks in row order. The result depends
// neither on opt.Workers nor on the kind of the source. Errors: options out of range, no rows, fewer than two classes,
// a class without rows, no feature that varies within a class, features that overflow, too many columns, errors of src,
// and ctx's error.
func Train(ctx context.Context, src block.Source, opt Settings) (*Result, error) {
	src, err := Learner.Begin(ctx, src, &opt)
	if err != nil {
		return nil, err
	}
	if err := checkSpec(src.Spec()); err != nil {
		return nil, err
	}
	start := time.Now()
	r := new(Result)
	if err := r.learn(ctx, src, opt, start); err != nil {
		return nil, err
	}
	r.Visits, r.Converged, r.Seconds = r.Epochs*src.Rows(), true, time.Since(start).Seconds()
	return r, learner.Evaluate(ctx, src, opt.Workers, &r.Result)
}

// checkSpec returns an error if there are fewer than two classes, or too many columns.
func checkSpec(spec *schema.Spec) error {
	if len(spec.Classes) < 2 {
		return learner.TwoClasses(spec)
	}
	if spec.Cols() > maxColumns {
		return message.Errorf("%d columns are too many for lda, which takes up to %d: choose some with --features",
			spec.Cols(), maxColumns)
	}
	return nil
}

// learn computes the weights; see Train.
func (r *Result) learn(ctx context.Context, src block.Source, opt Settings, start time.Time) error {
	spec, passes := src.Spec(), int64(0)
	report := func() {
		opt.ReportPass(start, learner.Progress{Epoch: passes, Epochs: max(1, passes), Rows: src.Rows()})
	}
	passed := func() { passes++; report() }
	report()
	m, err := sumMoments(ctx, src, opt.Workers, allClasses)
	if err != nil {
		return err
	}
	passed()
	if err := m.check(spec); err != nil {
		return err
	}
	by := make([]float64, spec.Width()) // subtracted from the rows
	if far := m.farMeans(len(by)); far != nil {
		for i, v := range far {
			by[i] = float64(float32(v))
		}
		src = shift(src, by, 0)
		if m, err = sumMoments(ctx, src, opt.Workers, allClasses); err != nil {
			return err
		}
		passed()
	}
	s, varies := m.covariance(len(by))
	if !varies {
		return message.Errorf("no feature varies within a class: lda can't measure their distance; use --algo averaged")
	}
	if opt.Shrinkage == LedoitWolf {
		if s, r.Shrinkage, err = ledoitWolf(ctx, src, opt.Workers, m, passed); err != nil {
			return err
		}
	} else if opt.Shrinkage > 0 {
		shrink(s, len(by), opt.Shrinkage)
	}
	var factor solver
	if factor, r.Ridge, err = factorise(ctx, src, opt, m, s, passed); err != nil {
		return err
	} else if factor == nil {
		return learner.OverflowError()
	}
	r.Epochs = passes
	return r.discriminate(ctx, m, factor, by, spec, opt.Solver == Eigen)
}

func (m *moments) check(spec *schema.Spec) error {
	for class, n := range m.N {
		if n == 0 {
			name := spec.Classes[class]
			if len(m.N) == 2 && spec.PositiveClass() == 0 {
				name = spec.Classes[1-class]
			}
			return fmt.Errorf("column %q: no row is of the class %s, training takes %d classes: add rows of it", spec.Label, name, len(m.N))
		}
	}
	return nil
}

// discriminate computes the weights, and with project the projection. m are the moments of the rows minus shift.
func (r *Result) discriminate(ctx context.Context, m *moments, factor solver, shift []float64,
	spec *schema.Spec, project bool) error {
	d, k := len(shift), len(m.N)
	var weights [][]float64 // S^-1 (m_k - m)
	from := make([][]float64, k)
	centre := m.centre(d)
	for class := range k {
		if err := ctx.Err(); err != nil {
			return err
		}
		from[class] = m.means(class)[:d]
		means := make([]float64, d)
		for i, v := range from[class] {
			means[i] = v + shift[i]
			from[class][i] -= centre[i]
		}
		r.Means = append(r.Means, means)
		weights = append(weights, factor.Solve(from[class]))
	}
	if project {
		if err := r.project(ctx, m, from, weights); err != nil {
			return err
		}
	}
	if k == 2 {
		m0, m1 := m.means(0), m.means(1)
		diff, middle := make([]float64, d), make([]float64, d)
		for i := range diff {
			diff[i] = m1[i] - m0[i]
			middle[i] = float64((m0[i]+m1[i])/2) + shift[i]
		}
		r.ExactWeights = factor.Solve(diff)
		if spec.Bias {
			r.ExactWeights = append(r.ExactWeights, log(m.N[1], m.N[0])-f64.Dot(r.ExactWeights, middle))
		}
	} else {
		for class, w := range weights {
			middle := make([]float64, d)
			for i, v := range from[class] {
				middle[i] = float64(v/2) + centre[i] + shift[i]
			}
			r.ExactWeights = append(r.ExactWeights, w...)
			if spec.Bias {
				r.ExactWeights = append(r.ExactWeights, log(m.N[class], m.rows())-f64.Dot(w, middle))
			}
		}
	}
	r.Weights = learner.RoundToFloat32(r.ExactWeights)
	return nil
}

// project computes the directions. from are the class means minus the mean of all rows, and weights are S^-1 times
// from.
func (r *Result) project(ctx context.Context, m *moments, from, weights [][]float64) error {
	k, d := len(from), len(from[0])
	root := make([]float64, k)
	var g []float64 // M' S^-1 M
	for i := range k {
		root[i] = math.Sqrt(m.N[i] / m.rows())
		for j := range i + 1 {
			g = append(g, float64(root[i]*root[j])*f64.Dot(from[i], weights[j]))
		}
	}
	values, vectors, err := linalg.Eigen(ctx, g, k)
	if err != nil {
		return err
	}
	sum := 0.0
	for j, value := range values[:min(k-1, d)] {
		if !(value > float64(k)*1e-14*values[0]) {
			break
		}
		sum += value
		v := make([]float64, d)
		for class, u := range vectors[j] {
			f64.Axpy(v, u*root[class]/math.Sqrt(value), weights[class])
		}
		if f64.Dot(v, from[k-1]) < 0 {
			for i := range v {
				v[i] = -v[i]
			}
		}
		r.Projection, r.ExplainedShares = append(r.Projection, v), append(r.ExplainedShares, value)
	}
	for j := range r.ExplainedShares {
		r.ExplainedShares[j] /= sum
	}
	return nil
}

// log returns log(a/b), computed by package f64 so that its bits are the same on all CPUs.
func log(a, b float64) float64 {
	if a < b {
		return -log(b, a)
	}
	x := []float64{(a - b) / b}
	f64.Log1p(x, x)
	return x[0]
}
