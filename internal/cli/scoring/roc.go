package scoring

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset"
	"halfspace/internal/cli/console"
	"halfspace/internal/cli/files"
	"halfspace/model"
)

// createROC starts the file of the curves, before any row is read: it finds out whether there can be one. It is nil where none is asked for.
func createROC(ctx context.Context, a *console.App, o *evalOptions, models []*model.Model, paths []string) (*dataset.Writer, error) {
	if o.roc == "" {
		return nil, nil
	}
	if files.ToStdout(o.roc) {
		return nil, console.Usagef("--roc %s and the report both write to standard output: name a file", o.roc)
	}
	for i, m := range models {
		if n := len(m.Classes); n > 2 {
			return nil, console.Usagef("--roc: %s has %d classes, and a ROC curve is one of two", o.models[i], n)
		}
	}
	inputs, err := dataset.Expand(paths)
	if err != nil {
		return nil, err
	}
	if err := files.Claim(a, o.roc, append(inputs, o.models...)); err != nil {
		return nil, err
	}
	return dataset.CreateContext(ctx, o.roc, rocSchema(len(models)), dataset.WriterOptions{})
}

// rocSchema is the columns of curves: of several models one that names the model too.
func rocSchema(models int) *arrow.Schema {
	fields := []arrow.Field{{Name: "threshold", Type: arrow.PrimitiveTypes.Float64}, {Name: "false_positives", Type: arrow.PrimitiveTypes.Int64},
		{Name: "true_positives", Type: arrow.PrimitiveTypes.Int64}, {Name: "fpr", Type: arrow.PrimitiveTypes.Float64},
		{Name: "tpr", Type: arrow.PrimitiveTypes.Float64}}
	if models > 1 {
		fields = append(fields, arrow.Field{Name: "model", Type: arrow.BinaryTypes.String})
	}
	return arrow.NewSchema(fields, nil)
}

// writeROC writes the curves of all reports, one after the other.
func writeROC(w *dataset.Writer, reports []*evalReport) error {
	for _, r := range reports {
		for i, c := range r.Classes {
			if r.PerClass[i].Rows == 0 {
				return fmt.Errorf("%s: no row is of class %s, so that there is no ROC curve: name data of both classes, or leave --roc out",
					r.Model, c)
			}
		}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, rocSchema(len(reports)))
	defer b.Release()
	for _, r := range reports {
		last := r.curve[len(r.curve)-1]
		for _, p := range r.curve {
			b.Field(0).(*array.Float64Builder).Append(p.Threshold)
			b.Field(1).(*array.Int64Builder).Append(int64(p.FalsePositives))
			b.Field(2).(*array.Int64Builder).Append(int64(p.TruePositives))
			b.Field(3).(*array.Float64Builder).Append(p.FalsePositives / last.FalsePositives)
			b.Field(4).(*array.Float64Builder).Append(p.TruePositives / last.TruePositives)
			if len(reports) > 1 {
				b.Field(5).(*array.StringBuilder).Append(r.Model)
			}
		}
		rec := b.NewRecord()
		err := w.Write(rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	return w.Close()
}
