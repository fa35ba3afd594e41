package separability_test

import (
	"context"
	"fmt"

	"halfspace/internal/block"
	"halfspace/separability"
)

// XOR makes two classes of the corners of a square. The mean of each class is the same point, which proves that no line
// separates them.
func ExampleCheck() {
	corners := [][]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}
	for name, y := range map[string][]bool{"and": {false, false, false, true}, "xor": {false, true, true, false}} {
		rows, err := block.FromRows(corners, y, block.RowOptions{})
		if err != nil {
			panic(err)
		}
		found, err := separability.Check(context.Background(), rows, separability.Options{})
		if err != nil {
			panic(err)
		}
		fmt.Println(name, "is", found.Verdict)
		if found.Witness != nil {
			fmt.Println("rows", found.Witness.Rows, "have weights", found.Witness.Weights)
		}
	}
	// Unordered output:
	// and is separable
	// xor is not separable
	// rows [0 1 2 3] have weights [1/4 1/4 1/4 1/4]
}
