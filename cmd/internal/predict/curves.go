package predict

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/metrics"
	"halfspace/model"
)

// A curve is a curve that eval writes to a file. Each point is one line: the threshold, the rows of each class, and two
// shares.
type curve struct {
	flag, name string // flag is "roc" or "pr"
	needs      string // the classes that the curve needs rows of
	shares     [2]string
	points     func(r *evalReport) []metrics.Point
	values     func(p, last metrics.Point) [2]float64 // the two shares of a point

	schema *arrow.Schema
	writer *dataset.Writer
}

// curves are the curves that the user asked for.
type curves []*curve

// createCurves creates the files of the curves before any row is read, so that a wrong path is an error at once.
func createCurves(ctx context.Context, a *console.App, o *evalOptions, models []*model.Model, paths []string) (all curves, err error) {
	roc := &curve{flag: "roc", name: "ROC curve", needs: "both classes", shares: [2]string{"fpr", "tpr"}, points: func(r *evalReport) []metrics.Point { return r.roc },
		values: func(p, last metrics.Point) [2]float64 {
			return [2]float64{p.FalsePositives / last.FalsePositives, p.TruePositives / last.TruePositives}
		}}
	pr := &curve{flag: "pr", name: "precision-recall curve", needs: "the positive class", shares: [2]string{"precision", "recall"}, points: func(r *evalReport) []metrics.Point { return r.pr },
		values: func(p, last metrics.Point) [2]float64 {
			return [2]float64{p.Precision(), p.TruePositives / last.TruePositives}
		}}
	for _, c := range []struct {
		*curve
		path, other string
	}{{roc, o.roc, o.pr}, {pr, o.pr, o.roc}} {
		if c.path == "" {
			continue
		}
		if err := c.create(ctx, a, c.path, c.other, o, len(models), paths); err != nil {
			all.abort()
			return nil, err
		}
		all = append(all, c.curve)
	}
	return all, nil
}

func (c *curve) create(ctx context.Context, a *console.App, path, other string, o *evalOptions, models int, paths []string) error {
	if console.ToStdout(path) {
		return console.Usagef("--%s %s and the report both write to standard output: name a file", c.flag, path)
	}
	if path == other {
		return console.Usagef("--roc and --pr both write %s: name two files", path)
	}
	if err := console.Claim(a, path, slices.Concat(paths, o.models)); err != nil {
		return err
	}
	c.setSchema(models, o.weight != "")
	var err error
	c.writer, err = dataset.CreateContext(ctx, path, c.schema, dataset.WriterOptions{})
	return err
}

// setSchema sets the columns. If there are several models, the last column names the model. With weighted rows, the
// amounts are float64 instead of int64.
func (c *curve) setSchema(models int, weighted bool) {
	var amount arrow.DataType = arrow.PrimitiveTypes.Int64
	if weighted {
		amount = arrow.PrimitiveTypes.Float64
	}
	fields := []arrow.Field{{Name: "threshold", Type: arrow.PrimitiveTypes.Float64}, {Name: "false_positives", Type: amount},
		{Name: "true_positives", Type: amount}}
	for _, name := range c.shares {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64})
	}
	if models > 1 {
		fields = append(fields, arrow.Field{Name: "model", Type: arrow.BinaryTypes.String})
	}
	c.schema = arrow.NewSchema(fields, nil)
}

func (all curves) abort() {
	for _, c := range all {
		c.writer.Abort()
	}
}

// write writes the curves of all reports, one after the other.
func (all curves) write(reports []*evalReport) error {
	for _, c := range all {
		if err := c.write(reports); err != nil {
			return err
		}
	}
	return nil
}

func (c *curve) write(reports []*evalReport) error {
	for _, r := range reports {
		for i, class := range r.Classes {
			if c.flag != "roc" && i != r.positive || r.Confusion.ActualWeight(i) > 0 {
				continue
			}
			what := "no row is of class " + class.String()
			if r.PerClass[i].Rows > 0 {
				what = "every row of class " + class.String() + " has the sample weight 0"
			}
			return fmt.Errorf("%s: %s, so that there is no %s: name data of %s, or leave --%s out", r.Model, what, c.name, c.needs, c.flag)
		}
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, c.schema)
	defer b.Release()
	for _, r := range reports {
		if err := c.writePoints(b, r, len(reports) > 1); err != nil {
			return err
		}
	}
	return c.writer.Close()
}

// batch is the number of points in a record. It bounds the memory that records take in addition to the curve.
const batch = 1 << 16

// writePoints writes the points of a report, with the name of the model if named.
func (c *curve) writePoints(b *array.RecordBuilder, r *evalReport, named bool) error {
	points := c.points(r)
	for some := range slices.Chunk(points, batch) {
		for _, p := range some {
			b.Field(0).(*array.Float64Builder).Append(p.Threshold)
			appendAmount(b.Field(1), p.FalsePositives)
			appendAmount(b.Field(2), p.TruePositives)
			for k, v := range c.values(p, points[len(points)-1]) {
				b.Field(3 + k).(*array.Float64Builder).Append(v)
			}
			if named {
				b.Field(5).(*array.StringBuilder).Append(r.Model)
			}
		}
		rec := b.NewRecord()
		err := c.writer.Write(rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// appendAmount appends a number of rows, or a weight of rows.
func appendAmount(to array.Builder, v float64) {
	if b, ok := to.(*array.Int64Builder); ok {
		b.Append(int64(v))
		return
	}
	to.(*array.Float64Builder).Append(v)
}
