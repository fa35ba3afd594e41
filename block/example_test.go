package block_test

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"halfspace/block"
)

// FromRows makes a data set, which every learner takes, of rows in memory.
func ExampleFromRows() {
	x := [][]float64{{3, 3}, {4, 3}, {1, 1}}
	y := []string{"good", "good", "bad"}
	data, err := block.FromRows(x, y, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(data.Rows(), "rows of", data.Spec().Features, "and the classes", data.Spec().Classes)
	// Output:
	// 3 rows of [c1 c2] and the classes [bad good]
}

// FromFlat takes rows that stand one after the other. Here they have names and sample weights.
func ExampleFromFlat() {
	data, err := block.FromFlat([]float32{3, 3, 4, 3, 1, 1}, 2, []int{1, 1, 0},
		block.RowOptions{Features: []string{"taste", "price"}, Weights: []float64{1, 1, 2}})
	if err != nil {
		panic(err)
	}
	fmt.Println(data.Spec().Features, data.Spec().Classes)
	// Output:
	// [taste price] [0 1]
}

// FromGenerator makes the rows again for each pass, so that they needn't fit into memory. Here it parses text.
func ExampleFromGenerator() {
	const text = "3 3 good\n4 3 good\n1 1 bad\n"
	rows := func(yield func(x []float64, label string) bool) error {
		lines := bufio.NewScanner(strings.NewReader(text))
		x, label := make([]float64, 2), ""
		for lines.Scan() {
			if _, err := fmt.Sscan(lines.Text(), &x[0], &x[1], &label); err != nil {
				return err
			}
			if !yield(x, label) {
				return nil
			}
		}
		return lines.Err()
	}
	src, err := block.FromGenerator(context.Background(), rows, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(src.Rows(), "rows with the classes", src.Spec().Classes)
	// Output:
	// 3 rows with the classes [bad good]
}
