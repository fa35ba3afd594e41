package records

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"halfspace/dataset/internal/column"
	"halfspace/dataset/internal/plan"
	"halfspace/dataset/internal/transform"
	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/predict"
	"halfspace/schema"
)

// Predict yields a record of predictions for each record of r, with the same number of rows. Its columns are the
// columns of the command predict with --score and --proba:
//
//   - "prediction": the class, with the type that Classes returns
//   - "score", or "score_CLASS" for each of more than two classes
//   - "probability_CLASS" for each class, if the model has probabilities
//
// The records of r must have the columns that the model reads, by name. The model's preprocessing makes the features.
// A row with a missing value gets nulls if the training dropped rows with missing values. A record is valid until the
// next record is requested. workers is the number of goroutines that compute at the same time; 0 means GOMAXPROCS.
// Predict doesn't release r.
func Predict(ctx context.Context, m *model.Model, r array.RecordReader, workers int) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		p, err := newPredictor(m, r, workers)
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
type predictor struct {
	model  *model.Model
	spec   *schema.Spec
	scorer *predict.Scorer
	bound  *transform.Binding
	rows   *transform.Builder

	ctx    context.Context // context of the current record
	scores [][]float32     // scores of the current record's rows
	valid  []bool          // validity of the current record's rows; nil: all are valid
}

func newPredictor(m *model.Model, r array.RecordReader, workers int) (*predictor, error) {
	pool, err := column.PoolOf(workers)
	if err != nil {
		return nil, err
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("the model can't be used: %w", err)
	}
	p := &predictor{model: m, spec: m.Spec()}
	if p.bound, err = bind(r, plan.Draft{Plan: plan.Plan{Spec: p.spec}}); err != nil {
		return nil, err
	}
	if err := transform.SetStorage(p.bound, plan.Auto, p.bound.MostElements(), 1); err != nil {
		return nil, err
	}
	p.rows = transform.NewBuilder(p.bound, transform.NewLabels(p.spec), pool, memory.DefaultAllocator, -1, p.score)
	p.rows.Reuse = true
	p.scorer, err = predict.NewScorer(m, workers)
	return p, err
}

// score adds the scores of a block's rows.
func (p *predictor) score(b *block.Block, _ []arrow.Array) error {
	some, err := p.scorer.Scores(p.ctx, b)
	if err != nil {
		return err
	}
	for i := range p.scores {
		p.scores[i] = append(p.scores[i], some[i]...)
	}
	if p.bound.Plan.Nulls == schema.NullsDrop {
		p.valid = append(p.valid, predict.ValidScores(b, some[0])...)
	}
	return nil
}

// next predicts the rows of the next record of r. It returns nil after the last record.
func (p *predictor) next(ctx context.Context, r array.RecordReader) (arrow.Record, error) {
	batch, err := column.NextRecord(ctx, r, p.bound.Roles)
	if batch == nil {
		return nil, err
	}
	rows := batch.Rows
	p.ctx, p.scores, p.valid = ctx, make([][]float32, p.spec.Vectors()), nil
	err = p.rows.Run(ctx, func(yield func(*column.Batch, error) bool) {
		batch.Parts(p.bound.Roles, math.MaxInt64, yield)
	}, nil)
	if err != nil {
		return nil, err
	}
	return p.record(rows), nil
}

// record returns the record of predictions of rows rows, from their scores.
func (p *predictor) record(rows int64) arrow.Record {
	var fields []arrow.Field
	var columns []arrow.Array
	add := func(name string, column arrow.Array) {
		fields = append(fields, arrow.Field{Name: name, Type: column.DataType(), Nullable: p.bound.Plan.Nulls == schema.NullsDrop})
		columns = append(columns, column)
	}
	classes := predict.PredictedClasses(p.scores, p.spec.PositiveClass(), p.model.ScoreThreshold())
	add(PredictionName, Classes(p.spec.Classes, classes, p.valid))
	for i, name := range ScoreNames(p.spec.Classes) {
		add(name, Floats(p.scores[i], p.valid))
	}
	if p.model.HasProbabilities() {
		for i, odds := range predict.Probabilities(p.scores, predict.OddsOf(p.model)) {
			add(ProbabilityName(p.spec.Classes[i]), Floats(odds, p.valid))
		}
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), columns, rows)
	for _, c := range columns {
		c.Release()
	}
	return rec
}

// PredictionName is the name of the column of predicted classes.
const PredictionName = "prediction"

// ScoreNames returns the names of the columns of scores: one name for two classes, otherwise a name for each class.
func ScoreNames(classes []schema.Class) []string {
	const name = "score"
	if len(classes) == 2 {
		return []string{name}
	}
	var names []string
	for _, c := range classes {
		names = append(names, name+"_"+c.String())
	}
	return names
}

// ProbabilityName returns the name of the column of a class's probabilities.
func ProbabilityName(c schema.Class) string { return "probability_" + c.String() }
