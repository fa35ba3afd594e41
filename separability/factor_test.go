package separability

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/kernel/f64"
)

// randomPool returns a pool with a corral of that many random vertices and its factor.
func randomPool(rng *rand.Rand, cols, vertices int) *pool {
	p := newPool(cols, 1, math.Sqrt(float64(cols)))
	for range vertices {
		v := vertex{point: make([]float64, f64.Stride(cols))}
		for j := range cols {
			v.point[j] = 2*rng.Float64() - 1
		}
		p.corral, p.lambda = append(p.corral, v), append(p.lambda, 1/float64(vertices))
	}
	p.project(context.Background())
	return p
}

// checkFactor holds the factor against what it must be: an orthonormal basis whose products with the triangular matrix are
// the directions. x must be what project finds.
func checkFactor(t *testing.T, p *pool) {
	t.Helper()
	off := 1e-14 * float64(p.cols)
	if len(p.basis) != len(p.corral)-1 || len(p.r) != len(p.basis) {
		t.Fatalf("%d vertices have %d directions", len(p.corral), len(p.basis))
	}
	for i, e := range p.basis {
		for j, f := range p.basis[:i+1] {
			want := map[bool]float64{true: 1}[i == j]
			if got := f64.Dot(e, f); math.Abs(got-want) > off {
				t.Errorf("vectors %d and %d have the product %v", i, j, got)
			}
		}
		d := append([]float64(nil), p.corral[i+1].point...)
		f64.Axpy(d, -1, p.corral[0].point)
		for j, c := range p.r[i] {
			f64.Axpy(d, -c, p.basis[j])
		}
		if got := math.Sqrt(f64.Dot(d, d)); len(p.r[i]) != i+1 || got > off {
			t.Errorf("direction %d of %d elements is off by %v", i, len(p.r[i]), got)
		}
	}
	p.setResidual()
	fresh := &pool{cols: p.cols, radius: p.radius, corral: p.corral, lambda: p.lambda}
	fresh.project(context.Background())
	for j, v := range fresh.x {
		if math.Abs(p.x[j]-v) > off {
			t.Fatalf("x[%d] is %v, and %v after project", j, p.x[j], v)
		}
	}
}

// TestLeave: the factor stays one of the corral whichever vertices leave and join.
func TestLeave(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, cols := range []int{1, 2, 7, 40} {
		p := randomPool(rng, cols, cols+1)
		for range 100 {
			for len(p.corral) > 1 && rng.IntN(3) > 0 {
				p.removeVertex(rng.IntN(len(p.corral)))
			}
			checkFactor(t, p)
			for more := randomPool(rng, cols, 1); len(p.corral) <= cols; more = randomPool(rng, cols, 1) {
				p.corral, p.lambda = append(p.corral, more.corral[0]), append(p.lambda, 0)
				if !p.extend(len(p.corral) - 1) {
					t.Fatal("a random vertex lies in the affine hull of others")
				}
			}
			p.setResidual()
			if !p.isCombination(p.affineWeights()) {
				t.Error("an exact factor is said to have lost its accuracy")
			}
		}
	}
}

// TestAgrees: a factor that rotations spoil is found, whether x leaves the affine hull or isn't its nearest point.
func TestAgrees(t *testing.T) {
	for name, spoil := range map[string]func(p *pool){
		"basis": func(p *pool) { p.basis[2][0] += 1e-10 },
		"r":     func(p *pool) { p.r[2][1] += 1e-10 },
		"x":     func(p *pool) { p.x[3] += 1e-10 },
	} {
		p := randomPool(rand.New(rand.NewPCG(3, 4)), 20, 12)
		p.removeVertex(5)
		p.setResidual()
		if !p.isCombination(p.affineWeights()) {
			t.Fatal("the factor has lost its accuracy at once")
		}
		if spoil(p); name != "x" {
			p.setResidual()
		}
		if p.isCombination(p.affineWeights()) {
			t.Errorf("%s: spoiled, and not found", name)
		}
		p.project(context.Background())
		if !p.isCombination(p.affineWeights()) {
			t.Errorf("%s: project didn't mend it", name)
		}
	}
}
