package logistic

import (
	"context"
	"math"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/dense"
	"halfspace/kernel"
	"halfspace/train"
)

const (
	tolerance  = 1e-6    // of Newton's norm
	converges  = 1e-6    // of the gap, relative to the objective
	roughly    = 1e-3    // of that of SGD
	tiny       = 100     // times the root of an objective below 1, the tolerance
	unlike     = 10      // a sample whose optimum is so many times as far from that of all rows as chance lets expect isn't like them
	worth      = 20      // times what is left to gain, a sample's optimum has gained over zeros
	ofSample   = 0.1     // the tolerance for a sample's optimum, which all rows' is farther from
	slack      = 4       // a step with a Hessian from near by leaves at most so many times the part that the last one left
	rounding   = 1e-4    // below it, a gradient that a step doesn't halve is made of rounding errors
	near       = 1       // below it, a step with the Hessian where it starts comes so near that the Hessian hardly changes
	keepFactor = 100     // a factor stays while the gradient falls by so much in a step
	maxColumns = 1 << 14 // their Hessian is 1 GiB
	maxTried   = 40      // steps, each with the Hessian damped more
	widest     = 256     // columns up to which Newton's method is chosen
	settles    = 4       // times that Newton's method goes on for a smaller norm, where the gap is too large
)

// A solver is the state of a minimisation.
type solver[T kernel.Float] struct {
	*problem[T]
	opt Options
	w   []float64
	point
	damping   dense.Damping // of the next step
	goal      float64       // the norm to reach
	farthest  float64       // the norm beyond which the sample's Hessian isn't used; 0 where w is no sample's optimum
	passes    int64
	steps     int64
	converged bool
	start     time.Time
	learned   time.Duration // until w was found

	round     func([]float64) []float64 // makes of exact weights, in the order of compact, those that are written
	rounded   bool                      // but for that they would have converged
	pivots    []float64                 // which columns are less, or nil
	unit      float64                   // relative error of the columns' elements
	examined  bool                      // whether columns depend on others is known
	dependent []dense.Dependence

	// Of first-order methods.
	zero, total       []float64 // the gradient at zeros and the sum of all rows
	initial, relative float64   // the gradient's norm at zeros and now, in the variables of the change
	best              float64   // of SGD, what the objective is at least; 0 if unknown
}

// A point is what is known about weights.
type point struct {
	at     sums
	factor *dense.Factor
	ridge  float64
	fresh  bool    // factor is of the Hessian there
	norm   float64 // of the gradient
	gap    float64 // see certify
	exists bool
}

func newSolver[T kernel.Float](src block.Source[T], opt Options) *solver[T] {
	p := newProblem(src, opt.L2, opt.Workers)
	return &solver[T]{problem: p, opt: opt, w: p.zeros(), goal: tolerance, start: time.Now(), point: point{gap: math.Inf(1)}}
}

// fit finds the optimum, or goes as far towards it as it may, and bounds the gap of the weights as they are written.
func (s *solver[T]) fit(ctx context.Context) error {
	switch s.opt.Solver {
	case LBFGS:
		if settled, err := s.first(ctx); settled || err != nil {
			return err
		}
	case SGD:
		return s.descend(ctx)
	default:
		if err := s.begin(ctx); err != nil {
			return err
		}
		if _, err := s.minimise(ctx); err != nil {
			return err
		}
	}
	return s.settle(ctx)
}

// first runs L-BFGS, and Newton's method where that is slow, if it has its matrix. It tells whether the gap is settled.
func (s *solver[T]) first(ctx context.Context) (settled bool, err error) {
	reached, err := s.quasiNewton(ctx)
	if err != nil {
		return false, err
	}
	s.balanceWeights()
	matrix := s.hasMatrix() && s.passes+patient <= s.opt.Epochs
	if reached && matrix && s.opt.L2 == 0 {
		if err := s.certify(ctx, s.w); err != nil {
			return false, err
		}
		reached = s.exists
	}
	if reached || !matrix {
		return s.settleDual(ctx)
	}
	clear(s.w) // from which few steps lead to the optimum, and scores grow no faster than they must where there is none
	s.factor = nil
	_, err = s.minimise(ctx)
	return false, err
}

// balance takes from the weights of each column their mean over the classes, if there are more than two.
func (s *solver[T]) balance(c []float64) []float64 {
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

func (s *solver[T]) tooLarge() error { return train.TooLarge[T]() }

// examine finds the columns that depend on others, by the matrix of second derivatives at zeros.
func (s *solver[T]) examine(hessian []float64) {
	s.examined = true
	bias := s.cols - 1
	if s.penalised() == s.cols {
		bias = -1
	}
	at := func(i, j int) float64 { return hessian[i*(i+1)/2+j] }
	sizes := make([]float64, s.cols)
	for i := range s.penalised() {
		square := at(i, i)
		if s.pivots != nil {
			p := s.pivots[i]
			square += float64(2*p*at(bias, i)) + float64(float64(p*p)*at(bias, bias))
		}
		sizes[i] = math.Sqrt(max(0, square))
	}
	if s.dependent = dense.Dependent(hessian, s.cols, bias, sizes, s.unit); s.dependent == nil {
		return
	}
	s.out = make([]bool, s.vectors*s.cols)
	for _, d := range s.dependent {
		for k := range s.vectors {
			s.out[k*s.cols+d.Column] = true
		}
	}
}

// written returns the weights as they are written.
func (s *solver[T]) written() []float64 {
	s.learned = time.Since(s.start)
	return s.spread(s.round(slices.Clone(s.compact(s.w))))
}

// good tells whether the gap, relative to the objective, is small enough.
func (s *solver[T]) good() bool { return s.gap <= converges*s.at.objective }

// settle bounds the gap of the weights as they are written. Where it is too large, and not by their rounding, Newton's method goes on, unless it
// turns out that a plane separates the rows.
func (s *solver[T]) settle(ctx context.Context) error {
	for tried := 0; ; tried++ {
		w := s.written()
		if err := s.certify(ctx, w); err != nil {
			return err
		}
		if s.converged = s.good(); s.converged {
			return nil
		}
		told := s.point
		if !slices.Equal(w, s.w) {
			if err := s.certify(ctx, s.w); err != nil {
				return err
			}
			s.rounded = s.good()
			told.gap = min(told.gap, told.at.objective-(s.at.objective-s.gap))
		}
		if s.opt.L2 == 0 && !s.exists {
			direction := negative(s.step(s.factor))
			if err := s.separated(ctx, direction); err != nil {
				return err
			}
			if s.vectors == 1 {
				if err := s.separatedNear(ctx, direction); err != nil {
					return err
				}
			}
		}
		if s.rounded || s.passes >= s.opt.Epochs || tried == settles {
			s.point = told
			return nil
		}
		s.goal, s.factor = s.goal/10, nil
		if _, err := s.minimise(ctx); err != nil {
			return err
		}
	}
}

// hasMatrix tells whether the Hessian is small enough for first-order methods to have it at the end.
func (s *solver[T]) hasMatrix() bool { return s.vectors*s.cols <= matrixRows }

// settleDual bounds the gap by the dual problem where there is a penalty. It tells whether that is small enough, or all that is to be had.
func (s *solver[T]) settleDual(ctx context.Context) (bool, error) {
	if s.opt.L2 == 0 && s.hasMatrix() {
		return false, nil
	}
	w := s.written()
	if err := s.pass(ctx, w, false, &s.at); err != nil {
		return false, err
	}
	if s.at.objective-s.at.objective != 0 {
		return false, s.tooLarge()
	}
	if s.opt.L2 > 0 {
		s.gap = max(0, s.dualGap(w, &s.at, s.zero, s.total))
	} else if err := s.separated(ctx, s.compact(s.w)); err != nil {
		return false, err
	}
	s.converged = s.good()
	return s.converged || !s.hasMatrix(), nil
}

func (s *solver[T]) balanceWeights() { s.w = s.spread(s.balance(slices.Clone(s.compact(s.w)))) }

func (s *solver[T]) report() {
	if s.opt.Progress == nil {
		return
	}
	rows := s.src.Rows()
	s.opt.Progress(train.Progress{Epoch: s.passes, Epochs: s.opt.Epochs, Visits: s.passes * rows, Rows: rows, Updates: s.steps, Best: -1,
		Elapsed: time.Since(s.start)})
}
