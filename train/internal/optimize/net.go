package optimize

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/parallel"
	"halfspace/train/learner"
)

const (
	mostViolationFactor  = 0.25  // greatest violationFactor of a net
	leastViolationFactor = 0.01  // least violationFactor of a net, unless a step gains nothing
	noiseViolationFactor = 1e-6  // steps that end at a smaller violationFactor cannot improve: rounding errors prevent it
	noiseGain            = 1e-13 // a gain below this times the objective is rounding error
	mostHalvings         = 40    // most trials of a step, each half the one before
	leastGainShare       = 0.01  // a step is taken if it gains at least this times the gain that its slope predicts
)

// A net is the state of a search by columns.
type net struct {
	*Task
	features   int
	elements   elements
	y, weights []float64 // of each row: label and sample weight
	weight     float64   // sum of weights
	w          []float64
	scores     []float64 // score of each row at w
	stepScores []float64 // score of the step for each row
	factors    []float64 // for each row: the derivative of its loss by its score
	roots      []float32 // for each row: the root of the curvature of its loss, divided by unit
	unit       float64   // a power of two, at least the root of each sample weight
	gradient   []float64 // of the sum of losses, for each column
	scales     []float64 // for each column: the least power of two above its absolute values
	order      []int     // columns in the order of a round: those with more elements last
	model      *model
	loss       float64
	dualLinear float64 // the rows' part of the dual objective at w
	lowerBound float64 // the greatest dual objective so far
	passes     int64
	// visitedElements counts elements visited since the last whole pass, by coordinate descent, conjugate gradients and
	// scoreStep. The elements that begin copies, that slopes reads, and of the weights that face sets to 0 are left
	// out.
	visitedElements int64
	steps           int64
	outOfPasses     bool // the limit of passes ended the search
	// violationFactor is the factor by which a step reduces the sum of violations of the optimum's conditions before it
	// ends. startViolation is the sum at the start of the last step, or 0 before the first step, and endViolation the
	// sum in the model at its end.
	violationFactor, startViolation, endViolation float64
	products                                      int // most products with the Hessian in the next call of face
	start                                         time.Time
}

// columns finds the minimum by coordinate descent. If ctx ends or reading the rows fails, it returns the weights so far
// with the error.
//
// The method is newGLMNET: the proximal Newton method whose steps are found by coordinate descent over columns. See
// Yuan, Ho and Lin, "An Improved GLMNET for L1-regularized Logistic Regression", Journal of Machine Learning Research
// 13, 2012. columns copies the elements of the rows by column. A step minimises the penalty plus the quadratic model of
// the loss, by coordinate descent and conjugate gradients by turns. How precisely it does so depends on how well the
// model of the last step predicted the gradient: see choice 1 of Eisenstat and Walker, "Choosing the Forcing Terms in an
// Inexact Newton Method", SIAM Journal on Scientific Computing 17, 1996. A round visits the columns with more elements
// last, because the largest violation limits the dual objective, and columns with many elements have the largest.
// Columns whose weight is 0 and would stay 0 are left out until the other columns have converged. A step is halved until
// it gains enough.
//
// The search stops once the duality gap is at most 5e-7 of the objective.
func (t *Task) columns(ctx context.Context) (*Solution, error) {
	s := newNet(t)
	err := s.begin(ctx)
	if err == nil {
		var resumed bool
		if resumed, err = s.Checkpoint.Load(s.state); resumed {
			err = s.computeDerivatives(ctx)
		}
	}
	if err == nil {
		err = s.minimise(ctx)
	}
	return &Solution{W: s.w, Loss: s.loss, Objective: s.objective(), LowerBound: s.lowerBound, Passes: s.passes,
		Visits: s.passes * t.Rows.Rows(), Steps: s.steps, OutOfPasses: s.outOfPasses}, err
}

func newNet(t *Task) *net {
	s := &net{Task: t, start: time.Now(), features: t.Rows.Spec().Width(), w: make([]float64, t.Rows.Spec().Cols()),
		lowerBound: math.Inf(-1)}
	s.model = &model{net: s}
	s.resetPrecision()
	return s
}

// resetPrecision makes the next step as rough as the first step of a search.
func (s *net) resetPrecision() {
	s.violationFactor, s.startViolation, s.products = mostViolationFactor, 0, firstFaceProducts
}

// begin reads the rows, and evaluates zero weights with the best bias.
func (s *net) begin(ctx context.Context) (err error) {
	n := s.Rows.Rows()
	s.y, s.weights, s.scores = make([]float64, 0, n), make([]float64, 0, n), make([]float64, n)
	s.factors, s.roots, s.stepScores = make([]float64, n), make([]float32, n), make([]float64, n)
	s.gradient = make([]float64, len(s.w))
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
	s.scales = make([]float64, len(s.w))
	for j := range s.w {
		s.scales[j] = s.elements.scale(j)
		class := bits.Len64(uint64(s.elements.size(j)))
		classes[class] = append(classes[class], j)
	}
	s.order = slices.Concat(classes[:]...)
	s.passes += 2
	return s.evaluate(ctx)
}

func (s *net) objective() float64 { return s.loss + s.Value(s.w[:s.features]) }

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
	sum, err := s.losses(ctx, s.scores, func(first int, margins, factors, curvatures, losses []float64) (t [3]float64) {
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
	s.lowerBound = max(s.lowerBound, s.Bound(d))
}

// balanceBias sets the bias to its optimum, the other weights as they are.
func (s *net) balanceBias(ctx context.Context) error {
	if s.features == len(s.w) {
		return nil
	}
	shifted := make([]float64, len(s.scores))
	slope := func(by float64) (slope, curvature float64, err error) {
		for i, z := range s.scores {
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
	s.w[s.features] += by
	for i := range s.scores {
		s.scores[i] += by
	}
	return err
}

// minimise makes steps until the gap is small enough or the limit of passes is reached.
func (s *net) minimise(ctx context.Context) error {
	for s.mark(); !s.hasConverged(); s.mark() {
		next, err := s.step(ctx)
		if err != nil {
			return err
		}
		if next == nil {
			s.outOfPasses = true
			return nil
		}
		moved, err := s.move(ctx, next)
		if err != nil {
			return err
		}
		if !moved {
			if s.violationFactor < noiseViolationFactor {
				return nil // rounding errors prevent a further step
			}
			s.violationFactor, s.startViolation = s.violationFactor/16, 0
		}
		if err := s.evaluate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// hasConverged tells whether the gap is small enough to stop.
func (s *net) hasConverged() bool { return s.objective()-s.lowerBound <= gapGoal*s.objective() }

// move goes from w to next, or to the first of the halved steps whose objective falls enough. It tells whether w
// changed.
func (s *net) move(ctx context.Context, next []float64) (bool, error) {
	from := s.objective()
	slope := s.Value(next[:s.features]) - s.Value(s.w[:s.features]) // of the penalty: an upper bound
	for j, v := range next {
		slope += float64(s.gradient[j] * (v - s.w[j]))
	}
	w, scores := slices.Clone(s.w), slices.Clone(s.scores)
	for part, tried := 1.0, 0; tried < mostHalvings; part, tried = part/2, tried+1 {
		for j, v := range w {
			if s.w[j] = v + float64(part*(next[j]-v)); part == 1 {
				s.w[j] = next[j]
			}
		}
		for i, z := range scores {
			s.scores[i] = z + float64(part*s.stepScores[i])
		}
		sum, err := s.losses(ctx, s.scores, func(_ int, _, _, _, losses []float64) (t [3]float64) {
			for _, loss := range losses {
				t[0] += loss
			}
			return t
		})
		if err != nil {
			s.w, s.scores = w, scores
			return false, err
		}
		loss := s.loss
		s.loss = sum[0]
		rounding := float64(noiseGain * from)
		if to := s.objective(); to <= from+float64(leastGainShare*part*slope)+rounding && to < from+rounding {
			s.steps++
			return true, nil
		}
		s.loss = loss
	}
	s.w, s.scores = w, scores
	return false, nil
}

// countPass counts one pass, and the visits of elements since the last call as passes. It reports progress.
func (s *net) countPass() {
	if all := s.elements.count(); all > 0 {
		s.passes += s.visitedElements / all
		s.visitedElements %= all
	}
	s.passes++
	s.ReportPass(s.start, learner.Progress{Epoch: s.passes, Epochs: s.Epochs, Rows: s.Rows.Rows(), Updates: s.steps,
		Sum: learner.SumOf(s.w)})
}

func (s *net) mark() { s.Checkpoint.Pass(s.passes, s.passes*s.Rows.Rows(), s.state) }

// state saves or restores the state of the search before a step. It leaves out the numbers that computeDerivatives
// computes.
func (s *net) state(w *checkpoint.Walk) {
	learner.State(w, &s.start, &s.passes, &s.visitedElements, &s.steps, &s.lowerBound, &s.violationFactor,
		&s.startViolation, &s.endViolation, &s.products)
	learner.State(w, s.w, s.scores)
}
