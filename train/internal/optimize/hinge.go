package optimize

import (
	"context"
	"math"
	"time"

	"halfspace/internal/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/passes"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

const (
	firstSlope = 0.5 // slope of the smooth hinge at the beginning, with zero weights
	kinkErrors = 4   // a row is near its kink within this times the error of scores at a sample's optimum

	nearSlopeFactor = 5    // a search of near rows begins with this times the slope
	nearShare       = 4    // a search of all rows ends if at most 1/nearShare of them are near
	mostKeptRows    = 512  // but not with at most this number of rows
	nearEpochs      = 1000 // most passes over the near rows
	wideningFactor  = 4    // the slope is divided by this if the near rows can't balance the fixed rows

	// The multipliers change once the gradient's part of the gap is at most gradientShare times the gap.
	gradientShare  = 0.05
	mostNoiseSteps = 2   // or after this number of steps whose gain is rounding error
	stuckGrowth    = 0.2 // the slope then grows by this
	mostStuckTimes = 10  // the search ends if this happens that many times in a row
	zoneFactor     = 0.2 // the first zone with new multipliers is this times the widest zone with the last ones
)

// Hinge finds the minimum for the loss max(0, 1 - y (w.x)) and the penalty L2 > 0. If ctx ends or reading the rows
// fails, it returns the weights so far with the error.
//
// It runs the augmented Lagrangian method on the dual problem (Yan and Li, "An Efficient Augmented Lagrangian Method
// for Support Vector Machine", Optimization Methods and Software 35, 2020, algorithm 1). The dual problem has a
// variable a from 0 to 1 for each row; see dualObjective. The steps of Newton's method, as in Truncated, minimise a
// smooth form of the loss. Then each row's dual variable becomes its multiplier, and the slope of the smooth form is
// raised.
//
// Only rows near the kink of their loss decide where the minimum is. Once few rows are near, Hinge makes a pass over
// all rows. The pass fixes the dual variables of the other rows at 0 or 1, which makes the losses of these rows one
// linear function. Newton's method goes on with the near rows alone. The next pass over all rows proves the gap, and
// adds the rows that were fixed wrongly. With many rows, Hinge begins at the minimum of a sample, with the rows near
// their kinks there.
//
// The passes and steps of after count as made before. Between the passes over all rows, Hinge keeps only the
// multipliers, and the numbers of the near rows.
func (t *Task) Hinge(ctx context.Context, after Tally) (*Solution, error) {
	h := newHingeSearch(t, GapGoal)
	h.VisitedRows, h.Steps, h.Start = after.VisitedRows, after.Steps, after.Start
	resumed, err := t.Checkpoint.Load(h.state)
	if err == nil && !resumed {
		err = h.beginAtSample(ctx)
	}
	if err == nil {
		err = h.minimise(ctx)
	}
	return &Solution{W: h.W, Loss: h.loss, Objective: h.objective, LowerBound: min(h.objective, h.LowerBound), Weight: h.weight,
		Passes: h.Passes(), Visits: h.Passes()*t.Rows.Rows() + h.NearVisits, Steps: h.Steps, OutOfPasses: h.lacksPasses(2)}, err
}

// A hingeSearch is the state of Hinge between two passes over all rows.
type hingeSearch struct {
	HingeState
	goal float64 // gap to reach, relative to the objective
	all  *search // search of all rows; nil: it has not begun

	loss, objective, weight float64 // at W
}

// A HingeState is the state that a checkpoint keeps. With IsWhole, it keeps the state of the search of all rows too.
type HingeState struct {
	Tally
	W          []float64   `length:"weights"`
	Smooth     smoothHinge // with the multipliers of all rows
	LowerBound float64     // the greatest dual objective so far; with all dual variables 0 it is 0
	NearVisits int64       // number of visited rows in searches of near rows
	Near       []int64     // numbers of the near rows of the last pass, which stay near

	IsWhole bool // the search is one of all rows
	IsKept  bool // and stays so, because near rows alone led nowhere
	Missed  bool // the last search of near rows missed its goal
}

func newHingeSearch(t *Task, goal float64) *hingeSearch {
	return &hingeSearch{goal: goal, HingeState: HingeState{Tally: Tally{Task: t, Start: time.Now()}, IsWhole: true,
		W:      make([]float64, t.Rows.Spec().Cols()),
		Smooth: smoothHinge{Slope: firstSlope, Base: block.Alloc[float64](int(t.Rows.Rows()))}}}
}

// state saves or restores the state.
func (h *hingeSearch) state(w *checkpoint.Walk) {
	checkpoint.Named(StateOfHinge, func(w *checkpoint.Walk) {
		checkpoint.Struct(w, &h.HingeState, map[string]int{"weights": len(h.W), "rows": len(h.Smooth.Base)})
		if h.IsWhole {
			if h.all == nil {
				h.all = newSearch(&h.Tally, &h.Smooth)
				h.all.resumed = true
			}
			h.all.state(w)
		}
	})(w)
}

// beginAtSample takes the minimum of a sample as the beginning, if there are enough rows.
func (h *hingeSearch) beginAtSample(ctx context.Context) error {
	sample, err := learner.Sample(ctx, h.Rows)
	if sample == nil || err != nil {
		return err
	}
	few, share := *h.Task, float64(sample.Rows())/float64(h.Rows.Rows())
	few.Rows, few.L2, few.Epochs, few.Progress, few.Checkpoint = sample, h.L2*share, nearEpochs, nil, nil
	// The goal is about the difference between the objective at the sample's minimum and the minimum over all rows.
	s := newHingeSearch(&few, float64(len(h.W))/float64(sample.Rows()))
	err = s.beginAtSample(ctx)
	if err == nil {
		err = s.minimise(ctx)
	}
	if err != nil {
		return ctx.Err() // training on all rows may work although training on a sample failed
	}
	h.Steps, h.NearVisits = s.Steps, s.VisitedRows+s.NearVisits
	if s.objective-s.LowerBound > s.goal*s.objective {
		return nil
	}
	h.W, h.IsWhole, h.Smooth.Slope = s.W, false, 0.5/(kinkErrors*math.Sqrt(s.goal))
	for i := range h.Smooth.Base {
		h.Smooth.Base[i] = 0.5
	}
	return nil
}

// minimise goes on until the gap is small enough, rounding prevents a smaller gap, or the limit of passes is reached.
func (h *hingeSearch) minimise(ctx context.Context) error {
	for {
		if h.IsWhole {
			if narrows, err := h.searchAll(ctx); !narrows || err != nil {
				return err
			}
			h.IsWhole, h.all = false, nil
			continue
		}
		h.Mark(h.state)
		near, err := h.findNear(ctx)
		if err != nil || h.hasReachedGoal() || h.lacksPasses(2) {
			return err
		}
		switch isWorse := h.objective > h.weight; {
		case isWorse && h.Near == nil || h.Missed || int64(len(near.numbers)) > h.Rows.Rows()/2:
			if h.IsWhole, h.IsKept = true, h.Missed || h.Near != nil; isWorse { // the minimum is no farther from zeros
				clear(h.W)
				clear(h.Smooth.Base)
				h.Smooth.Slope = firstSlope
			}
		case h.Rows.Spec().Bias && !near.canBalance():
			h.Smooth.Slope /= wideningFactor
		default:
			if err := h.searchNear(ctx, near); err != nil {
				return err
			}
		}
	}
}

func (h *hingeSearch) hasReachedGoal() bool { return h.objective-h.LowerBound <= h.goal*h.objective }

// searchAll searches with all rows. It tells whether it ended because few rows are near.
func (h *hingeSearch) searchAll(ctx context.Context) (narrows bool, err error) {
	if h.all == nil {
		h.Smooth = smoothHinge{Slope: h.Smooth.Slope, Base: h.Smooth.Base, StepsBefore: h.Steps}
		h.all = newSearch(&h.Tally, &h.Smooth)
	}
	s := h.all
	defer func() {
		h.W, h.loss, h.objective, h.weight, h.LowerBound = s.pointAtWeights.W, s.pointAtWeights.Loss, s.pointAtWeights.Objective,
			s.pointAtWeights.Weight, s.LowerBound
	}()
	if err := s.begin(ctx, h.W, nil, h.LowerBound); err != nil {
		return false, err
	}
	if err := s.takeBiasAlone(ctx); err != nil {
		return false, err
	}
	h.Mark(h.state)
	return s.minimiseHinge(ctx, h.goal, !h.IsKept, func() { h.Mark(h.state) })
}

// searchNear searches with the near rows, for half of the goal.
func (h *hingeSearch) searchNear(ctx context.Context, near *nearRows) error {
	few := *h.Task
	few.Rows, few.Epochs, few.Progress, few.Checkpoint = near.view(h.Rows.Spec()), nearEpochs, nil, nil
	tally := Tally{Task: &few, Start: h.Start}
	s := newSearch(&tally, &smoothHinge{Slope: nearSlopeFactor * h.Smooth.Slope, Base: near.base, fixed: &near.fixed})
	// The bound belongs to these fixed rows: their minimum may be below the minimum over all rows.
	err := s.begin(ctx, h.W, near.scores, math.Inf(-1))
	if err == nil {
		_, err = s.minimiseHinge(ctx, h.goal/2, false, func() {})
	}
	h.Steps, h.NearVisits = h.Steps+tally.Steps, h.NearVisits+tally.VisitedRows
	if err != nil {
		return err
	}
	h.W, h.LowerBound = s.pointAtWeights.W, max(h.LowerBound, s.LowerBound)
	for i, row := range near.numbers {
		h.Smooth.Base[row] = near.base[i]
	}
	h.Near, h.Missed = near.numbers, s.pointAtWeights.Objective-s.LowerBound > h.goal/2*s.pointAtWeights.Objective
	return nil
}

// minimiseHinge makes steps and raises the slope until the gap is small enough, rounding prevents a smaller gap, or
// the limit of passes is reached. With narrows, it also ends once few rows are near their kinks, and tells so. It
// calls mark after each step.
func (s *search) minimiseHinge(ctx context.Context, goal float64, narrows bool, mark func()) (narrowed bool, err error) {
	for s.pointAtWeights.Objective-s.LowerBound > goal*s.pointAtWeights.Objective &&
		s.IdleSteps < mostIdleSteps && s.hinge.StuckTimes < mostStuckTimes && !s.lacksPasses(2) && s.hinge.Slope <= mostSlope {
		next := s.step
		if s.isNearMinimum() {
			if narrows && s.hasFewNearRows() {
				return true, nil
			}
			next = s.raiseSlope
		}
		if err := next(ctx); err != nil {
			return false, err
		}
		mark()
	}
	return false, nil
}

// takeBiasAlone takes a bias of 1 or -1, whose loss is 0, if all rows have one class and the weights are zeros.
func (s *search) takeBiasAlone(ctx context.Context) error {
	p := &s.pointAtWeights
	if s.features == s.cols || (p.Duals[0] == 0) == (p.Duals[1] == 0) || f64.Dot(p.W, p.W) > 0 {
		return nil
	}
	bias := math.Copysign(1, p.Duals[1]-p.Duals[0])
	p.W[s.features], s.HasBatchSums = bias, true
	for i := range p.Scores {
		p.Scores[i] = bias
	}
	return s.evaluate(ctx, p, nil, nil)
}

// isNearMinimum tells whether the smooth form is near its minimum.
func (s *search) isNearMinimum() bool {
	g := s.pointAtWeights.Gradient[:s.features]
	return s.Steps > s.hinge.StepsBefore &&
		(f64.Dot(g, g)/(2*s.L2) <= float64(gradientShare*(s.pointAtWeights.Objective-s.LowerBound)) ||
			s.IdleSteps >= mostNoiseSteps)
}

func (s *search) hasFewNearRows() bool {
	near, rows := int64(0), s.Rows.Rows()
	for i, z := range s.pointAtWeights.Scores {
		u := 1 - float64(z*s.y[i])
		if a := s.hinge.dual(int64(i), u); a > 0 && a < 1 || s.hinge.isNear(u) {
			near++
		}
	}
	return rows > mostKeptRows && near <= rows/nearShare
}

// raiseSlope makes the dual variables the multipliers, and raises the slope.
func (s *search) raiseSlope(ctx context.Context) error {
	h := s.hinge
	for i, z := range s.pointAtWeights.Scores {
		h.Base[i] = h.dual(int64(i), 1-float64(z*s.y[i]))
	}
	if s.IdleSteps >= mostNoiseSteps { // rounding errors of margins grow with the slope
		h.Slope *= stuckGrowth
		h.StuckTimes++
	} else {
		h.Slope *= slopeGrowth(s.Steps - h.StepsBefore)
		h.StuckTimes = 0
	}
	h.Zone, h.WidestZone = zoneFactor*h.WidestZone, 0
	h.StepsBefore, s.IdleSteps = s.Steps, 0
	return s.evaluate(ctx, &s.pointAtWeights, nil, nil)
}

// findNear makes a pass over all rows at the weights. It makes the dual variable of each row its multiplier, and finds
// the rows near their kinks: rows whose dual variable is free or leaves a bound, rows with a margin in the zone about
// 1, and those that were near before.
func (h *hingeSearch) findNear(ctx context.Context) (*nearRows, error) {
	n, t := &nearRows{fixed: fixedRows{vector: make([]float64, len(h.W))}}, newTable(h.Rows, h.Workers)
	add := func(c *nearRows) { n.add(t, c) }
	var err error
	if passes.InProcess(h.Rows) {
		err = t.eachNear(ctx, h.W, &h.Smooth, h.Near, add)
	} else {
		err = eachNearRemote(ctx, h.Rows, h.W, &h.Smooth, h.Near, add)
	}
	if err != nil {
		return nil, err
	}
	features, penalty := h.Rows.Spec().Width(), 0.0
	for _, v := range h.W[:features] {
		penalty += float64(float64(h.L2/2*v) * v)
	}
	h.loss, h.weight, h.objective = n.loss, n.weight, n.loss+penalty
	h.Visit(h.Rows.Rows(), learner.SumOf(h.W), &learner.Measure{Objective: h.objective, Gap: max(0, h.objective-h.LowerBound)})
	if h.objective-h.objective != 0 {
		return nil, learner.OverflowError()
	}
	return n, nil
}
