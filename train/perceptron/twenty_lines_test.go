package perceptron_test

import (
	"context"
	"fmt"

	"halfspace/block"
	"halfspace/train"
	"halfspace/train/perceptron"
)

// literal is the perceptron as text books have it: Rosenblatt, "The Perceptron", 1958; Li Hang, "Statistical Learning Methods",
// 2012, algorithm 2.1. It ends once all rows were right.
func literal(x [][]float64, y []float64) (w []float64, b float64, updates int) {
	w = make([]float64, len(x[0]))
	for wrong := true; wrong; {
		wrong = false
		for i := range x {
			score := b
			for j, v := range x[i] {
				score += float64(w[j] * v)
			}
			if y[i]*score > 0 {
				continue
			}
			for j, v := range x[i] {
				w[j] += float64(y[i] * v)
			}
			b += y[i]
			updates, wrong = updates+1, true
		}
	}
	return w, b, updates
}

// The algorithm in twenty lines, and Train, end with the same weights after the same updates.
func Example() {
	x, y := [][]float64{{3, 3}, {4, 3}, {1, 1}}, []float64{1, 1, -1}
	w, b, updates := literal(x, y)
	fmt.Println(w, b, updates)

	rows, err := block.FromRows(x, []bool{true, true, false}, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	found, err := perceptron.Train(context.Background(), rows, perceptron.Options{Options: train.Options{Epochs: 100}})
	if err != nil {
		panic(err)
	}
	fmt.Println(found.Weights[:2], found.Weights[2], found.Updates)
	// Output:
	// [1 1] -3 7
	// [1 1] -3 7
}
