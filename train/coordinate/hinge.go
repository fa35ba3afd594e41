// Package coordinate finds optima by coordinate descent, for rows of many columns.
package coordinate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"halfspace/block"
	"halfspace/internal/csr"
	"halfspace/internal/parallel"
	"halfspace/kernel"
	"halfspace/train"
	"halfspace/train/truncated"
)

const (
	nearly   = 5e-7 // the gap at which the search stops, relative to the objective
	coarse   = 0.1  // the gap is first computed when the violation of the dual conditions is this
	finest   = 1e-12
	leastCut = 0.05 // the next such violation is at least this times the last one
	mostCut  = 0.5  // and at most this
)

// A Hinge is rows with labels -1 and +1, and the penalty 1/2 L2 |w|^2 on all weights but the bias, L2 > 0. The loss of a row
// is max(0, 1 - y (w.x)). Of train.Options it uses Epochs, the most passes over the rows, Workers and Progress.
type Hinge[T kernel.Float] struct {
	train.Options
	Rows block.Source[T]
	L2   float64
}

// A dual is the state of a search by Hinge.
//
// Row i has the sample weight c_i and the dual variable a_i, from 0 to c_i. Let v be the sum of a_i y_i x_i over the
// features. The dual problem is to maximise sum a_i - |v|^2 / (2 l2). With a bias, sum a_i y_i must be 0.
type dual[T kernel.Float] struct {
	*Hinge[T]
	features int
	w        []float64 // v / l2, and the bias
	a        []float64 // of each row
	y        []float64
	weights  []float64
	squares  []float64               // of each row: the second derivative of the dual objective along a_i
	rows     []*kernel.SparseRows[T] // of each run, without zeros
	order    []uint32                // rows with a sample weight above 0: those that are visited come first
	active   int                     // how many are visited
	softness float64                 // 1/r, where r/2 (b - centre)^2 is the penalty on the bias b
	centre   float64
	most     float64 // rows whose variable is 0 are left out if their slope is above this
	least    float64 // rows whose variable is c_i are left out if their slope is below this
	lower    float64 // the greatest dual objective so far
	loss     float64
	passes   int64
	steps    int64
	rng      *rand.Rand
	start    time.Time
}

// Solve finds the minimum. It returns the weights so far with an error of ctx or of the rows. A step of the solution
// changes the dual variable of a row.
//
// It is dual coordinate descent with shrinking (Hsieh, Chang, Lin, Keerthi and Sundararajan, "A Dual Coordinate Descent
// Method for Large-scale Linear SVM", ICML 2008, algorithm 3). A visit of a row maximises the dual objective over its
// variable, and changes w. Rows are visited in a random order, anew in each pass. With random orders within runs alone, it
// takes many times as many passes. Rows whose variable is at a bound, and would stay there, are left out until the others
// are done. Rows that aren't in memory are copied.
//
// With a bias b, the constraint on the variables is met by the method of multipliers (Hestenes, "Multiplier and Gradient
// Methods", Journal of Optimization Theory and Applications 4, 1969). b has the penalty r/2 (b - centre)^2, so that b is
// centre + sum a_i y_i / r. Once the violation is small enough, the centre moves to b.
//
// The search stops once the duality gap is 5e-7 of the objective.
func (h *Hinge[T]) Solve(ctx context.Context) (*truncated.Solution, error) {
	s := &dual[T]{Hinge: h, start: time.Now(), features: len(h.Rows.Spec().Features), w: make([]float64, h.Rows.Spec().Cols()),
		rng: rand.New(rand.NewPCG(1, 0)), most: math.Inf(1), least: math.Inf(-1)}
	err := s.begin(ctx)
	if err == nil {
		err = s.maximise(ctx)
	}
	return &truncated.Solution{W: s.w, Loss: s.loss, Objective: s.objective(), Gap: max(0, s.objective()-s.lower), Passes: s.passes, Steps: s.steps}, err
}

// begin makes a pass that learns what doesn't change.
func (s *dual[T]) begin(ctx context.Context) error {
	n := s.Rows.Rows()
	if n > math.MaxUint32 {
		return fmt.Errorf("%d rows are too many for the hinge with more than 16,384 columns: use the squared hinge", n)
	}
	s.a, s.squares = make([]float64, n), make([]float64, 0, n)
	s.y, s.weights = make([]float64, 0, n), make([]float64, 0, n)
	_, stay := s.Rows.(*block.Data[T])
	square := 0.0
	for runs, err := range block.Runs(ctx, s.Rows, 1) {
		if err != nil {
			return err
		}
		for _, run := range runs {
			rows := csr.Rows(run, stay && csr.Clean(run), &kernel.SparseRows[T]{})
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
	s.active = len(s.order)
	s.passed()
	if square-square != 0 {
		return train.TooLarge[T]()
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

// row returns the elements of a row.
func (s *dual[T]) row(i int) ([]uint32, []T) { return s.rows[i/block.RunRows].Row(i % block.RunRows) }

// maximise makes passes until the gap is small enough, or there are too many.
func (s *dual[T]) maximise(ctx context.Context) error {
	enough := coarse
	for s.passes+3 <= s.Epochs {
		violation, err := s.sweep(ctx)
		if err != nil {
			return err
		}
		off := math.Abs(s.bias() - s.centre)
		if s.softness > 0 && violation <= off {
			s.move()
		}
		if violation > enough || off > enough {
			continue
		}
		if s.wake() {
			continue
		}
		if err := s.measure(ctx); err != nil {
			return err
		}
		gap, goal := s.objective()-s.lower, nearly*s.objective()
		if gap <= goal || enough < finest {
			return nil
		}
		enough *= min(mostCut, max(leastCut, mostCut*goal/gap))
	}
	if s.steps == 0 {
		return nil // weights are 0 still
	}
	return s.measure(ctx)
}

// wake makes all rows visited again. It tells whether some were not.
func (s *dual[T]) wake() (some bool) {
	some = s.active < len(s.order)
	s.active, s.most, s.least = len(s.order), math.Inf(1), math.Inf(-1)
	return some
}

func (s *dual[T]) bias() float64 {
	if s.features == len(s.w) {
		return 0
	}
	return s.w[s.features]
}

// move moves the centre of the bias to the bias. The variables stay, so that the bias moves as far again.
func (s *dual[T]) move() {
	by := s.w[s.features] - s.centre
	s.centre += by
	s.w[s.features] += by
}

// sweep visits the active rows in a random order. It returns the greatest slope of a variable that may rise, less the least
// of one that may fall.
func (s *dual[T]) sweep(ctx context.Context) (violation float64, err error) {
	top, bottom := math.Inf(-1), math.Inf(1)
	order, visits := s.order, 0
	s.rng.Shuffle(s.active, func(i, j int) { order[i], order[j] = order[j], order[i] })
	for k := 0; k < s.active; k++ {
		if visits++; visits%block.RunRows == 0 && ctx.Err() != nil {
			break
		}
		i := order[k]
		columns, values := s.row(int(i))
		y, most, old := s.y[i], s.weights[i], s.a[i]
		slope := float64(y*csr.Score(columns, values, s.w)) - 1
		if old == 0 && slope >= 0 || old == most && slope <= 0 {
			if old == 0 && slope > s.most || old == most && slope < s.least {
				s.active--
				order[k], order[s.active] = order[s.active], i
				k--
			} else {
				top, bottom = max(top, 0), min(bottom, 0)
			}
			continue
		}
		top, bottom = max(top, slope), min(bottom, slope)
		next := most
		if squares := s.squares[i]; squares > 0 {
			next = max(0, min(most, old-slope/squares))
		} else if slope > 0 {
			next = 0
		}
		if by := float64((next - old) * y); by != 0 {
			s.change(columns, values, by)
			s.a[i] = next
			s.steps++
		}
	}
	s.passed()
	if s.most, s.least = top, bottom; !(top > 0) {
		s.most = math.Inf(1)
	}
	if !(bottom < 0) {
		s.least = math.Inf(-1)
	}
	return max(0, top-bottom), ctx.Err()
}

// change adds a row times by to the sum of rows.
func (s *dual[T]) change(columns []uint32, values []T, by float64) {
	if s.softness > 0 {
		n := len(columns) - 1
		s.w[s.features] += float64(by * s.softness)
		columns, values = columns[:n], values[:n]
	}
	csr.Add(s.w, columns, values, by/s.L2)
}

// objective returns the objective of the weights, given their loss.
func (s *dual[T]) objective() float64 {
	return s.loss + float64(s.L2/2*kernel.Dot(s.w[:s.features], s.w[:s.features]))
}

// measure makes a pass over the rows. It computes the loss, and the dual objective. With a bias, it makes another one.
func (s *dual[T]) measure(ctx context.Context) error {
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
	s.passed()
	if s.loss-s.loss != 0 {
		return train.TooLarge[T]()
	}
	v := make([]float64, len(s.w))
	kernel.Axpy(v, s.L2, s.w)
	var sums [2]float64 // of the variables of each class
	for i, a := range s.a {
		sums[class(s.y[i])] += a
	}
	if more := class(sums[1] - sums[0]); s.features < len(s.w) && sums[0] != sums[1] {
		s.scale(v, more, sums[1-more]/sums[more]-1)
		sums[more] = sums[1-more]
	}
	s.lower = max(s.lower, sums[0]+sums[1]-kernel.Dot(v[:s.features], v[:s.features])/(2*s.L2))
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
func (s *dual[T]) scale(v []float64, of int, f float64) {
	for i, a := range s.a {
		if a > 0 && class(s.y[i]) == of {
			columns, values := s.row(i)
			csr.Add(v, columns, values, float64(float64(a*s.y[i])*f))
		}
	}
	s.passed()
}

// passed counts a pass and reports it.
func (s *dual[T]) passed() {
	s.passes++
	if s.Progress == nil {
		return
	}
	rows := s.Rows.Rows()
	s.Progress(train.Progress{Epoch: s.passes, Epochs: s.Epochs, Visits: s.passes * rows, Rows: rows, Updates: s.steps, Best: -1, Elapsed: time.Since(s.start)})
}
