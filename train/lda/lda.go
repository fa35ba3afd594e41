// Package lda trains linear classifiers by linear discriminant analysis.
package lda

import (
	"context"
	"fmt"
	"strings"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/humanize"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/schema"
	"halfspace/train/learner"
)

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
		src = shiftView.Of(src, by)
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

// Learner describes linear discriminant analysis.
var Learner = &learner.Learner{Name: "lda", FullName: "linear discriminant analysis", Algorithm: algorithm{},
	Objective: "the scatter within the classes, relative to the scatter between them (Fisher)",
	WhenToUse: "probabilities in one pass, if the classes are nearly normal",
	Options:   []learner.Option{shrinkageOption, solverOption}, Example: "--shrinkage auto"}

type algorithm struct{}

func (algorithm) New() learner.Settings { return &Settings{Run: learner.Run{Seed: 1}} }

func (algorithm) Classes(learner.Settings) learner.Classes {
	return learner.Classes{TogetherByDefault: true}
}

func (algorithm) IsScaleFree(s learner.Settings) bool { return s.(*Settings).Shrinkage == 0 }

// Copy returns a copy; see learner.Settings.
func (s *Settings) Copy() learner.Settings { c := *s; return &c }

// Shared returns the options that learners share; see learner.Settings.
func (s *Settings) Shared() learner.Options { return learner.Options{Run: s.Run} }

// New returns linear discriminant analysis with options.
func New(o Options) learner.ConfiguredLearner {
	return learner.Configure(Learner, &Settings{Options: o})
}

var (
	shrinkageOption = learner.Option{Name: "shrinkage", Value: "NUMBER|auto",
		Help: "Share of a multiple of the identity in the covariance, from 0 to 1. auto estimates it for " +
			"each class (Ledoit and Wolf).",
		AllowedNumbers: "auto or a share from 0 to 1", IsAllowed: func(v float64) bool { return v >= 0 && v <= 1 },
		NamedNumbers: map[string]float64{"auto": LedoitWolf}, Stored: learner.StoredIfChanged,
		Field: learner.FieldOf(func(o *Settings) any { return &o.Shrinkage })}
	solverOption = learner.Option{Name: "solver",
		Help: "What to compute: the weights (cholesky), or also the directions for predict --project (eigen). auto " +
			"is cholesky.", Words: append([]string{"auto"}, learner.WordsOf(Solvers)...),
		MustExist: true, Stored: learner.StoredElsewhere, Field: learner.FieldOf(func(o *Settings) any { return &o.Solver })}
)

func (algorithm) Train(ctx context.Context, task *learner.Task) (*learner.TaskResult, error) {
	r, err := Train(ctx, task.Rows, *task.Settings.(*Settings))
	if err != nil {
		return nil, err
	}
	return &learner.TaskResult{Result: &r.Result, OwnResult: r, AddToModel: func(m *model.Model) {
		m.Training.Ridge = r.Ridge
		if r.Projection != nil {
			m.Options.Solver, m.Projection = string(Eigen), &model.Projection{Directions: r.Projection, ExplainedShares: r.ExplainedShares}
		}
	}}, nil
}

func (algorithm) SolverTexts(m *model.Model) (pairs []string) {
	if m.Options.Shrinkage != "" {
		pairs = append(pairs, "options", "shrinkage "+m.Options.Shrinkage)
	}
	pairs = append(pairs, "solver", "one solution in "+humanize.Passes(m.Training.Epochs))
	if p := m.Projection; p != nil {
		var shares []string
		for _, v := range p.ExplainedShares {
			shares = append(shares, humanize.Percent(v))
		}
		pairs = append(pairs, "projection",
			fmt.Sprintf("%s, which explain %s", humanize.Plural(int64(len(shares)), "direction"),
				strings.Join(shares, ", ")))
	}
	return pairs
}
