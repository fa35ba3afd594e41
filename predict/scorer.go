package predict

import (
	"context"
	"errors"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"halfspace/gram"
	"halfspace/internal/block"
	"halfspace/internal/model"
	"halfspace/internal/parallel"
	"halfspace/kernel"
)

// A Scorer scores rows with a model: by its weights, by its expansion on support rows, or by its voters. It isn't safe
// for concurrent use.
type Scorer struct {
	weights   []float32 // weights of linear models, one vector after another
	cols      int       // number of columns of the blocks, the bias included
	stride    int
	expansion *expansion // or nil
	votes     []*Votes   // or nil
	workers   int
	scores    [][]float32
}

// An expansion is a model's expansion, unpacked.
type expansion struct {
	kernel       gram.Kernel
	workers      int
	support      *gram.Rows
	coefficients [][]float32
	bias         []float32
	votes        []mistakes
}

// mistakes are the mistakes of the training of one class, in order.
type mistakes struct {
	row    []uint32  // number of the row in the support
	step   []float32 // multiple of the row that was added
	votes  []int64   // votes of the sum after the mistake
	visits float64   // sum of all votes
}

// NewScorer returns the scorer of a model. It computes expansions and votes on up to workers goroutines; 0 stands for
// every core, and a negative number is an error. Scores have the bits that they had in training. NewScorer also returns
// an error if the model has no weights, or if float32 can't hold the numbers of the model's kernel.
func NewScorer(m *model.Model, workers int) (*Scorer, error) {
	workers, err := parallel.Resolve(workers)
	if err != nil {
		return nil, err
	}
	switch {
	case m == nil || m.Weights == nil && m.Voters == nil && m.Expansion == nil:
		return nil, errNoModel
	case m.Voters != nil:
		votes := newVotes(m)
		return &Scorer{cols: m.Spec().Cols(), votes: votes, workers: workers, scores: make([][]float32, len(votes))}, nil
	case m.Expansion == nil:
		w := model.Vector(m)
		return &Scorer{cols: m.Spec().Cols(), weights: w, stride: len(w) / len(m.Weights), scores: make([][]float32, len(m.Weights))}, nil
	}
	e, d := m.Expansion, m.Width()
	x := &expansion{kernel: e.Kernel, workers: workers,
		support: gram.SupportRows(model.Unpack[float32](e.Support), len(e.Rows), d)}
	x.kernel.Bias = m.FitBias && e.Votes != nil
	if _, err := gram.Diagonal(gram.Dense(nil, 0, d, d), x.kernel); err != nil {
		return nil, err
	}
	for c, b := range e.Coefficients {
		x.coefficients = append(x.coefficients, model.Unpack[float32](b))
		x.bias = append(x.bias, 0)
		if m.FitBias {
			x.bias[c] = float32(m.Bias[c])
		}
		if e.Votes != nil {
			x.votes = append(x.votes, newMistakes(e.Votes[c], x.coefficients[c], model.Unpack[float32](e.Steps)))
		}
	}
	return &Scorer{cols: m.Spec().Cols(), expansion: x, scores: make([][]float32, len(e.Coefficients))}, nil
}

// newMistakes unpacks mistakes. coefficients and steps belong to the support vectors; without steps, all steps are 1.
func newMistakes(from model.Votes, coefficients, steps []float32) mistakes {
	v := mistakes{row: model.Unpack[uint32](from.Mistakes), votes: model.Unpack[int64](from.Survived)}
	visits := int64(0)
	for k, r := range v.row {
		step := 1.0
		if len(steps) > 0 {
			step = float64(steps[r])
		}
		v.step = append(v.step, float32(math.Copysign(step, float64(coefficients[r]))))
		visits += v.votes[k]
	}
	v.visits = float64(visits)
	return v
}

var errNoModel = errors.New("the model is nil or has no weights: train one, or read one by model.Load")

// Scores returns the scores of every row of b. For two classes it returns one slice, and a score above
// model.Model.ScoreThreshold predicts the positive class. Otherwise it returns one slice for each class. The slices are
// valid until the next call. Scores returns an error if b doesn't have the model's columns; see block.Block.CheckShape.
func (s *Scorer) Scores(ctx context.Context, b *block.Block) ([][]float32, error) {
	if s.scores == nil {
		return nil, errors.New("the scorer has no model: make it by NewScorer")
	}
	if err := b.CheckShape(s.cols); err != nil {
		return nil, fmt.Errorf("the block doesn't suit the model: %w", err)
	}
	n := b.Len()
	for c := range s.scores {
		if cap(s.scores[c]) < n {
			s.scores[c] = make([]float32, n)
		}
		s.scores[c] = s.scores[c][:n]
	}
	switch {
	case s.expansion != nil:
		return s.scores, s.expansion.score(ctx, b, s.scores)
	case s.votes != nil:
		for c, v := range s.votes {
			if err := v.scoreParallel(ctx, b, s.scores[c], s.workers); err != nil {
				return nil, err
			}
		}
		return s.scores, nil
	}
	for c, out := range s.scores {
		b.Scores(s.weights[c*s.stride:(c+1)*s.stride], out)
	}
	return s.scores, nil
}

func (e *expansion) score(ctx context.Context, b *block.Block, out [][]float32) error {
	if e.votes != nil {
		return e.vote(ctx, b, out)
	}
	if err := gram.Expand(ctx, out, e.features(b), e.support, e.coefficients, e.kernel, e.workers); err != nil {
		return err
	}
	for c, bias := range e.bias {
		for i := range out[c] {
			out[c][i] += bias
		}
	}
	return nil
}

// features returns the rows of a block without their bias.
func (e *expansion) features(b *block.Block) *gram.Rows {
	return gram.BlockRows(b, e.support.Cols())
}

// expandedRows is the number of rows for which an expansion votes at a time.
const expandedRows = 256

// vote sets out to the mean votes for each row, a panel of rows at a time.
func (e *expansion) vote(ctx context.Context, b *block.Block, out [][]float32) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(e.workers)
	for lo := 0; lo < b.Len(); lo += expandedRows {
		g.Go(func() error { return e.votePanel(ctx, b, lo, min(b.Len(), lo+expandedRows), out) })
	}
	return g.Wait()
}

func (e *expansion) votePanel(ctx context.Context, b *block.Block, lo, hi int, out [][]float32) error {
	n := hi - lo
	products, sums, totals := make([]float32, e.support.Len()*n), make([]float32, n), make([]int64, n)
	if err := gram.Cross(ctx, products, n, e.support, e.features(b.Slice(lo, hi)), e.kernel, 1); err != nil {
		return err
	}
	for c := range e.votes {
		e.votes[c].tally(products, sums, totals, out[c][lo:hi])
	}
	return nil
}

// tally sets out to the mean votes for len(out) rows. products has the kernel of each support vector with each row.
// sums and totals are work memory.
func (m *mistakes) tally(products, sums []float32, totals []int64, out []float32) {
	n := len(out)
	clear(sums)
	clear(totals)
	for k, r := range m.row {
		kernel.Axpy(sums, m.step[k], products[int(r)*n:][:n])
		for i, s := range sums {
			votes := m.votes[k]
			if !(s > 0) {
				votes = -votes
			}
			totals[i] += votes
		}
	}
	for i, total := range totals {
		out[i] = float32(float64(total) / m.visits)
		if s := sums[i]; s-s != 0 { // a missing value or an overflow
			out[i] = s - s
		}
	}
}
