// Command dual computes a Gram matrix, and trains a perceptron with the same kernel on points that no line separates.
//
//	go run ./examples/dual
package main

import (
	"context"
	"fmt"
	"os"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/train"
	"halfspace/train/kernelperceptron"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	x := [][]float64{{0, 0}, {1, 1}, {0, 1}, {1, 0}}
	rows, err := block.FromRows(x, []bool{false, false, true, true}, block.RowOptions{}) // exclusive or
	if err != nil {
		return err
	}
	kernel := gram.Kernel{Kind: gram.RBF, Gamma: 1}
	matrix, err := gram.NewSymmetric(len(x), gram.Packed)
	if err != nil {
		return err
	}
	if err := gram.Gram(ctx, matrix, gram.FeaturesOf(rows), kernel, 0); err != nil { // 0: all cores
		return err
	}
	for i := range x {
		fmt.Printf("%.3f %.3f %.3f %.3f\n", matrix.At(i, 0), matrix.At(i, 1), matrix.At(i, 2), matrix.At(i, 3))
	}
	run, err := train.Run(ctx, rows, kernelperceptron.New(kernelperceptron.Options{Kernel: kernel}), train.Options{})
	if err != nil {
		return err
	}
	fmt.Println(len(run.Model.Expansion.Rows), "support rows,", *run.Model.Training.Errors, "errors")
	return nil
}
