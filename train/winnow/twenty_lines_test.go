package winnow_test

import (
	"context"
	"fmt"

	"halfspace/block"
	"halfspace/train"
	"halfspace/train/winnow"
)

// literal is Winnow2 (Littlestone, "Learning quickly when irrelevant attributes abound", 1988). It ends once all rows were
// right.
func literal(x [][]float64, y []bool) (w []float64, mistakes int) {
	theta, w := float64(len(x[0]))/2, make([]float64, len(x[0]))
	for j := range w {
		w[j] = 1
	}
	for wrong := true; wrong; {
		wrong = false
		for i := range x {
			score, factor := 0.0, 1/1.5
			for j, v := range x[i] {
				score += float64(w[j] * v)
			}
			if score > theta == y[i] {
				continue
			}
			if y[i] {
				factor = 1.5
			}
			for j, v := range x[i] {
				if v == 1 {
					w[j] *= factor
				}
			}
			mistakes, wrong = mistakes+1, true
		}
	}
	return w, mistakes
}

// The algorithm in twenty lines, and Train, end with the same weights after the same mistakes. The label is the disjunction of the
// first and the third of ten features.
func Example() {
	var x [][]float64
	var y []bool
	for row := range 1 << 10 {
		bits := make([]float64, 10)
		for j := range bits {
			bits[j] = float64(row >> j & 1)
		}
		x, y = append(x, bits), append(y, bits[0] == 1 || bits[2] == 1)
	}
	w, mistakes := literal(x, y)
	fmt.Printf("%.3f %d\n", w, mistakes)

	rows, err := block.FromRows(x, y, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	found, err := winnow.Train(context.Background(), rows, winnow.Options{Options: train.Options{Epochs: 100}})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.3f %d\n", found.Weights[:10], found.Updates)
	// Output:
	// [5.062 0.444 5.062 0.444 0.198 0.296 0.444 0.444 0.444 0.667] 11
	// [5.062 0.444 5.062 0.444 0.198 0.296 0.444 0.444 0.444 0.667] 11
}
