package records

import (
	"context"
	"fmt"
	"iter"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/block"
	"halfspace/dataset/internal/encode"
	"halfspace/dataset/internal/frame"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/schema"
)

// Predict yields a record of predictions for each record of r, with a row for each of its rows. The columns are those of the
// command predict with --score and --proba:
//
//   - "prediction": the class, of the type that Classes gives
//   - "score", or "score_CLASS" for each of more than two classes
//   - "probability_CLASS" for each class, if the model has probabilities
//
// The records of r have the columns that the model reads, by name, and the model's preprocessing makes the features. A
// row with a missing value gets nulls if the training dropped such rows. A record is valid until the next one is
// requested. workers is the number of goroutines that compute at once; 0 is GOMAXPROCS. Predict doesn't release r.
func Predict(ctx context.Context, m *model.Model, r array.RecordReader, workers int) iter.Seq2[arrow.Record, error] {
	if m.Dtype == "float64" {
		return predictAs[float64](ctx, m, r, workers)
	}
	return predictAs[float32](ctx, m, r, workers)
}

func predictAs[T kernel.Float](ctx context.Context, m *model.Model, r array.RecordReader, workers int) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		p, err := newPredictor[T](m, r, workers)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			rec, err := p.next(ctx, r)
			if rec == nil && err == nil {
				return
			}
			more := yield(rec, err)
			if rec != nil {
				rec.Release()
			}
			if !more || err != nil {
				return
			}
		}
	}
}

// A predictor makes records of predictions.
type predictor[T kernel.Float] struct {
	model  *model.Model
	spec   *schema.Spec
	scorer *predict.Scorer[T]
	sel    *encode.Selection
	pool   frame.Pool
	rows   int64 // of the records before
}

func newPredictor[T kernel.Float](m *model.Model, r array.RecordReader, workers int) (*predictor[T], error) {
	pool, err := frame.PoolOf(workers)
	if err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("the model can't be used: %w", err)
	}
	p := &predictor[T]{model: m, spec: m.Spec(), pool: pool}
	if p.sel, err = choose(r, encode.Choices{Spec: p.spec}); err != nil {
		return nil, err
	}
	p.scorer, err = predict.NewScorer[T](m, workers)
	return p, err
}

// next predicts the rows of the next record of r. It returns nil after the last.
func (p *predictor[T]) next(ctx context.Context, r array.RecordReader) (arrow.Record, error) {
	batch, err := frame.NextRecord(ctx, r, p.sel.Chosen)
	if batch == nil {
		return nil, err
	}
	rows := batch.Rows
	scores := make([][]T, p.spec.Vectors())
	var valid []bool
	b := encode.NewBuilder(p.sel, encode.NewLabels(p.spec), p.pool, memory.DefaultAllocator, -1, func(full *block.Block[T], _ []arrow.Array) error {
		some, err := p.scorer.Scores(ctx, full)
		if err != nil {
			return err
		}
		for i := range scores {
			scores[i] = append(scores[i], some[i]...)
		}
		if p.sel.Nulls == schema.NullsDrop {
			valid = append(valid, predict.Valid(full, some[0])...)
		}
		return nil
	})
	b.Input, b.Rows, b.Reuse = p.rows, p.rows, true
	err = b.Run(ctx, func(yield func(*frame.Batch, error) bool) {
		batch.Split(frame.MaxBatchRows, func(part *frame.Batch) bool { return yield(part, nil) })
	}, nil)
	if err != nil {
		return nil, err
	}
	p.rows += rows
	return p.record(rows, scores, valid), nil
}

// record returns the predictions of rows with those scores. Without valid all are valid.
func (p *predictor[T]) record(rows int64, scores [][]T, valid []bool) arrow.Record {
	var fields []arrow.Field
	var columns []arrow.Array
	add := func(name string, column arrow.Array) {
		fields = append(fields, arrow.Field{Name: name, Type: column.DataType(), Nullable: p.sel.Nulls == schema.NullsDrop})
		columns = append(columns, column)
	}
	classes, positive := make([]int, rows), p.spec.PositiveClass()
	for r := range classes {
		classes[r] = predict.Predicted(scores, r, positive)
	}
	add("prediction", Classes(p.spec.Classes, classes, valid))
	for i, s := range scores {
		name := "score"
		if len(scores) > 1 {
			name += "_" + p.spec.Classes[i].String()
		}
		add(name, Floats(s, valid))
	}
	if p.model.HasProbabilities() {
		for i, odds := range predict.Probabilities(scores, positive, p.model.Options.Multiclass) {
			add("probability_"+p.spec.Classes[i].String(), Floats(odds, valid))
		}
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), columns, rows)
	for _, c := range columns {
		c.Release()
	}
	return rec
}
