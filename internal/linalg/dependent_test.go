package linalg

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"halfspace/internal/testproblems"
)

// squares returns X'X of rows, the lower triangle, and the columns' norms.
func squares(x [][]float64) (a []float64, sizes []float64) {
	n := len(x[0])
	for i := range n {
		for j := range i + 1 {
			sum := 0.0
			for _, row := range x {
				sum += row[i] * row[j]
			}
			if a = append(a, sum); i == j {
				sizes = append(sizes, math.Sqrt(sum))
			}
		}
	}
	return a, sizes
}

// dependent returns rows of a total of three columns, zeros, a constant, a multiple, a column close to another one, and ones.
func dependent(rng *rand.Rand) [][]float64 {
	x := make([][]float64, 500)
	for r := range x {
		a, b, c := 10+rng.Float64(), 5*rng.NormFloat64(), 100*rng.NormFloat64()
		x[r] = []float64{a, b, c, a + b + c, 0, 7, -3 * b, c + 1e-3*rng.NormFloat64(), 1}
	}
	return testproblems.Round(x)
}

// TestDependent: a total, a multiple, a constant and zeros depend on other columns within the rounding of float32. A
// column that is merely close to that doesn't.
func TestDependent(t *testing.T) {
	x := dependent(rand.New(rand.NewPCG(1, 1)))
	a, sizes := squares(x)
	got, _ := DependentColumns(t.Context(), a, 9, 8, sizes, 0x1p-24)
	want := []Dependence{{3, []int{0, 1, 2}}, {4, nil}, {5, []int{8}}, {6, []int{1}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, _ := DependentColumns(t.Context(), a, 9, -1, sizes, 0x1p-24); len(got) != 4 || !reflect.DeepEqual(got[3], Dependence{8, []int{5}}) {
		t.Errorf("without a first column: %v", got)
	}
	out := make([]bool, 9)
	for _, d := range want {
		out[d.Column] = true
	}
	f, ridge, _ := FactoriseWithout(t.Context(), a, 9, out)
	if f == nil || ridge != 0 {
		t.Fatalf("ridge %v", ridge)
	}
	b := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9}
	solved := f.Solve(b)
	inverse, _ := f.InverseDiagonal(t.Context())
	by, _ := f.dampedFactor(t.Context(), 0.5)
	damped := by.Solve(b)
	for i := range 9 {
		if out[i] {
			if solved[i] != 0 || inverse[i] != 0 || damped[i] != 0 {
				t.Errorf("element %d is %v, %v, %v", i, solved[i], inverse[i], damped[i])
			}
			continue
		}
		sum := 0.0
		for j := range 9 {
			sum += a[max(i, j)*(max(i, j)+1)/2+min(i, j)] * solved[j]
		}
		if math.Abs(sum-b[i]) > 1e-5 || !(inverse[i] > 0) {
			t.Errorf("row %d gives %v, want %v; diagonal %v", i, sum, b[i], inverse[i])
		}
	}
}

// TestWhiten: in whitened variables the matrix is the identity. Whiten and Unwhiten together solve.
func TestWhiten(t *testing.T) {
	x := make([][]float64, 50)
	rng := rand.New(rand.NewPCG(2, 2))
	for r := range x {
		x[r] = []float64{rng.NormFloat64(), 1e3 * rng.NormFloat64(), 1}
	}
	a, _ := squares(x)
	f, _, _ := Factorise(t.Context(), a, 3)
	for i := range 3 {
		v := make([]float64, 3)
		v[i] = 1
		f.Unwhiten(v)
		product := make([]float64, 3)
		for j := range 3 {
			for k, w := range v {
				product[j] += a[max(j, k)*(max(j, k)+1)/2+min(j, k)] * w
			}
		}
		for j, v := range f.Whiten(product) {
			want := 0.0
			if i == j {
				want = 1
			}
			if math.Abs(v-want) > 1e-12 {
				t.Errorf("element %d, %d is %v", i, j, v)
			}
		}
	}
}
