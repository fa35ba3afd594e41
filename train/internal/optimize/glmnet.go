package optimize

import (
	"context"
	"math"
	"slices"
	"time"

	"halfspace/internal/checkpoint"
)

const (
	mostViolationFactor  = 0.25  // greatest ViolationFactor of a net
	leastViolationFactor = 0.01  // least ViolationFactor of a net, unless a step gains nothing
	noiseViolationFactor = 1e-6  // steps that end at a smaller ViolationFactor cannot improve: rounding errors prevent it
	noiseGain            = 1e-13 // a gain below this times the objective is rounding error
	mostRounds           = 100   // most rounds of coordinate descent in a step
	mostHalvings         = 40    // most trials of a step, each half the one before
	leastGainShare       = 0.01  // a step is taken if it gains at least this times the gain that its slope predicts
)

// columns finds the minimum by coordinate descent. If ctx ends or reading the rows fails, it returns the weights so far
// with the error.
//
// The method is newGLMNET: the proximal Newton method whose steps are found by coordinate descent over columns. See
// Yuan, Ho and Lin, "An Improved GLMNET for L1-regularized Logistic Regression", Journal of Machine Learning Research
// 13, 2012. columns copies the elements of the rows by column. A step minimises the penalty plus the quadratic model of
// the loss, by coordinate descent and conjugate gradients by turns. How precisely it does so depends on how well the
// model of the last step predicted the gradient: see choice 1 of Eisenstat and Walker, "Choosing the Forcing Terms in
// an Inexact Newton Method", SIAM Journal on Scientific Computing 17, 1996. A round visits the columns with more
// elements last, because the largest violation limits the dual objective, and columns with many elements have the
// largest. Columns whose weight is 0 and would stay 0 are left out until the other columns have converged. A step is
// halved until it gains enough.
//
// The search stops once the duality gap is at most 5e-7 of the objective.
func (t *Task) columns(ctx context.Context) (*Solution, error) {
	s := newGLMNET(t)
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
	return &Solution{W: s.W, Loss: s.loss, Objective: s.objective(), LowerBound: s.LowerBound, Passes: s.Passes,
		Visits: s.Passes * t.Rows.Rows(), Steps: s.Steps, OutOfPasses: s.outOfPasses}, err
}

// A glmnet is a search by newGLMNET.
type glmnet struct {
	*net
	model       *model
	outOfPasses bool // the limit of passes ended the search
}

func newGLMNET(t *Task) *glmnet {
	s := &net{Task: t, features: t.Rows.Spec().Width()}
	s.NetState = NetState{Start: time.Now(), W: make([]float64, t.Rows.Spec().Cols()), LowerBound: math.Inf(-1)}
	g := &glmnet{net: s, model: &model{net: s}}
	g.resetPrecision()
	return g
}

// resetPrecision makes the next step as rough as the first step of a search.
func (s *glmnet) resetPrecision() {
	s.ViolationFactor, s.StartViolation, s.Products = mostViolationFactor, 0, firstFaceProducts
}

// minimise makes steps until the gap is small enough or the limit of passes is reached.
func (s *glmnet) minimise(ctx context.Context) error {
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
			if s.ViolationFactor < noiseViolationFactor {
				return nil // rounding errors prevent a further step
			}
			s.ViolationFactor, s.StartViolation = s.ViolationFactor/16, 0
		}
		if err := s.evaluate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// hasConverged tells whether the gap is small enough to stop.
func (s *glmnet) hasConverged() bool { return s.objective()-s.LowerBound <= GapGoal*s.objective() }

// move goes from w to next, or to the first of the halved steps whose objective falls enough. It tells whether w
// changed.
func (s *glmnet) move(ctx context.Context, next []float64) (bool, error) {
	from := s.objective()
	slope := s.Value(next[:s.features]) - s.Value(s.W[:s.features]) // of the penalty: an upper bound
	for j, v := range next {
		slope += float64(s.gradient[j] * (v - s.W[j]))
	}
	w, scores := slices.Clone(s.W), slices.Clone(s.Scores)
	for part, tried := 1.0, 0; tried < mostHalvings; part, tried = part/2, tried+1 {
		for j, v := range w {
			if s.W[j] = v + float64(part*(next[j]-v)); part == 1 {
				s.W[j] = next[j]
			}
		}
		for i, z := range scores {
			s.Scores[i] = z + float64(part*s.stepScores[i])
		}
		sum, err := s.losses(ctx, s.Scores, func(_ int, _, _, _, losses []float64) (t [3]float64) {
			for _, loss := range losses {
				t[0] += loss
			}
			return t
		})
		if err != nil {
			s.W, s.Scores = w, scores
			return false, err
		}
		loss := s.loss
		s.loss = sum[0]
		rounding := float64(noiseGain * from)
		if to := s.objective(); to <= from+float64(leastGainShare*part*slope)+rounding && to < from+rounding {
			s.Steps++
			return true, nil
		}
		s.loss = loss
	}
	s.W, s.Scores = w, scores
	return false, nil
}

// step returns weights near the minimum of the quadratic model, or nil if the limit leaves no passes for a step. It
// leaves the scores of the step in stepScores. It ends once the sum of violations is at most ViolationFactor times the
// sum at the start. Rounds of coordinate descent take turns with face: the rounds go on while each halves the sum of
// violations. A round measures each violation just before it removes the violation, and the sum is then too small if the
// columns are correlated. So slopes measures the sum again.
func (s *glmnet) step(ctx context.Context) (next []float64, err error) {
	total, columns := s.violations()
	m := s.model
	m.size = 0
	for _, j := range columns {
		m.size += s.elements.size(j)
	}
	if s.lacksPasses(2 * m.size) { // of a round and of scoreStep
		return nil, nil
	}
	if s.StartViolation > 0 && s.EndViolation-s.EndViolation == 0 {
		s.ViolationFactor = min(mostViolationFactor,
			max(leastViolationFactor, s.ViolationFactor*math.Sqrt(s.ViolationFactor),
				math.Abs(total-s.EndViolation)/s.StartViolation))
	}
	s.StartViolation = total
	if err := m.begin(ctx, columns); err != nil {
		return nil, err
	}
	for rounds := 0; ; {
		active, limit, last := slices.Clone(m.allPlaces), math.Inf(1), math.Inf(1)
		for {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			sum, most := m.round(&active, limit)
			rounds++
			if !(sum > s.ViolationFactor*total) || sum > slowViolations*last || rounds >= mostRounds || s.lacksPasses(2*m.size) {
				break
			}
			limit, last = most/float64(len(s.y)), sum
		}
		if s.EndViolation, err = m.slopes(ctx); err != nil {
			return nil, err
		}
		if !(s.EndViolation > s.ViolationFactor*total) || rounds >= mostRounds || s.lacksPasses(2*m.size) {
			break
		}
		if err := m.face(ctx); err != nil {
			return nil, err
		}
	}
	next = slices.Clone(s.W)
	for p, j := range columns {
		next[j] = m.places[p].weight
	}
	s.scoreStep(next, columns)
	return next, nil
}

// violations returns the sum of the violations at w, and the columns of the next step in the order of s.order. The step
// leaves out columns whose weight is 0 and would stay 0.
func (s *glmnet) violations() (total float64, columns []int) {
	largest := 0.0
	for j, w := range s.W {
		slope := s.gradient[j]
		if j < s.features {
			slope += float64(s.L2 * w)
		}
		v := s.violation(j, w, slope)
		total += float64(v * s.violationWeight(j))
		largest = max(largest, v)
	}
	slack := largest / float64(len(s.y))
	for _, j := range s.order {
		if s.W[j] != 0 || j >= s.features || s.pull(-s.gradient[j]) > s.L1-slack {
			columns = append(columns, j)
		}
	}
	return total, columns
}

// scoreStep sets stepScores to the scores of the step from w to next. The weights of other columns stay as they are.
func (s *glmnet) scoreStep(next []float64, columns []int) {
	clear(s.stepScores)
	for _, j := range columns {
		if by := next[j] - s.W[j]; by != 0 {
			s.VisitedElements += s.elements.size(j)
			s.elements.add(j, s.stepScores, by)
		}
	}
}

func (s *glmnet) mark() { s.Checkpoint.Pass(s.Passes, s.Passes*s.Rows.Rows(), s.state) }

func (s *glmnet) state(w *checkpoint.Walk) {
	checkpoint.Struct(w, &s.NetState, map[string]int{"columns": len(s.W), "rows": len(s.y)})
}

// Elastic finds the minimum with a penalty L1 or NonNegative: by the proximal Newton method with a Hessian, or by
// coordinate descent if there are too many columns. If ctx ends or reading the rows fails, Elastic returns the weights
// so far with the error.
func (t *Task) Elastic(ctx context.Context) (*Solution, error) {
	if HasManyColumns(t.Rows.Spec().Cols()) {
		return t.columns(ctx)
	}
	return t.proximalNewton(ctx)
}
