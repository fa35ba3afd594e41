package logistic

import (
	"context"
	"fmt"
	"math"
	"slices"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/linalg"
	"halfspace/kernel/f64"
	"halfspace/schema"
)

const (
	planeError      = 0x1p-49 // error of the score of a row on the plane, relative to the sizes of the score's terms
	planeReachError = 0x1p-50 // the same, relative to the greatest score
	planeScoreShare = 1e-6    // a row on the plane has a score of at most this times the greatest score
	trueScoreError  = 0x1p-44 // a score above this times the sizes of its terms is no rounding error
	trueScoreShare  = 0.1     // a score above this times the greatest score is no rounding error
	nearPlaneScore  = 0.1     // rows with smaller scores may be on the plane; each Newton step adds 1 to the scores of rows off it
	// noiseShare is the limit for rounding errors in a direction. An element is 0 if its part of scores is below this
	// times the greatest part.
	noiseShare       = 1e-12
	refinementRounds = 2 // number of times that checkSeparatedNear refines a direction
)

// scoreChanges are the changes of the scores of rows by a direction.
type scoreChanges struct {
	// Reach is the greatest change of a score. With more than two classes, it is the greatest change of a difference of
	// two scores.
	Reach   float64
	OfPairs sideScores // the score of a row's class minus the score of another class
	// OfClasses has for each class its score minus the mean of the other scores, negated for rows of other classes.
	OfClasses []sideScores
}

// sideScores describe the changes of scores by a direction. The scores of rows on the right side of the direction's
// plane are above 0.
type sideScores struct {
	LeastAboveError float64 // least score plus the error that a row on the plane may have
	LeastBelowError float64 // least score minus its rounding error
	GreatestScore   float64 // the greatest score
	GreatestTerms   float64 // the greatest size of a score's terms
	LeastScore      float64 // the least score
}

func newOnSides() sideScores {
	return sideScores{LeastAboveError: math.Inf(1), LeastBelowError: math.Inf(1), LeastScore: math.Inf(1)}
}

// add adds a row with the score z, whose terms are t. If exact is false, add computes the size of the terms only of
// rows whose score is below all earlier scores of the chunk. LeastAboveError and LeastBelowError may then be too large,
// and GreatestTerms too small. So areSeparate may wrongly return true, but never wrongly false.
func (o *sideScores) add(z float64, exact bool, t *terms) {
	if exact || z < o.LeastScore {
		size := t.size()
		o.LeastAboveError, o.LeastBelowError = min(o.LeastAboveError, z+float64(planeError*size)),
			min(o.LeastBelowError, z-float64(trueScoreError*size))
		o.GreatestTerms, o.LeastScore = max(o.GreatestTerms, size), min(o.LeastScore, z)
	}
	o.GreatestScore = max(o.GreatestScore, z)
}

func (o *sideScores) merge(p sideScores) {
	o.LeastAboveError, o.LeastBelowError, o.GreatestTerms = min(o.LeastAboveError, p.LeastAboveError),
		min(o.LeastBelowError, p.LeastBelowError), max(o.GreatestTerms, p.GreatestTerms)
	o.GreatestScore, o.LeastScore = max(o.GreatestScore, p.GreatestScore), min(o.LeastScore, p.LeastScore)
}

// areSeparate tells whether no row is on the wrong side and some rows are off the plane. It returns true in two cases:
// all rows are off the plane by more than rounding errors; or rows that may be on the plane are nearer to it than a
// small part of the reach. The errors of a row are computed from its own terms, because other rows may be many times as
// large.
func (o sideScores) areSeparate(reach float64) bool {
	near := o.LeastAboveError >= -planeReachError*reach && planeError*o.GreatestTerms <= planeScoreShare*reach
	return (o.LeastBelowError > 0 || near) && o.GreatestScore > trueScoreShare*reach && reach > 0
}

// hasSeparateSides tells whether any of the sides is separate.
func (p *scoreChanges) hasSeparateSides() bool {
	return p.OfPairs.areSeparate(p.Reach) || slices.ContainsFunc(p.OfClasses, func(o sideScores) bool { return o.areSeparate(p.Reach) })
}

// probe makes a pass over the rows and returns the changes of their scores by a direction, which is in the order of
// compact. Most directions separate no rows, and a pass without the terms of most rows is enough to prove that. If it
// isn't, probe makes a second pass with all terms.
func (s *problem) probe(ctx context.Context, direction []float64) (*scoreChanges, error) {
	args := probeArgs{D: s.spread(direction)}
	p, err := s.probeBy(ctx, args)
	if err == nil && p.hasSeparateSides() {
		args.Exact = true
		return s.probeBy(ctx, args)
	}
	return p, err
}

func (s *problem) probeBy(ctx context.Context, args probeArgs) (*scoreChanges, error) {
	all := s.newProbed()
	err := probePass.Reduce(ctx, s.src, s.workers, args, func(p *scoreChanges) {
		all.Reach = max(all.Reach, p.Reach)
		all.OfPairs.merge(p.OfPairs)
		for k, o := range p.OfClasses {
			all.OfClasses[k].merge(o)
		}
	})
	return all, err
}

var probePass = newPass("logistic.probe", (*problem).probeChunk)

// probeArgs are a direction in the layout of the weights, and whether to add the terms of all rows; see sideScores.add.
type probeArgs struct {
	D     []float64
	Exact bool
}

func (s *problem) newProbed() *scoreChanges {
	p := &scoreChanges{OfPairs: newOnSides(), OfClasses: make([]sideScores, max(2, s.vectors))}
	for k := range p.OfClasses {
		p.OfClasses[k] = newOnSides()
	}
	return p
}

// probeChunk returns the function that probes a direction on a chunk.
func (s *problem) probeChunk(args probeArgs) func(block.Chunk) *scoreChanges {
	largest := make([]float64, s.cols) // greatest absolute element of the direction, for each column
	for i := range largest {
		for k := range s.vectors {
			largest[i] = max(largest[i], math.Abs(args.D[k*s.stride+i]))
		}
	}
	return func(chunk block.Chunk) *scoreChanges {
		p := s.newProbed()
		s.panels(chunk, func(c *scratch, _ int, rows *block.Block) {
			s.score(c, args.D, c.scores, rows.Len())
			addPanel(p, args.Exact, terms{rows: rows, reader: &c.reader, largestValues: largest, vectors: s.vectors}, c.scores)
		})
		return p
	}
}

// terms compute the size of the terms of a row's score, or of the difference of two scores.
type terms struct {
	rows          *block.Block
	row           int
	reader        *linalg.WideReader
	largestValues []float64
	vectors       int
	sum           float64 // -1 if it isn't computed
}

func (t *terms) size() float64 {
	if t.sum != -1 {
		return t.sum
	}
	t.sum = 0
	columns, values := t.reader.Row(t.rows, t.row)
	for i, column := range columns {
		t.sum += math.Abs(float64(values[i] * t.largestValues[column]))
	}
	if t.vectors > 1 {
		t.sum *= 2
	}
	return t.sum
}

// addPanel adds the rows of a panel. scores has their scores for each class. Two classes have one score, the score of
// the second class.
func addPanel(p *scoreChanges, exact bool, t terms, scores []float64) {
	for r, y := range t.rows.Y {
		if t.rows.Weight(r) == 0 {
			continue
		}
		t.row, t.sum = r, -1
		if t.vectors == 1 {
			z := float64(float64(y) * scores[r])
			p.Reach = max(p.Reach, math.Abs(z))
			p.OfPairs.add(z, exact, &t)
			continue
		}
		own, sum, most, least := scores[int(y)*linalg.PanelRows+r], 0.0, math.Inf(-1), math.Inf(1)
		for k := range p.OfClasses {
			z := scores[k*linalg.PanelRows+r]
			sum, most, least = sum+z, max(most, z), min(least, z)
			if k != int(y) {
				p.OfPairs.add(own-z, exact, &t)
			}
		}
		p.Reach = max(p.Reach, most-least)
		for k := range p.OfClasses {
			z := scores[k*linalg.PanelRows+r]
			if z -= (sum - z) / float64(len(p.OfClasses)-1); k != int(y) {
				z = -z
			}
			p.OfClasses[k].add(z, exact, &t)
		}
	}
}

// checkSeparated returns an error if the direction from 0 to w separates the rows.
func (s *problem) checkSeparated(ctx context.Context, w []float64) error {
	p, err := s.probe(ctx, w)
	if err != nil {
		return err
	}
	spec, names := s.src.Spec(), []schema.Class(nil) // classes that a plane has alone on one side
	for k, o := range p.OfClasses {
		if s.vectors > 1 && o.areSeparate(p.Reach) {
			names = append(names, spec.Classes[k])
		}
	}
	switch len(names) {
	case 0:
		if p.OfPairs.areSeparate(p.Reach) {
			return ErrSeparable
		}
		return nil
	case 1:
		return fmt.Errorf("column %q: a plane has class %s alone on one side: %w", spec.Label, schema.NameClass(names[0]), ErrSeparable)
	}
	return fmt.Errorf("column %q: for each of the classes %s, a plane has it alone on one side: %w", spec.Label,
		schema.ListClasses(names), ErrSeparable)
}

// checkSeparatedNear is checkSeparated for a direction near w that is orthogonal to all rows with small scores.
//
// Let I be independent columns of these rows, J the other columns, and G the matrix X'X of the rows. The direction is
// w_J in J, and w_I = -G_II^-1 G_IJ w_J in I.
func (s *problem) checkSeparatedNear(ctx context.Context, w []float64) error {
	g, err := s.planeScatter(ctx, w)
	if err != nil {
		return err
	}
	out := make([]bool, s.cols)
	dependent, err := linalg.DependentColumns(ctx, g, s.cols, s.bias(), make([]float64, s.cols), 0)
	if err != nil {
		return err
	}
	for _, d := range dependent {
		out[d.Column] = true
	}
	f, ridge, err := linalg.FactoriseWithout(ctx, g, s.cols, out)
	if f == nil || ridge > 0 {
		return err
	}
	d := slices.Clone(w)
	for i := range d {
		if !out[i] {
			d[i] = 0
		}
	}
	for range 1 + refinementRounds {
		product := make([]float64, s.cols)
		for i := range d {
			for j := range d {
				product[i] += float64(g[max(i, j)*(max(i, j)+1)/2+min(i, j)] * d[j])
			}
		}
		f64.Axpy(d, -1, f.Solve(product))
	}
	size := func(i int) float64 { return math.Abs(d[i]) * math.Sqrt(g[i*(i+1)/2+i]) }
	most := 0.0
	for i := range d {
		most = max(most, size(i))
	}
	for i := range d {
		if !out[i] && size(i) < noiseShare*most {
			d[i] = 0
		}
	}
	return s.checkSeparated(ctx, d)
}

// planeScatter returns X'X of the rows with small scores.
func (s *problem) planeScatter(ctx context.Context, w []float64) ([]float64, error) {
	m, err := gram.NewTriangle(s.cols)
	if err != nil {
		return nil, err
	}
	d := s.spread(w)
	err = onPlanePass.Reduce(ctx, m, s.src, s.workers, d, func(struct{}) {})
	return m.Data, err
}

var onPlanePass = newScatter("logistic.onplane", (*problem).onPlaneChunk)

// onPlaneChunk returns the function that sets near to 1 for rows of a chunk that may be on the plane of d, and to 0 for
// other rows.
func (s *problem) onPlaneChunk(d []float64) func(chunk block.Chunk, near, _ []float64) struct{} {
	return func(chunk block.Chunk, near, _ []float64) struct{} {
		s.panels(chunk, func(c *scratch, lo int, rows *block.Block) {
			s.score(c, d, c.scores, rows.Len())
			for r, score := range c.scores[:rows.Len()] {
				near[lo+r] = 0
				if math.Abs(score) <= nearPlaneScore && rows.Weight(r) > 0 {
					near[lo+r] = 1
				}
			}
		})
		return struct{}{}
	}
}
