package optimize

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/linalg"
	"halfspace/internal/message"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

const (
	leastMeasureFactor = 1e-9 // the search ends when measureFactor falls below this
	leastMeasureCut    = 0.05 // least factor of measureFactor after the gap was computed
	mostMeasureCut     = 0.5  // greatest factor of measureFactor after the gap was computed

	biasSoftness = 0.05 // softness of the bias, as a share of the mean of squares
	driftShare   = 0.5  // stride doubles if the bias minus the centre keeps its sign and more than this times its size

	neighbourRows = 16 // rows of a group; with 64 the search takes many more passes
)

// A dual is the state of a search by DualHinge.
//
// Row i has the sample weight c_i and the dual variable a_i, from 0 to c_i. Let v be the sum of a_i y_i x_i over the
// features. The dual problem is to maximise sum a_i - |v|^2 / (2 l2). With a bias, sum a_i y_i must be 0.
type dual struct {
	Tally
	variables
	combined        variables // variables after the last call of combine
	lastMove        variables // the whole move between the last two calls of combine
	workMemory      variables // memory for combine
	elementsVisited int64     // number of elements visited since the last call of combine
	features        int
	y               []float64
	weights         []float64
	squares         []float64            // for each row: curvature of the dual objective along a_i, times -1
	rows            []*kernel.SparseRows // each chunk's rows, without zeros
	order           []uint32             // numbers of the rows to visit: sample weight above 0, not left out
	allRows         int                  // length of order when no row is left out
	isLeftOut       []bool               // rows that are left out
	softness        float64              // 1/r, where r/2 (b - centre)^2 is the penalty on the bias b
	centre          float64
	biasDistance    float64 // the bias minus the centre, before the centre's last move
	stride          float64 // the centre's last move divided by biasDistance
	zeroSlopeLimit  float64 // rows whose variable is 0 are left out if their slope is above this
	boundSlopeLimit float64 // rows whose variable is c_i are left out if their slope is below this
	lowerBound      float64 // the greatest dual objective so far
	loss            float64
	rng             *rand.Rand
	pcg             *rand.PCG // generator behind rng
	touchedBits     uint64    // keeps the loads of loadRow from being compiled away
	measureFactor   float64   // the gap is computed once its estimate is at most this times the gap to reach
	wakeEstimate    float64   // rows left out are visited again once the estimate of the gap is at most this
	isMeasured      bool      // loss and lowerBound belong to the variables
	outOfPasses     bool      // the limit of passes ended the search
}

// DualHinge returns weights near the minimum for the loss max(0, 1 - y (w.x)) and the penalty L2 > 0. If ctx ends or
// reading the rows fails, it returns the weights so far with the error. The Steps of the solution count changes of a
// dual variable by visits.
//
// The method is dual coordinate descent with shrinking (Hsieh, Chang, Lin, Keerthi and Sundararajan, "A Dual Coordinate
// Descent Method for Large-scale Linear SVM", ICML 2008, algorithm 3). A visit of a row maximises the dual objective
// over the row's variable, and changes w. Each pass visits the rows in a new random order; see sweep. Rows whose
// variable is at a bound and would stay there are left out until the estimate of the gap has fallen to a tenth. The
// visits of a pass add up this estimate. Rows that aren't in memory are copied. A pass counts as many visits as there
// are rows. Between passes, combine adds multiples of two moves of all variables: alone, the visits may take hundreds
// of passes.
//
// With a bias b, the method of multipliers meets the constraint on the variables (Hestenes, "Multiplier and Gradient
// Methods", Journal of Optimization Theory and Applications 4, 1969). b has the penalty r/2 (b - centre)^2, so b is
// centre + sum a_i y_i / r. Once the violation of the optimum's conditions is at most |b - centre|, the centre moves by
// stride x (b - centre). The smaller 1/r is, the less a visit moves the bias of all other rows, and the fewer passes the
// search takes; but b - centre is then small too. So stride doubles if b - centre has the sign that it had before the last
// move and more than half its size; otherwise stride is 1.
//
// The search stops once the duality gap is at most 5e-7 of the objective.
func (t *Task) DualHinge(ctx context.Context) (*Solution, error) {
	s := newDual(t)
	err := s.begin(ctx)
	if err == nil && !s.hasOneClass() {
		_, err = s.Checkpoint.Load(s.state)
		if err == nil {
			err = s.maximise(ctx)
		}
	}
	return &Solution{W: s.w, Loss: s.loss, Objective: s.objective(), LowerBound: s.objective() - max(0, s.objective()-s.lowerBound),
		Passes: s.Passes(), Visits: s.Passes() * t.Rows.Rows(), Steps: s.Steps, OutOfPasses: s.outOfPasses}, err
}

func newDual(t *Task) *dual {
	s := &dual{Tally: Tally{Task: t, Start: time.Now()}, features: t.Rows.Spec().Width(), pcg: rand.NewPCG(1, 0),
		zeroSlopeLimit: math.Inf(1), boundSlopeLimit: math.Inf(-1), measureFactor: 1, wakeEstimate: math.Inf(1), isMeasured: true}
	s.rng = rand.New(s.pcg)
	return s
}

// begin makes a pass over the rows and stores their labels, weights and elements.
func (s *dual) begin(ctx context.Context) error {
	n := s.Rows.Rows()
	if n > math.MaxUint32 {
		return message.Errorf("%d rows are too many for the --loss hinge with more than 16,384 columns: use "+
			"--loss squared_hinge", n)
	}
	for _, v := range []*variables{&s.variables, &s.combined, &s.lastMove, &s.workMemory} {
		*v = variables{make([]float64, s.Rows.Spec().Cols()), make([]float64, n)}
	}
	s.squares, s.isLeftOut = make([]float64, 0, n), make([]bool, n)
	s.y, s.weights = make([]float64, 0, n), make([]float64, 0, n)
	_, stay := s.Rows.(*block.Data)
	square := 0.0
	for chunks, err := range block.Chunks(ctx, s.Rows, 1) {
		if err != nil {
			return err
		}
		for _, chunk := range chunks {
			rows := linalg.SparseRows(chunk, stay && linalg.CleanSparse(chunk), &kernel.SparseRows{})
			s.rows = append(s.rows, rows)
			for r, y := range chunk.Y {
				columns, values := rows.Row(r)
				weight, size := chunk.Weight(r), linalg.SquareSparse(columns, values, s.features)/s.L2
				if weight > 0 {
					s.order = append(s.order, uint32(len(s.y)))
					s.loss += weight // the loss at zero weights
					square += size
				}
				s.y, s.weights, s.squares = append(s.y, float64(y)), append(s.weights, weight), append(s.squares, size)
			}
		}
	}
	s.allRows = len(s.order)
	s.countVisits(int(n))
	if square-square != 0 {
		return learner.OverflowError()
	}
	if s.features < len(s.w) && len(s.order) > 0 {
		if s.softness = biasSoftness * square / float64(len(s.order)); s.softness == 0 {
			s.softness = 1 // any penalty works if all features are 0
		}
		for i := range s.squares {
			s.squares[i] += s.softness
		}
	}
	return nil
}

// hasOneClass tells whether all rows with a sample weight above 0 have the same class. It then sets the bias to the
// label, which is the optimum.
func (s *dual) hasOneClass() bool {
	if s.features == len(s.w) || len(s.order) == 0 {
		return false
	}
	y := s.y[s.order[0]]
	for _, i := range s.order {
		if s.y[i] != y {
			return false
		}
	}
	s.w[s.features], s.loss = y, 0
	return true
}

func (s *dual) row(i int) ([]uint32, []float32) {
	return s.rows[i/block.ChunkRows].Row(i % block.ChunkRows)
}

// maximise makes passes until the gap is small enough or the limit of passes is reached. Each time the estimate of the
// gap has fallen to a tenth, it visits the rows again that were left out, because some may have been left out wrongly.
func (s *dual) maximise(ctx context.Context) error {
	for s.Mark(s.state); s.leavesPasses(1); s.Mark(s.state) {
		all, steps := s.allRows == len(s.order), s.Steps
		swept, err := s.sweep(ctx)
		if err != nil {
			return err
		}
		if s.isMeasured = false; s.leavesPasses(1) {
			s.combine()
		}
		off := math.Abs(s.bias() - s.centre)
		if s.softness > 0 {
			if swept.violation <= off {
				s.recentre()
			}
			swept.gap += float64(2*off) / s.softness
		}
		ready := !(swept.gap > s.measureFactor*gapGoal*s.estimate()) || steps == s.Steps && off == 0 // NaN ends the search
		if !ready && swept.gap > s.wakeEstimate {
			continue
		}
		if !ready || !all {
			s.wakeEstimate = swept.gap / 10
			s.includeAllRows()
			continue
		}
		if err := s.measure(ctx); err != nil {
			return err
		}
		gap, goal := s.objective()-s.lowerBound, gapGoal*s.objective()
		if gap <= goal || s.measureFactor < leastMeasureFactor || steps == s.Steps && off == 0 {
			return nil
		}
		s.measureFactor *= min(mostMeasureCut, max(leastMeasureCut, mostMeasureCut*goal/gap))
	}
	if s.outOfPasses = true; s.isMeasured {
		return nil
	}
	return s.measure(ctx)
}

// leavesPasses tells whether the limit leaves a number of passes besides the passes of the last measure.
func (s *dual) leavesPasses(passes int64) bool {
	last := int64(2)
	if s.softness > 0 {
		last = 3
	}
	return s.Passes()+passes+last <= s.Epochs
}

// includeAllRows makes the next sweep visit all rows with a sample weight above 0.
func (s *dual) includeAllRows() {
	s.order, s.zeroSlopeLimit, s.boundSlopeLimit = s.order[:0], math.Inf(1), math.Inf(-1)
	for i, weight := range s.weights {
		if s.isLeftOut[i] = false; weight > 0 {
			s.order = append(s.order, uint32(i))
		}
	}
	s.allRows = len(s.order)
}

func (s *dual) bias() float64 {
	if s.features == len(s.w) {
		return 0
	}
	return s.w[s.features]
}

// recentre moves the centre of the bias to the bias, or beyond it; see DualHinge. The dual variables stay the same, so the
// bias moves by the same distance. After a move beyond the bias, rows that were left out may matter.
func (s *dual) recentre() {
	off := s.bias() - s.centre
	if float64(off*s.biasDistance) > 0 && math.Abs(off) > driftShare*math.Abs(s.biasDistance) {
		s.stride *= 2
		s.includeAllRows()
	} else {
		s.stride = 1
	}
	s.biasDistance = off
	by := float64(s.stride * off)
	s.centre += by
	s.w[s.features] += by
}

// A sweepResult is the result of a sweep.
type sweepResult struct {
	// violation is the greatest slope of a visited variable minus the least, and 0 at the optimum. A variable that
	// would stay at a bound counts as slope 0, or not at all if its row is left out next.
	violation float64
	gap       float64 // estimate of the duality gap: sum over the rows of |slope| times the distance to the better bound
}

// sweep visits the rows of order in a random order. It permutes groups of neighbouring rows, and the rows within each
// group. That takes far less time than to fetch single rows from all over the memory.
func (s *dual) sweep(ctx context.Context) (t sweepResult, err error) {
	top, bottom := math.Inf(-1), math.Inf(1)
	groups := slices.Collect(slices.Chunk(s.order, neighbourRows))
	s.rng.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	var order [neighbourRows]uint32
	for g, group := range groups {
		if g%(block.ChunkRows/neighbourRows) == 0 && ctx.Err() != nil {
			return t, ctx.Err()
		}
		for _, i := range group {
			s.touchedBits += s.loadRow(i)
		}
		rows := order[:copy(order[:], group)]
		s.rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, i := range rows {
			s.maximiseRow(i, &t, &top, &bottom)
		}
	}
	s.countVisits(len(s.order))
	s.order = slices.DeleteFunc(s.order, func(i uint32) bool { return s.isLeftOut[i] })
	if s.zeroSlopeLimit, s.boundSlopeLimit = top, bottom; !(top > 0) {
		s.zeroSlopeLimit = math.Inf(1)
	}
	if !(bottom < 0) {
		s.boundSlopeLimit = math.Inf(-1)
	}
	t.violation = max(0, top-bottom)
	return t, ctx.Err()
}

// loadRow loads a number of each cache line that a visit of row i needs, and returns the sum of their bits. The loads
// of a group's rows wait for the memory together, and the loads of a visit would wait one after the other.
func (s *dual) loadRow(i uint32) uint64 {
	columns, values := s.row(int(i))
	values = values[:len(columns)]
	sum := math.Float64bits(s.y[i]) + math.Float64bits(s.weights[i]) + math.Float64bits(s.a[i]) + math.Float64bits(s.squares[i])
	for k := 0; k < len(columns); k += 16 {
		sum += uint64(columns[k]) + uint64(math.Float32bits(values[k]))
	}
	return sum
}

// maximiseRow maximises the dual objective over the variable of row i.
func (s *dual) maximiseRow(i uint32, t *sweepResult, top, bottom *float64) {
	columns, values := s.row(int(i))
	s.elementsVisited += int64(len(columns))
	y, most, old := s.y[i], s.weights[i], s.a[i]
	slope := float64(y*linalg.ScoreSparse(columns, values, s.w)) - 1
	if old == 0 && slope >= 0 || old == most && slope <= 0 {
		if old == 0 && slope > s.zeroSlopeLimit || old == most && slope < s.boundSlopeLimit {
			s.isLeftOut[i] = true
		} else {
			*top, *bottom = max(*top, 0), min(*bottom, 0)
		}
		return
	}
	*top, *bottom = max(*top, slope), min(*bottom, slope)
	next := most
	if squares := s.squares[i]; squares > 0 {
		next = max(0, min(most, old-slope/squares))
	} else if slope > 0 {
		next = 0
	}
	if slope > 0 {
		t.gap += float64(slope * old)
	} else {
		t.gap -= float64(slope * (most - old))
	}
	if by := float64((next - old) * y); by != 0 {
		s.addRow(s.w, columns, values, by)
		s.a[i] = next
		s.Steps++
	}
}

// addRow adds by times a row to w, whose last element is the bias.
func (s *dual) addRow(w []float64, columns []uint32, values []float32, by float64) {
	if s.softness > 0 {
		n := len(columns) - 1
		w[s.features] += float64(by * s.softness)
		columns, values = columns[:n], values[:n]
	}
	linalg.AddSparse(w, columns, values, by/s.L2)
}

// estimate returns sum a_i - l2/2 |w|^2 without the bias: the dual objective, if the constraint on the variables is
// met.
func (s *dual) estimate() float64 {
	return total(s.a) - float64(s.L2/2*f64.Dot(s.w[:s.features], s.w[:s.features]))
}

// objective returns the primal objective: the last measured loss plus the penalty of w.
func (s *dual) objective() float64 {
	return s.loss + float64(s.L2/2*f64.Dot(s.w[:s.features], s.w[:s.features]))
}

// measure makes two passes over the rows and computes the loss and the dual objective. With a bias it may make a third
// pass.
func (s *dual) measure(ctx context.Context) error {
	s.refresh()
	s.loss = 0
	err := parallel.MergeInOrder(ctx, s.Workers, len(s.rows), func(k int) (sum float64) {
		for r := range s.rows[k].Len() {
			i := k*block.ChunkRows + r
			columns, values := s.rows[k].Row(r)
			if u := 1 - float64(s.y[i]*linalg.ScoreSparse(columns, values, s.w)); u > 0 {
				sum += float64(u * s.weights[i])
			}
		}
		return sum
	}, func(sum float64) { s.loss += sum })
	if err != nil {
		return err
	}
	s.countVisits(len(s.y))
	if s.loss-s.loss != 0 {
		return learner.OverflowError()
	}
	v := make([]float64, len(s.w))
	f64.Axpy(v, s.L2, s.w)
	var sums [2]float64 // sums of the dual variables of each class
	for i, a := range s.a {
		sums[classOf(s.y[i])] += a
	}
	if more := classOf(sums[1] - sums[0]); s.features < len(s.w) && sums[0] != sums[1] {
		s.addClass(v, more, sums[1-more]/sums[more]-1)
		sums[more] = sums[1-more]
	}
	s.lowerBound = max(s.lowerBound, sums[0]+sums[1]-f64.Dot(v[:s.features], v[:s.features])/(2*s.L2))
	s.isMeasured = true
	return nil
}

func classOf(y float64) int {
	if y > 0 {
		return 1
	}
	return 0
}

// addClass adds f a_i y_i x_i to v for the rows i of class of. It makes a pass over the rows.
func (s *dual) addClass(v []float64, of int, f float64) {
	for i, a := range s.a {
		if a > 0 && classOf(s.y[i]) == of {
			columns, values := s.row(i)
			linalg.AddSparse(v, columns, values, float64(float64(a*s.y[i])*f))
		}
	}
	s.countVisits(len(s.y))
}

// countVisits counts visits, and reports progress.
func (s *dual) countVisits(visits int) { s.Visit(int64(visits), learner.SumOf(s.w), nil) }

// state saves or restores the state of the search before a sweep.
func (s *dual) state(w *checkpoint.Walk) {
	s.Tally.State(w)
	learner.State(w, &s.elementsVisited, &s.centre, &s.biasDistance, &s.stride, &s.zeroSlopeLimit, &s.boundSlopeLimit,
		&s.lowerBound, &s.loss, &s.measureFactor, &s.wakeEstimate, &s.isMeasured)
	w.Generator(s.pcg)
	learner.State(w, s.w, s.a, s.combined.w, s.combined.a, s.lastMove.w, s.lastMove.a)
	checkpoint.Values(w, s.isLeftOut)
	checkpoint.Slice(w, &s.order)
	if len(s.order) > 0 && int(slices.Max(s.order)) >= len(s.y) {
		w.Fail(errors.New("it has another row"))
	}
}
