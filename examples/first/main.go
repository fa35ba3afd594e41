// Command first learns from a table and keeps the model.
//
//	go run ./examples/first
package main

import (
	"context"
	"fmt"
	"log"

	"halfspace/dataset"
	"halfspace/train"
	"halfspace/train/logistic"
)

func main() {
	check(run("examples/churn.csv", "model.json"))
}

func run(table, out string) error {
	ctx := context.Background()
	rows, err := dataset.Load(ctx, table, dataset.Options{Label: "churned", Prepare: true, Standardize: true})
	if err != nil {
		return err
	}
	done, err := train.Run(ctx, rows, logistic.New(logistic.Options{}), train.Options{HoldOut: 0.25})
	if err != nil {
		return err
	}
	fmt.Println(done.Validation.Errors, "of", done.Validation.Rows, "held-out rows are wrong")
	return done.Model.Save(out)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
