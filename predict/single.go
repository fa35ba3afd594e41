package predict

import (
	"fmt"
	"sync"

	"halfspace/block"
	"halfspace/gram"
	"halfspace/internal/stats"
	"halfspace/kernel"
	"halfspace/model"
	"halfspace/schema"
)

// A single scores one row at a time.
type single struct {
	model     *Scorer       // only its weights, votes and coefficients are read
	support   *gram.Support // support vectors of an expansion
	spec      *schema.Spec
	features  *stats.Maker
	positive  int
	threshold float64
	odds      Odds
	scratch   sync.Pool // holds *scratch
}

// A scratch is work memory for scoring a row.
type scratch struct {
	row    block.Block // one row
	scores [][]float32 // one slice of one element for each vector
	odds   [][]float32
	vector []float64 // two numbers for each score

	voters         []float32 // scores of voters
	products, sums []float32 // products with support vectors, and their sums
	mistake        []float32 // one element
	votes          []int64
}

func newSingle(m *model.Model, spec *schema.Spec) (*single, error) {
	scorer, err := NewScorer(m, 1)
	if err != nil {
		return nil, err
	}
	s := &single{model: scorer, spec: spec, features: stats.NewMaker(spec), positive: spec.PositiveClass(), threshold: m.ScoreThreshold(), odds: OddsOf(m)}
	if e := scorer.expansion; e != nil {
		if s.support, err = gram.NewSupport(e.support, e.kernel); err != nil {
			return nil, err
		}
		e.support = nil // the copy in s.support is enough
	}
	vectors := spec.Vectors()
	s.scratch.New = func() any {
		c := &scratch{row: *block.New(0, 1, spec.Cols()), vector: make([]float64, 2*vectors)}
		c.scores, c.odds = singles(vectors), singles(max(2, vectors))
		for _, v := range scorer.votes {
			c.voters = make([]float32, max(len(c.voters), v.panel()))
		}
		if s.support != nil {
			c.products, c.sums = make([]float32, s.support.Len()), make([]float32, s.support.Len())
			c.mistake, c.votes = make([]float32, 1), make([]int64, 1)
		}
		return c
	}
	return s, nil
}

// singles returns n slices of one element each.
func singles(n int) [][]float32 {
	all, values := make([][]float32, n), make([]float32, n)
	for i := range all {
		all[i] = values[i : i+1 : i+1]
	}
	return all
}

// score computes the scores of a row. The caller must put the scratch back into s.scratch.
func (s *single) score(row []float64) (*scratch, error) {
	c := s.scratch.Get().(*scratch)
	if err := set(s.spec, s.features, c.row.X, row); err != nil {
		s.scratch.Put(c)
		return nil, err
	}
	if s.spec.Bias {
		c.row.X[len(row)] = 1
	}
	switch {
	case s.support != nil:
		if err := s.expand(c); err != nil {
			s.scratch.Put(c)
			return nil, err
		}
	case s.model.votes != nil:
		for i, v := range s.model.votes {
			c.scores[i][0] = v.score(&c.row, 0, c.voters)
		}
	default:
		for i := range c.scores {
			c.scores[i][0] = kernel.Dot(c.row.X, s.model.weights[i*s.model.stride:(i+1)*s.model.stride])
		}
	}
	return c, nil
}

// expand computes the scores of a row with an expansion.
func (s *single) expand(c *scratch) error {
	e := s.model.expansion
	if err := s.support.Values(c.products, c.sums, c.row.X[:s.spec.Width()]); err != nil {
		return fmt.Errorf("the row doesn't suit the support vectors: %w", err)
	}
	for i, out := range c.scores {
		if e.votes != nil {
			e.votes[i].tally(c.products, c.mistake, c.votes, out)
			continue
		}
		out[0] = gram.Combine(c.products, e.coefficients[i]) + e.bias[i]
	}
	return nil
}

// class returns the number of the class predicted for a row.
func (s *single) class(row []float64) (int, error) {
	c, err := s.score(row)
	if err != nil {
		return 0, err
	}
	class := PredictedAbove(c.scores, 0, s.positive, s.threshold)
	s.scratch.Put(c)
	return class, nil
}

// scores sets out to the scores of a row.
func (s *single) scores(row, out []float64) error {
	c, err := s.score(row)
	if err != nil {
		return err
	}
	for i, v := range c.scores {
		out[i] = float64(v[0])
	}
	s.scratch.Put(c)
	return nil
}

// probabilities sets out to the probability of each class.
func (s *single) probabilities(row, out []float64) error {
	c, err := s.score(row)
	if err != nil {
		return err
	}
	setProbabilities(c.odds, c.scores, s.odds, c.vector)
	for i, v := range c.odds {
		out[i] = float64(v[0])
	}
	s.scratch.Put(c)
	return nil
}
