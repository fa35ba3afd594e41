package pocket_test

import (
	"context"
	"fmt"

	"halfspace/internal/block"
	"halfspace/kernel"
	"halfspace/pocket"
)

// Errors counts the errors of two candidates on four rows. A candidate has a weight for each feature, the bias, and
// zeros up to the stride.
func ExampleErrors() {
	rows, err := block.FromRows([][]float64{{1}, {2}, {3}, {4}}, []bool{false, true, false, true}, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	stride := kernel.Stride(2)
	w := make([]float32, 2*stride)
	copy(w, []float32{1, -1.5})          // true above 1.5
	copy(w[stride:], []float32{-1, 2.5}) // true below 2.5
	errors, err := pocket.Errors(context.Background(), rows, w, 2)
	if err != nil {
		panic(err)
	}
	fmt.Println(errors)
	// Output:
	// [1 2]
}
