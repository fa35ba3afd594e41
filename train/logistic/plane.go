package logistic

import (
	"context"
	"fmt"
	"math"
	"slices"

	"halfspace/block"
	"halfspace/gram"
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
	noiseShare      = 1e-12
	refinements     = 2 // number of times that separatedNear refines a direction
	suspiciousSteps = 3 // number of consecutive suspicious steps after which minimise looks for a plane
)

// A probed is the changes of the scores of rows by a direction.
type probed struct {
	// Reach is the greatest change of a score. With more than two classes, it is the greatest change of a difference of
	// two scores.
	Reach float64
	All   onSides // the score of a row's class minus the score of another class
	// Own has for each class its score minus the mean of the other scores, negated for rows of other classes.
	Own []onSides
}

// onSides describe the changes of scores by a direction. The scores of rows on the right side of the direction's plane
// are above 0.
type onSides struct {
	Near  float64 // least score plus the error that a row on the plane may have
	Off   float64 // least score minus its rounding error
	Most  float64 // the greatest score
	Terms float64 // the greatest size of a score's terms
	Least float64 // the least score
}

func newOnSides() onSides { return onSides{Near: math.Inf(1), Off: math.Inf(1), Least: math.Inf(1)} }

// add adds a row with the score z, whose terms are t. If exact is false, add computes the size of the terms only of rows
// whose score is below all earlier scores of the chunk. Near and Off may then be too large, and Terms too small. So separate may wrongly
// return true, but never wrongly false.
func (o *onSides) add(z float64, exact bool, t *terms) {
	if exact || z < o.Least {
		size := t.size()
		o.Near, o.Off = min(o.Near, z+float64(planeError*size)), min(o.Off, z-float64(trueScoreError*size))
		o.Terms, o.Least = max(o.Terms, size), min(o.Least, z)
	}
	o.Most = max(o.Most, z)
}

func (o *onSides) merge(p onSides) {
	o.Near, o.Off, o.Terms = min(o.Near, p.Near), min(o.Off, p.Off), max(o.Terms, p.Terms)
	o.Most, o.Least = max(o.Most, p.Most), min(o.Least, p.Least)
}

// separate tells whether no row is on the wrong side and some rows are off the plane. It returns true in two cases: all
// rows are off the plane by more than rounding errors; or rows that may be on the plane are nearer to it than a small
// part of the reach. The errors of a row are computed from its own terms, because other rows may be many times as
// large.
func (o onSides) separate(reach float64) bool {
	near := o.Near >= -planeReachError*reach && planeError*o.Terms <= planeScoreShare*reach
	return (o.Off > 0 || near) && o.Most > trueScoreShare*reach && reach > 0
}

// anySeparate tells whether any of the sides is separate.
func (p *probed) anySeparate() bool {
	return p.All.separate(p.Reach) || slices.ContainsFunc(p.Own, func(o onSides) bool { return o.separate(p.Reach) })
}

// probe makes a pass over the rows and returns the changes of their scores by a direction, which is in the order of
// compact. Most directions separate no rows, and a pass without the terms of most rows is enough to prove that. If it
// isn't, probe makes a second pass with all terms.
func (s *solver) probe(ctx context.Context, direction []float64) (*probed, error) {
	args := probeArgs{D: s.spread(direction)}
	p, err := s.probeBy(ctx, args)
	if err == nil && p.anySeparate() {
		args.Exact = true
		return s.probeBy(ctx, args)
	}
	return p, err
}

func (s *solver) probeBy(ctx context.Context, args probeArgs) (*probed, error) {
	all := s.newProbed()
	err := probePass.sum(ctx, s.problem, args, func(p *probed) {
		all.Reach = max(all.Reach, p.Reach)
		all.All.merge(p.All)
		for k, o := range p.Own {
			all.Own[k].merge(o)
		}
	})
	return all, err
}

var probePass = newPass("logistic.probe", (*problem).probeChunk)

// probeArgs are a direction in the layout of the weights, and whether to add the terms of all rows; see onSides.add.
type probeArgs struct {
	D     []float64
	Exact bool
}

func (s *problem) newProbed() *probed {
	p := &probed{All: newOnSides(), Own: make([]onSides, max(2, s.vectors))}
	for k := range p.Own {
		p.Own[k] = newOnSides()
	}
	return p
}

// probeChunk returns the function that probes a direction on a chunk.
func (s *problem) probeChunk(args probeArgs) func(block.Chunk) *probed {
	largest := make([]float64, s.cols) // greatest absolute element of the direction, for each column
	for i := range largest {
		for k := range s.vectors {
			largest[i] = max(largest[i], math.Abs(args.D[k*s.stride+i]))
		}
	}
	return func(chunk block.Chunk) *probed {
		p := s.newProbed()
		s.panels(chunk, func(c *scratch, _ int, rows *block.Block) {
			s.score(c, args.D, c.scores, rows.Len())
			see(p, args.Exact, terms{rows: rows, wide: &c.wide, largest: largest, vectors: s.vectors}, c.scores)
		})
		return p
	}
}

// terms compute the size of the terms of a row's score, or of the difference of two scores.
type terms struct {
	rows    *block.Block
	row     int
	wide    *linalg.WideReader
	largest []float64
	vectors int
	sum     float64 // -1 if it isn't computed
}

func (t *terms) size() float64 {
	if t.sum != -1 {
		return t.sum
	}
	t.sum = 0
	columns, values := t.wide.Row(t.rows, t.row)
	for i, column := range columns {
		t.sum += math.Abs(float64(values[i] * t.largest[column]))
	}
	if t.vectors > 1 {
		t.sum *= 2
	}
	return t.sum
}

// see adds the rows of a panel. scores has their scores for each class. Two classes have one score, the score of the second
// class.
func see(p *probed, exact bool, t terms, scores []float64) {
	for r, y := range t.rows.Y {
		if t.rows.Weight(r) == 0 {
			continue
		}
		t.row, t.sum = r, -1
		if t.vectors == 1 {
			z := float64(float64(y) * scores[r])
			p.Reach = max(p.Reach, math.Abs(z))
			p.All.add(z, exact, &t)
			continue
		}
		own, sum, most, least := scores[int(y)*linalg.PanelRows+r], 0.0, math.Inf(-1), math.Inf(1)
		for k := range p.Own {
			z := scores[k*linalg.PanelRows+r]
			sum, most, least = sum+z, max(most, z), min(least, z)
			if k != int(y) {
				p.All.add(own-z, exact, &t)
			}
		}
		p.Reach = max(p.Reach, most-least)
		for k := range p.Own {
			z := scores[k*linalg.PanelRows+r]
			if z -= (sum - z) / float64(len(p.Own)-1); k != int(y) {
				z = -z
			}
			p.Own[k].add(z, exact, &t)
		}
	}
}

// separated returns an error if the direction from 0 to w separates the rows.
func (s *solver) separated(ctx context.Context, w []float64) error {
	p, err := s.probe(ctx, w)
	if err != nil {
		return err
	}
	spec, names := s.src.Spec(), []schema.Class(nil) // classes that a plane has alone on one side
	for k, o := range p.Own {
		if s.vectors > 1 && o.separate(p.Reach) {
			names = append(names, spec.Classes[k])
		}
	}
	switch len(names) {
	case 0:
		if p.All.separate(p.Reach) {
			return ErrSeparable
		}
		return nil
	case 1:
		return fmt.Errorf("column %q: a plane has class %s alone on one side: %w", spec.Label, schema.NameClass(names[0]), ErrSeparable)
	}
	return fmt.Errorf("column %q: for each of the classes %s, a plane has it alone on one side: %w", spec.Label, schema.ListClasses(names), ErrSeparable)
}

// suspicious tells whether the norm falls as it does when weights grow without end. Each step then adds 1 to scores,
// which multiplies losses by 1/e and the norm by e^(-1/2).
func suspicious(norm, last float64) bool { return norm > 0.5*last && norm < 0.72*last }

// separatedNear is separated for a direction near w that is orthogonal to all rows with small scores.
//
// Let I be independent columns of these rows, J the other columns, and G the matrix X'X of the rows. The direction is
// w_J in J, and w_I = -G_II^-1 G_IJ w_J in I.
func (s *solver) separatedNear(ctx context.Context, w []float64) error {
	g, err := s.onPlane(ctx, w)
	if err != nil {
		return err
	}
	bias := s.cols - 1
	if s.penalised() == s.cols {
		bias = -1
	}
	out := make([]bool, s.cols)
	dependent, err := linalg.Dependent(ctx, g, s.cols, bias, make([]float64, s.cols), 0)
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
	for range 1 + refinements {
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
	return s.separated(ctx, d)
}

// onPlane returns X'X of the rows with small scores.
func (s *solver) onPlane(ctx context.Context, w []float64) ([]float64, error) {
	m, err := gram.NewTriangle(s.cols)
	if err != nil {
		return nil, err
	}
	d := s.spread(w)
	err = onPlanePass.sum(ctx, s.problem, m, d, func(struct{}) {})
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
