package train_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/predict"
	"halfspace/train"
	"halfspace/train/logistic"
	"halfspace/train/perceptron"
)

// A share of the rows is held out, and the model is counted on it.
func ExampleLearn() {
	x, y := circle(1000)
	data, err := block.FromRows(x, y, block.RowOptions{})
	check(err)
	f, err := train.Learn(context.Background(), data, train.Perceptron(perceptron.Options{Margin: 1}), train.Options{HoldOut: 0.2})
	check(err)
	fmt.Println(f.Model.Algorithm, f.Validation.Errors, "of", f.Validation.Rows)
	// Output: perceptron 0 of 174
}

// Features of different scales are standardized. The model holds means and deviations, so it predicts rows as they are.
func ExampleLearn_standardize() {
	x := [][]float64{{1.62, 54_000}, {1.71, 61_000}, {1.68, 58_000}, {1.83, 90_000}, {1.91, 95_000}, {1.87, 92_000}}
	y := []string{"junior", "junior", "junior", "senior", "senior", "senior"}
	data, err := block.FromRows(x, y, block.RowOptions{Standardize: true})
	check(err)
	f, err := train.Learn(context.Background(), data, train.Logistic(logistic.Options{L2: 1}), train.Options{})
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
	cv, err := train.CrossValidate(context.Background(), data, train.Logistic(logistic.Options{L2: 1}), train.CV{Folds: 5}, train.Options{})
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
func ExampleLearn_checkpoint() {
	x, y := circle(1000)
	data, err := block.FromRows(x, y, block.RowOptions{})
	check(err)
	dir, err := os.MkdirTemp("", "fit")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "m.json")

	run, err := checkpoint.Open(checkpoint.Options{Dir: dir, Resume: true})
	check(err)
	defer run.Close()
	f, err := train.Learn(context.Background(), data, train.Perceptron(perceptron.Options{}), train.Options{Checkpoint: run})
	check(err)
	check(f.Model.Save(path))
	check(run.Finish()) // the model is kept

	_, resumed := run.Resumed()
	fmt.Println(resumed)
	// Output:
	// false
}
