package optimize

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/parallel"
	"halfspace/train/learner"
)

const (
	mildSize    = 1 << 10 // columns of values up to this have an equal share in the sum of violations
	extremeSize = 1 << 40 // columns of greater values have the share of columns of such values
)

// A net is the state of a search by columns.
type net struct {
	*Task
	features   int
	elements   elements
	y, weights []float64 // of each row: label and sample weight
	weight     float64   // sum of weights
	stepScores []float64 // score of the step for each row
	factors    []float64 // for each row: the derivative of its loss by its score
	roots      []float32 // for each row: the root of the curvature of its loss, divided by unit
	unit       float64   // a power of two, at least the root of each sample weight
	gradient   []float64 // of the sum of losses, for each column
	scales     []float64 // for each column: the least power of two above its absolute values
	order      []int     // columns in the order of a round: those with more elements last
	loss       float64
	dualLinear float64 // the rows' part of the dual objective at w
	NetState
}

// A NetState is the state that a checkpoint keeps, between two steps.
type NetState struct {
	W          []float64 `length:"columns"`
	Scores     []float64 `length:"rows"` // score of each row at W
	LowerBound float64   // the greatest dual objective so far
	Passes     int64
	// VisitedElements counts elements visited since the last whole pass, by coordinate descent, conjugate gradients and
	// scoreStep. The elements that begin copies, that slopes reads, and of the weights that face sets to 0 are left
	// out.
	VisitedElements int64
	Steps           int64
	// ViolationFactor is the factor by which a step reduces the sum of violations of the optimum's conditions before it
	// ends. StartViolation is the sum at the start of the last step, or 0 before the first step, and EndViolation the
	// sum in the model at its end.
	ViolationFactor, StartViolation, EndViolation float64
	Products                                      int // most products with the Hessian in the next call of face
	Start                                         time.Time
}

// begin reads the rows, and evaluates zero weights with the best bias.
func (s *net) begin(ctx context.Context) (err error) {
	n := s.Rows.Rows()
	s.y, s.weights, s.Scores = make([]float64, 0, n), make([]float64, 0, n), make([]float64, n)
	s.factors, s.roots, s.stepScores = make([]float64, n), make([]float32, n), make([]float64, n)
	s.gradient = make([]float64, len(s.W))
	centred, heaviest := false, 0.0
	for chunks, err := range block.Chunks(ctx, s.Rows, 1) {
		if err != nil {
			return err
		}
		for _, chunk := range chunks {
			centred = chunk.Centring != nil
			for r, y := range chunk.Y {
				s.y, s.weights = append(s.y, float64(y)), append(s.weights, chunk.Weight(r))
				s.weight += chunk.Weight(r)
				heaviest = max(heaviest, chunk.Weight(r))
			}
		}
	}
	if s.elements, err = newElements(ctx, s.Rows, centred); err != nil {
		return err
	}
	_, exponent := math.Frexp(heaviest)
	s.unit = math.Ldexp(1, (exponent+1)/2)
	var classes [65][]int
	s.scales = make([]float64, len(s.W))
	for j := range s.W {
		s.scales[j] = s.elements.scale(j)
		class := bits.Len64(uint64(s.elements.size(j)))
		classes[class] = append(classes[class], j)
	}
	s.order = slices.Concat(classes[:]...)
	s.Passes += 2
	return s.evaluate(ctx)
}

func (s *net) objective() float64 { return s.loss + s.Value(s.W[:s.features]) }

// losses computes the losses of the rows and their derivatives at the scores, times the sample weights. It calls do for
// each chunk of rows, and returns the sums of do's results in row order.
func (s *net) losses(ctx context.Context, scores []float64, do func(first int, margins, factors, curvatures,
	losses []float64) [3]float64) (sum [3]float64, err error) {
	n := len(scores)
	err = parallel.MergeInOrder(ctx, s.Workers, (n+block.ChunkRows-1)/block.ChunkRows, func(k int) [3]float64 {
		lo, hi := k*block.ChunkRows, min(n, (k+1)*block.ChunkRows)
		v := make([]float64, 4*(hi-lo))
		z, f, c, l := v[:hi-lo], v[hi-lo:2*(hi-lo)], v[2*(hi-lo):3*(hi-lo)], v[3*(hi-lo):]
		copy(z, scores[lo:])
		s.Loss(z, f, c, l, s.y[lo:hi])
		for i, weight := range s.weights[lo:hi] {
			if weight == 0 {
				f[i], c[i], l[i] = 0, 0, 0
				continue
			}
			f[i] *= weight
			c[i] *= weight
			l[i] *= weight
		}
		return do(lo, z, f, c, l)
	}, func(t [3]float64) {
		for k := range sum {
			sum[k] += t[k]
		}
	})
	return sum, err
}

// evaluate sets the best bias. It computes the loss, its derivatives and a lower bound of the optimum at w.
func (s *net) evaluate(ctx context.Context) error {
	if err := s.balanceBias(ctx); err != nil {
		return err
	}
	if err := s.computeDerivatives(ctx); err != nil {
		return err
	}
	s.countPass()
	s.raiseLowerBound()
	return nil
}

// computeDerivatives computes the loss, its gradient and curvatures at the scores, and the rows' part of the dual
// objective.
func (s *net) computeDerivatives(ctx context.Context) error {
	sum, err := s.losses(ctx, s.Scores, func(first int, margins, factors, curvatures, losses []float64) (t [3]float64) {
		copy(s.factors[first:], factors)
		for i, loss := range losses {
			s.roots[first+i] = float32(math.Sqrt(curvatures[i]) / s.unit)
			t[0] += loss
			t[1] += loss - float64(float64(s.y[first+i]*factors[i])*margins[i]) // the row's part of the dual objective
		}
		return t
	})
	if err != nil {
		return err
	}
	if s.loss = sum[0]; s.loss-s.loss != 0 {
		return learner.OverflowError()
	}
	s.dualLinear = sum[1]
	return s.elements.eachColumn(ctx, s.Workers, func(j int) {
		s.gradient[j] = s.elements.score(j, s.factors)
	})
}

// raiseLowerBound raises the lower bound to the dual objective of the dual variables at w, if that is greater.
func (s *net) raiseLowerBound() {
	d := &Dual{Linear: s.dualLinear, Vector: make([]float64, s.features)}
	for j := range d.Vector {
		d.Vector[j] = -s.gradient[j]
	}
	s.LowerBound = max(s.LowerBound, s.Bound(d))
}

// balanceBias sets the bias to its optimum, the other weights as they are.
func (s *net) balanceBias(ctx context.Context) error {
	if s.features == len(s.W) {
		return nil
	}
	shifted := make([]float64, len(s.Scores))
	slope := func(by float64) (slope, curvature float64, err error) {
		for i, z := range s.Scores {
			shifted[i] = z + by
		}
		sum, err := s.losses(ctx, shifted, func(_ int, _, factors, curvatures, _ []float64) (t [3]float64) {
			for i, f := range factors {
				t[0] += f
				t[1] += curvatures[i]
			}
			return t
		})
		return sum[0], sum[1], err
	}
	by, err := bestBias(biasSlope*s.weight, slope)
	if by == 0 {
		return err
	}
	s.W[s.features] += by
	for i := range s.Scores {
		s.Scores[i] += by
	}
	return err
}

// countPass counts one pass, and the visits of elements since the last call as passes. It reports progress.
func (s *net) countPass() {
	if all := s.elements.count(); all > 0 {
		s.Passes += s.VisitedElements / all
		s.VisitedElements %= all
	}
	s.Passes++
	s.ReportPass(s.Start, learner.Progress{Epoch: s.Passes, Epochs: s.Epochs, Rows: s.Rows.Rows(), Updates: s.Steps,
		Sum: learner.SumOf(s.W)})
}

// violation returns by how much a weight w violates the optimum's conditions. slope is the derivative of its loss and
// l2 penalty.
func (s *net) violation(j int, w, slope float64) float64 {
	switch {
	case j >= s.features:
		return math.Abs(slope)
	case w > 0:
		return math.Abs(slope + s.L1)
	case w < 0:
		return math.Abs(slope - s.L1)
	case s.NonNegative:
		return max(0, -slope-s.L1)
	}
	return max(0, math.Abs(slope)-s.L1)
}

// violationWeight returns the factor of the violation of column j in sums of violations. Violations grow with the
// values of their column. With equal factors, a single column of values of 1e9 decides when a step ends. Columns of
// extreme values are still the last whose violations become small enough for the dual objective.
func (s *net) violationWeight(j int) float64 {
	return mildSize / min(extremeSize, max(mildSize, s.scales[j]))
}

// bestWeight returns the minimum over one weight, whose value is w now. slope and curvature are the first and second
// derivative of the loss's model plus the l2 penalty at w.
func (s *net) bestWeight(j int, w, slope, curvature float64) float64 {
	if j >= s.features {
		return w - slope/curvature
	}
	return s.leastWeight(float64(curvature*w)-slope, curvature)
}

// lacksPasses tells whether the limit leaves too few passes for a number of visits of elements and two passes at the
// end of the step: of evaluate, and of the measurement of the rounded weights.
func (s *net) lacksPasses(elements int64) bool {
	return s.Passes+(s.VisitedElements+elements)/max(1, s.elements.count())+2 > s.Epochs
}
