package logistic_test

import (
	"context"
	"fmt"

	"halfspace/internal/block"
	"halfspace/train/logistic"
)

func ExampleTrain() {
	rows, err := block.FromRows([][]float64{{1}, {2}, {3}, {4}, {5}, {6}}, []int{0, 0, 1, 0, 1, 1}, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	found, err := logistic.Train(context.Background(), rows, logistic.Settings{Options: logistic.Options{L2: 0.1}})
	if err != nil {
		panic(err)
	}
	fmt.Printf("w %.4f, b %.4f, loss %.4f, converged: %v\n", found.Weights[0], found.Weights[1], found.Loss, found.Converged)
	// Output:
	// w 1.1264, b -3.9424, loss 2.4828, converged: true
}
