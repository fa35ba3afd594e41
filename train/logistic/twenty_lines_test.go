package logistic_test

import (
	"context"
	"fmt"
	"math"

	"halfspace/block"
	"halfspace/train/logistic"
)

// literal is Newton's method for logistic regression with one feature and a bias (Hastie, Tibshirani and Friedman, "The
// Elements of Statistical Learning", 2009, section 4.4.1), with the penalty l2/2 w^2.
func literal(x []float64, y []int, l2 float64) (w, b float64) {
	for range 20 {
		gw, gb, hww, hwb, hbb := l2*w, 0.0, l2, 0.0, 0.0
		for i, v := range x {
			p := 1 / (1 + math.Exp(-(w*v + b)))
			e, s := p-float64(y[i]), p*(1-p)
			gw, gb = gw+e*v, gb+e
			hww, hwb, hbb = hww+s*v*v, hwb+s*v, hbb+s
		}
		det := hww*hbb - hwb*hwb
		w, b = w-(hbb*gw-hwb*gb)/det, b-(hww*gb-hwb*gw)/det
	}
	return w, b
}

// The method in twenty lines, and Train, find the same optimum.
func Example() {
	x, y := []float64{1, 2, 3, 4, 5, 6}, []int{0, 0, 1, 0, 1, 1}
	w, b := literal(x, y, 0.1)
	fmt.Printf("%.6f %.6f\n", w, b)

	rows, err := block.FromRows([][]float64{{1}, {2}, {3}, {4}, {5}, {6}}, y, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	found, err := logistic.Train(context.Background(), rows, logistic.Options{L2: 0.1})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.6f %.6f\n", found.Weights[0], found.Weights[1])
	// Output:
	// 1.126387 -3.942355
	// 1.126387 -3.942355
}
