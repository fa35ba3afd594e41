package gonumblas

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gonum.org/v1/gonum/blas/testblas"

	"halfspace/internal/kerneltest"
	"halfspace/internal/require"
)

// TestSuite runs gonum's own tests of the functions of float64 that run on the kernels.
func TestSuite(t *testing.T) {
	t.Run("dot", func(t *testing.T) { testblas.DdotTest(t, Implementation{}) })
	t.Run("axpy", func(t *testing.T) { testblas.DaxpyTest(t, Implementation{}) })
	t.Run("gemv", func(t *testing.T) { testblas.DgemvTest(t, Implementation{}) })
}

// TestSingle compares the methods for float32 with gonum's, since that suite has nothing for them. Integers are exact.
// All forms of arguments occur.
func TestSingle(t *testing.T) {
	defer func(n int) { mostSmallProducts = n }(mostSmallProducts)
	mostSmallProducts = 0
	rng := rand.New(rand.NewPCG(1, 2))
	numbers := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(rng.IntN(9) - 4)
		}
		return x
	}
	const most = 300
	a, b, c := numbers((most+1)*(most+2)), numbers((most+1)*(most+2)), numbers((most+1)*(most+2))
	rounds := 300
	if require.Small() {
		rounds = 60
	}
	for range rounds {
		m, n, k := 1+rng.IntN(40), 1+rng.IntN(40), 1+rng.IntN(most)
		tA, tB := []blas.Transpose{blas.NoTrans, blas.Trans, blas.ConjTrans}[rng.IntN(3)], []blas.Transpose{blas.NoTrans, blas.Trans}[rng.IntN(2)]
		alpha, beta := float32(rng.IntN(4)-1), float32(rng.IntN(4)-1)
		ld := most + rng.IntN(3)
		compare := func(what string, f func(impl blas.Float32, c []float32)) {
			t.Helper()
			got, want := slices.Clone(c), slices.Clone(c)
			f(Implementation{}, got)
			f(gonum.Implementation{}, want)
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("%s m=%d n=%d k=%d tA=%c tB=%c alpha=%v beta=%v: element %d is %v, want %v", what, m, n, k, tA, tB, alpha, beta, i,
						got[i], want[i])
				}
			}
		}
		compare("gemm", func(impl blas.Float32, c []float32) { impl.Sgemm(tA, tB, m, n, k, alpha, a, ld, b, ld, beta, c, ld) })
		length := n
		if tA == blas.NoTrans {
			length = m
		}
		compare("gemv", func(impl blas.Float32, c []float32) { // gonum's clears all of y where beta is 0, also beyond its elements
			impl.Sgemv(tA, m, n, alpha, a, ld, b, 1, beta, c[:length], 1)
		})
		compare("axpy", func(impl blas.Float32, c []float32) { impl.Saxpy(k, alpha, a, 1, c, 1) })
		compare("dot", func(impl blas.Float32, c []float32) { c[0] = impl.Sdot(k, a, 1, b, 1) })
		for _, ul := range []blas.Uplo{blas.Lower, blas.Upper} {
			compare("syrk", func(impl blas.Float32, c []float32) { impl.Ssyrk(ul, tA, n, k, alpha, a, ld, beta, c, ld) })
		}
	}
}

// TestLarge compares products of several blocks with gonum's. The bound is the error of both sums of k products
// (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.1).
func TestLarge(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n, k = 300, 500
	a, got, want := make([]float32, n*k), make([]float32, n*n), make([]float32, n*n)
	for i := range a {
		a[i] = rng.Float32() // so that the sum of products is that of their magnitudes
	}
	Implementation{}.Sgemm(blas.NoTrans, blas.Trans, n, n, k, 1, a, k, a, k, 0, got, n)
	gonum.Implementation{}.Sgemm(blas.NoTrans, blas.Trans, n, n, k, 1, a, k, a, k, 0, want, n)
	for i, w := range want {
		if math.Abs(float64(got[i])-float64(w)) > 2*k*0x1p-24/(1-k*0x1p-24)*float64(w) {
			t.Fatalf("element %d is %v, gonum's %v", i, got[i], w)
		}
	}
}

// TestPanics: wrong arguments panic as gonum's do, before anything is written. No matrix is small enough to be left to gonum.
func TestPanics(t *testing.T) {
	defer func(n int) { mostSmallProducts = n }(mostSmallProducts)
	mostSmallProducts = 0
	type implementation interface {
		blas.Float32
		blas.Float64
	}
	a, c := make([]float32, 100*100), slices.Repeat([]float32{7}, 100*100)
	wide, to := make([]float64, 100*100), slices.Repeat([]float64{7}, 100)
	for _, f := range []func(impl implementation){
		func(impl implementation) {
			impl.Sgemm(blas.NoTrans, blas.NoTrans, 100, 100, 100, 1, a, 99, a, 100, 0, c, 100)
		},
		func(impl implementation) {
			impl.Sgemm(blas.NoTrans, blas.NoTrans, 100, 100, 100, 1, a, 100, a, 100, 0, c[1:], 100)
		},
		func(impl implementation) { impl.Ssyrk(blas.Lower, blas.NoTrans, 100, 100, 1, a[1:], 100, 0, c, 100) },
		func(impl implementation) { impl.Sgemv(blas.NoTrans, 100, 100, 1, a, 100, a[:99], 1, 0, c, 1) },
		func(impl implementation) { impl.Sdot(2, a[:1], 1, c, 1) },
		func(impl implementation) { impl.Saxpy(2, 1, a, 1, c[:1], 1) },
		func(impl implementation) { impl.Dgemv(blas.NoTrans, 100, 100, 1, wide, 100, wide[:99], 1, 0, to, 1) },
		func(impl implementation) { impl.Ddot(2, wide[:1], 1, to, 1) },
		func(impl implementation) { impl.Daxpy(2, 1, wide, 1, to[:1], 1) },
	} {
		got, want := kerneltest.PanicOf(func() { f(Implementation{}) }), kerneltest.PanicOf(func() { f(gonum.Implementation{}) })
		if got != want || got == "<nil>" {
			t.Errorf("panic %q, gonum's %q", got, want)
		}
		if slices.ContainsFunc(c, func(v float32) bool { return v != 7 }) || slices.ContainsFunc(to, func(v float64) bool { return v != 7 }) {
			t.Fatalf("%s: written before the panic", got)
		}
	}
}
