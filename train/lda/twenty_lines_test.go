package lda_test

import (
	"context"
	"fmt"

	"halfspace/block"
	"halfspace/train/lda"
)

// literal is Fisher's direction for two features: the inverse of the pooled covariance, times the difference of the means
// (Fisher, "The use of multiple measurements in taxonomic problems", 1936).
func literal(x [][]float64, y []bool) (w [2]float64) {
	var mean [2][2]float64
	var count [2]float64
	class := map[bool]int{false: 0, true: 1}
	for i, v := range x {
		c := class[y[i]]
		count[c]++
		mean[c][0], mean[c][1] = mean[c][0]+v[0], mean[c][1]+v[1]
	}
	for c, n := range count {
		mean[c][0], mean[c][1] = mean[c][0]/n, mean[c][1]/n
	}
	var s00, s01, s11 float64
	for i, v := range x {
		m := mean[class[y[i]]]
		a, b := v[0]-m[0], v[1]-m[1]
		s00, s01, s11 = s00+float64(a*a), s01+float64(a*b), s11+float64(b*b)
	}
	n := count[0] + count[1]
	d0, d1, det := mean[1][0]-mean[0][0], mean[1][1]-mean[0][1], (s00*s11-s01*s01)/n
	return [2]float64{(s11*d0 - s01*d1) / det, (s00*d1 - s01*d0) / det}
}

// The formula in twenty lines, and Train, give the same weights.
func Example() {
	x := [][]float64{{1, 2}, {2, 1}, {2, 3}, {5, 6}, {6, 5}, {6, 7}}
	y := []bool{false, false, false, true, true, true}
	fmt.Printf("%.4f\n", literal(x, y))

	rows, err := block.FromRows(x, y, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	found, err := lda.Train(context.Background(), rows, lda.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4f\n", found.Weights[:2])
	// Output:
	// [18.0000 6.0000]
	// [18.0000 6.0000]
}
