package predict

import (
	"fmt"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/kernel"
)

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

func newScratch(p *Predictor) *scratch {
	vectors := p.spec.Vectors()
	c := &scratch{row: *block.New(0, 1, p.spec.Cols()), vector: make([]float64, 2*vectors),
		scores: oneElementSlices(vectors), odds: oneElementSlices(max(2, vectors))}
	for _, v := range p.model.votes {
		c.voters = make([]float32, max(len(c.voters), v.panel()))
	}
	if p.support != nil {
		c.products, c.sums = make([]float32, p.support.Len()), make([]float32, p.support.Len())
		c.mistake, c.votes = make([]float32, 1), make([]int64, 1)
	}
	return c
}

// oneElementSlices returns n slices of one element each.
func oneElementSlices(n int) [][]float32 {
	all, values := make([][]float32, n), make([]float32, n)
	for i := range all {
		all[i] = values[i : i+1 : i+1]
	}
	return all
}

// score computes the scores of a row. The caller must put the scratch back into p.scratch.
func (p *Predictor) score(row []float64) (*scratch, error) {
	if p.spec == nil {
		return nil, errNoPredictor
	}
	c := p.scratch.Get().(*scratch)
	err := set(p.spec, p.features, c.row.X, row)
	if err == nil && p.spec.Bias {
		c.row.X[len(row)] = 1
	}
	switch {
	case err != nil:
	case p.support != nil:
		err = p.expand(c)
	case p.model.votes != nil:
		for i, v := range p.model.votes {
			c.scores[i][0] = v.score(&c.row, 0, c.voters)
		}
	default:
		for i := range c.scores {
			c.scores[i][0] = kernel.Dot(c.row.X, p.model.weights[i*p.model.stride:(i+1)*p.model.stride])
		}
	}
	if err != nil {
		p.scratch.Put(c)
		return nil, err
	}
	return c, nil
}

// expand computes the scores of a row with an expansion.
func (p *Predictor) expand(c *scratch) error {
	e := p.model.expansion
	if err := p.support.Values(c.products, c.sums, c.row.X[:p.spec.Width()]); err != nil {
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
