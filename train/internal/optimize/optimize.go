// Package optimize minimises a sum of losses over rows plus a penalty.
//
// Newton takes a smooth function with Hessians, and LBFGS one without. Task describes other minimisations. Task.Elastic
// takes a penalty L1, by the proximal Newton method with a Hessian or by coordinate descent over columns. Task.Truncated
// is Newton's method with steps by conjugate gradients, for many columns. Task.Hinge minimises the hinge by the steps of
// Truncated.
package optimize

import (
	"context"
	"crypto/sha256"
	"math"
	"slices"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/linalg"
	"halfspace/internal/parallel"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// Numbers that learners and solvers share.
const (
	GapGoal            = 5e-7    // a search stops at a gap of this times the objective
	ConvergedGap       = 1e-6    // a result has converged if its gap is at most this times the objective
	NormGoal           = 1e-6    // norm of the gradient at which Newton stops
	MostHessianColumns = 256     // with up to this many columns, a Hessian of all rows takes little time
	MaxColumns         = 1 << 14 // the Hessian of this many columns is 1 GiB
)

const (
	mostTrials    = 40    // most trials of a step from one point, each with more damping
	noiseDecrease = 1e-12 // a smaller relative difference between objectives is rounding error
	biasSlope     = 1e-11 // the bias is optimal if the slope along it is at most this times the sum of sample weights,
	searchGap     = 1e-7  // the search stops at a gap of this times the objective; one more step follows, which divides the gap again
)

// A Task is rows with labels -1 and +1, a loss, a penalty and options. Of learner.Options it uses Epochs (most passes),
// Workers, Progress and Checkpoint.
type Task struct {
	Penalty
	learner.Options
	Rows block.Source
	// Loss takes scores z and labels y. It sets z to the margins; loss to the loss of each row; and factor and
	// curvature to the loss's first and second derivative by the score, as f64.Logistic does.
	Loss func(z, factor, curvature, loss, y []float64)
	// Dense returns Loss of all rows, or of a sample of the rows, for passes that compute a Hessian.
	Dense func(block.Source) DenseLoss
	// Sums makes a pass over the rows. It returns the sum of the losses for each of the given vectors of weights, or for
	// each of the given lists of one vector for each class. nil: Loss computes them.
	Sums func(ctx context.Context, all [][]float64) ([]float64, error)
}

// HasManyColumns tells whether there are too many columns for a Hessian.
func HasManyColumns(cols int) bool { return cols > MaxColumns }

// A Solution is the result of a search.
type Solution struct {
	W                           []float64 // weights, one for each column
	Loss, Objective, LowerBound float64   // LowerBound is a lower bound of the minimum
	Weight                      float64   // sum of the sample weights; 0 if unknown
	Passes, Visits, Steps       int64     // Visits counts rows
	OutOfPasses                 bool      // the limit of passes ended the search
}

// Gap returns an upper bound of Objective minus the minimum.
func (s *Solution) Gap() float64 { return max(0, s.Objective-s.LowerBound) }

// A RoundedSolution is a solution whose weights are rounded to weights of a model.
type RoundedSolution struct {
	learner.Result
	ExactWeights      []float64 // weights before rounding, one for each column
	Objective, Gap    float64   // values at the rounded weights
	GapLostByRounding bool      // the gap met the limit before rounding, and doesn't after rounding
	Weight            float64   // see Solution
}

// Learn rounds the weights that solve finds, and makes a pass over the rows to measure them. If pivots isn't nil, the
// rows are the original rows minus the pivots, and the weights of the result are for the original rows. If ctx ends the
// search after a step, Learn returns the weights so far with ctx's error.
func (t *Task) Learn(ctx context.Context, solve func(context.Context) (*Solution, error), pivots []float64) (*RoundedSolution, error) {
	start := time.Now()
	after, end := parallel.Grace(ctx)
	defer end()
	s, err := solve(ctx)
	if err != nil {
		return t.InterruptedResult(ctx, after, s, pivots, start), err
	}
	r, err := t.measureSolution(ctx, s, pivots, start)
	if err != nil {
		return nil, err
	}
	r.Gap = max(0, r.Objective-s.LowerBound)
	r.Converged = r.Gap <= ConvergedGap*r.Objective
	r.GapLostByRounding = !r.Converged && s.Gap() <= ConvergedGap*s.Objective
	return r, nil
}

// InterruptedResult returns the result of a search that began at start and that the end of ctx interrupted, or nil if
// the search made no step. The loss stays unknown if after ends before a pass over the rows does.
func (t *Task) InterruptedResult(ctx, after context.Context, s *Solution, pivots []float64, start time.Time) *RoundedSolution {
	if ctx.Err() == nil || s.Steps == 0 || s.Passes == 0 {
		return nil
	}
	r, err := t.measureSolution(after, s, pivots, start)
	r.Interrupted, r.NotEvaluated, r.Gap = true, err != nil, math.Inf(1)
	return r
}

// measureSolution returns the result with the weights rounded, and with their loss and objective. With an error, the
// loss is unknown.
func (t *Task) measureSolution(ctx context.Context, s *Solution, pivots []float64, start time.Time) (*RoundedSolution, error) {
	r := &RoundedSolution{ExactWeights: s.W, Weight: s.Weight}
	r.Epochs, r.Updates, r.OutOfPasses = s.Passes+1, s.Steps, s.OutOfPasses
	r.Visits, r.Seconds = r.Epochs*t.Rows.Rows(), (t.Checkpoint.TimeBefore() + time.Since(start)).Seconds()
	w, spec := slices.Clone(s.W), t.Rows.Spec()
	learner.RoundCentred(w, pivots)
	if pivots != nil {
		learner.Uncentre(r.ExactWeights, pivots)
	}
	r.Weights = learner.RoundToFloat32(r.ExactWeights)
	losses, err := t.Losses(ctx, [][]float64{w})
	if err != nil {
		return r, err
	}
	var penalised [][]float64
	for v := range slices.Chunk(w, spec.Cols()) {
		penalised = append(penalised, v[:spec.Width()])
	}
	if objective := losses[0] + t.Value(penalised...); objective-objective == 0 {
		r.Loss, r.Objective = losses[0], objective
		return r, nil
	}
	return r, learner.OverflowError()
}

// ClassOf returns the number, 0 or 1, of the class with the label y.
func ClassOf(y float64) int {
	if y > 0 {
		return 1
	}
	return 0
}

// A Tally counts the visits and the steps of a search. A pass counts as many visits as there are rows.
type Tally struct {
	*Task              `state:"-"`
	VisitedRows, Steps int64 // VisitedRows counts rows
	Start              time.Time
}

// Passes returns the number of passes over the rows, rounded up.
func (t *Tally) Passes() int64 {
	rows := max(1, t.Rows.Rows())
	return (t.VisitedRows + rows - 1) / rows
}

// Visit counts visits, and reports progress. sum and m may be nil; see learner.Progress.
func (t *Tally) Visit(visits int64, sum func() [sha256.Size]byte, m *learner.Measure) {
	t.VisitedRows += visits
	if t.Progress == nil {
		return
	}
	t.Progress(learner.Progress{Epoch: t.Passes(), Epochs: t.Epochs, Visits: t.VisitedRows, Rows: t.Rows.Rows(),
		Updates: t.Steps, BestErrors: -1, Elapsed: time.Since(t.Start), Sum: sum, Measure: m})
}

// The names of states in checkpoints, of solvers that may follow another.
const (
	StateOfLBFGS     = "L-BFGS"
	StateOfTruncated = "conjugate gradients"
	StateOfNewton    = "Newton"
	StateOfProximal  = "proximal Newton"
	StateOfHinge     = "augmented Lagrangian"
	StateOfDual      = "dual coordinate descent"
)

// Mark gives the state of the search to the checkpoint.
func (t *Tally) Mark(state func(*checkpoint.Walk)) {
	t.Checkpoint.Pass(t.Passes(), t.VisitedRows, state)
}

// Losses makes a pass over the rows. It returns the sum of their losses for each of the given vectors of weights.
func (t *Task) Losses(ctx context.Context, all [][]float64) ([]float64, error) {
	if t.Sums != nil {
		return t.Sums(ctx, all)
	}
	total := make([]float64, len(all))
	merge := func(sums []float64) { f64.Axpy(total, 1, sums) }
	if !passes.InProcess(t.Rows) {
		return total, scoresPass.Reduce(ctx, t.Rows, t.Workers, all, func(s *scoredChunk) { merge(t.lossSums(s)) })
	}
	scores := scoresChunk(t.Rows, all)
	return total, block.ReduceChunks(ctx, t.Rows, t.Workers, func(chunk block.Chunk) []float64 { return t.lossSums(scores(chunk)) }, merge)
}

// scoredChunk is the labels and the scores of the rows of a chunk.
type scoredChunk struct {
	labels
	scores [][]float64 // scores for each vector of weights
}

func (s *scoredChunk) Fields() []any { return []any{&s.labels, &s.scores} }

// labels are the labels -1 and +1 of the rows of a chunk, and their sample weights, which are nil if all are 1.
type labels struct {
	Y       []float32
	Weights []float64
}

func labelsOf(chunk block.Chunk) labels {
	return labels{slices.Clone(chunk.Y), slices.Clone(chunk.W)}
}

func (l *labels) at(r int) (y, weight float64) {
	if l.Weights == nil {
		return float64(l.Y[r]), 1
	}
	return float64(l.Y[r]), l.Weights[r]
}

var scoresPass = passes.New("truncated.scores", scoresChunk)

// scoresChunk returns the function that computes the scores of a chunk for each vector of weights.
func scoresChunk(_ block.Source, all [][]float64) func(block.Chunk) *scoredChunk {
	return func(chunk block.Chunk) *scoredChunk {
		var rows linalg.SparseReader
		rows.Begin(chunk)
		s := &scoredChunk{labels: labelsOf(chunk)}
		for _, w := range all {
			z := make([]float64, chunk.Len())
			for r := range z {
				z[r] = rows.Score(r, w)
			}
			s.scores = append(s.scores, z)
		}
		return s
	}
}

// lossSums returns the sum of the losses of a chunk for each vector of weights.
func (t *Task) lossSums(s *scoredChunk) []float64 {
	n := len(s.Y)
	y, factor, curvature, loss, sums := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n),
		make([]float64, len(s.scores))
	for k, z := range s.scores {
		for r := range y {
			y[r], _ = s.at(r)
		}
		t.Loss(z, factor, curvature, loss, y)
		for r := range y {
			if _, weight := s.at(r); weight > 0 {
				sums[k] += float64(loss[r] * weight)
			}
		}
	}
	return sums
}

// bestBias returns the change of the bias at which the sum of losses is least, or 0 if its slope there is at most
// enough already. slope returns the first and second derivative of the sum of losses after a change of the bias.
func bestBias(enough float64, slope func(by float64) (slope, curvature float64, err error)) (by float64, err error) {
	first, curvature, err := slope(0)
	if err != nil || math.Abs(first) <= enough {
		return 0, err
	}
	sign, start := math.Copysign(1, -first), math.Abs(first)/curvature
	if start-start != 0 { // no loss has a curvature
		start = 1
	}
	by, err = linalg.Root(start, enough, func(length float64) (float64, float64, error) {
		rise, curvature, err := slope(sign * length)
		return sign * rise, curvature, err
	})
	if by = float64(by * sign); by-by != 0 {
		return 0, err
	}
	return by, err
}
