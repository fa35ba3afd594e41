package gram_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"halfspace/asm/ref"
	"halfspace/gram"
	"halfspace/internal/kerneltest"
	"halfspace/internal/require"
)

func TestExpand(t *testing.T) {
	kerneltest.OnLevels(t, testExpand)
}

func testExpand(t *testing.T) {
	const nb = 384
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{1, 1, 1}, {7, 600, 3}, {100, 5, 40}, {5, 0, 3}, {0, 5, 3}} {
		x, support := random(rng, s[0], s[2], rng.NormFloat64), random(rng, s[1], s[2], rng.NormFloat64)
		alpha, out := make([][]float32, 3), make([][]float32, 3)
		for c := range alpha {
			alpha[c], out[c] = random(rng, 1, s[1], rng.NormFloat64).values, make([]float32, s[0])
			for i := range out[c] {
				out[c][i] = 77
			}
		}
		for _, k := range mercers {
			require.NoError(t, gram.Expand(context.Background(), out, x.rows, support.rows, alpha, k, 1+rng.IntN(3)))
			for c, a := range alpha {
				for i, got := range out[c] {
					var want float32
					for lo := 0; lo < s[1]; lo += nb {
						values := []float32{}
						for j := lo; j < min(s[1], lo+nb); j++ {
							values = append(values, value(k, x.row(i), support.row(j)))
						}
						if part := ref.DotF32(values, a[lo:lo+len(values)]); lo == 0 {
							want = part
						} else {
							want += part
						}
					}
					if !same(got, want) {
						t.Fatalf("%v %+v: score %d of expansion %d is %v, want %v", s, k, i, c, got, want)
					}
				}
			}
		}
	}
}
