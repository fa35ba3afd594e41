package gram_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"halfspace/asm/ref"
	"halfspace/gram"
	"halfspace/kernel"
)

func dot[T kernel.Float](x, y []T) T {
	switch x := any(x).(type) {
	case []float32:
		return T(ref.DotF32(x, any(y).([]float32)))
	case []float64:
		return T(ref.DotF64(x, any(y).([]float64)))
	}
	panic("no float")
}

func TestExpand(t *testing.T) {
	levels(t, func(t *testing.T) {
		testExpand[float32](t, 384)
	})
}

func testExpand[T kernel.Float](t *testing.T, nb int) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{1, 1, 1}, {7, 600, 3}, {100, 5, 40}, {5, 0, 3}, {0, 5, 3}} {
		x, support := random[T](rng, s[0], s[2], rng.NormFloat64), random[T](rng, s[1], s[2], rng.NormFloat64)
		alpha, out := make([][]T, 3), make([][]T, 3)
		for c := range alpha {
			alpha[c], out[c] = random[T](rng, 1, s[1], rng.NormFloat64).values, make([]T, s[0])
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
					var want T
					for lo := 0; lo < s[1]; lo += nb {
						values := []T{}
						for j := lo; j < min(s[1], lo+nb); j++ {
							values = append(values, value(k, x.row(i), support.row(j)))
						}
						if part := dot(values, a[lo:lo+len(values)]); lo == 0 {
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
	levels(t, func(t *testing.T) {
		testMulVec[float32](t)
	})
}

func testMulVec[T kernel.Float](t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 7, 8, 33, 300} {
		x, v := random[T](rng, n, 5, rng.NormFloat64), random[T](rng, 1, n, rng.NormFloat64).values
		full, _ := gram.NewSymmetric[T](n, gram.Full)
		packed, _ := gram.NewSymmetric[T](n, gram.Packed)
		for _, m := range []*gram.Symmetric[T]{full, packed} {
			if err := gram.Gram(ctx, m, x.rows, gram.Mercer{}, 2); err != nil {
				t.Fatal(err)
			}
		}
		got, want := make([]T, n), make([]T, n)
		if err := full.MulVec(ctx, got, v, 1+rng.IntN(3)); err != nil {
			t.Fatal(err)
		}
		padded := append(append([]T(nil), v...), make([]T, full.Stride-n)...)
		for i := range n {
			if want := dot(full.Data[i*full.Stride:][:full.Stride], padded); !same(got[i], want) {
				t.Fatalf("full n=%d: element %d is %v, want %v", n, i, got[i], want)
			}
		}
		for i := range n {
			row := packed.Data[i*(i+1)/2:][:i+1]
			want[i] = dot(row, v[:i+1])
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
	m, err := gram.NewSymmetric[float32](4, gram.Full)
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
