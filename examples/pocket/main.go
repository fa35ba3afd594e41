// Command pocket learns from its own rows, of which no line separates the classes, and keeps the weights with the fewest
// errors.
//
//	go run ./examples/pocket
package main

import (
	"context"
	"fmt"
	"os"

	"halfspace/block"
	"halfspace/train"
	"halfspace/train/perceptron"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	x := [][]float64{{1}, {2}, {3}, {4}, {5}, {6}}
	y := []string{"low", "low", "high", "low", "high", "high"}
	rows, err := block.FromRows(x, y, block.RowOptions{Features: []string{"level"}, Positive: "high"})
	if err != nil {
		return err
	}
	run, err := train.Run(ctx, rows, perceptron.Pocket(perceptron.Options{}), train.Options{Seed: 7})
	if err != nil {
		return err
	}
	for _, p := range run.Result.Curve {
		fmt.Println(p.Errors, "errors after update", p.Update)
	}
	fmt.Println("high where", run.Model.Weights[0][0], "* level +", run.Model.Bias[0], "is above 0")
	return nil
}
