package winnow_test

import (
	"context"
	"fmt"

	"halfspace/internal/block"
	"halfspace/train/winnow"
)

func ExampleTrain() {
	// The label is true where the first or the third feature is 1.
	x := [][]float64{{1, 0, 0, 1}, {0, 1, 0, 1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {1, 1, 1, 1}, {0, 0, 0, 1}}
	rows, err := block.FromRows(x, []bool{true, false, true, false, true, false}, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	found, err := winnow.Train(context.Background(), rows, winnow.Settings{Options: winnow.Options{Epochs: 100}})
	if err != nil {
		panic(err)
	}
	fmt.Println("w and b:", found.Weights, "errors:", found.Errors)
	// Output:
	// w and b: [1.5 0.6666667 2.25 1 -2] errors: 0
}
