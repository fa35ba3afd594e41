package separability

import (
	"context"
	"math"
	"slices"

	"halfspace/kernel/f64"
)

// A factor is a QR factorisation of the directions from the corral's vertex 0 to the other vertices: an orthonormal
// basis times a triangular matrix. It is updated when a vertex joins or leaves.
type factor struct {
	basis      [][]float64
	r          [][]float64 // r[i] has i+1 elements; the basis times r[i] is corral[i+1] - corral[0]
	lostVertex bool        // a vertex has left since project
}

// project computes the factor and x again. It removes vertices that lie in the affine hull of the vertices before them.
// It stops when ctx ends.
func (p *pool) project(ctx context.Context) {
	p.factor = factor{}
	for i := 1; i < len(p.corral) && ctx.Err() == nil; i++ {
		if !p.extend(i) {
			p.corral, p.lambda = slices.Delete(p.corral, i, i+1), slices.Delete(p.lambda, i, i+1)
			i--
		}
	}
	p.setResidual()
}

// extend adds the direction from vertex 0 to vertex i, the next vertex, to the orthonormal basis. It uses the method of
// Gram and Schmidt, run twice for accuracy. It returns false, and adds nothing, if the new direction is only rounding
// errors.
func (p *pool) extend(i int) bool {
	d := slices.Clone(p.corral[i].point)
	for j, v := range p.corral[0].point {
		d[j] -= v
	}
	before := math.Sqrt(f64.Dot(d, d))
	r := make([]float64, len(p.basis)+1)
	p.multiplications += int64(6 * len(d) * (len(p.basis) + 1)) // includes the work of residual, approximately
	for range 2 {
		for j, e := range p.basis {
			c := f64.Dot(e, d)
			f64.Axpy(d, -c, e)
			r[j] += c
		}
	}
	length := math.Sqrt(f64.Dot(d, d))
	if !(length > roundingLength*max(before, p.radius)) {
		return false
	}
	for j := range d {
		d[j] /= length
	}
	r[len(p.basis)] = length
	p.basis, p.r = append(p.basis, d), append(p.r, r)
	return true
}

// removeVertex removes vertex i from the corral. The triangular matrix loses a column, and Givens rotations make it
// triangular again. Each rotation also rotates two vectors of the basis, and the last vector is removed (Golub and Van
// Loan, "Matrix Computations", section 6.5.2). If vertex 0 leaves, vertex 1 takes its place: the first column, which
// has one element, is subtracted from the other columns.
func (p *pool) removeVertex(i int) {
	p.corral, p.lambda = slices.Delete(p.corral, i, i+1), slices.Delete(p.lambda, i, i+1)
	if len(p.basis) == 0 { // it was the last vertex
		return
	}
	p.lostVertex = true
	if i == 0 {
		for _, column := range p.r[1:] {
			column[0] -= p.r[0][0]
		}
		i = 1
	}
	p.r = slices.Delete(p.r, i-1, i)
	for j := i - 1; j < len(p.r); j++ {
		a, b := p.r[j][j], p.r[j][j+1]                   // b is above 0
		length := math.Sqrt(float64(a*a) + float64(b*b)) // math.Hypot has separate assembly on some architectures
		c, s := a/length, b/length
		for _, column := range p.r[j:] {
			column[j], column[j+1] = rotate(c, s, column[j], column[j+1])
		}
		p.r[j][j], p.r[j] = length, p.r[j][:j+1]
		e, f := p.basis[j], p.basis[j+1][:len(p.basis[j])]
		for k, v := range e {
			e[k], f[k] = rotate(c, s, v, f[k])
		}
		p.multiplications += int64(4 * len(e))
	}
	p.basis = p.basis[:len(p.r)]
}

// rotate returns (c a + s b, c b - s a).
func rotate(c, s, a, b float64) (float64, float64) {
	return float64(c*a) + float64(s*b), float64(c*b) - float64(s*a)
}

// rotationLength times the radius is the allowed error of x after rotations, which add rounding errors. The error after
// project is at most roundingLength times the radius.
const rotationLength = 8 * roundingLength

// isCombination tells whether x is the combination of the corral with the weights a. The dot products of x with all
// vertices must also be equal, as for the nearest point, unless x is the origin up to rounding. If isCombination
// returns false, rotations have cost the factor its accuracy.
func (p *pool) isCombination(a []float64) bool {
	if !p.lostVertex {
		return true
	}
	d := slices.Clone(p.x)
	length, size, worst := p.length(), 0.0, 0.0
	for i, v := range p.corral {
		f64.Axpy(d, -a[i], v.point)
		size += math.Abs(a[i])
		worst = max(worst, math.Abs(f64.Dot(p.x, v.point)-float64(length*length)))
	}
	p.multiplications += int64(2 * len(d) * len(a))
	return math.Sqrt(f64.Dot(d, d)) <= rotationLength*size*p.radius &&
		(length <= roundingLength*p.radius || worst <= rotationLength*p.radius*length)
}

// setResidual sets x to the point of the corral's affine hull that is nearest to the origin.
func (p *pool) setResidual() {
	p.x = slices.Clone(p.corral[0].point)
	for range 2 {
		for _, e := range p.basis {
			f64.Axpy(p.x, -f64.Dot(e, p.x), e)
		}
	}
}

// affineWeights returns the weights of the corral that combine to x. Their sum is 1; some may be below zero.
func (p *pool) affineWeights() []float64 {
	n := len(p.basis)
	a := make([]float64, n+1)
	a[0] = 1
	for i := n - 1; i >= 0; i-- {
		sum := -f64.Dot(p.basis[i], p.corral[0].point)
		for j := i + 1; j < n; j++ {
			sum -= float64(p.r[j][i] * a[j+1])
		}
		a[i+1] = sum / p.r[i][i]
		a[0] -= a[i+1]
	}
	return a
}
