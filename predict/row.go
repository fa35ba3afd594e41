package predict

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"halfspace/gram"
	"halfspace/internal/model"
	"halfspace/internal/stats"
	"halfspace/schema"
)

// A Predictor predicts one row at a time. Goroutines may share it.
//
// A row has one number for each feature of the model, in the order of Model.FeatureName, with the values that the data
// have. The Predictor does the model's preprocessing. If the model has columns of text, AppendRow makes the rows.
// Results have the same bits as predictions of a file.
//
// NaN stands for a missing value. The model's preprocessing replaces it by 0 or the training mean, or refuses it with
// ErrMissing. The same holds for infinities. Errors name the column. No method allocates memory unless it returns an
// error.
type Predictor struct {
	columns         []column
	noProbabilities error         // why there are no probabilities; nil if there are
	model           *Scorer       // only its weights, votes and coefficients are read
	support         *gram.Support // support vectors of an expansion
	spec            *schema.Spec  // nil for the zero Predictor
	features        *stats.Maker
	threshold       float64
	odds            Odds
	scratch         sync.Pool // holds *scratch
}

// ErrMissing is the error of a row with a missing value that the model doesn't replace.
var ErrMissing = errors.New("a value is missing")

// New returns the predictor of a model. It keeps copies of the model's numbers. It returns an error if
// model.Model.Check refuses the model.
func New(m *model.Model) (*Predictor, error) {
	if m == nil {
		return nil, errNoModel
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("the model can't be used: %w", err)
	}
	scorer, err := NewScorer(m, 1)
	if err != nil {
		return nil, err
	}
	spec := m.Spec()
	p := &Predictor{columns: newColumns(spec), model: scorer, spec: spec, features: stats.NewMaker(spec),
		threshold: m.ScoreThreshold(), odds: OddsOf(m)}
	if !m.HasProbabilities() {
		p.noProbabilities = fmt.Errorf("a model of %s has no probabilities: calibrate it, train logistic or lda, or "+
			"take the scores", m.Algorithm)
	}
	if e := scorer.expansion; e != nil {
		if p.support, err = gram.NewSupport(e.support, e.kernel); err != nil {
			return nil, err
		}
		e.support = nil // the copy in p.support is enough
	}
	p.scratch.New = func() any { return newScratch(p) }
	return p, nil
}

var errNoPredictor = errors.New("the predictor has no model: make it by New")

// Class returns the class that the model predicts for a row.
func (p *Predictor) Class(row []float64) (schema.Class, error) {
	c, err := p.score(row)
	if err != nil {
		return schema.Class{}, err
	}
	defer p.scratch.Put(c)
	return p.spec.Classes[PredictedClassAbove(c.scores, 0, p.odds.Positive, p.threshold)], nil
}

// Score returns the score of a row. A model of two classes predicts its positive class if the score is above
// model.Model.ScoreThreshold, which is mostly 0. If there are more classes, Score returns an error: use Scores.
func (p *Predictor) Score(row []float64) (float64, error) {
	if p.spec != nil && p.spec.Vectors() > 1 {
		return 0, fmt.Errorf("%d classes have a score each: use Scores", p.spec.Vectors())
	}
	var out [1]float64
	err := p.Scores(row, out[:])
	return out[0], err
}

// Scores sets out to the scores of a row: one score for two classes, and otherwise one score for each class. The
// greatest score predicts the class.
func (p *Predictor) Scores(row, out []float64) error {
	if p.spec != nil && len(out) != p.spec.Vectors() {
		return fmt.Errorf("there is room for %d scores, and a row has %d", len(out), p.spec.Vectors())
	}
	c, err := p.score(row)
	if err != nil {
		return err
	}
	defer p.scratch.Put(c)
	for i, v := range c.scores {
		out[i] = float64(v[0])
	}
	return nil
}

// Probabilities sets out to the probability of each class, in the order of Model.Classes. It returns an error if the
// model has no probabilities; see model.Model.HasProbabilities.
func (p *Predictor) Probabilities(row, out []float64) error {
	if p.noProbabilities != nil {
		return p.noProbabilities
	}
	if p.spec != nil && len(out) != len(p.spec.Classes) {
		return fmt.Errorf("there is room for %d probabilities, and there are %d classes", len(out), len(p.spec.Classes))
	}
	c, err := p.score(row)
	if err != nil {
		return err
	}
	defer p.scratch.Put(c)
	setProbabilities(c.odds, c.scores, p.odds, c.vector)
	for i, v := range c.odds {
		out[i] = float64(v[0])
	}
	return nil
}

// Columns returns the names of the columns of the data from which AppendRow makes features, in the order of its values.
func (p *Predictor) Columns() []string {
	names := make([]string, len(p.columns))
	for i := range p.columns {
		names[i] = p.columns[i].name
	}
	return names
}

// AppendRow appends the features of a row of data to row, and returns the longer row. values has one value for each
// column of the data, in the order of Columns.
//
//   - A value is a number, a boolean, text, a list, or nil for a missing value. Text that means a null in CSV files is not
//     missing: write nil.
//   - A list is []float64, []float32, []any, or a map[int]float64 of the elements that aren't 0, by their indices in
//     the data. A sparse list that is null in the data is an empty map, not nil.
//   - Dates and times are numbers in the column's Unit. If features derive from a date, it is text as in the data, a
//     time.Time, or a number of days since 1970-01-01.
//   - Numbers that derive from text, such as $3.50 or yes, are that text or the number. Text of another form counts as
//     missing.
//   - The value of a cross is []any with the values of its columns.
//
// A category that the training didn't have becomes zeros.
func (p *Predictor) AppendRow(row []float64, values ...any) ([]float64, error) {
	if p.spec == nil {
		return row, errNoPredictor
	}
	if len(values) != len(p.columns) {
		return row, fmt.Errorf("%d values, and the model reads %d columns", len(values), len(p.columns))
	}
	n, width := len(row), p.spec.Width()
	all := slices.Grow(row, width)[:n+width]
	for i, v := range values {
		if err := p.columns[i].set(all[n:], v); err != nil {
			return row, fmt.Errorf("column %q: %w", p.columns[i].name, err)
		}
	}
	return all, nil
}

// set writes the features of row, which f makes, to dst.
func set(spec *schema.Spec, f *stats.Maker, dst []float32, row []float64) error {
	if len(row) != spec.Width() {
		return fmt.Errorf("the row has %d numbers, and the model has %d features", len(row), spec.Width())
	}
	i := stats.Set(f, dst, row)
	if i < 0 {
		return nil
	}
	name, v := spec.FeatureName(i), row[i]
	switch p := spec.Preprocessing; {
	case v-v == 0 || p != nil && (p.Nulls == schema.NullsZero || p.Nulls == schema.NullsMean):
		return fmt.Errorf("column %q: %v is too large for the model, which computes in float32: correct the value", name, v)
	case p != nil && p.Nulls == schema.NullsDrop:
		return fmt.Errorf("column %q: %v: %w, and the training left such rows out: fill the value in", name, v, ErrMissing)
	}
	return fmt.Errorf("column %q: %v: %w: fill the value in, or train a model that fills in 0 or the mean", name, v, ErrMissing)
}
