package linalg

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// triangleOf returns the triangle of rows, added in two parts.
func triangleOf(x [][]float64) []float64 {
	n := len(x[0])
	var parts [2]*Triangle
	for k := range parts {
		parts[k] = NewTriangle(n)
		for _, row := range x[k*len(x)/2 : (k+1)*len(x)/2] {
			r := parts[k].Next()
			for c, v := range row {
				parts[k].Set(r, c, v)
			}
		}
	}
	parts[0].Merge(parts[1].Elements())
	return parts[0].Elements()
}

// TestTriangle: R'R is X'X, and the factor of the triangle solves as that of X'X does.
func TestTriangle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, n := range []int{1, 2, 5, 33} {
		x := make([][]float64, 700)
		for r := range x {
			for i := range n {
				x[r] = append(x[r], rng.NormFloat64()*math.Pow(10, float64(i%5-2)))
			}
		}
		a, sizes := squares(x)
		r := triangleOf(x)
		for i := range n {
			for j := range i + 1 {
				sum := 0.0
				for k := range j + 1 {
					sum += r[k*n+i] * r[k*n+j]
				}
				if math.Abs(sum-a[i*(i+1)/2+j]) > 1e-13*sizes[i]*sizes[j] {
					t.Errorf("n=%d: element %d, %d of R'R is %v, want %v", n, i, j, sum, a[i*(i+1)/2+j])
				}
			}
		}
		b := make([]float64, n)
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		want, _, _ := Factorise(t.Context(), a, n)
		got, ridge, _ := FactorTriangle(t.Context(), r, n, nil)
		if got == nil || ridge != 0 || got.IsBlurred() {
			t.Fatalf("n=%d: ridge %v", n, ridge)
		}
		expected := want.Solve(b)
		for i, v := range got.Solve(b) {
			if math.Abs(v-expected[i])*sizes[i] > 1e-10*math.Sqrt(float64(n)) {
				t.Errorf("n=%d: element %d is %v, want %v", n, i, v, expected[i])
			}
		}
	}
}

// TestTriangleDigits: the triangle of columns whose difference is 1e-11 of them, and of columns with a row that is 1e10 as
// large as others, has the standard errors of the differences. X'X has lost them.
func TestTriangleDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	const rows, small, large = 600, 0x1p-36, 0x1p33
	near, outlier := make([][]float64, rows), make([][]float64, rows)
	square := 0.0
	for r := range near {
		a, z := math.Round(1024*rng.NormFloat64())/1024, math.Round(8*rng.NormFloat64())
		near[r], outlier[r] = []float64{a, a + small*z}, []float64{a, a + z}
		square += z * z
	}
	outlier[77] = []float64{large, large}
	for name, x := range map[string][][]float64{"near": near, "outlier": outlier} {
		a, _ := squares(x)
		if f, ridge, _ := Factorise(t.Context(), a, 2); f == nil || ridge == 0 && !f.IsBlurred() {
			t.Errorf("%s: X'X is regular", name)
		}
		f, ridge, err := FactorTriangle(t.Context(), triangleOf(x), 2, nil)
		if err != nil || ridge != 0 {
			t.Fatalf("%s: ridge %v, error %v", name, ridge, err)
		}
		inverse, _ := f.InverseDiagonal(t.Context())
		if scale := map[string]float64{"near": small, "outlier": 1}[name]; math.Abs(inverse[1]*scale*scale*square-1) > 0.1 {
			t.Errorf("%s: the inverse has the diagonal %v", name, inverse)
		}
	}
}

// TestTriangleSingular: a column twice and one of zeros get a small ridge, or can be left out.
func TestTriangleSingular(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	x := make([][]float64, 50)
	for r := range x {
		v := rng.NormFloat64()
		x[r] = []float64{v, v, 0, 1}
	}
	f, ridge, _ := FactorTriangle(t.Context(), triangleOf(x), 4, nil)
	if f == nil || !(ridge > 0 && ridge < 1e-20) {
		t.Errorf("ridge %v", ridge)
	}
	out := []bool{false, true, true, false}
	f, ridge, _ = FactorTriangle(t.Context(), triangleOf(x), 4, out)
	if f == nil || ridge != 0 {
		t.Fatalf("ridge %v", ridge)
	}
	a, _ := squares(x)
	want, _, _ := FactoriseWithout(t.Context(), a, 4, out)
	b := []float64{1, 2, 3, 4}
	got, expected := f.Solve(b), want.Solve(b)
	for i := range got {
		if math.Abs(got[i]-expected[i]) > 1e-12 {
			t.Errorf("element %d is %v, want %v", i, got[i], expected[i])
		}
	}
	x[3][0] = math.Inf(1)
	if f, _, _ := FactorTriangle(t.Context(), triangleOf(x), 4, nil); f != nil {
		t.Error("an infinite element has a factor")
	}
}

// TestClaims: columns are claimed to depend on others if the difference is within the rounding of float32, but not if
// only the squares lose it.
func TestClaims(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	x := dependent(rng)
	_, sizes := squares(x)
	got, err := Claims(t.Context(), triangleOf(x), 9, 8, sizes, 0x1p-24)
	if err != nil || len(got) != 4 {
		t.Fatalf("%v, error %v", got, err)
	}
	for k, want := range []Dependence{{3, []int{0, 1, 2}}, {4, nil}, {5, []int{8}}, {6, []int{1}}} {
		if !reflect.DeepEqual(got[k].Dependence, want) {
			t.Errorf("%v, want %v", got[k].Dependence, want)
		}
	}
	if c := got[0].Coefficients; math.Abs(c[0]-1) > 1e-5 || math.Abs(c[1]-1) > 1e-5 || math.Abs(c[2]-1) > 1e-5 || slices.Max(c[3:8]) != 0 {
		t.Errorf("coefficients %v", c)
	}
	if got, _ = Claims(t.Context(), triangleOf(x), 9, 8, sizes, 0x1p-53); len(got) != 2 || got[0].Column != 4 || got[1].Column != 5 {
		t.Errorf("without rounding: %v", got)
	}
	for r := range x {
		x[r] = []float64{x[r][1], x[r][1] + 0x1p-30*math.Round(8*rng.NormFloat64())}
	}
	if got, _ := Claims(t.Context(), triangleOf(x), 2, -1, []float64{1, 1}, 0x1p-53); got != nil {
		t.Errorf("columns that differ by 1e-9: %v", got)
	}
}
