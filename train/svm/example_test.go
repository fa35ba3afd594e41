package svm_test

import (
	"context"
	"fmt"

	"halfspace/internal/block"
	"halfspace/train/svm"
)

func ExampleTrain() {
	rows, err := block.FromRows([][]float64{{3, 3}, {4, 3}, {1, 1}}, []int{1, 1, -1}, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	found, err := svm.Train(context.Background(), rows, svm.Settings{Options: svm.Options{Loss: svm.Hinge}})
	if err != nil {
		panic(err)
	}
	fmt.Printf("w and b: %.4f, errors: %d\n", found.Weights, found.Errors)
	// Output:
	// w and b: [0.5000 0.5000 -2.0000], errors: 0
}
