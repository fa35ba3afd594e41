package train_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"halfspace/block"
	"halfspace/predict"
	"halfspace/train"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
)

// A share of the rows is held out, and the model is counted on it.
func ExampleRun() {
	x, y := circle(1000)
	data, err := block.FromRows(x, y, block.RowOptions{})
	check(err)
	f, err := train.Run(context.Background(), data, perceptron.New(perceptron.Options{Margin: 1}), train.Options{HoldOut: 0.2})
	check(err)
	fmt.Println(f.Model.Algorithm, f.Validation.Errors, "of", f.Validation.Rows)
	// Output: perceptron 0 of 174
}

// Features of different scales are standardized. The model holds means and deviations, so it predicts rows as they are.
func ExampleRun_standardize() {
	x := [][]float64{{1.62, 54_000}, {1.71, 61_000}, {1.68, 58_000}, {1.83, 90_000}, {1.91, 95_000}, {1.87, 92_000}}
	y := []string{"junior", "junior", "junior", "senior", "senior", "senior"}
	data, err := block.FromRows(x, y, block.RowOptions{Standardize: true})
	check(err)
	f, err := train.Run(context.Background(), data, logistic.New(logistic.Options{L2: 1}), train.Options{})
	check(err)
	p, err := predict.New(f.Model)
	check(err)
	class, err := p.Class([]float64{1.85, 88_000})
	check(err)
	fmt.Println(class)
	// Output: senior
}

// Each fold is predicted by a model of the others.
func ExampleCrossValidate() {
	x, y := circle(200)
	data, err := block.FromRows(x, y, block.RowOptions{})
	check(err)
	cv, err := train.CrossValidate(context.Background(), data, logistic.New(logistic.Options{L2: 1}), train.Options{CV: train.CV{Folds: 5}})
	check(err)
	fmt.Println(*cv.Points[0].Errors, "errors in", cv.Folds, "folds")
	// Output: 0 errors in 5 folds
}

// circle returns points around the origin; those on the right are true.
func circle(n int) (x [][]float64, y []bool) {
	for i := range n {
		sin, cos := math.Sincos(float64(i) + 0.25)
		if math.Abs(cos) > 0.2 {
			x, y = append(x, []float64{cos, sin}), append(y, cos > 0)
		}
	}
	return x, y
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A training saves its state once a minute. After a crash, the same program goes on with it.
func ExampleRun_checkpoint() {
	x, y := circle(1000)
	data, err := block.FromRows(x, y, block.RowOptions{})
	check(err)
	dir, err := os.MkdirTemp("", "fit")
	check(err)
	defer os.RemoveAll(dir)

	run, err := train.Run(context.Background(), data, perceptron.New(perceptron.Options{}), train.Options{Checkpoint: train.Checkpoint{Dir: dir, Resume: true}})
	check(err)
	check(run.Model.Save(filepath.Join(dir, "m.json")))
	fmt.Println(run.Result.Converged)
	// Output:
	// true
}
