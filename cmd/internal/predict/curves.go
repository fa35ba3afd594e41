package predict

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/message"
	"halfspace/internal/model"
	"halfspace/metrics"
)

// A curve is a curve that eval writes to a file. Each point is one line: the threshold, the rows of each class, and two
// shares.
type curve struct {
	flag, path    string // flag is "roc" or "pr"
	name          string
	neededClasses string // the classes that the curve needs rows of
	shares        [2]string
	points        func(r *evalReport) []metrics.Point
	values        func(p, last metrics.Point) [2]float64 // the two shares of a point

	schema *arrow.Schema
	writer *dataset.Writer
}

// curves are the curves that the user asked for.
type curves []*curve

// createCurves creates the files of the curves before any row is read, so that a wrong path is an error at once.
func createCurves(ctx context.Context, a *console.App, o *evalOptions, models []*model.Model, paths []string) (all curves, err error) {
	roc := &curve{flag: "roc", path: o.roc, name: "ROC curve", neededClasses: "both classes", shares: [2]string{"fpr", "tpr"},
		points: func(r *evalReport) []metrics.Point { return r.roc },
		values: func(p, last metrics.Point) [2]float64 {
			return [2]float64{p.FalsePositives / last.FalsePositives, p.TruePositives / last.TruePositives}
		}}
	pr := &curve{flag: "pr", path: o.pr, name: "precision-recall curve", neededClasses: "the positive class",
		shares: [2]string{"precision", "recall"}, points: func(r *evalReport) []metrics.Point { return r.pr },
		values: func(p, last metrics.Point) [2]float64 {
			return [2]float64{p.Precision(), p.TruePositives / last.TruePositives}
		}}
	for _, c := range []*curve{roc, pr} {
		if c.path == "" {
			continue
		}
		if err := c.create(ctx, a, o, len(models), paths); err != nil {
			all.abort()
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func (c *curve) create(ctx context.Context, a *console.App, o *evalOptions, models int, paths []string) (err error) {
	switch {
	case console.ToStdout(c.path):
		return console.Usagef("--%s %s and the report both write to standard output: name a file", c.flag, c.path)
	case o.roc == o.pr:
		return console.Usagef("--roc and --pr both write %s: name two files", c.path)
	}
	if err := console.Claim(a, c.path, slices.Concat(paths, o.models)); err != nil {
		return err
	}
	c.setSchema(models, o.Data.SampleWeight != "")
	c.writer, err = dataset.Create(ctx, c.path, c.schema, dataset.WriterOptions{})
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

// write writes the curve of all reports, one after the other.
func (c *curve) write(reports []*evalReport) error {
	for _, r := range reports {
		for i, class := range r.Classes {
			if c.flag != "roc" && i != r.PositiveClass || r.Confusion.ActualWeight(i) > 0 {
				continue
			}
			what := "no row is of class " + class.String()
			if r.PerClass[i].Rows > 0 {
				what = "every row of class " + class.String() + " has the sample weight 0"
			}
			return message.Errorf("%s: %s, so that there is no %s: name data of %s, or leave --%s out", r.Model, what,
				c.name, c.neededClasses, c.flag)
		}
	}
	const batch = 1 << 16 // points in a record, which bounds the memory that records take in addition to the curve
	b := array.NewRecordBuilder(memory.DefaultAllocator, c.schema)
	defer b.Release()
	for _, r := range reports {
		points := c.points(r)
		for some := range slices.Chunk(points, batch) {
			for _, p := range some {
				shares := c.values(p, points[len(points)-1])
				for k, v := range []float64{p.Threshold, p.FalsePositives, p.TruePositives, shares[0], shares[1]} {
					if to, ok := b.Field(k).(*array.Int64Builder); ok {
						to.Append(int64(v))
					} else {
						b.Field(k).(*array.Float64Builder).Append(v)
					}
				}
				if len(reports) > 1 {
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
	}
	return c.writer.Close()
}
