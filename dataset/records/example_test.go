package records_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/records"
	"halfspace/internal/train"
	"halfspace/train/logistic"
)

// A model is learned from records, and predicts records.
func Example() {
	ctx := context.Background()
	data, err := records.Load(ctx, read(`[
		{"pulse": 72, "smoker": "no", "state": "healthy"}, {"pulse": 70, "smoker": "yes", "state": "healthy"},
		{"pulse": 98, "smoker": "no", "state": "ill"}, {"pulse": 104, "smoker": "yes", "state": "ill"}]`),
		records.Options{Label: "state", Categorical: "onehot", Standardize: true})
	check(err)
	f, err := train.Run(ctx, data, logistic.New(logistic.Options{L2: 1}), train.Options{})
	check(err)
	for predictions, err := range records.Predict(ctx, f.Model, read(`[{"pulse": 101, "smoker": "no"}, {"pulse": 69, "smoker": "no"}]`), 0) {
		check(err)
		fmt.Println(predictions.ColumnName(0), predictions.Column(0))
	}
	// Output:
	// prediction ["ill" "healthy"]
}

// A model is learned from records that a program makes anew in each pass. No pass collects them.
func ExampleStream() {
	ctx := context.Background()
	source, err := records.Stream(ctx, func(context.Context) (array.RecordReader, error) {
		return read(`[
			{"pulse": 72, "smoker": "no", "state": "healthy"}, {"pulse": 70, "smoker": "yes", "state": "healthy"},
			{"pulse": 98, "smoker": "no", "state": "ill"}, {"pulse": 104, "smoker": "yes", "state": "ill"}]`), nil
	}, records.Options{Label: "state", Categorical: "onehot", Standardize: true})
	check(err)
	f, err := train.Run(ctx, source, logistic.New(logistic.Options{L2: 1}), train.Options{})
	check(err)
	fmt.Println(source.Rows(), f.Model.Spec().Features)
	// Output:
	// 4 [pulse smoker=no smoker=yes]
}

// read returns a reader of one record of rows in JSON.
func read(rows string) array.RecordReader {
	schema := arrow.NewSchema([]arrow.Field{{Name: "pulse", Type: arrow.PrimitiveTypes.Float64}, {Name: "smoker", Type: arrow.BinaryTypes.String},
		{Name: "state", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	check(err)
	r, err := array.NewRecordReader(schema, []arrow.Record{rec})
	check(err)
	return r
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
