package gram_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"halfspace/asm/ref"
	"halfspace/gram"
)

func TestExpand(t *testing.T) {
	levels(t, testExpand)
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
			if err := gram.Expand(context.Background(), out, x.rows, support.rows, alpha, k, 1+rng.IntN(3)); err != nil {
				t.Fatal(err)
			}
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
	levels(t, testMulVec)
}

func testMulVec(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 7, 8, 33, 300} {
		x, v := random(rng, n, 5, rng.NormFloat64), random(rng, 1, n, rng.NormFloat64).values
		full, _ := gram.NewSymmetric(n, gram.Full)
		packed, _ := gram.NewSymmetric(n, gram.Packed)
		for _, m := range []*gram.Symmetric{full, packed} {
			if err := gram.Gram(ctx, m, x.rows, gram.Mercer{}, 2); err != nil {
				t.Fatal(err)
			}
		}
		got, want := make([]float32, n), make([]float32, n)
		if err := full.MulVec(ctx, got, v, 1+rng.IntN(3)); err != nil {
			t.Fatal(err)
		}
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
		if err := packed.MulVec(ctx, got, v, 1); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if !same(got[i], want[i]) {
				t.Fatalf("packed n=%d: element %d is %v, want %v", n, i, got[i], want[i])
			}
		}
	}
}

func TestExpandErrors(t *testing.T) {
	ctx := context.Background()
	x, y := gram.Dense(make([]float32, 12), 4, 3, 3), gram.Dense(make([]float32, 12), 6, 2, 2)
	m, err := gram.NewSymmetric(4, gram.Full)
	if err != nil {
		t.Fatal(err)
	}
	two := [][]float32{make([]float32, 4), make([]float32, 3)}
	for _, c := range []struct {
		want string
		err  error
	}{
		{"number of columns", gram.Expand(ctx, two, x, y, two, gram.Mercer{}, 1)},
		{"1 results for 2 expansions", gram.Expand(ctx, two[:1], x, x, two, gram.Mercer{}, 1)},
		{"expansion 1 has 3 coefficients for 4 rows, and 3 scores for 4", gram.Expand(ctx, two, x, x, two, gram.Mercer{}, 1)},
		{"gamma is 0", gram.Expand(ctx, two[:1], x, x, two[:1], gram.Mercer{Kind: gram.RBF}, 1)},
		{"a matrix of 4 rows times 3 elements doesn't give 4", m.MulVec(ctx, two[0], two[1], 1)},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", c.err, c.want)
		}
	}
}
