package linalg

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"halfspace/internal/block"
	"halfspace/internal/kerneltest"
	"halfspace/internal/require"
	"halfspace/internal/testproblems"
	"halfspace/kernel"
	"halfspace/kernel/f64"
)

// step returns the step of a damping.
func step(f *Factor, by float64, b []float64) []float64 {
	x, _, _ := Damping(by).Step(context.Background(), f, b)
	return x
}

// TestDamped compares the factor of A + v diag(A) with that of the matrix made so.
func TestDamped(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	for _, n := range []int{1, 2, 5, 40} {
		a, b := make([]float64, n*(n+1)/2), make([]float64, n)
		for range 3 * n {
			for i := range b {
				b[i] = rng.NormFloat64() * math.Pow(10, float64(i%5-2))
			}
			for i, k := 0, 0; i < n; i++ {
				for j := range i + 1 {
					a[k] += b[i] * b[j]
					k++
				}
			}
		}
		f, _, _ := Factorise(t.Context(), a, n)
		for _, by := range []float64{1e-3, 1, 1e6} {
			damped := slices.Clone(a)
			curvature := 0.0
			for i := range n {
				damped[i*(i+1)/2+i] *= 1 + by
				curvature += a[i*(i+1)/2+i] * b[i] * b[i]
			}
			want, _, _ := Factorise(t.Context(), damped, n)
			got, expected := step(f, by, b), want.Solve(b)
			for i := range got {
				if math.Abs(got[i]-expected[i]) > 1e-9*math.Abs(expected[i]) {
					t.Errorf("n=%d damped by %v: element %d is %v, want %v", n, by, i, got[i], expected[i])
				}
			}
			if c := f.curvature(b); math.Abs(c-curvature) > 1e-9*curvature {
				t.Errorf("n=%d: curvature %v, want %v", n, c, curvature)
			}
		}
	}
}

// TestFactor compares solutions and the inverse's diagonal with gonum's, for matrices whose columns differ in scale by
// 1e4. The bound is the backward error, c n eps cond, of the scaled matrix.
func TestFactor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 3, 7, 16, 29, 64, 100} {
		x := mat.NewDense(3*n, n, nil)
		for j := range n {
			for i := range 3 * n {
				x.Set(i, j, rng.NormFloat64())
			}
		}
		var unit mat.SymDense
		unit.SymOuterK(1, x.T())
		a := mat.NewSymDense(n, nil)
		size := func(i int) float64 { return math.Pow(10, float64(i%5-2)) }
		b, packed := mat.NewVecDense(n, nil), []float64{}
		for i := range n {
			b.SetVec(i, rng.NormFloat64())
			for j := range i + 1 {
				a.SetSym(i, j, unit.At(i, j)*size(i)*size(j))
				packed = append(packed, a.At(i, j))
			}
		}
		f, ridge, _ := Factorise(t.Context(), packed, n)
		if f == nil || ridge != 0 {
			t.Fatalf("n=%d: ridge %v", n, ridge)
		}
		var c mat.Cholesky
		if !c.Factorize(a) {
			t.Fatal("gonum finds no factor")
		}
		var want mat.VecDense
		require.NoError(t, c.SolveVecTo(&want, b))
		var inverse mat.SymDense
		require.NoError(t, c.InverseTo(&inverse))
		tol := 1e-16 * float64(n+1) * mat.Cond(&unit, 2) * 8
		got := f.Solve(b.RawVector().Data)
		diagonal, _ := f.InverseDiagonal(t.Context())
		norm := 0.0
		for i := range got {
			norm = max(norm, math.Abs(want.AtVec(i)*size(i)))
		}
		for i := range got {
			if math.Abs(got[i]-want.AtVec(i))*size(i) > tol*norm || math.Abs(diagonal[i]/inverse.At(i, i)-1) > tol {
				t.Errorf("n=%d: element %d is %v and %v, gonum's %v and %v", n, i, got[i], diagonal[i], want.AtVec(i), inverse.At(i, i))
			}
		}
	}
}

// TestRidge: a matrix with a column twice and one of zeros gets a ridge, and the equations that it can solve are solved.
func TestRidge(t *testing.T) {
	x := []float64{4, 4, 4, 0, 0, 0, 1, 1, 0, 2}
	f, ridge, _ := Factorise(t.Context(), x, 4)
	if f == nil || ridge != 1e-10 {
		t.Fatalf("ridge %v", ridge)
	}
	got := f.Solve([]float64{4 + 1, 4 + 1, 0, 1 + 2}) // of (a, b, any, 1) with a + b = 1
	if math.Abs(got[0]+got[1]-1) > 1e-8 || math.Abs(got[0]-got[1]) > 1e-4 || math.Abs(got[3]-1) > 1e-8 || got[2] != 0 {
		t.Errorf("the solution is %v", got)
	}
	if f, _, _ := Factorise(t.Context(), []float64{1, math.Inf(1), 1}, 2); f != nil {
		t.Error("an infinite element has a factor")
	}
	if f, ridge, _ := Factorise(t.Context(), []float64{1, -3, 1}, 2); f != nil {
		t.Errorf("an indefinite matrix has a factor with ridge %v", ridge)
	}
}

// TestPanel compares scores and sums, on every instruction set, with loops in the documented order. Rows are dense and
// sparse.
func TestPanel(t *testing.T) {
	kerneltest.OnLevels(t, testPanel)
}

func testPanel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const nSums = 37
	for _, n := range []int{1, 3, 28, 31, 32, 33, 70, 200} {
		b := block.New(0, 75, n)
		s := &kernel.SparseRows{Ptr: []int64{0}}
		for r := range b.Len() {
			for c := range n {
				if v := float32(rng.NormFloat64()); rng.IntN(3) > n/100 {
					b.X[r*b.Stride+c] = v
					s.Idx, s.Val = append(s.Idx, uint32(c)), append(s.Val, v)
				}
			}
			s.Ptr = append(s.Ptr, int64(len(s.Idx)))
		}
		w := make([]float64, Pad(n))
		for i := range n {
			w[i] = rng.NormFloat64()
		}
		factor := func(r, k int) float64 { return float64(r*k + k + 1) }
		var scores []float64
		sums := [nSums][]float64{}
		for k := range sums {
			sums[k] = make([]float64, n)
		}
		for lo := 0; lo < b.Len(); lo += PanelRows {
			panel := [nSums][]float64{}
			for k := range panel {
				panel[k] = make([]float64, n)
			}
			for r := lo; r < min(b.Len(), lo+PanelRows); r++ {
				score := 0.0
				for first := 0; first < n; first += 32 {
					x := make([]float64, 32)
					for c := first; c < min(n, first+32); c++ {
						x[c-first] = float64(b.X[r*b.Stride+c])
						for k := range panel {
							panel[k][c] = math.FMA(factor(r, k), x[c-first], panel[k][c])
						}
					}
					score += f64.Dot(x, w[first:first+32])
				}
				scores = append(scores, score)
			}
			for k := range sums {
				for c := range n {
					sums[k][c] += panel[k][c]
				}
			}
		}
		for _, rows := range []*block.Block{b, {Cols: n, Stride: b.Stride, Sparse: s}} {
			p := NewPanel(n, nSums)
			for range 2 { // the second time shows that Take leaves zeros
				got := make([]float64, b.Len())
				for lo := 0; lo < b.Len(); lo += PanelRows {
					hi := min(b.Len(), lo+PanelRows)
					p.Load(rows.Slice(lo, hi))
					p.Scores(w, got[lo:hi])
					for r := lo; r < hi; r++ {
						for k := range nSums {
							p.Factors()[k/PanelCols*PanelRows*PanelCols+(r-lo)*PanelCols+k%PanelCols] = factor(r, k)
						}
					}
					p.Add()
				}
				if !slices.Equal(got, scores) {
					t.Fatalf("%v, %d columns: scores %v, want %v", kernel.Active(), n, got, scores)
				}
				for k := range sums {
					if got := p.Take(k, nil); !slices.Equal(got, sums[k]) {
						t.Fatalf("%v, %d columns: sum %d is %v, want %v", kernel.Active(), n, k, got, sums[k])
					}
				}
			}
		}
	}
}

// TestEigen compares eigenvalues with gonum's. It tests that the vectors are orthonormal, and that A v = value v.
func TestEigen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 3, 10, 40} {
		for _, rank := range []int{n, (n + 1) / 2, 0} {
			a, packed := mat.NewSymDense(n, nil), []float64{}
			for range rank {
				v := mat.NewVecDense(n, nil)
				for i := range n {
					v.SetVec(i, rng.NormFloat64()*math.Pow(10, float64(i%3)))
				}
				a.SymRankOne(a, 1, v)
			}
			for i := range n {
				for j := range i + 1 {
					packed = append(packed, a.At(i, j))
				}
			}
			values, vectors, _ := Eigen(t.Context(), packed, n)
			var e mat.EigenSym
			if !e.Factorize(a, false) {
				t.Fatal("gonum finds no eigenvalues")
			}
			want := e.Values(nil)
			slices.Reverse(want)
			tol := 1e-14 * float64(n) * max(want[0], 1)
			for k, v := range vectors {
				if math.Abs(values[k]-want[k]) > tol {
					t.Errorf("n=%d, rank %d: eigenvalue %d is %v, gonum's %v", n, rank, k, values[k], want[k])
				}
				for i := range n {
					sum := 0.0
					for j := range n {
						sum += a.At(i, j) * v[j]
					}
					if math.Abs(sum-values[k]*v[i]) > tol {
						t.Errorf("n=%d, rank %d: element %d of A v is %v, want %v", n, rank, i, sum, values[k]*v[i])
					}
				}
				for l := range k + 1 {
					one := 0.0
					if l == k {
						one = 1
					}
					if got := f64.Dot(v, vectors[l]); math.Abs(got-one) > 1e-13*float64(n) {
						t.Errorf("n=%d, rank %d: vectors %d and %d have the product %v", n, rank, k, l, got)
					}
				}
			}
		}
	}
}

// TestEnds: what takes n^3 steps asks the context once a row, so that none takes long after its end.
func TestEnds(t *testing.T) {
	const n = 20
	a := make([]float64, 0, n*(n+1)/2)
	for i := range n {
		for j := range i {
			a = append(a, 1/float64(1+i+j))
		}
		a = append(a, 2)
	}
	f, _, _ := Factorise(t.Context(), a, n)
	for name, run := range map[string]func(ctx context.Context) error{
		"Factorise":       func(ctx context.Context) error { _, _, err := Factorise(ctx, a, n); return err },
		"InverseDiagonal": func(ctx context.Context) error { _, err := f.InverseDiagonal(ctx); return err },
		"Step":            func(ctx context.Context) error { _, _, err := Damping(0.5).Step(ctx, f, a[:n]); return err },
		"Dependent":       func(ctx context.Context) error { _, err := DependentColumns(ctx, a, n, -1, a[:n], 0x1p-24); return err },
		"Eigen":           func(ctx context.Context) error { _, _, err := Eigen(ctx, a, n); return err },
	} {
		for _, asked := range []int64{0, n / 2, n - 1} {
			if err := run(testproblems.NewCountdown(t.Context(), asked)); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: error %v when the context ends after row %d", name, err, asked)
			}
		}
		if err := run(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
