package f64_test

import (
	"fmt"

	"halfspace/kernel/f64"
)

func ExampleDot() {
	x, y := []float64{1, 2, 3}, []float64{4, 5, 6}
	fmt.Println(f64.Dot(x, y))
	f64.Axpy(y, 10, x) // y += 10 x
	fmt.Println(y)
	// Output:
	// 32
	// [14 25 36]
}

func ExampleSigmoid() {
	p := make([]float64, 3)
	f64.Sigmoid(p, []float64{-1, 0, 1})
	fmt.Printf("%.3f\n", p)
	// Output:
	// [0.269 0.500 0.731]
}

// Logistic computes the loss of a row of class +1 with the score 0, and its derivatives.
func ExampleLogistic() {
	z, y := []float64{0}, []float64{1}
	factor, curvature, loss := make([]float64, 1), make([]float64, 1), make([]float64, 1)
	f64.Logistic(z, factor, curvature, loss, y)
	fmt.Printf("%.2f %.2f %.4f\n", factor[0], curvature[0], loss[0])
	// Output:
	// -0.50 0.25 0.6931
}
