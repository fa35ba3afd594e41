package model_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"halfspace/model"
	"halfspace/schema"
)

// A model made of weights that a program has, written and read again. Save and Load do the same with a file.
func Example() {
	spec := &schema.Spec{Features: []string{"taste", "price"}, Bias: true, Label: "verdict",
		Classes: []schema.Class{schema.StringClass("bad"), schema.StringClass("good")}}
	m := model.New(spec, []float32{1, 1, -3}) // a weight for each feature, then the bias
	m.Algorithm = "perceptron"

	var file bytes.Buffer
	if _, err := m.WriteTo(&file); err != nil {
		panic(err)
	}
	m, err := model.Read(&file)
	if err != nil {
		panic(err)
	}
	fmt.Println(m.Positive, "where", m.Weights[0], "x", m.Features, "+", m.Bias[0], "is above 0")
	// Output:
	// good where [1 1] x [taste price] + -3 is above 0
}

// Errors of Read and Load tell files that are no models from models that were damaged.
func ExampleRead() {
	_, err := model.Read(strings.NewReader("taste,price,verdict\n"))
	fmt.Println(errors.Is(err, model.ErrNoModel), errors.Is(err, model.ErrDamaged))

	_, err = model.Read(strings.NewReader(`{"format": "halfspace-model/1", "weights"`))
	fmt.Println(errors.Is(err, model.ErrNoModel), errors.Is(err, model.ErrDamaged))
	// Output:
	// true false
	// false true
}
