package predict_test

import (
	"context"
	"fmt"

	"halfspace/block"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/schema"
)

// verdicts returns a model of two features.
func verdicts() *model.Model {
	m := model.New(&schema.Spec{Features: []string{"taste", "price"}, Bias: true, Label: "verdict",
		Classes: []schema.Class{schema.StringClass("bad"), schema.StringClass("good")}}, []float32{1, 1, -3})
	m.Algorithm = "logistic"
	return m
}

// A program usually has the model from model.Load. Goroutines may share the predictor, such as those of HTTP handlers.
func ExamplePredictor() {
	p, err := predict.New(verdicts())
	if err != nil {
		panic(err)
	}
	row := []float64{4, 3} // taste, price
	class, err := p.Class(row)
	if err != nil {
		panic(err)
	}
	odds := make([]float64, 2)
	if err := p.Probabilities(row, odds); err != nil {
		panic(err)
	}
	fmt.Printf("%s, with the probability %.3f\n", class, odds[1])
	// Output:
	// good, with the probability 0.982
}

// AppendRow makes a row of values of any type: numbers, text, booleans, lists, and nil for a missing one.
func ExamplePredictor_AppendRow() {
	columns := []schema.Column{
		{Name: "price", Kind: schema.NumberColumn, Means: []float64{2}},
		{Name: "colour", Kind: schema.OneHotColumn, Categories: []string{"blue", "red"}},
	}
	m := model.New(&schema.Spec{Features: []string{"price", "colour=blue", "colour=red"}, Label: "y",
		Classes:       []schema.Class{schema.BoolClass(false), schema.BoolClass(true)},
		Preprocessing: &schema.Preprocessing{Nulls: schema.NullsMean, Columns: columns}}, []float32{1, -3, 0})
	p, err := predict.New(m)
	if err != nil {
		panic(err)
	}
	row, err := p.AppendRow(nil, nil, "blue")
	if err != nil {
		panic(err)
	}
	score, err := p.Score(row) // with the mean price of the training
	fmt.Println(row, score, err)
	// Output:
	// [NaN 1 0] -1 <nil>
}

// A Scorer scores blocks of rows.
func ExampleScorer() {
	rows, err := block.FromRows[float32]([][]float64{{3, 3}, {1, 1}}, []string{"good", "bad"}, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	scorer, err := predict.NewScorer[float32](verdicts(), 1)
	if err != nil {
		panic(err)
	}
	for b := range rows.Blocks(context.Background()) { // of rows in memory: no error
		scores, err := scorer.Scores(context.Background(), b)
		fmt.Println(scores[0], err)
	}
	// Output:
	// [3 -1] <nil>
}
