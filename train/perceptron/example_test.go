package perceptron_test

import (
	"context"
	"fmt"

	"halfspace/internal/block"
	"halfspace/train/perceptron"
)

func ExampleTrain() {
	rows, err := block.FromRows([][]float64{{3, 3}, {4, 3}, {1, 1}}, []string{"yes", "yes", "no"}, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	found, err := perceptron.Train(context.Background(), rows, perceptron.Settings{Options: perceptron.Options{Epochs: 100}})
	if err != nil {
		panic(err)
	}
	fmt.Println("w and b:", found.Weights, "after", found.Updates, "updates, converged:", found.Converged)
	// Output:
	// w and b: [1 1 -3] after 7 updates, converged: true
}
