// Package separable decides whether a plane separates two classes of rows, and proves it.
//
// Gordan's theorem (1873) says that exactly one of two things exists. One is a w with y (w.x) > 0 for every row x with
// label y; the bias is a column of ones. The other is weights lambda >= 0, not all zero, with sum lambda y x = 0. Check
// finds one of the two, and verifies it in exact arithmetic on the rows as they are stored.
package separable

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"halfspace/block"
	"halfspace/internal/parallel"
	"halfspace/train"
	"halfspace/train/perceptron"
)

// Verdict is what Check found.
type Verdict string

const (
	Separable    Verdict = "separable"
	NotSeparable Verdict = "not separable"
	Undecided    Verdict = "undecided"
)

// Options are the options of Check. The zero value of a field stands for its default.
type Options struct {
	Workers   int   // goroutines that may run at once; GOMAXPROCS. No result depends on it
	MaxPasses int64 // the most passes before the verdict is Undecided, without those of the perceptron; 1,000

	Progress func(passes int64) // called before each pass, except those of the perceptron, if not nil
}

// Result is a verdict with its proof.
type Result struct {
	Verdict Verdict
	Reason  string  // why it is undecided
	Radius  float64 // the largest Euclidean norm of a row, the bias included
	Passes  int64   // over the rows up to the verdict, those of the perceptron included
	Exact   int64   // rows whose score got its sign by exact arithmetic

	Perceptron *train.Result // the short training at the start; nil if there was none

	// Separable rows have these. Origin is the plane through the origin of all columns, the bias included, with the
	// largest margin, that of Novikoff's bound. Widest is the plane with the largest distance to the rows' features,
	// without the bias. It is Origin if there is no bias, and nil with one class or if float64 couldn't find it.
	Origin, Widest *Plane

	// Rows that aren't separable have these.
	Witness *Witness
	Errors  *Errors
}

// A Plane separates the rows.
type Plane struct {
	Weights []float64 // one for each column, the bias last
	Margin  float64   // the smallest y (w.x) of a row, divided by the norm of the weights
	AtMost  float64   // no plane of the kind has a larger margin, up to rounding in float64; +Inf if unknown

	// Exact are the weights as integers if the margin is so small that no float64 weights separate the rows. Weights
	// are rounded then. Nil otherwise.
	Exact []*big.Int
}

// MistakeBound is the most updates that the perceptron can make on the rows in any order, by Novikoff's theorem (1962).
// It is a whole number, rounded up.
func (r *Result) MistakeBound() float64 {
	return train.MostUpdates(r.Radius, r.Origin.Margin, len(r.Origin.Weights))
}

// precision is the relative difference from the largest squared margin.
const precision = 1e-6

// Check finds out whether some plane separates the rows of src, which have labels -1 and +1.
//
// It looks for the point nearest to the origin in the convex hull of the rows, each times its label. If that isn't the
// origin, it is a separator with the largest margin. If it is, the origin is a combination of at most one more row than
// there are columns. Check collects the rows that matter in memory. Each pass adds rows that contradict the point found
// so far, and Wolfe's algorithm (1976) finds the next point among them. The widest plane is the same problem for
// differences between rows of the two classes. With more than 4,096 columns the corral of that algorithm may not fit in
// memory. So the search for larger margins is cut short once some plane separates the rows. AtMost bounds what it missed.
//
// The result doesn't depend on opt.Workers. Check reads a source that isn't in memory once for each pass. Errors: no
// rows, labels other than -1 and +1, rows that block.Check refuses, errors of src, and ctx's error.
func Check(ctx context.Context, src block.Source, opt Options) (*Result, error) {
	workers, err := parallel.Resolve(opt.Workers)
	if err != nil {
		return nil, err
	}
	opt.Workers = workers
	if opt.MaxPasses <= 0 {
		opt.MaxPasses = 1000
	}
	src, err = block.Check(ctx, src, opt.Workers)
	if err != nil {
		return nil, err
	}
	radius, err := longest(ctx, src, opt.Workers)
	if err != nil {
		return nil, err
	}
	return newSearcher(src, opt, radius).check(ctx)
}

// check is Check for the rows that the searcher has.
func (s *searcher) check(ctx context.Context) (*Result, error) {
	r := &Result{Verdict: Undecided, Radius: s.radius}
	s.passes, s.left = 1, effort{ctx, maxEffort}
	start, err := s.perceptron(ctx, r)
	if err != nil {
		return nil, err
	}
	s.last = s.passes + s.opt.MaxPasses
	f, err := s.nearest(ctx, 1, start)
	if err == nil && f.witness == nil {
		err = s.prove(ctx, r, f)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case f.witness != nil:
		err = s.notSeparable(ctx, r, f)
	case f.plane != nil:
		err = s.separable(ctx, r, f.plane)
	default:
		r.Reason, r.Passes = f.reason, s.passes
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// perceptron trains for a short time: five epochs, or more where they are short or there are many columns. It returns the
// weights to start with.
func (s *searcher) perceptron(ctx context.Context, r *Result) ([]float64, error) {
	w := make([]float64, s.cols)
	if len(s.src.Spec().Classes) != 2 || !(r.Radius > 1e-15 && r.Radius < 1e15) {
		return w, nil
	}
	visits := int64(1 << 20)
	if s.wide() {
		visits = 1 << 24 // the search after it is slow
	}
	epochs := max(5, min(1000, visits/s.src.Rows()))
	learned, err := perceptron.Train(ctx, block.Trust(s.src), perceptron.Options{Options: train.Options{Epochs: epochs, Workers: s.opt.Workers}})
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

// prove verifies the plane that was found. If there is none, or it fails, prove solves the rows nearest to it by linear
// programming in exact arithmetic. It adds the rows on the wrong side of the weights that separate them, until there
// are none.
func (s *searcher) prove(ctx context.Context, r *Result, f *finding) error {
	if f.plane != nil {
		s.passes++
		bad, exact, err := verifySeparator(ctx, s.src, integers(f.plane.Weights), s.radius, s.opt.Workers)
		if r.Exact = exact; err != nil || bad < 0 {
			return err
		}
		f.reason = tooClose(f.pool.length(), s.radius)
	}
	f.plane = nil
	p, most := f.pool, exactRows*(s.cols+1)
	p.corral, p.lambda = nil, nil
	for p.trim(most); s.passes < s.last; {
		if err := ctx.Err(); err != nil {
			return err
		}
		lambda, w := gordan(vectors(p.rows), &s.left)
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
			r.Exact = exact
			return s.exactPlane(ctx, f, w)
		}
		near := rounded(w)
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

// exactPlane makes w, whole numbers that separate all rows, the plane that was found.
func (s *searcher) exactPlane(ctx context.Context, f *finding, w []*big.Int) error {
	s.passes += 2
	margin, err := exactMargin(ctx, s.src, w, s.opt.Workers)
	if err != nil {
		return err
	}
	f.plane = &Plane{Weights: rounded(w), Margin: margin, AtMost: math.Inf(1)}
	bad, _, err := verifySeparator(ctx, s.src, integers(f.plane.Weights), s.radius, s.opt.Workers)
	if bad >= 0 {
		f.plane.Exact = w
	}
	return err
}

// exactRows is how many rows for each column linear programming takes at a time.
const exactRows = 8

// separable fills in the result for rows that a plane separates.
func (s *searcher) separable(ctx context.Context, r *Result, plane *Plane) error {
	r.Passes = s.passes
	r.Verdict, r.Origin = Separable, plane
	if !s.src.Spec().Bias {
		r.Widest = plane
		return nil
	}
	f, err := s.nearest(ctx, 2, plane.Weights)
	if err != nil || f.plane == nil {
		return err
	}
	if bad, _, err := verifySeparator(ctx, s.src, integers(f.plane.Weights), s.radius, s.opt.Workers); err != nil || bad >= 0 {
		return err
	}
	r.Widest = f.plane
	return nil
}

func tooClose(distance, radius float64) string {
	return fmt.Sprintf("the hull of the rows is %.3g from the origin, and the longest row is %.3g: float64 can't tell it from 0", distance, radius)
}

// A search keeps about poolRows rows in memory, or perCol for each column, but no more than fit poolBytes. It always
// keeps the rows that its point is made of.
const (
	poolRows  = 2048
	perCol    = 8
	poolBytes = 256 << 20
	leastRows = 64 // even if they don't fit
)

// kept returns about how many rows of cols columns are kept in memory.
func kept(cols int) int { return min(max(poolRows, perCol*cols), max(leastRows, poolBytes/16/cols)) }

// Bytes returns about how many bytes Check takes beside the rows, for rows of cols columns. They hold two copies in
// float64 of the rows that it keeps, and of the rows that a pass adds.
func Bytes(rows int64, cols int) int64 {
	return min(int64(kept(cols)+2*groups(cols)), rows) * 2 * 8 * int64(cols)
}

// finding is what nearest found: a plane or a witness, or neither and the reason; and the pool at the end.
type finding struct {
	plane   *Plane
	witness *Witness
	reason  string
	pool    *pool
}

// nearest finds the point of the rows' polytope (see vertex) that is nearest to the origin. It begins with the rows
// that are worst for w.
func (s *searcher) nearest(ctx context.Context, parts int, w []float64) (*finding, error) {
	p := newPool(s.cols, parts, s.radius)
	f := &finding{pool: p}
	swept, err := s.pass(ctx, w, math.Inf(1))
	if err != nil {
		return nil, err
	}
	if parts == 2 && math.IsInf(max(swept.low[0], swept.low[1]), 1) {
		f.reason = "the rows have one class"
		return f, nil
	}
	p.add(swept.rows)
	p.begin(w)
	if parts == 1 || s.wide() {
		f.plane = better(nil, w, swept.low, parts)
	}
	for {
		refining := parts == 2 || f.plane != nil // a plane is known, and others may have larger margins
		if refining && s.wide() {
			p.most = s.refine
		}
		p.trim(kept(s.cols))
		p.nearest(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		length := p.length()
		if parts == 1 && length <= maybeZero*s.radius {
			if f.witness = p.witness(&s.left); f.witness != nil {
				return f, nil
			}
		}
		if p.exhausted() {
			f.reason = fmt.Sprintf("the search takes too long among so many columns: the hull of the rows is %.3g from the origin, "+
				"and the longest row is %.3g", length, s.radius)
			if refining {
				_, err = s.judge(ctx, f)
			}
			return f, err
		}
		if length <= tiny*s.radius {
			f.reason = tooClose(length, s.radius)
			return f, nil
		}
		if s.passes >= s.last {
			f.reason = fmt.Sprintf("%d passes over the rows gave no verdict: their hull is %.3g from the origin, and the longest row is %.3g",
				s.opt.MaxPasses, length, s.radius)
			return f, nil
		}
		if swept, err = s.judge(ctx, f); err != nil {
			return nil, err
		}
		if !p.add(swept.rows) {
			f.reason = tooClose(length, s.radius)
			return f, nil
		}
	}
}

// maybeZero is the part of the radius below which a point may be the origin. Exact arithmetic then decides.
const maybeZero = 1e-9

// better returns plane or the plane of the weights w, whichever has the larger margin; nil if neither separates. low
// are the classes' smallest scores with w. With two parts, the bias is moved so that both classes have the same.
func better(plane *Plane, w []float64, low [2]float64, parts int) *Plane {
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
	return &Plane{Weights: w, Margin: margin, AtMost: math.Inf(1)}
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
	for _, i := range byNumber(rows) {
		if lambda[i].Sign() > 0 {
			w.Rows, w.Weights = append(w.Rows, rows[i].number), append(w.Weights, lambda[i])
			w.Labels = append(w.Labels, 2*rows[i].class-1)
		}
	}
	return w
}
