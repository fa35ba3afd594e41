package dual_test

import (
	"context"
	"fmt"
	"math"

	"halfspace/block"
	"halfspace/model"
	"halfspace/train"
	"halfspace/train/dual"
)

// literal is the dual form of the perceptron with a kernel (Aizerman, Braverman and Rozonoer 1964; Li Hang, "Statistical
// Learning Methods", 2012, algorithm 2.2). alpha counts the updates of each row. The bias is one more product.
func literal(x [][]float64, y []float64, kernel func(a, b []float64) float64) (alpha []float64, updates int) {
	alpha = make([]float64, len(x))
	for wrong := true; wrong; {
		wrong = false
		for i := range x {
			score := 0.0
			for j := range x {
				score += float64(alpha[j] * y[j] * (kernel(x[j], x[i]) + 1))
			}
			if y[i]*score <= 0 {
				alpha[i]++
				updates, wrong = updates+1, true
			}
		}
	}
	return alpha, updates
}

// The algorithm in twenty lines, and Train, make the same updates of the four rows of XOR.
func Example() {
	x, y := [][]float64{{0, 0}, {1, 1}, {0, 1}, {1, 0}}, []float64{-1, -1, 1, 1}
	gauss := func(a, b []float64) float64 {
		return math.Exp(-0.5 * ((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1])))
	}
	alpha, updates := literal(x, y, gauss)
	fmt.Println(alpha, updates)

	rows, err := block.FromRows(x, []bool{false, false, true, true}, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	found, err := dual.Train(context.Background(), rows, dual.Options{Options: train.Options{Epochs: 100}, Kernel: model.Kernel{Kind: "rbf", Gamma: 0.5}})
	if err != nil {
		panic(err)
	}
	fmt.Println(found.Mistakes, found.Updates)
	// Output:
	// [3 2 3 2] 10
	// [3 2 3 2] 10
}
