package svm

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/linalg"
	"halfspace/internal/message"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

const (
	jointGoal       = 0.3   // the search stops at a gap of this times tolerance times the objective
	firstViolation  = 1     // first violation at which the gap is measured
	violationFactor = 0.5   // factor of that violation after each measurement
	leastViolation  = 1e-10 // least violation at which the gap is measured
	noiseViolation  = 1e-12 // a smaller violation, or a smaller relative change of a dual variable, is rounding error
)

// solveJoint finds the minimum over the vectors w_k of
//
//	1/2 l2 sum over k of |w_k|^2 + sum over rows of c max over k of (w_k.x - w_y.x + [k is not y])
//
// where k is a class, y the class of the row, x its columns and c its sample weight (Crammer and Singer, "On the
// Algorithmic Implementation of Multiclass Kernel-based Vector Machines", Journal of Machine Learning Research 2,
// 2001). Biases have no penalty. If ctx ends or reading the rows fails, solveJoint returns the weights so far with
// the error.
//
// The dual problem has a variable a_k for each row and class. a_y <= c/l2, a_k <= 0 for the other classes, and the sum
// of a_k over the classes is 0. w_k is the sum of a_k x over the rows. A visit of a row finds the best a of that row.
// Each epoch visits the rows of a block in a new order. A row whose a can't change is skipped until the violation of
// the other rows is small enough. See Keerthi, Sundararajan, Chang, Hsieh and Lin, "A Sequential Dual Method for Large
// Scale Multi-Class Linear SVMs", 2008. With biases, the sum of a_k over the rows must be 0 too. solveJoint finds the biases
// as multipliers of these constraints, by the augmented Lagrangian method.
//
// Each time the violation is small enough, a pass over the rows measures the duality gap; see bound. The search stops
// at a gap of at most 3e-7 of the objective. The result doesn't depend on the workers, nor on the form or the kind of
// the source.
//
// The labels of the task's rows are class numbers. A pass counts as many visits as there are rows.
func solveJoint(ctx context.Context, t *optimize.Task, seed uint64) (*optimize.Solution, error) {
	spec := t.Rows.Spec()
	s := &jointSearch{Tally: optimize.Tally{Task: t, Start: time.Now()}, classes: len(spec.Classes), cols: spec.Cols(),
		features: spec.Width(), objective: math.Inf(1)}
	s.violation, s.noRowRests = firstViolation, true
	err := s.begin(ctx)
	if err == nil {
		_, err = s.Checkpoint.Load(s.state)
	}
	if err == nil {
		err = s.minimise(ctx)
	}
	return &optimize.Solution{W: s.weights(), Loss: s.loss, Objective: s.objective,
		LowerBound: s.objective - max(0, s.objective-s.lower), Passes: s.Passes(), Visits: s.VisitedRows,
		Steps: s.Steps, OutOfPasses: s.lacksPasses(0)}, err
}

// A jointSearch is the state of solveJoint. All numbers are divided by l2: weights have the penalty 1/2 |w|^2, and dual
// variables have the bound c/l2.
type jointSearch struct {
	optimize.Tally
	classes, cols, features int

	w       []float64 // weights of the features: for each feature in turn, its weights of all classes
	bias    []float64 // for each class: the centre of its bias + inertia times the sum of a
	sum     []float64 // sum of a over the rows, for each class
	inertia float64   // 1/inertia is the penalty on a bias's distance from its centre; 0: there are no biases
	a       []float64 // dual variables: for each row in turn, its variables of all classes
	rows    []jointRow
	scratch jointVisit

	loss, objective float64 // values of the last measurement
	lower           float64 // the greatest lower bound of the minimum so far

	epochs     uint64
	violation  float64 // the gap is measured once an epoch's violation is at most this
	noRowRests bool    // no row rests
}

// state saves or restores the state of the search before an epoch.
func (s *jointSearch) state(w *checkpoint.Walk) {
	s.Tally.State(w)
	learner.State(w, &s.epochs, &s.noRowRests, &s.violation, &s.loss, &s.objective, &s.lower)
	rests := make([]bool, len(s.rows))
	for i, r := range s.rows {
		rests[i] = r.rests
	}
	checkpoint.Values(w, rests)
	for i := range rests {
		s.rows[i].rests = rests[i]
	}
	learner.State(w, s.w, s.bias, s.sum, s.a)
}

// A jointRow is the data of a row that a visit needs beside its columns.
type jointRow struct {
	square float64 // squared norm of the features, plus inertia
	bound  float64 // c/l2
	class  int32
	rests  bool
}

// begin makes a pass over the rows and stores their data. The weights are 0 after it.
func (s *jointSearch) begin(ctx context.Context) error {
	n := int(s.Rows.Rows())
	s.w, s.bias, s.sum = make([]float64, s.features*s.classes), make([]float64, s.classes), make([]float64, s.classes)
	s.a, s.rows = block.Alloc[float64](n*s.classes), make([]jointRow, 0, n)
	s.scratch = newJointVisit(s.classes)
	squares, weight := 0.0, 0.0
	for b, err := range s.Rows.Blocks(ctx) {
		if err != nil {
			return err
		}
		for r, y := range b.Y {
			s.scratch.load(b, r, s.features)
			one := jointRow{square: linalg.SquareSparse(s.scratch.columns, s.scratch.values, s.cols),
				bound: b.Weight(r) / s.L2, class: int32(y)}
			s.rows = append(s.rows, one)
			squares, weight = squares+float64(one.square*b.Weight(r)), weight+b.Weight(r)
		}
	}
	if weight == 0 {
		return learner.ErrWeightless
	}
	if s.cols > s.features {
		if s.inertia = squares / weight; s.inertia == 0 {
			s.inertia = 1
		}
	}
	for i := range s.rows {
		one := &s.rows[i]
		if one.square += s.inertia; one.square == 0 { // no feature and no bias: the best a is known without a visit
			one.rests = true
			a := s.a[i*s.classes:][:s.classes]
			a[one.class], a[(int(one.class)+1)%s.classes] = one.bound, -one.bound
		}
	}
	s.Visit(int64(len(s.rows)), nil, nil)
	return s.measure(ctx)
}

// minimise makes epochs until the gap is small enough or the limit of passes is reached.
func (s *jointSearch) minimise(ctx context.Context) error {
	for s.Mark(s.state); !s.isFinished(0); s.Mark(s.state) {
		found, err := s.epoch(ctx, s.epochs)
		if err != nil {
			return err
		}
		s.epochs++
		if found > s.violation && !s.isFinished(1) {
			s.noRowRests = false
			continue
		}
		s.includeAllRows()
		if !s.noRowRests && !s.isFinished(1) {
			s.noRowRests = true
			continue
		}
		if err := s.measure(ctx); err != nil || s.isFinished(0) {
			return err
		}
		for k, sum := range s.sum { // a multiplier moves by inertia times the violation of its constraint
			s.bias[k] += float64(s.inertia * sum)
		}
		s.violation = max(s.violation*violationFactor, leastViolation)
	}
	return nil
}

// isFinished tells whether the gap is small enough, or too few passes are left for more epochs, another epoch and a
// measurement.
func (s *jointSearch) isFinished(more int64) bool {
	return s.objective-s.lower <= jointGoal*tolerance*s.objective || s.lacksPasses(more)
}

func (s *jointSearch) lacksPasses(more int64) bool { return s.Passes()+2+more > s.Epochs }

// includeAllRows makes the next epoch visit all rows, except rows without features and bias.
func (s *jointSearch) includeAllRows() {
	for i := range s.rows {
		s.rows[i].rests = s.rows[i].square == 0
	}
}

// epoch visits the rows that don't rest. It returns the greatest violation of a visited row.
func (s *jointSearch) epoch(ctx context.Context, epoch uint64) (violation float64, err error) {
	rng := rand.NewPCG(s.Seed, epoch)
	var order []uint32
	for b, err := range s.Rows.Blocks(ctx) {
		if err != nil {
			return 0, err
		}
		order = order[:0]
		for r := range b.Len() {
			if !s.rows[b.First+int64(r)].rests {
				order = append(order, uint32(r))
			}
		}
		learner.Permute(order, rng)
		for i, r := range order {
			if i%256 == 0 && ctx.Err() != nil {
				return 0, ctx.Err()
			}
			violation = max(violation, s.visit(b, int(r)))
		}
		s.Visit(int64(len(order)), nil, nil)
	}
	s.Visit(0, learner.SumOf(s.w, s.bias), nil)
	return violation, nil
}

// weights returns one vector of weights for each class, one element for each column.
func (s *jointSearch) weights() []float64 {
	w := make([]float64, s.classes*s.cols)
	for c := range s.features {
		for k, v := range s.w[c*s.classes:][:s.classes] {
			w[k*s.cols+c] = v
		}
	}
	if s.features < s.cols {
		for k, v := range s.bias {
			w[k*s.cols+s.features] = v
		}
	}
	return w
}

// learnJoint is Train for more than two classes, which it trains together.
func learnJoint(ctx context.Context, src block.Source, opt Settings) (*Result, error) {
	if why := opt.versusOptions(); why != "" {
		return nil, message.Errorf("more than two classes are learned together by the --loss hinge without --l1 and " +
			"--nonnegative: choose these, or use --multiclass ovr")
	}
	task := jointTask(src, opt)
	var passes, visits int64 // without the pass that measures the result
	l, err := task.Learn(ctx, func(ctx context.Context) (*optimize.Solution, error) {
		s, err := solveJoint(ctx, task, opt.Seed)
		passes, visits = s.Passes, s.Visits
		return s, err
	}, nil)
	if l == nil {
		return nil, err
	}
	l.Epochs, l.Visits = passes, visits
	r := resultOf(l)
	if err != nil {
		return r, err
	}
	return r, learner.Evaluate(ctx, src, opt.Workers, &r.Result)
}

func jointTask(src block.Source, opt Settings) *optimize.Task {
	task := &optimize.Task{Penalty: opt.penalty(), Options: learner.SharedOptions(&opt), Rows: src}
	task.Sums = func(ctx context.Context, all [][]float64) ([]float64, error) {
		losses := make([]float64, len(all))
		for i, w := range all {
			var err error
			if losses[i], err = jointLoss(ctx, src, opt.Workers, w); err != nil {
				return nil, err
			}
		}
		return losses, nil
	}
	return task
}

// versusOptions returns the options with which each of more than two classes is trained versus the rest, or "" if there
// are none.
func (o *Settings) versusOptions() string {
	switch {
	case o.needsElastic():
		return message.Sprintf("--l1 or --nonnegative")
	case o.Loss != Hinge:
		return message.Sprintf("--loss %s", SquaredHinge)
	}
	return ""
}
