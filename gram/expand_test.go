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

func TestMulVec(t *testing.T) {
	kerneltest.OnLevels(t, testMulVec)
}

func testMulVec(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 7, 8, 33, 300} {
		x, v := random(rng, n, 5, rng.NormFloat64), random(rng, 1, n, rng.NormFloat64).values
		full, packed := products(t, x.rows, gram.Full, gram.Kernel{}, 2), products(t, x.rows, gram.Packed, gram.Kernel{}, 2)
		got, want := make([]float32, n), make([]float32, n)
		require.NoError(t, full.MulVec(ctx, got, v, 1+rng.IntN(3)))
		padded := append(append([]float32(nil), v...), make([]float32, full.Stride-n)...)
		for i := range n {
			if want := ref.DotF32(full.Data[i*full.Stride:][:full.Stride], padded); !same(got[i], want) {
				t.Fatalf("full n=%d: element %d is %v, want %v", n, i, got[i], want)
			}
		}
		for i := range n {
			row := packed.Data[i*(i+1)/2:][:i+1]
			want[i] = ref.DotF32(row, v[:i+1])
			for j, g := range row[:i] {
				want[j] = fma(v[i], g, want[j])
			}
		}
		require.NoError(t, packed.MulVec(ctx, got, v, 1))
		for i := range n {
			if !same(got[i], want[i]) {
				t.Fatalf("packed n=%d: element %d is %v, want %v", n, i, got[i], want[i])
			}
		}
	}
}
