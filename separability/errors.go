package separability

import (
	"context"
	"errors"
	"math"
	"slices"

	"halfspace/internal/block"
	"halfspace/pocket"
	"halfspace/train/learner"
	"halfspace/train/perceptron"
)

// Errors bounds the least number of errors that a plane can make.
type Errors struct {
	AtLeast         int64 // number of disjoint witnesses found; every plane errs on a row of each witness
	RestIsSeparable bool  // the rows outside these witnesses are separable
	FoundErrors     int64 // errors of the best weights of the perceptron or a short pocket training; -1 without such weights
}

// setNotSeparable verifies that no plane separates the rows, and sets the fields of the result.
func (s *searcher) setNotSeparable(ctx context.Context, r *Result, f *finding) error {
	s.passes++
	ok, err := verifyWitness(ctx, s.src, f.witness)
	r.Passes = s.passes
	if err != nil {
		return err
	}
	if !ok {
		return errors.New("the witness failed when its rows were read again: the data changed meanwhile; try again")
	}
	r.Verdict, r.Witness = NotSeparable, f.witness
	if r.Errors, err = s.countDisjoint(ctx, f.pool, f.witness); err != nil {
		return err
	}
	if r.Perceptron == nil {
		return nil
	}
	pocket, err := s.pocket(ctx)
	r.Errors.FoundErrors = min(pocket, r.Perceptron.Errors)
	return err
}

// pocket returns the number of errors at the end of a short pocket training. Judging its candidates takes about as many
// scores as 134 passes over a million rows.
func (s *searcher) pocket(ctx context.Context) (int64, error) {
	updates := max(64, min(10_000, 1<<27/s.src.Rows()))
	learned, err := perceptron.Train(ctx, block.AssumeValid(s.src),
		perceptron.Settings{Options: perceptron.Options{Epochs: 1000, MaxUpdates: updates, Pocket: pocket.Exact},
			Run: learner.Run{Workers: s.opt.Workers}})
	if err != nil {
		return -1, err
	}
	return learned.Errors, nil
}

const maxWitnesses = 1000

// countDisjoint counts witnesses that share no row. It removes the rows of each witness before it looks for the next.
// It ends if the remaining rows are separable, if it has found maxWitnesses, or if the passes or the effort are used
// up. It doesn't count a witness whose rows all have the label -1: zero weights, which predict -1, make no error on it.
// Every other witness has a row on which any given w errs, because the weighted sum of its y (w.x) is zero: either one
// of these numbers is below zero, or all are zero, also the number of a row with label +1.
func (s *searcher) countDisjoint(ctx context.Context, p *pool, witness *Witness) (*Errors, error) {
	found := &Errors{FoundErrors: -1}
	s.effort = effort{ctx, min(s.effort.productsLeft, maxEffort/64)}
	last := s.passes + 20
	for found.AtLeast < maxWitnesses {
		if witness != nil {
			if slices.Contains(witness.Labels, 1) {
				found.AtLeast++
			}
			s.remove(p, witness)
		}
		w, below := make([]float64, s.cols), math.Inf(1)
		if len(p.rows) > 0 {
			if len(p.corral) == 0 {
				p.begin(w)
			}
			p.nearest(ctx)
			length := p.length()
			if witness = nil; length <= originLength*s.radius {
				witness = p.witness(&s.effort)
			}
			if witness != nil {
				continue
			}
			if p.isExhausted() {
				return found, ctx.Err()
			}
			w, below = p.plane(), length*length*(1-precision)
		}
		if s.passes >= last {
			return found, nil
		}
		swept, err := s.pass(ctx, w, below)
		if err != nil {
			return nil, err
		}
		if witness = nil; !p.add(swept.rows) {
			found.RestIsSeparable = min(swept.lowestScores[0], swept.lowestScores[1]) > roundings(s.cols)*s.radius*norm(w)
			return found, nil
		}
	}
	return found, nil
}

// remove removes the rows of a witness from the pool and from later passes.
func (s *searcher) remove(p *pool, witness *Witness) {
	for _, number := range witness.Rows {
		s.removedRows[number] = true
	}
	p.corral, p.lambda = nil, nil
	p.keep(func(_ int, r row) bool { return !s.removedRows[r.number] })
}
