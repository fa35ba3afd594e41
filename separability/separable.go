// Package separability proves whether a plane separates two classes of rows.
//
// Gordan's theorem (1873) says that exactly one of two things exists. One is a vector w with y (w.x) > 0 for every row
// x with label y; the bias is a column of ones. The other is weights lambda >= 0, not all zero, with sum lambda y x =
// 0. Check finds one of the two, and verifies it in exact arithmetic on the stored rows.
package separability

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/parallel"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// Verdict is the decision of Check.
type Verdict string

const (
	Separable    Verdict = "separable"
	NotSeparable Verdict = "not separable"
	Undecided    Verdict = "undecided"
)

// Options are the options of Check. The zero value of a field stands for its default.
type Options struct {
	Workers   int   // goroutines that may run at once; GOMAXPROCS. No result depends on it
	MaxPasses int64 // most passes before the verdict Undecided, without the passes of the perceptron; 1,000

	Progress func(passes int64) // if not nil, called before each pass, except passes of the perceptron
}

// Result is a verdict with its proof.
type Result struct {
	Verdict   Verdict
	Reason    string  // why the verdict is Undecided
	Radius    float64 // largest Euclidean norm of a row, the bias included
	Passes    int64   // passes over the rows up to the verdict, including the perceptron's
	ExactRows int64   // number of rows whose score got its sign by exact arithmetic

	Perceptron *learner.Result // the short training at the start; nil if there was none

	// OriginPlane and WidestPlane are set if the rows are separable. OriginPlane is the plane through the origin of all
	// columns, the bias included, with the largest margin, which is the margin of Novikoff's bound. WidestPlane is the
	// plane with the largest distance to the rows' features, without the bias. It is OriginPlane if there is no bias. It
	// is nil if there is one class, or if float64 couldn't find it.
	OriginPlane, WidestPlane *Plane

	// Witness and Errors are set if the rows aren't separable.
	Witness *Witness
	Errors  *Errors
}

// A Plane is a plane that separates the rows.
type Plane struct {
	Weights     []float64 // one for each column, the bias last
	Margin      float64   // smallest y (w.x) of a row, divided by the norm of the weights
	MarginBound float64   // no plane of this kind has a larger margin, up to rounding in float64; +Inf if unknown

	// ExactWeights is the weights as integers, if the margin is so small that no float64 weights separate the rows.
	// Weights is rounded then. Otherwise ExactWeights is nil.
	ExactWeights []*big.Int
}

// MistakeBound returns the most updates that the perceptron can make on the rows in any order, by Novikoff's theorem
// (1962). It is an integer, rounded up. The rows must be separable.
func (r *Result) MistakeBound() float64 {
	return learner.MostUpdates(r.Radius, r.OriginPlane.Margin, len(r.OriginPlane.Weights))
}

// precision is the allowed relative difference from the largest squared margin.
const precision = 1e-6

// Check decides whether any plane separates the rows of src, whose labels are -1 and +1.
//
// It looks for the point nearest to the origin in the convex hull of the rows, each times its label. If this point
// isn't the origin, it is a separator with the largest margin. If it is the origin, the origin is a combination of at
// most one more row than there are columns. Check collects in memory only rows that may be part of the point. Each pass
// adds rows that contradict the point found so far, and Wolfe's algorithm (1976) finds the next point among the
// collected rows. The widest plane is the same problem for differences between rows of the two classes. With more than
// 4,096 columns the corral of that algorithm may not fit in memory. So the search for larger margins ends early once
// any plane separates the rows. MarginBound bounds the margins that it missed.
//
// The result doesn't depend on opt.Workers. Check reads a source that isn't in memory once for each pass. Errors: no
// rows, labels other than -1 and +1, rows that block.Validate refuses, errors of src, and ctx's error.
func Check(ctx context.Context, src block.Source, opt Options) (*Result, error) {
	workers, err := parallel.Resolve(opt.Workers)
	if err != nil {
		return nil, err
	}
	opt.Workers = workers
	if opt.MaxPasses <= 0 {
		opt.MaxPasses = 1000
	}
	src, err = block.Validate(ctx, src, opt.Workers)
	if err != nil {
		return nil, err
	}
	radius, err := largestNorm(ctx, src, opt.Workers)
	if err != nil {
		return nil, err
	}
	return newSearcher(src, opt, radius).check(ctx)
}

// check is Check for the rows of the searcher.
func (s *searcher) check(ctx context.Context) (*Result, error) {
	r := &Result{Verdict: Undecided, Radius: s.radius}
	s.passes, s.effort = 1, effort{ctx, maxEffort}
	start, err := s.perceptron(ctx, r)
	if err != nil {
		return nil, err
	}
	s.mostPasses = s.passes + s.opt.MaxPasses
	f, err := s.nearest(ctx, 1, start)
	if err == nil && f.witness == nil {
		err = s.prove(ctx, r, f)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case f.witness != nil:
		err = s.setNotSeparable(ctx, r, f)
	case f.plane != nil:
		err = s.setSeparable(ctx, r, f.plane)
	default:
		r.Reason, r.Passes = f.reason, s.passes
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// perceptron trains for a short time: five epochs, or more if epochs are short or there are many columns. It returns
// the initial weights of the search.
func (s *searcher) perceptron(ctx context.Context, r *Result) ([]float64, error) {
	w := make([]float64, s.cols)
	if len(s.src.Spec().Classes) != 2 || !(r.Radius > 1e-15 && r.Radius < 1e15) {
		return w, nil
	}
	visits := int64(1 << 20)
	if s.isWide() {
		visits = 1 << 24 // the search after it is slow
	}
	epochs := max(5, min(1000, visits/s.src.Rows()))
	learned, err := perceptron.Train(ctx, block.AssumeValid(s.src),
		perceptron.Settings{Options: perceptron.Options{Epochs: epochs}, Run: learner.Run{Workers: s.opt.Workers}})
	if err != nil {
		return nil, err
	}
	for i, v := range learned.Weights {
		w[i] = float64(v)
	}
	s.passes += learned.Epochs + 1
	r.Perceptron = learned
	return w, nil
}

// prove verifies the plane in f. If there is no plane, or it fails, prove solves the rows nearest to it by linear
// programming in exact arithmetic. It adds the rows on the wrong side of the weights found, until no row is on the
// wrong side.
func (s *searcher) prove(ctx context.Context, r *Result, f *finding) error {
	if f.plane != nil {
		s.passes++
		bad, exact, err := verifySeparator(ctx, s.src, integers(f.plane.Weights), s.radius, s.opt.Workers)
		if r.ExactRows = exact; err != nil || bad < 0 {
			return err
		}
		f.reason = tooCloseReason(f.pool.length(), s.radius)
	}
	f.plane = nil
	p, most := f.pool, exactRows*(s.cols+1)
	p.corral, p.lambda = nil, nil
	for p.trim(most); s.passes < s.mostPasses; {
		if err := ctx.Err(); err != nil {
			return err
		}
		lambda, w := gordan(vectors(p.rows), &s.effort)
		if lambda != nil {
			f.witness = newWitness(p.rows, lambda)
			return nil
		}
		if w == nil {
			if err := ctx.Err(); err != nil {
				return err
			}
			f.reason += ", and exact arithmetic would take too long"
			return nil
		}
		s.passes++
		bad, exact, err := verifySeparator(ctx, s.src, w, s.radius, s.opt.Workers)
		if err != nil {
			return err
		}
		if bad < 0 {
			r.ExactRows = exact
			return s.exactPlane(ctx, f, w)
		}
		near := roundedWeights(w)
		swept, err := s.pass(ctx, near, math.Inf(1))
		if err != nil {
			return err
		}
		wrong := slices.DeleteFunc(swept.rows, func(r row) bool {
			v, off := dot(r.z, near)
			return v > off
		})
		if !p.add(wrong[:min(len(wrong), most)]) {
			return nil
		}
	}
	return nil
}

// exactPlane sets f.plane to w, integers that separate all rows.
func (s *searcher) exactPlane(ctx context.Context, f *finding, w []*big.Int) error {
	s.passes += 2
	margin, err := exactMargin(ctx, s.src, w, s.opt.Workers)
	if err != nil {
		return err
	}
	f.plane = &Plane{Weights: roundedWeights(w), Margin: margin, MarginBound: math.Inf(1)}
	bad, _, err := verifySeparator(ctx, s.src, integers(f.plane.Weights), s.radius, s.opt.Workers)
	if bad >= 0 {
		f.plane.ExactWeights = w
	}
	return err
}

// exactRows is the number of rows, for each column, in one linear program.
const exactRows = 8

// setSeparable sets the fields of the result for rows that a plane separates.
func (s *searcher) setSeparable(ctx context.Context, r *Result, plane *Plane) error {
	r.Passes = s.passes
	r.Verdict, r.OriginPlane = Separable, plane
	if !s.src.Spec().Bias {
		r.WidestPlane = plane
		return nil
	}
	f, err := s.nearest(ctx, 2, plane.Weights)
	if err != nil || f.plane == nil {
		return err
	}
	if bad, _, err := verifySeparator(ctx, s.src, integers(f.plane.Weights), s.radius, s.opt.Workers); err != nil || bad >= 0 {
		return err
	}
	r.WidestPlane = f.plane
	return nil
}

func tooCloseReason(distance, radius float64) string {
	return fmt.Sprintf("the hull of the rows is %.3g from the origin, and the longest row is %.3g: float64 can't "+
		"tell it from 0", distance, radius)
}

// A search keeps about poolRows rows in memory, or poolRowsPerColumn rows for each column, but at most the rows that
// fit in poolBytes. It always keeps the rows whose combination is its point.
const (
	poolRows          = 2048
	poolRowsPerColumn = 8
	poolBytes         = 256 << 20
	leastPoolRows     = 64 // least number of rows, even if they don't fit
)

// poolCapacity returns the approximate number of rows of cols columns that are kept in memory.
func poolCapacity(cols int) int {
	return min(max(poolRows, poolRowsPerColumn*cols), max(leastPoolRows, poolBytes/16/cols))
}

// Bytes returns the approximate number of bytes that Check needs beside the rows, for rows of cols columns. They hold
// two float64 copies of the rows that it keeps, and of the rows that a pass adds.
func Bytes(rows int64, cols int) int64 {
	return min(int64(poolCapacity(cols)+2*groups(cols)), rows) * 2 * 8 * int64(cols)
}

// finding is the result of nearest: a plane, a witness, or the reason for neither; and the pool at the end.
type finding struct {
	plane   *Plane
	witness *Witness
	reason  string
	pool    *pool
}

// nearest finds the point of the rows' polytope (see vertex) that is nearest to the origin. It begins with the rows
// that have the smallest scores with w.
func (s *searcher) nearest(ctx context.Context, parts int, w []float64) (*finding, error) {
	p := newPool(s.cols, parts, s.radius)
	f := &finding{pool: p}
	swept, err := s.pass(ctx, w, math.Inf(1))
	if err != nil {
		return nil, err
	}
	if parts == 2 && math.IsInf(max(swept.lowestScores[0], swept.lowestScores[1]), 1) {
		f.reason = "the rows have one class"
		return f, nil
	}
	p.add(swept.rows)
	p.begin(w)
	if parts == 1 || s.isWide() {
		f.plane = betterPlane(nil, w, swept.lowestScores, parts)
	}
	for {
		refining := parts == 2 || f.plane != nil // a plane is known, and other planes may have larger margins
		if refining && s.isWide() {
			p.mostMultiplications = s.refineWork
		}
		p.trim(poolCapacity(s.cols))
		p.nearest(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		length := p.length()
		if parts == 1 && length <= originLength*s.radius {
			if f.witness = p.witness(&s.effort); f.witness != nil {
				return f, nil
			}
		}
		if p.isExhausted() {
			f.reason = fmt.Sprintf("the search takes too long among so many columns: the hull of the rows is %.3g from the origin, "+
				"and the longest row is %.3g", length, s.radius)
			if refining {
				_, err = s.judge(ctx, f)
			}
			return f, err
		}
		if length <= roundingLength*s.radius {
			f.reason = tooCloseReason(length, s.radius)
			return f, nil
		}
		if s.passes >= s.mostPasses {
			f.reason = fmt.Sprintf("%d passes over the rows gave no verdict: their hull is %.3g from the origin, and "+
				"the longest row is %.3g", s.opt.MaxPasses, length, s.radius)
			return f, nil
		}
		if swept, err = s.judge(ctx, f); err != nil {
			return nil, err
		}
		if !p.add(swept.rows) {
			f.reason = tooCloseReason(length, s.radius)
			return f, nil
		}
	}
}

// originLength times the radius is the length below which a point may be the origin. Exact arithmetic then decides.
const originLength = 1e-9

// betterPlane returns plane or the plane of the weights w, whichever has the larger margin, or nil if neither separates
// the rows. low has the smallest score of each class with w. With two parts, betterPlane moves the bias so that both
// classes have the same smallest score.
func betterPlane(plane *Plane, w []float64, low [2]float64, parts int) *Plane {
	w = append([]float64(nil), w...)
	least := min(low[0], low[1])
	n := len(w)
	if parts == 2 {
		least = (low[0] + low[1]) / 2
		n--
		w[n] += float64((low[0] - low[1]) / 2)
	}
	margin := least / norm(w[:n])
	if !(margin > 0) || plane != nil && plane.Margin >= margin {
		return plane
	}
	return &Plane{Weights: w, Margin: margin, MarginBound: math.Inf(1)}
}

func norm(w []float64) float64 {
	square := 0.0
	for _, v := range w {
		square += float64(v * v)
	}
	return math.Sqrt(square)
}

// newWitness returns the rows with weights above zero as a witness.
func newWitness(rows []row, lambda []*big.Rat) *Witness {
	w := &Witness{}
	place := map[int64]int{}
	for i, r := range rows {
		place[r.number] = i
	}
	for _, number := range slices.Sorted(maps.Keys(place)) {
		i := place[number]
		if lambda[i].Sign() > 0 {
			w.Rows, w.Weights = append(w.Rows, rows[i].number), append(w.Weights, lambda[i])
			w.Labels = append(w.Labels, 2*rows[i].class-1)
		}
	}
	return w
}
