package report

import (
	"context"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset"
	"halfspace/internal/train"
	"halfspace/schema"
)

// A TraceLayout says which columns a table has.
type TraceLayout struct {
	HasUpdates   bool     // the points are updates of a perceptron; otherwise passes
	Classes      []string // classes that are trained one versus the rest; nil: there is one training
	HasReference bool     // points have the product with a reference, and the angle
	HasErrors    bool     // a pocket judges
	Vector       []string // names of the weights, from the function WeightColumns; nil: the table has no weights
}

// mostWeights is the largest number of weight columns.
const mostWeights = 16

// WeightPrefix begins the names of the weight columns.
const WeightPrefix = "weight:"

// WeightColumns returns the names of the weights of a point: the names of the features, then bias. It returns nil if there are
// more than 16 weights. joint says that the point has weights for each class.
func WeightColumns(spec *schema.Spec, joint bool) (names []string) {
	classes := []string{""}
	if joint {
		classes = nil
		for _, c := range spec.Classes {
			classes = append(classes, c.Text+":")
		}
	}
	if spec.Cols()*len(classes) > mostWeights {
		return nil
	}
	for _, class := range classes {
		for i := range spec.Width() {
			names = append(names, WeightPrefix+class+spec.FeatureName(i))
		}
		if spec.Bias {
			names = append(names, WeightPrefix+class+"bias")
		}
	}
	return names
}

type column struct {
	name    string
	isWhole bool                              // its numbers are integers
	of      func(p *train.TracePoint) float64 // returns the value of a point; NaN: null
}

func (l *TraceLayout) columns() []column {
	whole := func(name string, of func(p *train.TracePoint) int64) column {
		return column{name, true, func(p *train.TracePoint) float64 {
			if v := of(p); v >= 0 {
				return float64(v)
			}
			return math.NaN()
		}}
	}
	part := func(name string, of func(p *train.TracePoint) float64) column { return column{name, false, of} }
	update := whole("update", func(p *train.TracePoint) int64 { return p.Update })
	visit := whole("visit", func(p *train.TracePoint) int64 { return p.Visit })
	if !l.HasUpdates {
		return []column{whole("pass", func(p *train.TracePoint) int64 { return p.Epoch }), visit, update,
			part("objective", func(p *train.TracePoint) float64 { return p.Objective }),
			part("gradient", func(p *train.TracePoint) float64 { return p.Gradient }),
			part("gap", func(p *train.TracePoint) float64 { return p.Gap })}
	}
	all := []column{update, whole("epoch", func(p *train.TracePoint) int64 { return p.Epoch }), visit,
		whole("row", func(p *train.TracePoint) int64 { return p.Row }),
		part("score", func(p *train.TracePoint) float64 { return p.Score }),
		part("norm", func(p *train.TracePoint) float64 { return p.Norm }),
		part("upper", func(p *train.TracePoint) float64 { return p.UpperBound })}
	if l.HasReference {
		all = append(all, part("dot", func(p *train.TracePoint) float64 { return p.Dot }),
			part("lower", func(p *train.TracePoint) float64 { return p.LowerBound }),
			part("angle", func(p *train.TracePoint) float64 { return p.Angle }))
	}
	if l.HasErrors {
		all = append(all, whole("errors", func(p *train.TracePoint) int64 { return p.Errors }))
	}
	for i, name := range l.Vector {
		all = append(all, part(name, func(p *train.TracePoint) float64 { return p.Vector[i] }))
	}
	return all
}

// A TraceWriter writes points. The file appears when Close returns nil.
type TraceWriter struct {
	layout        TraceLayout
	columns       []column
	file          *dataset.Writer
	rows          *array.RecordBuilder
	waitingPoints int
	err           error // the first error
}

// CreateTrace starts a file as dataset.Create does.
func CreateTrace(ctx context.Context, path string, l TraceLayout) (*TraceWriter, error) {
	w := &TraceWriter{layout: l, columns: l.columns()}
	var fields []arrow.Field
	if l.Classes != nil {
		fields = append(fields, arrow.Field{Name: "class", Type: arrow.BinaryTypes.String})
	}
	for _, c := range w.columns {
		f := arrow.Field{Name: c.name, Type: arrow.PrimitiveTypes.Float64, Nullable: true}
		if c.isWhole {
			f.Type = arrow.PrimitiveTypes.Int64
		}
		fields = append(fields, f)
	}
	names := arrow.NewSchema(fields, nil)
	var err error
	if w.file, err = dataset.Create(ctx, path, names, dataset.WriterOptions{}); err != nil {
		return nil, err
	}
	w.rows = array.NewRecordBuilder(memory.DefaultAllocator, names)
	return w, nil
}

// batchPoints is the number of points that are written at a time.
const batchPoints = 4096

// Add writes a point. Close returns the first error.
func (w *TraceWriter) Add(p train.TracePoint) {
	if w.err != nil {
		return
	}
	k := 0
	if w.layout.Classes != nil {
		w.rows.Field(0).(*array.StringBuilder).Append(w.layout.Classes[p.Class])
		k = 1
	}
	for i, c := range w.columns {
		v := c.of(&p)
		switch b := w.rows.Field(k + i).(type) {
		case *array.Int64Builder:
			if math.IsNaN(v) {
				b.AppendNull()
			} else {
				b.Append(int64(v))
			}
		case *array.Float64Builder:
			if math.IsNaN(v) {
				b.AppendNull()
			} else {
				b.Append(v)
			}
		}
	}
	if w.waitingPoints++; w.waitingPoints == batchPoints {
		w.flush()
	}
}

func (w *TraceWriter) flush() {
	rec := w.rows.NewRecord()
	defer rec.Release()
	w.waitingPoints = 0
	w.err = w.file.Write(rec)
}

func (w *TraceWriter) Close() error {
	defer w.rows.Release()
	if w.err == nil && w.waitingPoints > 0 {
		w.flush()
	}
	if w.err != nil {
		w.file.Abort()
		return w.err
	}
	return w.file.Close()
}

// Abort ends without leaving a file.
func (w *TraceWriter) Abort() {
	w.rows.Release()
	w.file.Abort()
}
