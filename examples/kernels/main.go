// Command kernels calls the loops under the learners: a perceptron on the text book's three points (Li Hang, "Statistical
// Learning Methods", example 2.1).
//
//	go run ./examples/kernels
package main

import (
	"fmt"

	"halfspace/kernel"
)

func main() {
	points, y := [][]float32{{3, 3, 1}, {4, 3, 1}, {1, 1, 1}}, []float32{1, 1, -1}
	stride := kernel.Stride(3) // rows stand one after another, with zeros up to the stride
	x := make([]float32, len(points)*stride)
	for r, p := range points {
		copy(x[r*stride:], p)
	}
	w, log, total := make([]float32, stride), make([]uint32, len(points)), 0
	for updates := 1; updates > 0; total += updates {
		_, updates = kernel.Epoch(w, log, x, y, 1, 0)
	}
	scores := make([]float32, len(points))
	kernel.Scores(scores, x, w)
	fmt.Println(total, "updates, weights", w[:2], "bias", w[2], "scores", scores)
}
