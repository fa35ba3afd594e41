package separability

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/kernel/f64"
)

// A row is a row of the data set times its label, in float64, which holds it exactly.
type row struct {
	number int64
	class  int // 0: label -1, 1: label +1
	z      []float64
}

// A vertex is a point of a polytope; the search looks for the polytope's point nearest to the origin. A vertex is the
// sum of one row from each part. With one part, all rows, the polytope is the convex hull of the rows. With the two
// classes as parts, it is the difference of the classes' hulls, because rows of class -1 are negated.
type vertex struct {
	rows  []int // numbers of the rows in the pool
	point []float64
}

// A pool is rows in memory, and the point of their polytope nearest to the origin, as a combination of vertices.
type pool struct {
	cols    int
	parts   int // 1 or 2, see vertex
	radius  float64
	rows    []row
	numbers map[int64]bool
	z       []float64 // the z of all rows, each with the stride of a block
	scores  []float64

	multiplications     int64 // approximate number of multiplications so far
	mostMultiplications int64 // multiplications after which the search ends

	corral []vertex  // affinely independent
	lambda []float64 // weights of the corral, above zero; their sum is 1
	x      []float64 // the point, with the stride of a block
	factor           // factor of the corral
}

func newPool(cols, parts int, radius float64) *pool {
	return &pool{cols: cols, parts: parts, radius: radius, numbers: map[int64]bool{}, mostMultiplications: maxWork}
}

// add adds the rows that the pool doesn't have, and tells whether there were any.
func (p *pool) add(rows []row) bool {
	before := len(p.rows)
	stride := f64.Stride(p.cols)
	for _, r := range rows {
		if p.numbers[r.number] {
			continue
		}
		p.numbers[r.number] = true
		p.rows = append(p.rows, r)
		p.z = append(p.z, r.z...)
		p.z = append(p.z, make([]float64, stride-p.cols)...)
	}
	return len(p.rows) > before
}

// trim keeps about most rows: the rows of the corral, and then the rows with the smallest scores.
func (p *pool) trim(most int) {
	if len(p.rows) <= most {
		return
	}
	if p.x == nil {
		p.x = block.Alloc[float64](f64.Stride(p.cols))
	}
	p.score()
	low := p.lowestScores()
	over := make([]float64, len(p.rows)) // score minus the smallest score of the part
	order := make([]int, len(p.rows))
	for i, s := range p.scores {
		over[i], order[i] = s-low[p.rows[i].class%p.parts], i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(over[i], over[j]) })
	kept := make([]bool, len(p.rows))
	for _, i := range order[:most] {
		kept[i] = true
	}
	p.keep(func(i int, _ row) bool { return kept[i] })
}

// lowestScores returns the smallest score of each part; +Inf without rows.
func (p *pool) lowestScores() [2]float64 {
	low := [2]float64{math.Inf(1), math.Inf(1)}
	for i, s := range p.scores {
		part := p.rows[i].class % p.parts
		low[part] = min(low[part], s)
	}
	return low
}

// keep removes the rows for which wanted returns false, except rows of the corral.
func (p *pool) keep(wanted func(i int, r row) bool) {
	used := map[int]bool{}
	for _, v := range p.corral {
		for _, i := range v.rows {
			used[i] = true
		}
	}
	old := p.rows
	p.rows, p.z = nil, nil
	clear(p.numbers)
	moved := map[int]int{}
	for i, r := range old {
		if used[i] || wanted(i, r) {
			moved[i] = len(p.rows)
			p.add([]row{r})
		}
	}
	for _, v := range p.corral {
		for k, i := range v.rows {
			v.rows[k] = moved[i]
		}
	}
}

// score computes the dot product of each row with the point.
func (p *pool) score() {
	p.scores = append(p.scores[:0], make([]float64, len(p.rows))...)
	f64.Scores(p.scores, p.z, p.x)
	p.multiplications += int64(len(p.z))
}

// extremeVertex returns the vertex with the smallest dot product with the point, and that dot product.
func (p *pool) extremeVertex() (v vertex, low float64) {
	p.score()
	least := make([]int, p.parts)
	for i := range least {
		least[i] = -1
	}
	for i, s := range p.scores {
		part := p.rows[i].class % p.parts
		if least[part] < 0 || s < p.scores[least[part]] {
			least[part] = i
		}
	}
	for _, i := range least {
		low += p.scores[i]
	}
	return p.vertex(least), low
}

func (p *pool) vertex(rows []int) vertex {
	v := vertex{rows, make([]float64, f64.Stride(p.cols))}
	for _, i := range rows {
		for j, z := range p.rows[i].z {
			v.point[j] += z
		}
	}
	return v
}

// begin sets the point to a vertex of the pool: the vertex with the smallest dot product with w, extended by zeros
// after the columns.
func (p *pool) begin(w []float64) {
	p.x = block.Alloc[float64](f64.Stride(p.cols))
	copy(p.x, w)
	v, _ := p.extremeVertex()
	p.corral, p.lambda = []vertex{v}, []float64{1}
	p.factor = factor{}
	p.setResidual()
}

// maxWork is the most multiplications of a search among the rows in memory. They take minutes.
const maxWork = 1 << 40

// refineWork is the most multiplications of a search for a larger margin if the rows in memory may be fewer than the
// columns. They take a few seconds.
const refineWork = 1 << 32

// isExhausted tells whether the search has done all the work that it may do.
func (p *pool) isExhausted() bool { return p.multiplications > p.mostMultiplications }

// roundingLength times the radius is the length below which a vector is only rounding errors.
const roundingLength = 1e-14

// nearest moves the point to the point of the pool's polytope nearest to the origin. It starts from the present point.
// It returns at once if the point is the origin. It returns early if the work is exhausted or ctx ends.
//
// The method is Wolfe, "Finding the nearest point in a polytope" (1976). The vertex with the smallest dot product with
// the point joins the corral. Then the point moves towards the nearest point of the corral's affine hull. Each vertex
// whose weight becomes zero on the way leaves the corral.
func (p *pool) nearest(ctx context.Context) {
	for best := math.Inf(1); ctx.Err() == nil && !p.isExhausted(); {
		length := p.length()
		if length <= roundingLength*p.radius {
			return
		}
		v, low := p.extremeVertex()
		if low >= float64(length*length)-float64(max(1e-12*length, roundingLength*p.radius)*length) || length >= best {
			return
		}
		best = length
		p.corral, p.lambda = append(p.corral, v), append(p.lambda, 0)
		if !p.extend(len(p.corral) - 1) { // up to rounding, v lies in the affine hull of the corral: no descent
			p.corral, p.lambda = p.corral[:len(p.corral)-1], p.lambda[:len(p.lambda)-1]
			return
		}
		p.setResidual()
		p.descend(ctx)
	}
}

// descend is the minor cycle of Wolfe's method. It stops when ctx ends.
func (p *pool) descend(ctx context.Context) {
	for ctx.Err() == nil {
		a := p.affineWeights()
		if !p.isCombination(a) {
			p.project(ctx)
			continue
		}
		step := 1.0
		for i, ai := range a {
			if ai <= 0 {
				step = min(step, p.lambda[i]/(p.lambda[i]-ai))
			}
		}
		before := len(p.corral)
		for i := before - 1; i >= 0; i-- { // from the last vertex, so that fewer directions are rotated
			l := float64((1-step)*p.lambda[i]) + float64(step*a[i])
			if a[i] <= 0 && p.lambda[i]/(p.lambda[i]-a[i]) <= step || l <= 0 {
				p.removeVertex(i)
				continue
			}
			p.lambda[i] = l
		}
		if len(p.corral) == before {
			return
		}
		p.setResidual()
	}
}

func (p *pool) length() float64 { return math.Sqrt(f64.Dot(p.x, p.x)) }

// support returns the rows of the corral's vertices, by descending weight and then by number.
func (p *pool) support() []row {
	weights := map[int]float64{}
	for k, v := range p.corral {
		for _, i := range v.rows {
			weights[i] += p.lambda[k]
		}
	}
	var rows []row
	for _, i := range slices.SortedFunc(maps.Keys(weights), func(i, j int) int {
		return cmp.Or(cmp.Compare(weights[j], weights[i]), cmp.Compare(p.rows[i].number, p.rows[j].number))
	}) {
		rows = append(rows, p.rows[i])
	}
	return rows
}

// vectors returns the features of the rows times their labels.
func vectors(rows []row) (z [][]float64) {
	for _, r := range rows {
		z = append(z, r.z)
	}
	return z
}

// witness returns the corral with exact weights as a witness, or nil.
func (p *pool) witness(left *effort) *Witness {
	rows := p.support()
	lambda := combination(vectors(rows), left)
	if lambda == nil {
		return nil
	}
	return newWitness(rows, lambda)
}

// plane returns the point as weights for each column. With two parts the point has no bias; plane sets the bias so that
// the plane lies in the middle between the classes in the pool.
func (p *pool) plane() []float64 {
	w := slices.Clone(p.x[:p.cols])
	if p.parts == 2 {
		p.score()
		low := p.lowestScores()
		w[p.cols-1] = (low[0] - low[1]) / 2
	}
	return w
}
