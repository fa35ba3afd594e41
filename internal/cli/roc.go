package cli

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset"
	"halfspace/model"
)

// checkROC finds out whether curves are to be written, of what, and whether they can be.
func checkROC(o *evalOptions, models []*model.Model, paths []string) error {
	if o.roc == "" {
		return nil
	}
	if toStdout(o.roc) {
		return usagef("--roc %s and the report both write to standard output: name a file", o.roc)
	}
	for i, m := range models {
		if n := len(m.Classes); n > 2 {
			return usagef("--roc: %s has %d classes, and a ROC curve is one of two", o.models[i], n)
		}
	}
	inputs, err := dataset.Expand(paths)
	if err != nil {
		return err
	}
	return checkOut(o.roc, append(inputs, o.models...))
}

// writeROC writes the curves of all reports, one after the other, those of several with a column that names the model.
func writeROC(path string, reports []*evalReport) error {
	for _, r := range reports {
		for i, c := range r.Classes {
			if r.Confusion.Actual(i) == 0 {
				return fmt.Errorf("%s: no row is of class %s, so that there is no ROC curve: name data of both classes, or leave --roc out",
					r.Model, c)
			}
		}
	}
	fields := []arrow.Field{{Name: "threshold", Type: arrow.PrimitiveTypes.Float64}, {Name: "false_positives", Type: arrow.PrimitiveTypes.Int64},
		{Name: "true_positives", Type: arrow.PrimitiveTypes.Int64}, {Name: "fpr", Type: arrow.PrimitiveTypes.Float64},
		{Name: "tpr", Type: arrow.PrimitiveTypes.Float64}}
	if len(reports) > 1 {
		fields = append(fields, arrow.Field{Name: "model", Type: arrow.BinaryTypes.String})
	}
	schema := arrow.NewSchema(fields, nil)
	w, err := dataset.Create(path, schema, dataset.WriterOptions{})
	if err != nil {
		return err
	}
	defer w.Abort()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, r := range reports {
		last := r.curve[len(r.curve)-1]
		for _, p := range r.curve {
			b.Field(0).(*array.Float64Builder).Append(p.Threshold)
			b.Field(1).(*array.Int64Builder).Append(p.FalsePositives)
			b.Field(2).(*array.Int64Builder).Append(p.TruePositives)
			b.Field(3).(*array.Float64Builder).Append(float64(p.FalsePositives) / float64(last.FalsePositives))
			b.Field(4).(*array.Float64Builder).Append(float64(p.TruePositives) / float64(last.TruePositives))
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
