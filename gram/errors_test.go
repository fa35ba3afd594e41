package gram_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"halfspace/gram"
	"halfspace/internal/kerneltest"
	"halfspace/internal/testproblems"
)

func TestErrors(t *testing.T) {
	ctx := context.Background()
	x, y := gram.Dense(make([]float32, 12), 4, 3, 3), gram.Dense(make([]float32, 12), 6, 2, 2)
	m := products(t, x, gram.Packed, gram.Kernel{}, 1)
	triangle, err := gram.NewTriangle(4)
	if err != nil {
		t.Fatal(err)
	}
	three, two := testproblems.Logistic(100, 2), [][]float32{make([]float32, 4), make([]float32, 3)}
	for _, c := range []struct {
		want string
		err  error
	}{
		{"the Gram matrix of 6 rows can't have 4 rows", gram.Gram(ctx, m, y, gram.Kernel{}, 1)},
		{"Gamma is 0: it must be a positive number", gram.Gram(ctx, m, x, gram.Kernel{Kind: gram.RBF}, 1)},
		{"Gamma 1e-60 and Coef0 0 don't fit", gram.Gram(ctx, m, x, gram.Kernel{Kind: gram.RBF, Gamma: 1e-60}, 1)},
		{"Degree is 0", gram.Gram(ctx, m, x, gram.Kernel{Kind: gram.Polynomial, Gamma: 1}, 1)},
		{"Coef0 is NaN", gram.Gram(ctx, m, x, gram.Kernel{Kind: gram.Polynomial, Gamma: 1, Degree: 2, Coef0: math.NaN()}, 1)},
		{"no kernel of kind \"cubic\"", gram.Gram(ctx, m, x, gram.Kernel{Kind: "cubic"}, 1)},
		{"the rows differ in their number of columns", gram.Cross(ctx, nil, 4, x, y, gram.Kernel{}, 1)},
		{"15 elements with a stride of 4 don't hold 4 x 4", gram.Cross(ctx, make([]float32, 15), 4, x, x, gram.Kernel{}, 1)},
		{"number of columns", gram.Expand(ctx, two, x, y, two, gram.Kernel{}, 1)},
		{"1 results for 2 expansions", gram.Expand(ctx, two[:1], x, x, two, gram.Kernel{}, 1)},
		{"expansion 1 has 3 coefficients for 4 rows, and 3 scores for 4", gram.Expand(ctx, two, x, x, two, gram.Kernel{}, 1)},
		{"Gamma is 0", gram.Expand(ctx, two[:1], x, x, two[:1], gram.Kernel{Kind: gram.RBF}, 1)},
		{"the scatter matrix of 3 columns can't have 4 rows", gram.Scatter(ctx, triangle, three, nil, 1)},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", c.err, c.want)
		}
	}
	most := int64(3) << 30
	for _, n := range []int{-1, math.MaxInt, int(most)} {
		for _, storage := range []gram.Storage{gram.Packed, gram.Full} {
			if e, err := gram.Elements(n, storage); err == nil {
				t.Errorf("a matrix of %d rows has %d elements", n, e)
			}
		}
	}
	if e, err := gram.Elements(100000, gram.Packed); err == nil && int64(e) != 5000050000 {
		t.Errorf("a packed matrix of 100,000 rows has %d elements", e)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	triangle.N = 3
	for _, err := range []error{gram.Gram(done, m, x, gram.Kernel{}, 1), gram.Scatter(done, triangle, three, nil, 1)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled product gives %v", err)
		}
	}
	for _, f := range []func(){
		func() { gram.Dense(make([]float32, 11), 4, 3, 3) },
		func() { gram.Dense(make([]float32, 11), 2, 3, 2) },
		func() { gram.Dense(make([]float32, 11), -1, 3, 3) },
		func() { gram.Columns(make([]float32, 10), 3, 4, 3) },
		func() { gram.Columns(make([]float32, 11), 4, 2, 3) },
	} {
		if p := kerneltest.PanicOf(f); !strings.HasPrefix(p, "gram: ") {
			t.Errorf("panic %q", p)
		}
	}
}
