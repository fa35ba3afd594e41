package main

import "context"

// On the textbook's three rows the perceptron ends with w = (1, 1), b = -3 (Li Hang, example 2.1).
func Example() {
	if err := run(context.Background(), "../textbook.parquet", "label"); err != nil {
		panic(err)
	}
	// Output:
	// 3 rows, 7 updates, 0 errors, converged: true
	// predicts 1 where this is above 0:
	//           +1 * x1
	//           +1 * x2
	//           -3
}
