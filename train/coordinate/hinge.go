// Package coordinate finds optima by coordinate descent, for rows of many columns.
package coordinate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"halfspace/block"
	"halfspace/internal/csr"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/kernel/f64"
	"halfspace/train"
	"halfspace/train/truncated"
)

const (
	nearly   = 5e-7 // the gap at which the search stops, relative to the objective
	finest   = 1e-9 // the gap isn't computed any more below this times the gap at which the search stops
	leastCut = 0.05 // the next estimate is at least this times the last one
	mostCut  = 0.5  // and at most this

	neighbours = 16 // rows of a group; 64 take many more passes
)

// A Hinge is rows with labels -1 and +1, and the penalty 1/2 L2 |w|^2 on all weights but the bias, L2 > 0. The loss of a row
// is max(0, 1 - y (w.x)). Of train.Options it uses Epochs, the most passes over the rows, Workers and Progress.
type Hinge struct {
	train.Options
	Rows block.Source
	L2   float64
}

// A dual is the state of a search by Hinge.
//
// Row i has the sample weight c_i and the dual variable a_i, from 0 to c_i. Let v be the sum of a_i y_i x_i over the
// features. The dual problem is to maximise sum a_i - |v|^2 / (2 l2). With a bias, sum a_i y_i must be 0.
type dual struct {
	*Hinge
	features int
	w        []float64 // v / l2, and the bias
	a        []float64 // of each row
	y        []float64
	weights  []float64
	squares  []float64            // of each row: the second derivative of the dual objective along a_i
	rows     []*kernel.SparseRows // of each run, without zeros
	order    []uint32             // rows with a sample weight above 0 that aren't left out
	all      int                  // how many are in order if none is left out
	asleep   []bool               // of each row: it is left out
	softness float64              // 1/r, where r/2 (b - centre)^2 is the penalty on the bias b
	centre   float64
	most     float64 // rows whose variable is 0 are left out if their slope is above this
	least    float64 // rows whose variable is c_i are left out if their slope is below this
	lower    float64 // the greatest dual objective so far
	loss     float64
	visited  int64 // rows
	steps    int64
	rng      *rand.Rand
	pcg      *rand.PCG // of rng
	enough   float64   // the estimate of the gap at which it is computed, times the gap to reach
	waking   float64   // the estimate at which rows that are left out are visited again
	start    time.Time
}

// Solve finds the minimum. It returns the weights so far with an error of ctx or of the rows. A step of the solution
// changes the dual variable of a row.
//
// It is dual coordinate descent with shrinking (Hsieh, Chang, Lin, Keerthi and Sundararajan, "A Dual Coordinate Descent
// Method for Large-scale Linear SVM", ICML 2008, algorithm 3). A visit of a row maximises the dual objective over its
// variable, and changes w. Rows are visited in a random order, anew in each pass; see sweep. Rows whose variable is at a
// bound, and would stay there, are left out until the gap has fallen to a tenth. A visit adds to an estimate of the gap.
// Rows that aren't in memory are copied. As many visits as there are rows count as a pass.
//
// With a bias b, the constraint on the variables is met by the method of multipliers (Hestenes, "Multiplier and Gradient
// Methods", Journal of Optimization Theory and Applications 4, 1969). b has the penalty r/2 (b - centre)^2, so that b is
// centre + sum a_i y_i / r. Once the violation is small enough, the centre moves to b.
//
// The search stops once the duality gap is 5e-7 of the objective.
func (h *Hinge) Solve(ctx context.Context) (*truncated.Solution, error) {
	s := &dual{Hinge: h, start: time.Now(), features: h.Rows.Spec().Width(), w: make([]float64, h.Rows.Spec().Cols()),
		pcg: rand.NewPCG(1, 0), most: math.Inf(1), least: math.Inf(-1), enough: 1, waking: math.Inf(1)}
	s.rng = rand.New(s.pcg)
	err := s.begin(ctx)
	if err == nil && !s.alone() {
		_, err = s.Checkpoint.Load(s.state)
		if err == nil {
			err = s.maximise(ctx)
		}
	}
	return &truncated.Solution{W: s.w, Loss: s.loss, Objective: s.objective(), Gap: max(0, s.objective()-s.lower), Passes: s.passes(), Steps: s.steps}, err
}

// begin makes a pass that learns what doesn't change.
func (s *dual) begin(ctx context.Context) error {
	n := s.Rows.Rows()
	if n > math.MaxUint32 {
		return fmt.Errorf("%d rows are too many for the hinge with more than 16,384 columns: use the squared hinge", n)
	}
	s.a, s.squares, s.asleep = make([]float64, n), make([]float64, 0, n), make([]bool, n)
	s.y, s.weights = make([]float64, 0, n), make([]float64, 0, n)
	_, stay := s.Rows.(*block.Data)
	square := 0.0
	for runs, err := range block.Runs(ctx, s.Rows, 1) {
		if err != nil {
			return err
		}
		for _, run := range runs {
			rows := csr.Rows(run, stay && csr.Clean(run), &kernel.SparseRows{})
			s.rows = append(s.rows, rows)
			for r, y := range run.Y {
				columns, values := rows.Row(r)
				weight, size := run.Weight(r), csr.Square(columns, values, s.features)/s.L2
				if weight > 0 {
					s.order = append(s.order, uint32(len(s.y)))
					s.loss += weight // at weights of 0
					square += size
				}
				s.y, s.weights, s.squares = append(s.y, float64(y)), append(s.weights, weight), append(s.squares, size)
			}
		}
	}
	s.all = len(s.order)
	s.passed(int(n))
	if square-square != 0 {
		return train.TooLarge()
	}
	if s.features < len(s.w) && len(s.order) > 0 {
		if s.softness = square / float64(len(s.order)); s.softness == 0 {
			s.softness = 1 // any penalty does where all features are 0
		}
		for i := range s.squares {
			s.squares[i] += s.softness
		}
	}
	return nil
}

// alone tells whether all rows with a sample weight are of one class, for which a bias is enough. It sets that bias.
func (s *dual) alone() bool {
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

// row returns the elements of a row.
func (s *dual) row(i int) ([]uint32, []float32) {
	return s.rows[i/block.RunRows].Row(i % block.RunRows)
}

// maximise makes passes until the gap is small enough, or there are too many. Each time the estimate of the gap has fallen to
// a tenth, rows that were left out are visited again, since some may have been left out wrongly.
func (s *dual) maximise(ctx context.Context) error {
	for s.mark(); s.passes()+3 <= s.Epochs; s.mark() {
		all, steps := s.all == len(s.order), s.steps
		swept, err := s.sweep(ctx)
		if err != nil {
			return err
		}
		off := math.Abs(s.bias() - s.centre)
		if s.softness > 0 {
			if swept.violation <= off {
				s.move()
			}
			swept.gap += float64(2*off) / s.softness
		}
		ready := !(swept.gap > s.enough*nearly*s.estimate()) || steps == s.steps // NaN ends the search
		if !ready && swept.gap > s.waking {
			continue
		}
		if !ready || !all {
			s.waking = swept.gap / 10
			s.wake()
			continue
		}
		if err := s.measure(ctx); err != nil {
			return err
		}
		gap, goal := s.objective()-s.lower, nearly*s.objective()
		if gap <= goal || s.enough < finest || steps == s.steps && off == 0 {
			return nil
		}
		s.enough *= min(mostCut, max(leastCut, mostCut*goal/gap))
	}
	if s.steps == 0 {
		return nil // weights are 0 still
	}
	return s.measure(ctx)
}

// wake has all rows with a sample weight above 0 visited again.
func (s *dual) wake() {
	s.order, s.most, s.least = s.order[:0], math.Inf(1), math.Inf(-1)
	for i, weight := range s.weights {
		if s.asleep[i] = false; weight > 0 {
			s.order = append(s.order, uint32(i))
		}
	}
	s.all = len(s.order)
}

func (s *dual) bias() float64 {
	if s.features == len(s.w) {
		return 0
	}
	return s.w[s.features]
}

// move moves the centre of the bias to the bias. The variables stay, so that the bias moves as far again.
func (s *dual) move() {
	by := s.w[s.features] - s.centre
	s.centre += by
	s.w[s.features] += by
}

// A swept is what a sweep tells.
type swept struct {
	violation float64 // the greatest slope of a variable that may rise, less the least of one that may fall
	gap       float64 // about the duality gap: the sum over rows of the slope times the way to the bound that is best
}

// sweep visits the active rows in a random order. It permutes groups of rows that stand one after the other, and the rows of
// each group: that takes far less time than to fetch one row after the other from memory.
func (s *dual) sweep(ctx context.Context) (t swept, err error) {
	top, bottom := math.Inf(-1), math.Inf(1)
	groups := slices.Collect(slices.Chunk(s.order, neighbours))
	s.rng.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	var order [neighbours]uint32
	for g, group := range groups {
		if g%(block.RunRows/neighbours) == 0 && ctx.Err() != nil {
			return t, ctx.Err()
		}
		rows := order[:copy(order[:], group)]
		s.rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		for _, i := range rows {
			s.visit(i, &t, &top, &bottom)
		}
	}
	s.passed(len(s.order))
	s.order = slices.DeleteFunc(s.order, func(i uint32) bool { return s.asleep[i] })
	if s.most, s.least = top, bottom; !(top > 0) {
		s.most = math.Inf(1)
	}
	if !(bottom < 0) {
		s.least = math.Inf(-1)
	}
	t.violation = max(0, top-bottom)
	return t, ctx.Err()
}

// visit maximises over the variable of a row.
func (s *dual) visit(i uint32, t *swept, top, bottom *float64) {
	columns, values := s.row(int(i))
	y, most, old := s.y[i], s.weights[i], s.a[i]
	slope := float64(y*csr.Score(columns, values, s.w)) - 1
	if old == 0 && slope >= 0 || old == most && slope <= 0 {
		if old == 0 && slope > s.most || old == most && slope < s.least {
			s.asleep[i] = true
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
		s.change(columns, values, by)
		s.a[i] = next
		s.steps++
	}
}

// change adds a row times by to the sum of rows.
func (s *dual) change(columns []uint32, values []float32, by float64) {
	if s.softness > 0 {
		n := len(columns) - 1
		s.w[s.features] += float64(by * s.softness)
		columns, values = columns[:n], values[:n]
	}
	csr.Add(s.w, columns, values, by/s.L2)
}

// estimate returns an approximation of the dual objective.
func (s *dual) estimate() float64 {
	sum := 0.0
	for _, a := range s.a {
		sum += a
	}
	return sum - float64(s.L2/2*f64.Dot(s.w[:s.features], s.w[:s.features]))
}

// objective returns the objective of the weights, given their loss.
func (s *dual) objective() float64 {
	return s.loss + float64(s.L2/2*f64.Dot(s.w[:s.features], s.w[:s.features]))
}

// measure makes a pass over the rows. It computes the loss, and the dual objective. With a bias, it makes another one.
func (s *dual) measure(ctx context.Context) error {
	s.loss = 0
	err := parallel.Ordered(ctx, s.Workers, len(s.rows), func(k int) (sum float64) {
		for r := range s.rows[k].Len() {
			i := k*block.RunRows + r
			columns, values := s.rows[k].Row(r)
			if u := 1 - float64(s.y[i]*csr.Score(columns, values, s.w)); u > 0 {
				sum += float64(u * s.weights[i])
			}
		}
		return sum
	}, func(sum float64) { s.loss += sum })
	if err != nil {
		return err
	}
	s.passed(len(s.y))
	if s.loss-s.loss != 0 {
		return train.TooLarge()
	}
	v := make([]float64, len(s.w))
	f64.Axpy(v, s.L2, s.w)
	var sums [2]float64 // of the variables of each class
	for i, a := range s.a {
		sums[class(s.y[i])] += a
	}
	if more := class(sums[1] - sums[0]); s.features < len(s.w) && sums[0] != sums[1] {
		s.scale(v, more, sums[1-more]/sums[more]-1)
		sums[more] = sums[1-more]
	}
	s.lower = max(s.lower, sums[0]+sums[1]-f64.Dot(v[:s.features], v[:s.features])/(2*s.L2))
	return nil
}

// class returns 1 for what is above 0, else 0.
func class(y float64) int {
	if y > 0 {
		return 1
	}
	return 0
}

// scale adds to v the rows of a class times their variables and f. That is a pass over the rows.
func (s *dual) scale(v []float64, of int, f float64) {
	for i, a := range s.a {
		if a > 0 && class(s.y[i]) == of {
			columns, values := s.row(i)
			csr.Add(v, columns, values, float64(float64(a*s.y[i])*f))
		}
	}
	s.passed(len(s.y))
}

// passes returns the number of passes over the rows.
func (s *dual) passes() int64 {
	n := max(1, int64(len(s.y)))
	return (s.visited + n - 1) / n
}

// passed counts visits of rows, and reports them.
func (s *dual) passed(visits int) {
	s.visited += int64(visits)
	if s.Progress == nil {
		return
	}
	s.Progress(train.Progress{Epoch: s.passes(), Epochs: s.Epochs, Visits: s.visited, Rows: s.Rows.Rows(), Updates: s.steps, Best: -1, Elapsed: time.Since(s.start), Sum: train.SumOf(s.w)})
}
