// Compiling net/http with the race detector takes long, so make race leaves this file out.

//go:build !race

package train_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	"halfspace/block"
	"halfspace/train"
	"halfspace/train/logistic"
)

// Rows in memory, logistic regression with a cross-validated penalty, saved, and a handler that predicts one row.
func Example() {
	x := [][]float64{{36.6, 72}, {36.9, 70}, {37.0, 75}, {36.8, 80}, {38.9, 98}, {39.2, 110}, {38.4, 96}, {39.5, 104}}
	y := []string{"healthy", "healthy", "healthy", "healthy", "ill", "ill", "ill", "ill"}
	dir, err := os.MkdirTemp("", "fit")
	check(err)
	defer os.RemoveAll(dir)

	data, err := block.FromRows(x, y, block.RowOptions{Features: []string{"temperature", "pulse"}})
	check(err)
	grid := train.CV{Folds: 4, Grid: []train.Axis{train.Vary("l2", 0.01, 1, 100)}}
	run, err := train.Run(context.Background(), data, logistic.New(logistic.Options{}), train.Options{CV: grid})
	check(err)
	check(run.Model.Save(filepath.Join(dir, "m.json")))

	p, err := run.Predictor() // safe for concurrent use
	check(err)
	handler := func(w http.ResponseWriter, r *http.Request) {
		var row [2]float64
		_, err := fmt.Sscanln(r.FormValue("row"), &row[0], &row[1])
		class, missing := p.Class(row[:]) // an error if a number is NaN
		if err != nil || missing != nil {
			http.Error(w, "row: two numbers", http.StatusBadRequest)
			return
		}
		fmt.Fprintln(w, class)
	}
	fmt.Println(run.CrossValidation.Best().VariedText())
	for _, row := range []string{"39.1+101", "rubbish"} {
		answer := httptest.NewRecorder()
		handler(answer, httptest.NewRequest("GET", "/?row="+row, nil))
		fmt.Print(answer.Code, " ", answer.Body)
	}
	// Output:
	// l2 0.01
	// 200 ill
	// 400 row: two numbers
}
