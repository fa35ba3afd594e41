package cli

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"halfspace/block"
	"halfspace/cmd/internal/console"
	"halfspace/dataset"
	"halfspace/internal/require"
	"halfspace/model"
	"halfspace/predict"
	"halfspace/schema"
)

// testModelRows: the model in m.json predicts each row of a file by itself to the bits that it gives the rows together. It returns the model's algorithm.
func testModelRows(t *testing.T, path string) string {
	t.Helper()
	m, err := model.Load("m.json")
	require.NoError(t, err)
	if m.LogOdds() != console.Learner(m.Algorithm).LogOdds {
		t.Errorf("%s: models have probabilities: %t; the learner says otherwise", m.Algorithm, m.HasProbabilities())
	}
	testPredictRows(t, m, path)
	return m.Algorithm
}

func testPredictRows(t *testing.T, m *model.Model, path string) {
	p, err := predict.New(m)
	require.NoError(t, err)
	scorer, err := predict.NewScorer(m, 2)
	require.NoError(t, err)
	spec := m.Spec()
	var names []string
	for _, c := range spec.Columns() {
		names = append(names, c.Name)
	}
	err = dataset.Scan(context.Background(), []string{path}, dataset.Options{Spec: spec, Keep: names},
		func(_ *schema.Spec, b *block.Block, kept arrow.Record) error {
			scores, err := scorer.Scores(context.Background(), b)
			if err != nil {
				return err
			}
			var odds [][]float32
			if m.HasProbabilities() {
				odds = predict.Probabilities(scores, predict.OddsOf(m))
			}
			drops := m.Preprocessing != nil && m.Preprocessing.Nulls == schema.NullsDrop
			valid := predict.Valid(b, scores[0])
			for r := range b.Len() {
				row := rowOf(t, p, kept, r)
				if _, err := p.Class(row); drops && !valid[r] {
					if !errors.Is(err, predict.ErrMissing) {
						t.Errorf("row %d: error %v", r, err)
					}
					continue
				}
				predictRow(t, p, m, row, r, scores, odds)
				if t.Failed() {
					break
				}
			}
			return nil
		})
	require.NoError(t, err)
}

// rowOf returns row r of a record.
func rowOf(t *testing.T, p *predict.Predictor, kept arrow.Record, r int) []float64 {
	var values []any
	for _, c := range kept.Columns() {
		values = append(values, valueOf(t, c, r))
	}
	row, err := p.AppendRow(nil, values...)
	require.NoError(t, err)
	return row
}

// predictRow compares what p says of row r with scores and probabilities of all rows.
func predictRow(t *testing.T, p *predict.Predictor, m *model.Model, row []float64, r int, scores, odds [][]float32) {
	got := make([]float64, len(scores))
	if err := p.Scores(row, got); err != nil {
		t.Fatalf("row %d: %v", r, err)
	}
	for c, v := range got {
		if math.Float64bits(v) != math.Float64bits(float64(scores[c][r])) {
			t.Errorf("row %d: score %d is %v, in a file %v", r, c, v, scores[c][r])
		}
	}
	class, err := p.Class(row)
	if want := m.Classes[predict.Predicted(scores, r, m.Spec().PositiveClass())]; err != nil || class != want {
		t.Errorf("row %d: class %v, error %v, in a file %v", r, class, err, want)
	}
	if len(scores) == 1 {
		if s, err := p.Score(row); err != nil || s != got[0] {
			t.Errorf("row %d: score %v, error %v, want %v", r, s, err, got[0])
		}
	}
	got = make([]float64, len(m.Classes))
	if err := p.Probabilities(row, got); (err == nil) != (odds != nil) {
		t.Errorf("row %d: probabilities, error %v", r, err)
	}
	for c := range odds {
		if got[c] != float64(odds[c][r]) {
			t.Errorf("row %d: probability %d is %v, in a file %v", r, c, got[c], odds[c][r])
		}
	}
}

// valueOf returns a value of a column as a program has it.
func valueOf(t *testing.T, a arrow.Array, r int) any {
	if a.IsNull(r) {
		return nil
	}
	switch a := a.(type) {
	case *array.Float32:
		return a.Value(r)
	case *array.Float64:
		return a.Value(r)
	case *array.Int64:
		return a.Value(r)
	case *array.Int8:
		return a.Value(r)
	case *array.Uint8:
		return a.Value(r)
	case *array.Boolean:
		return a.Value(r)
	case *array.String:
		return a.Value(r)
	}
	t.Fatalf("a column of the type %s", a.DataType())
	return nil
}
