// Command library compares two learners on a file, trains the better one and predicts a row.
//
//	go run ./examples/library examples/iris-versicolor-virginica.parquet species
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"halfspace/dataset"
	"halfspace/train"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: library DATA.parquet LABEL")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2], filepath.Join(os.TempDir(), "model.json")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, path, label, out string) error {
	rows, err := dataset.Load(ctx, path, dataset.Options{Label: label})
	if err != nil {
		return err
	}
	best, err := train.Compare(ctx, rows, train.Options{CV: train.CV{Folds: 5}},
		logistic.New(logistic.Options{L2: 1}),
		perceptron.Averaged(perceptron.Options{Epochs: 20}))
	if err != nil {
		return err
	}
	for _, p := range best.Points {
		fmt.Println(p.Learner.Name, *p.Errors, "errors in", best.Folds, "folds")
	}
	run, err := train.Run(ctx, rows, best.Best(), train.Options{HoldOut: 0.2})
	if err != nil {
		return err
	}
	if err := run.Model.Save(out); err != nil {
		return err
	}
	predictor, err := run.Predictor() // safe for concurrent use, and allocates no memory
	if err != nil {
		return err
	}
	class, err := predictor.Class([]float64{6.3, 2.9, 5.6, 1.8}) // the features as the data has them
	if err != nil {
		return err
	}
	fmt.Println(run.Model.Algorithm, run.Validation.Errors, "errors in", run.Validation.Rows, "held-out rows; predicts", class)
	return nil
}
