package kernelperceptron_test

import (
	"context"
	"fmt"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/train/kernelperceptron"
)

func ExampleTrain() {
	corners := [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	rows, err := block.FromRows(corners, []bool{false, true, true, false}, block.RowOptions{}) // XOR
	if err != nil {
		panic(err)
	}
	found, err := kernelperceptron.Train(context.Background(), rows, kernelperceptron.Settings{Options: kernelperceptron.Options{Epochs: 100, Kernel: gram.Kernel{Kind: "rbf", Gamma: 1}}})
	if err != nil {
		panic(err)
	}
	fmt.Println(found.Errors, "errors, converged:", found.Converged)
	// Output:
	// 0 errors, converged: true
}
