package lda_test

import (
	"context"
	"fmt"

	"halfspace/internal/block"
	"halfspace/train/lda"
)

func ExampleTrain() {
	x := [][]float64{{1, 2}, {2, 1}, {2, 3}, {5, 6}, {6, 5}, {6, 7}}
	rows, err := block.FromRows(x, []string{"a", "a", "a", "b", "b", "b"}, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	found, err := lda.Train(context.Background(), rows, lda.Settings{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("w and b: %.4f, errors: %d\n", found.Weights, found.Errors)
	// Output:
	// w and b: [18.0000 6.0000 -90.0000], errors: 0
}
