package predict_test

import (
	"context"
	"fmt"
	"os"

	"halfspace/internal/block"
	"halfspace/internal/model"
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

// Goroutines may share the predictor, for example those of HTTP handlers.
func ExamplePredictor() {
	path := save(verdicts())
	defer os.Remove(path)

	m, err := model.Load(path)
	check(err)
	p, err := predict.New(m)
	check(err)
	row := []float64{4, 3} // in the order of m.Features: taste, price
	class, err := p.Class(row)
	check(err)
	odds := make([]float64, len(m.Classes))
	check(p.Probabilities(row, odds))
	fmt.Printf("%s, with the probability %.3f\n", class, odds[1])
	// Output:
	// good, with the probability 0.982
}

// plans returns a model of a column of text and two columns of numbers. The training means replace missing values.
func plans() *model.Model {
	columns := []schema.Column{
		{Name: "plan", Kind: schema.OneHotColumn, Categories: []string{"free", "pro"}},
		{Name: "visits", Kind: schema.NumberColumn, Means: []float64{2}},
		{Name: "age", Kind: schema.NumberColumn, Means: []float64{40}},
	}
	return model.New(&schema.Spec{Features: []string{"plan=free", "plan=pro", "visits", "age"}, Label: "stays",
		Classes:       []schema.Class{schema.BoolClass(false), schema.BoolClass(true)},
		Preprocessing: &schema.Preprocessing{Nulls: schema.NullsMean, Columns: columns}}, []float32{-50, 0, 1, -0.5})
}

// AppendRow makes a row of values of any type: numbers, text, booleans, lists, and nil for a missing one.
func ExamplePredictor_AppendRow() {
	path := save(plans())
	defer os.Remove(path)

	m, err := model.Load(path)
	check(err)
	p, err := predict.New(m)
	check(err)
	fmt.Println(p.Columns())
	row := make([]float64, 0, m.Width())
	row, err = p.AppendRow(row[:0], "pro", nil, 63) // plan, visits (missing), age
	check(err)
	class, err := p.Class(row)
	check(err)
	fmt.Println(row, class)
	// Output:
	// [plan visits age]
	// [0 1 NaN 63] false
}

// A Scorer scores blocks of rows.
func ExampleScorer() {
	rows, err := block.FromRows([][]float64{{3, 3}, {1, 1}}, []string{"good", "bad"}, block.RowOptions{})
	if err != nil {
		panic(err)
	}
	scorer, err := predict.NewScorer(verdicts(), 1)
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

// save writes a model to a file for an example.
func save(m *model.Model) string {
	f, err := os.CreateTemp("", "model")
	check(err)
	check(f.Close())
	check(m.Save(f.Name()))
	return f.Name()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
