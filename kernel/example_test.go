package kernel_test

import (
	"fmt"

	"halfspace/kernel"
)

// Epoch runs the perceptron on the text book's three points. Each row is its two features, a bias of 1, and zeros up to
// the stride.
func ExampleEpoch() {
	points, y := [][]float32{{3, 3, 1}, {4, 3, 1}, {1, 1, 1}}, []float32{1, 1, -1}
	stride := kernel.Stride(3)
	x := make([]float32, len(points)*stride)
	for r, p := range points {
		copy(x[r*stride:], p)
	}
	w, log := make([]float32, stride), make([]uint32, len(points))
	total := 0
	for {
		_, updates := kernel.Epoch(w, log, x, y, 1, 0)
		if updates == 0 {
			break
		}
		total += updates
	}
	fmt.Println(total, "updates give w =", w[:2], "and b =", w[2])

	scores := make([]float32, len(points))
	kernel.Scores(scores, x, w)
	fmt.Println("scores", scores)
	// Output:
	// 7 updates give w = [1 1] and b = -3
	// scores [3 4 -1]
}

func ExampleDot() {
	x, y := []float32{1, 2, 3}, []float32{4, 5, 6}
	fmt.Println(kernel.Dot(x, y))
	kernel.Axpy(y, 10, x) // y += 10 x
	fmt.Println(y)
	// Output:
	// 32
	// [14 25 36]
}
