// Package dualdescent minimises hinge losses by dual coordinate descent.
package dualdescent

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/kernel/f64"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

const (
	leastMeasureFactor = 1e-9 // the search ends when MeasureFactor falls below this
	leastMeasureCut    = 0.05 // least factor of MeasureFactor after the gap was computed
	mostMeasureCut     = 0.5  // greatest factor of MeasureFactor after the gap was computed

	biasSoftness = 0.05 // softness of a bias, as a share of the mean of squares
	driftShare   = 0.5  // stride doubles if biases minus centre keep their direction and more than this times their size

	neighbourRows = 16 // rows of a group; with 64 the search takes many more passes
)

// Hinge returns weights near the minimum for the loss max(0, 1 - y (w.x)) of rows with labels -1 and +1; see solve.
func Hinge(ctx context.Context, t *optimize.Task, mostPasses int64) (*optimize.Solution, error) {
	return solve(ctx, t, hinge{}, mostPasses, 1)
}

// SquaredHinge returns weights near the minimum for the loss max(0, 1 - y (w.x))^2 of rows with labels -1 and +1; see
// solve.
func SquaredHinge(ctx context.Context, t *optimize.Task, mostPasses int64) (*optimize.Solution, error) {
	return solve(ctx, t, squaredHinge{}, mostPasses, 1)
}

// CrammerSinger returns weights near the minimum for the loss max over the classes k of w_k.x - w_y.x + [k is not y] of
// rows whose label y is the number of a class; see solve (Crammer and Singer, "On the Algorithmic Implementation of
// Multiclass Kernel-based Vector Machines", Journal of Machine Learning Research 2, 2001). The solution has one vector
// of weights for each class.
func CrammerSinger(ctx context.Context, t *optimize.Task, seed uint64) (*optimize.Solution, error) {
	return solve(ctx, t, crammerSinger(len(t.Rows.Spec().Classes)), t.Epochs, seed)
}

// CrammerSingerLosses makes a pass over the rows for each of the given lists of one vector of weights for each class.
// It returns the sums of the losses of CrammerSinger times sample weights.
func CrammerSingerLosses(ctx context.Context, rows block.Source, workers int, all [][]float64) ([]float64, error) {
	var sums []float64
	spec := rows.Spec()
	n, cols, features := len(spec.Classes), spec.Cols(), spec.Width()
	for _, vectors := range all {
		w, bias := make([]float64, features*n), make([]float64, n)
		for k := range n {
			for c, v := range vectors[k*cols:][:features] {
				w[c*n+k] = v
			}
			if spec.Bias {
				bias[k] = vectors[k*cols+features]
			}
		}
		sum, err := sumLosses(ctx, rows, workers, crammerSinger(n), w, bias)
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum)
	}
	return sums, nil
}

// solve finds weights w near the minimum of
//
//	1/2 L2 |w|^2 + sum over the rows of the sample weight times the loss
//
// without a penalty on biases. Rows that aren't in memory are copied. If ctx ends or reading the rows fails, it
// returns the weights so far with the error. Its steps are changes of a row's dual variables by visits. A pass counts
// as many visits as there are rows.
//
// The method is dual coordinate descent with shrinking (Hsieh, Chang, Lin, Keerthi and Sundararajan, "A Dual
// Coordinate Descent Method for Large-scale Linear SVM", ICML 2008, algorithm 3; for more than two classes Keerthi,
// Sundararajan, Chang, Hsieh and Lin, "A Sequential Dual Method for Large Scale Multi-Class Linear SVMs", KDD 2008). A
// visit of a row finds the best dual variables of that row for the present variables of the other rows, and changes w.
// Each pass visits the rows in a new random order; see sweep. Rows whose variables are at a bound and would stay there
// are left out until the estimate of the gap has fallen to a tenth. The visits of a pass add up this estimate. Between
// passes, accelerate adds multiples of two moves of all variables: alone, the visits may take hundreds of passes.
//
// With biases, the method of multipliers meets the constraints on the sums of dual variables (Hestenes, "Multiplier
// and Gradient Methods", Journal of Optimization Theory and Applications 4, 1969). A bias b has the penalty r/2 (b -
// centre)^2, so b is centre + sum of a / r. Once the violation of the optimum's conditions is at most |b - centre|,
// the centre moves by stride x (b - centre). The smaller 1/r is, the less a visit moves the bias of all other rows,
// and the fewer passes the search takes; but b - centre is then small too. So stride doubles if b - centre has the
// direction that it had before the last move and more than half its size; otherwise stride is 1.
//
// The search stops once the duality gap is at most 5e-7 of the objective, or after a number of passes. The result
// doesn't depend on the workers, nor on the form or the kind of the source.
func solve(ctx context.Context, t *optimize.Task, p problem, mostPasses int64, seed uint64) (*optimize.Solution, error) {
	s := newSearch(t, p, seed)
	s.mostPasses = mostPasses
	err := s.begin(ctx)
	if err == nil && !s.hasOneClass() {
		if _, err = s.Checkpoint.Load(s.state); err == nil {
			err = s.maximise(ctx)
		}
	}
	return &optimize.Solution{W: s.weights(), Loss: s.Loss, Objective: s.objective(),
		LowerBound: min(s.objective(), s.LowerBound), Passes: s.Passes(), Visits: s.VisitedRows, Steps: s.Steps,
		OutOfPasses: s.outOfPasses}, err
}

// A search is the state of solve.
type search struct {
	dual
	State
	seed           uint64
	mostPasses     int64     // the search ends after this number of passes
	weightedRows   int64     // number of rows with a sample weight above 0
	weight         float64   // sum of the sample weights
	outOfPasses    bool      // the limit of passes ended the search
	touched        uint32    // keeps the loads of touch from being compiled away
	order          []int     // numbers of the rows of a sweep
	slope, by, one []float64 // of a visited row: slopes, and the change of its variables; one is 1 for each class
}

// A State is the part of a search that a checkpoint holds.
type State struct {
	optimize.Tally
	Moves
	Sweeps        uint64
	IsLeftOut     []bool    `length:"rows"`    // rows that are left out
	Centre        []float64 `length:"vectors"` // set while a checkpoint is written or read; else dual.centre
	CentreMove    []float64 `length:"vectors"` // biases minus the centre, before the centre's last move
	Stride        float64   // the centre's last move divided by CentreMove
	SlopeLimit    float64   // rows whose violation is below this times -1 are left out
	LowerBound    float64   // the greatest dual objective so far, times l2
	Loss          float64
	IsMeasured    bool    // loss and LowerBound belong to the variables
	MeasureFactor float64 // the gap is computed once its estimate is at most this times the gap to reach
	WakeEstimate  float64 // rows left out are visited again once the estimate of the gap is at most this
}

// state saves or restores the state of the search before a sweep.
func (s *search) state(w *checkpoint.Walk) {
	checkpoint.Named(optimize.StateOfDual, func(w *checkpoint.Walk) {
		s.Centre = s.centre
		checkpoint.Struct(w, &s.State, map[string]int{"rows": len(s.IsLeftOut), "vectors": len(s.Bias), "weights": len(s.W),
			"variables": len(s.A)})
		s.centre = s.Centre
	})(w)
}

func newSearch(t *optimize.Task, p problem, seed uint64) *search {
	features, rows, n := t.Rows.Spec().Width(), int(t.Rows.Rows()), p.vectors()
	s := &search{dual: dual{problem: p, features: features, rows: make([]row, 0, rows),
		centre: make([]float64, n)}, seed: seed}
	s.slope, s.by, s.one = make([]float64, n), make([]float64, n), slices.Repeat([]float64{1}, p.classes())
	s.State = State{Tally: optimize.Tally{Task: t, Start: time.Now()}, IsLeftOut: make([]bool, rows),
		CentreMove: make([]float64, n), SlopeLimit: math.Inf(1), MeasureFactor: 1, WakeEstimate: math.Inf(1),
		IsMeasured: true}
	for _, v := range []*Variables{&s.Variables, &s.Earlier, &s.LastMove} {
		*v = newVariables(features, rows, n)
	}
	return s
}

// begin makes a pass over the rows and keeps them.
func (s *search) begin(ctx context.Context) error {
	_, stays := s.Rows.(*block.Data)
	squares := 0.0
	for chunks, err := range block.Chunks(ctx, s.Rows, 1) {
		if err != nil {
			return err
		}
		for _, chunk := range chunks {
			s.chunks = append(s.chunks, keep(chunk, stays))
			for r, y := range chunk.Y {
				e := s.chunks[len(s.chunks)-1].row(r, s.Rows.Spec().Bias)
				weight, square := chunk.Weight(r), e.square()
				if squares, s.weight = squares+float64(square*weight), s.weight+weight; weight > 0 {
					s.weightedRows++
				}
				s.rows = append(s.rows, row{float64(y), weight / s.L2, square + s.square(weight/s.L2)})
			}
		}
	}
	if s.Visit(int64(len(s.rows)), nil, nil); s.weight == 0 {
		return learner.ErrWeightless
	}
	if squares-squares != 0 {
		return learner.OverflowError()
	}
	if s.Rows.Spec().Bias {
		if s.softness = biasSoftness * squares / s.weight; s.softness == 0 {
			s.softness = 1 // any penalty works if all features are 0
		}
	}
	s.Loss = s.weight // with zero weights
	for i := range s.rows {
		if one := &s.rows[i]; one.square+s.softness > 0 {
			one.square += s.softness
		} else {
			one.square = 1 / (2 * one.bound) // so that a visit moves the variables to their bounds
		}
	}
	s.includeAllRows()
	return nil
}

// hasOneClass tells whether all rows with a sample weight above 0 have the same class. It then sets the biases to an
// optimum, at which no row has a loss.
func (s *search) hasOneClass() bool {
	first := slices.IndexFunc(s.rows, func(r row) bool { return r.bound > 0 })
	if first < 0 || s.softness == 0 || slices.ContainsFunc(s.rows, func(r row) bool { return r.bound > 0 && r.y != s.rows[first].y }) {
		return false
	}
	s.slopes(s.rows[first].y, s.Bias)
	for k := range s.Bias {
		s.Bias[k] *= -1
	}
	s.Loss = 0
	return true
}

// maximise makes passes until the gap is small enough or the limit of passes is reached. Each time the estimate of the
// gap has fallen to a tenth, it visits the rows again that were left out, because some may have been left out wrongly.
func (s *search) maximise(ctx context.Context) error {
	for s.Mark(s.state); s.leavesPasses(1); s.Mark(s.state) {
		steps := s.Steps
		swept, err := s.sweep(ctx)
		if err != nil {
			return err
		}
		if s.IsMeasured = false; s.leavesPasses(1) {
			projected, err := s.accelerate(ctx, &s.dual)
			if s.Visit(projected, nil, nil); err != nil {
				return err
			}
		}
		off := s.recentre(swept.violation)
		if s.softness > 0 {
			swept.gap += float64(2*off) / s.softness
		}
		stuck := steps == s.Steps && off == 0
		ready := stuck || !s.exceeds(swept.gap, s.MeasureFactor*optimize.GapGoal) // NaN ends the search
		if !ready && swept.gap > s.WakeEstimate {
			continue
		}
		if !ready || int64(len(s.order)) < s.weightedRows {
			s.WakeEstimate = swept.gap / 10
			s.includeAllRows()
			continue
		}
		if err := s.measure(ctx); err != nil {
			return err
		}
		gap, goal := s.objective()-s.LowerBound, optimize.GapGoal*s.objective()
		if gap <= goal || s.MeasureFactor < leastMeasureFactor || stuck {
			return nil
		}
		s.MeasureFactor *= min(mostMeasureCut, max(leastMeasureCut, mostMeasureCut*goal/gap))
	}
	if s.outOfPasses = true; s.IsMeasured {
		return nil
	}
	return s.measure(ctx)
}

// leavesPasses tells whether the limit leaves a number of passes besides the passes of the last measure.
func (s *search) leavesPasses(passes int64) bool {
	last := int64(2)
	if s.softness > 0 {
		last = 3
	}
	return s.Passes()+passes+last <= s.mostPasses
}

// includeAllRows makes the next sweep visit all rows with a sample weight above 0.
func (s *search) includeAllRows() {
	s.SlopeLimit = math.Inf(1)
	for i, r := range s.rows {
		s.IsLeftOut[i] = r.bound == 0
	}
}

// A sweepResult is the result of a sweep.
type sweepResult struct {
	violation float64 // greatest violation of a visited row, and 0 at the optimum
	gap       float64 // estimate of the duality gap, divided by l2: the sum of the parts of the visited rows
}

// sweep visits the rows that aren't left out, in a random order. It permutes groups of neighbouring rows, and the rows
// within each group. That takes far less time than to fetch single rows from all over the memory. Chunk by chunk, the
// search would take many times as many passes.
func (s *search) sweep(ctx context.Context) (t sweepResult, err error) {
	rng := rand.NewPCG(s.seed, s.Sweeps)
	s.order = s.order[:0]
	for i, isLeftOut := range s.IsLeftOut {
		if !isLeftOut {
			s.order = append(s.order, i)
		}
	}
	groups := slices.Collect(slices.Chunk(s.order, neighbourRows))
	learner.Permute(groups, rng)
	for _, rows := range groups {
		if learner.Permute(rows, rng); ctx.Err() != nil {
			return t, ctx.Err()
		}
		for _, i := range rows {
			s.touched += s.chunks[i/block.ChunkRows].touch(i%block.ChunkRows) + uint32(s.rows[i].y) + uint32(s.A[i*len(s.by)])
		}
		for _, i := range rows {
			s.visit(i, &t)
		}
	}
	s.Visit(int64(len(s.order)), learner.SumOf(s.W, s.Bias), nil)
	s.Sweeps++
	if s.SlopeLimit = t.violation; !(t.violation > 0) {
		s.SlopeLimit = math.Inf(1)
	}
	return t, nil
}

// visit maximises the dual objective over the variables of row i.
func (s *search) visit(i int, t *sweepResult) {
	e := s.row(i)
	one, a := &s.rows[i], s.A[i*len(s.by):][:len(s.by)]
	s.ElementsVisited += int64(len(e.columns) * len(a))
	copy(s.slope, s.Bias)
	e.addScores(s.slope, s.W)
	violation, gap := s.best(one, a, s.slope, s.by)
	if violation <= 0 {
		s.IsLeftOut[i] = violation < -s.SlopeLimit
		return
	}
	t.violation = max(t.violation, violation)
	t.gap += gap
	changed := false
	for k, next := range s.by {
		s.by[k] = next - a[k]
		changed = changed || math.Abs(s.by[k]) > noise*max(math.Abs(a[k]), math.Abs(next))
		a[k] = next
	}
	if changed {
		s.addRow(s.Variables, &e, s.by)
		s.Steps++
	}
}

// recentre moves the centres of the biases to the biases, or beyond them, if the violation allows; see solve. It
// returns the sum of the distances before. The dual variables stay the same, so the biases move by the same distances.
// After a move beyond the biases, rows that were left out may matter.
func (s *search) recentre(violation float64) (distance float64) {
	along, before := 0.0, 0.0
	for k, centre := range s.centre {
		off := s.Bias[k] - centre
		distance += math.Abs(off)
		before += math.Abs(s.CentreMove[k])
		along += float64(off * s.CentreMove[k])
	}
	if s.softness == 0 || violation > distance {
		return distance
	}
	if along > 0 && distance > driftShare*before {
		s.Stride *= 2
		s.includeAllRows()
	} else {
		s.Stride = 1
	}
	for k := range s.centre {
		s.CentreMove[k] = s.Bias[k] - s.centre[k]
		by := float64(s.Stride * s.CentreMove[k])
		s.centre[k] += by
		s.Bias[k] += by
	}
	return distance
}

// penalty returns L2/2 |w|^2.
func (s *search) penalty(w []float64) float64 { return float64(s.L2 / 2 * f64.Dot(w, w)) }

// objective returns the primal objective: the last measured loss plus the penalty of w.
func (s *search) objective() float64 { return s.Loss + s.penalty(s.W) }

// exceeds tells whether a gap, divided by L2, is above a share of the dual objective as it is if the sums of the dual
// variables meet their constraints.
func (s *search) exceeds(gap, share float64) bool {
	if gap *= s.L2; gap > share*s.weight { // the dual objective is at most the loss with zero weights
		return true
	}
	sum := s.linear(s.rows, s.A)
	return gap > share*(float64(s.L2*(sum-float64(s.squares(s.A, s.A)/2)))-s.penalty(s.W))
}

// measure makes two passes over the rows and computes the loss and the dual objective. With biases it may make a third
// pass: it scales the variables of each class so that their sums meet the constraints.
func (s *search) measure(ctx context.Context) (err error) {
	if err = s.weigh(ctx, s.LastMove.W, s.A, s.one); err != nil { // not s.W, which an interrupt may return
		return err
	}
	s.W, s.LastMove.W = s.LastMove.W, s.W
	s.rebias(s.Variables, false)
	s.Visit(s.Rows.Rows(), nil, nil)
	if s.Loss, err = sumLosses(ctx, s.Rows, s.Workers, s.problem, s.W, s.Bias); err != nil {
		return err
	}
	if s.Visit(s.Rows.Rows(), learner.SumOf(s.W, s.Bias), nil); s.Loss-s.Loss != 0 {
		return learner.OverflowError()
	}
	sum, squares, w := s.linear(s.rows, s.A), s.squares(s.A, s.A), s.W
	if s.softness > 0 {
		parts, n := s.flow(s.A), s.classes()
		factors := balance(parts, n)
		w, sum = s.LastMove.W, 0
		if err := s.weigh(ctx, w, s.A, factors); err != nil {
			return err
		}
		s.Visit(s.Rows.Rows(), nil, nil)
		for i, v := range parts {
			sum += float64(factors[i/n] * v)
		} // squares of variables times factors of at most 1 are no greater
	}
	s.LowerBound = max(s.LowerBound, float64(s.L2*(sum-float64(squares/2)))-s.penalty(w))
	s.IsMeasured = true
	s.forget()
	return nil
}

// weights returns one vector of weights for each vector of the problem, one element for each column.
func (s *search) weights() (w []float64) {
	n := len(s.Bias)
	for k, bias := range s.Bias {
		for c := range s.features {
			w = append(w, s.W[c*n+k])
		}
		if s.Rows.Spec().Bias {
			w = append(w, bias)
		}
	}
	return w
}

// sumLosses makes a pass over the rows and returns the sum of their losses times sample weights.
func sumLosses(ctx context.Context, rows block.Source, workers int, p problem, w, bias []float64) (float64, error) {
	total := 0.0
	err := block.ReduceChunks(ctx, rows, workers, func(chunk block.Chunk) (sum float64) {
		c, slopes := keep(chunk, true), make([]float64, len(bias))
		for r, y := range chunk.Y {
			copy(slopes, bias)
			e := c.row(r, rows.Spec().Bias)
			e.addScores(slopes, w)
			p.slopes(float64(y), slopes)
			sum += float64(p.loss(float64(y), slopes) * chunk.Weight(r))
		}
		return sum
	}, func(sum float64) { total += sum })
	return total, err
}
