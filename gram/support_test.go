package gram

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"halfspace/internal/require"
)

// TestSupport compares the values and sums of one vector with those of many, bit for bit.
func TestSupport(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	for _, size := range [][2]int{{1, 1}, {7, 3}, {500, 40}, {33, 600}} { // several panels of columns, and of coefficients
		n, cols := size[0], size[1]
		const rows = 5
		support, x := Dense(random(n*cols), n, cols, cols), Dense(random(rows*cols), rows, cols, cols)
		x.blocks[0].X[cols/2] = float32(math.NaN())
		alpha := random(n)
		for _, k := range []Kernel{{}, {Kind: Polynomial, Degree: 3, Gamma: 0.3, Coef0: 1, Bias: true}, {Kind: RBF, Gamma: 0.01}} {
			want, sums := make([]float32, rows*n), [][]float32{make([]float32, rows)}
			require.NoError(t, Cross(context.Background(), want, n, x, support, k, 1))
			require.NoError(t, Expand(context.Background(), sums, x, support, [][]float32{alpha}, k, 1))
			s, err := NewSupport(support, k)
			require.NoError(t, err)
			for r := range rows {
				out := random(n)
				require.NoError(t, s.Values(out, random(n), x.row(r, rows)))
				for j, v := range out {
					if w := want[r*n+j]; v != w && (v == v || w == w) {
						t.Fatalf("%d vectors of %d, %+v: value %d of row %d is %v, want %v", n, cols, k, j, r, v, w)
					}
				}
				if sum, w := Combine(out, alpha), sums[0][r]; sum != w && (sum == sum || w == w) {
					t.Errorf("%d vectors of %d, %+v: the sum of row %d is %v, want %v", n, cols, k, r, sum, w)
				}
			}
			if s.Values(random(n+1), random(n), x.row(0, 1)) == nil {
				t.Error("values of other vectors are no error")
			}
		}
	}
	if _, err := NewSupport(Dense(random(2), 2, 1, 1), Kernel{Kind: RBF}); err == nil {
		t.Error("gamma 0 is no error")
	}
}
