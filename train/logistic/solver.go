package logistic

import (
	"context"
	"crypto/sha256"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/linalg"
	"halfspace/train/learner"
)

const (
	elementError    = 0x1p-24 // relative rounding error of the elements of columns
	normTolerance   = 1e-6    // norm of the gradient at which Newton's method stops
	convergedGap    = 1e-6    // a result has converged if its gap is at most this times the objective
	convergedGapSGD = 1e-3    // the same for SGD
	vanishedNorm    = 100     // that norm is also at most tolerance * vanishedNorm * sqrt(objective)
	sampleTooFar    = 10      // all rows differ from a sample if their optima are more than this times as far apart as chance explains
	sampleWorth     = 20      // a sample's optimum is used if its gain over zeros is more than this times the gain that is left
	sampleTolerance = 0.1     // tolerance for a sample's optimum
	// staleGrowth bounds the effect of a step with an earlier Hessian. The step multiplies the norm by at most staleGrowth
	// times the factor of the step before.
	staleGrowth       = 4
	noiseNorm         = 1e-4    // a smaller norm that a step doesn't halve is rounding error
	steadyNorm        = 1       // after a step from a norm of at most this, the Hessian is nearly the same
	keptFactorGain    = 100     // a factor stays in use while each step divides the norm by this or more
	maxColumns        = 1 << 14 // the Hessian of this many columns is 1 GiB
	mostTrials        = 40      // most trials of a step from one point, each with more damping
	mostNewtonColumns = 256     // Auto chooses Newton's method with up to this many columns
	mostFinishes      = 4       // most times that Newton's method continues to a smaller norm because the gap is too large
)

type solver struct {
	*problem
	opt Settings
	w   []float64
	point
	damping linalg.Damping // damping of the next step
	goal    float64        // norm of the gradient to reach
	// farthestNorm is the norm beyond which the sample's Hessian isn't used. It is 0 if w isn't the optimum of a
	// sample.
	farthestNorm float64
	passes       int64
	measure      *learner.Measure // state after the last pass
	steps        int64
	converged    bool
	start        time.Time
	learnTime    time.Duration // time until w was found

	round               func([]float64) []float64 // rounds exact weights, in the order of compact, to weights of the model
	gapLostByRounding   bool                      // the exact weights converged, but the rounded ones didn't
	pivots              []float64                 // numbers subtracted from the columns, or nil
	knowsDependent      bool                      // dependent is known
	dependent           []linalg.Dependence
	dependenceIsInexact bool // a dependent column differs from its combination by the rounding of its elements

	// The fields below belong to first-order methods.
	zeroGradient, rowTotal   []float64 // the gradient at zero weights, and the sum of all rows
	initialNorm, presentNorm float64   // norms of the gradient at zero weights and now, in the new variables
	lowerBound               float64   // lower bound of the objective for SGD; 0 if unknown

	trace
}

// A point is the sums and the factor at the current weights.
type point struct {
	at            sums
	factor        *linalg.Factor
	ridge         float64
	factorIsFresh bool    // factor belongs to the Hessian at these weights
	factorIsSharp bool    // factor comes from a triangle, because squares lose its digits
	norm          float64 // norm sqrt(g' H^-1 g) of the gradient
	gap           float64 // see certify
	optimumExists bool    // an optimum exists; see certify
}

func newSolver(src block.Source, opt Settings) *solver {
	p := newProblem(src, opt.L2, opt.Workers)
	return &solver{problem: p, opt: opt, w: p.zeros(), goal: normTolerance, start: time.Now(), point: point{gap: math.Inf(1)}}
}

// fit finds the optimum, or goes as far towards it as the options allow. Then it bounds the gap of the rounded weights.
func (s *solver) fit(ctx context.Context) (err error) {
	if s.resumed, err = s.opt.Checkpoint.Load(s.state); err != nil {
		return err
	}
	switch solver := s.opt.Solver; {
	case s.stage == stageFinish:
	case solver == LBFGS:
		if done, err := s.runFirstOrder(ctx); done || err != nil {
			return err
		}
	default:
		if !s.resumed {
			if err := s.begin(ctx); err != nil {
				return err
			}
		}
		s.stage = stageNewton
		if _, err := s.minimise(ctx); err != nil {
			return err
		}
	}
	return s.finish(ctx)
}

// runFirstOrder runs L-BFGS. If L-BFGS is slow and the Hessian is small enough, it then runs Newton's method. It tells
// whether the gap needs no more work.
func (s *solver) runFirstOrder(ctx context.Context) (done bool, err error) {
	if s.stage == stageFallback {
		_, err = s.minimise(ctx)
		return false, err
	}
	s.stage = stageLBFGS
	reached, err := s.quasiNewton(ctx)
	if err != nil {
		return false, err
	}
	s.balanceWeights()
	matrix := s.hasMatrix() && s.passes+patiencePasses <= s.opt.Epochs
	if reached && matrix && s.opt.L2 == 0 {
		if err := s.certify(ctx, s.w); err != nil {
			return false, err
		}
		reached = s.optimumExists
	}
	if reached || !matrix {
		return s.boundDual(ctx)
	}
	clear(s.w) // few steps lead from zeros to the optimum; if there is no optimum, scores grow slowly
	s.factor, s.stage = nil, stageFallback
	_, err = s.minimise(ctx)
	return false, err
}

// balance subtracts from each weight the mean of its column's weights over the classes, if there are more than two
// classes.
func (s *solver) balance(c []float64) []float64 {
	for i := range s.cols * min(1, s.vectors-1) {
		mean := 0.0
		for k := range s.vectors {
			mean += c[k*s.cols+i] / float64(s.vectors)
		}
		for k := range s.vectors {
			c[k*s.cols+i] -= mean
		}
	}
	return c
}

// leaveOutDependent marks the weights of dependent columns.
func (s *solver) leaveOutDependent() {
	if s.dependent == nil {
		return
	}
	s.staysZero = make([]bool, s.vectors*s.cols)
	for _, d := range s.dependent {
		for k := range s.vectors {
			s.staysZero[k*s.cols+d.Column] = true
		}
	}
}

// roundedWeights returns the weights rounded as in the model. It also sets s.learnTime.
func (s *solver) roundedWeights() []float64 {
	s.learnTime = time.Since(s.start)
	return s.spread(s.round(slices.Clone(s.compact(s.w))))
}

// isGapSmall tells whether the gap is at most 1e-6 of the objective.
func (s *solver) isGapSmall() bool { return s.gap <= convergedGap*s.at.Objective }

// finish bounds the gap of the rounded weights. If the gap is too large, and not because of rounding, Newton's method
// continues. finish returns an error if it finds that a plane separates the rows.
func (s *solver) finish(ctx context.Context) error {
	for ; ; s.finishRounds++ {
		if s.stage == stageFinish && s.resumed { // taken inside the call of minimise below
			if _, err := s.minimise(ctx); err != nil {
				return err
			}
			continue
		}
		w := s.roundedWeights()
		if err := s.certify(ctx, w); err != nil {
			return err
		}
		if s.converged = s.isGapSmall(); s.converged {
			return nil
		}
		told := s.point
		if !slices.Equal(w, s.w) {
			if err := s.certify(ctx, s.w); err != nil {
				return err
			}
			s.gapLostByRounding = s.isGapSmall()
			told.gap = min(told.gap, max(s.gap, told.at.Objective-(s.at.Objective-s.gap)))
		}
		if err := s.compareDual(ctx, &told); err != nil {
			return err
		}
		if s.converged = told.gap <= convergedGap*told.at.Objective; s.converged {
			told.optimumExists = told.optimumExists || s.optimumExists
			s.point, s.gapLostByRounding = told, false
			return nil
		}
		if s.opt.L2 == 0 && !s.optimumExists {
			direction := negated(s.step(s.factor))
			if err := s.checkSeparated(ctx, direction); err != nil {
				return err
			}
			if s.vectors == 1 {
				if err := s.checkSeparatedNear(ctx, direction); err != nil {
					return err
				}
			}
		}
		if s.gapLostByRounding || s.passes >= s.opt.Epochs || s.finishRounds == mostFinishes {
			s.point = told
			return nil
		}
		s.goal, s.factor, s.stage = s.goal/10, nil, stageFinish
		if _, err := s.minimise(ctx); err != nil {
			return err
		}
	}
}

// compareDual lowers the gap of told to the bound that the dual problem gives, if there is a penalty and the Hessian's
// bound is too large. s.at must be the sums at s.w.
func (s *solver) compareDual(ctx context.Context, told *point) error {
	if s.l2 == 0 || told.gap <= convergedGap*told.at.Objective || s.gapLostByRounding || !s.factorIsSharp && s.ridge == 0 {
		return nil
	}
	if s.zeroGradient == nil {
		var at sums
		if err := s.pass(ctx, s.zeros(), false, &at); err != nil {
			return err
		}
		sc, err := s.scaling(ctx)
		if err != nil {
			return err
		}
		s.zeroGradient, s.rowTotal = at.Gradient, sc.ColumnSums
	}
	gap := max(0, s.dualGap(s.w, &s.at, s.zeroGradient, s.rowTotal))
	if s.gapLostByRounding = gap <= convergedGap*s.at.Objective; gap < s.gap {
		s.gap = gap
	}
	told.gap = min(told.gap, max(s.gap, told.at.Objective-(s.at.Objective-s.gap)))
	return nil
}

// hasMatrix tells whether the Hessian is small enough for first-order methods to compute it at the end.
func (s *solver) hasMatrix() bool { return s.vectors*s.cols <= mostMatrixRows }

// boundDual bounds the gap by the dual problem if there is a penalty. It tells whether the gap is small enough, or no
// better bound can be computed.
func (s *solver) boundDual(ctx context.Context) (bool, error) {
	if s.opt.L2 == 0 && s.hasMatrix() {
		return false, nil
	}
	w := s.roundedWeights()
	if err := s.pass(ctx, w, false, &s.at); err != nil {
		return false, err
	}
	if s.at.Objective-s.at.Objective != 0 {
		return false, learner.OverflowError()
	}
	if s.opt.L2 > 0 {
		s.gap = max(0, s.dualGap(w, &s.at, s.zeroGradient, s.rowTotal))
	} else if err := s.checkSeparated(ctx, s.compact(s.w)); err != nil {
		return false, err
	}
	s.converged = s.isGapSmall()
	return s.converged || !s.hasMatrix(), nil
}

func (s *solver) balanceWeights() { s.w = s.spread(s.balance(slices.Clone(s.compact(s.w)))) }

func (s *solver) report(sum func() [sha256.Size]byte) {
	s.opt.ReportPass(s.start, learner.Progress{Epoch: s.passes, Epochs: s.opt.Epochs, Rows: s.src.Rows(),
		Updates: s.steps, Sum: sum, Measure: s.measure})
}
