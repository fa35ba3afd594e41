// Command library shows halfspace's packages in a Go program: it loads a Parquet file, trains a perceptron with a
// pocket on the rows and prints the model.
//
//	go run ./examples/library examples/iris-versicolor-virginica.parquet species
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"halfspace/dataset"
	"halfspace/pocket"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: library DATA.parquet LABEL")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path, label string) error {
	// The features are all numeric columns but the label, narrowed to float32.
	data, err := dataset.Load(ctx, path, dataset.Options{Label: label})
	if err != nil {
		return err
	}
	result, err := perceptron.Train(ctx, data, perceptron.Options{
		Options: learner.Options{Epochs: 1000},
		Pocket:  pocket.Exact, // keep the weights with the fewest errors: the rows may not be separable
	})
	if err != nil {
		return err
	}
	spec := data.Spec()
	fmt.Printf("%d rows, %d updates, %d errors, converged: %v\n", data.Rows(), result.Updates, result.Errors, result.Converged)
	fmt.Printf("predicts %s where this is above 0:\n", spec.Classes[spec.PositiveClass()])
	for i, name := range spec.Features {
		fmt.Printf("%+12.6g * %s\n", result.Weights[i], name)
	}
	fmt.Printf("%+12.6g\n", result.Weights[len(spec.Features)]) // the bias is the last weight
	return nil
}
