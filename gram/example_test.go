package gram_test

import (
	"context"
	"fmt"

	"halfspace/gram"
)

// Gram computes the inner product of each of three rows with each.
func ExampleGram() {
	x := gram.Dense([]float32{3, 3, 4, 3, 1, 1}, 3, 2, 2) // 3 rows of 2 columns
	m, err := gram.NewSymmetric(x.Len(), gram.Packed)
	if err != nil {
		panic(err)
	}
	if err := gram.Gram(context.Background(), m, x, gram.Kernel{}, 2); err != nil {
		panic(err)
	}
	for i := range m.N {
		fmt.Println(m.At(i, 0), m.At(i, 1), m.At(i, 2))
	}
	// Output:
	// 18 21 6
	// 21 25 7
	// 6 7 2
}

// Cross computes the RBF kernel of each row of x with each of y.
func ExampleCross() {
	x, y := gram.Dense([]float32{0, 0, 1, 1}, 2, 2, 2), gram.Dense([]float32{0, 1}, 1, 2, 2)
	values := make([]float32, 2)
	rbf := gram.Kernel{Kind: gram.RBF, Gamma: 0.5}
	if err := gram.Cross(context.Background(), values, 1, x, y, rbf, 1); err != nil {
		panic(err)
	}
	fmt.Printf("%.4f\n", values)
	// Output:
	// [0.6065 0.6065]
}
