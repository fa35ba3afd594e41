// Command arrow learns from Arrow records, shows the progress, and can be cancelled by Ctrl-C.
//
//	go run ./examples/arrow
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/records"
	"halfspace/train"
	"halfspace/train/perceptron"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run learns from Arrow batches. If most is above 0, it cancels the training after that many epochs.
func run(ctx context.Context, most int64) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reader, err := batches()
	if err != nil {
		return err
	}
	defer reader.Release()
	rows, err := records.Load(ctx, reader, records.Options{Label: "state", Standardize: true})
	if err != nil {
		return err
	}
	progress := func(p train.Progress) {
		if p.Epoch == most && most > 0 {
			cancel()
		}
	}
	run, err := train.Run(ctx, rows, perceptron.New(perceptron.Options{}), train.Options{Watch: train.Watch{Progress: progress}})
	if err != nil && (run == nil || !errors.Is(err, context.Canceled)) {
		return err
	}
	// After a cancellation the model has the weights so far.
	fmt.Println("interrupted:", run.Result.Interrupted, "epochs:", run.Result.Epochs)
	return nil
}

// batches returns a reader of two batches.
func batches() (array.RecordReader, error) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "pulse", Type: arrow.PrimitiveTypes.Float64},
		{Name: "state", Type: arrow.BinaryTypes.String}}, nil)
	var all []arrow.Record
	for _, rows := range []string{
		`[{"pulse": 72, "state": "healthy"}, {"pulse": 98, "state": "ill"}, {"pulse": 70, "state": "healthy"}]`,
		`[{"pulse": 104, "state": "ill"}, {"pulse": 75, "state": "ill"}, {"pulse": 99, "state": "healthy"}]`,
	} {
		record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
		if err != nil {
			return nil, err
		}
		defer record.Release()
		all = append(all, record)
	}
	return array.NewRecordReader(schema, all)
}
