package separable

import (
	"context"
	"iter"
	"math"

	"halfspace/block"
	"halfspace/kernel"
)

// checkScaled is checkRows for rows whose squares are beyond float64. It checks the rows times a power of two. Then it
// verifies the result on the rows themselves.
func checkScaled[T kernel.Float](ctx context.Context, src block.Source[T], opt Options, radius float64) (*Result, error) {
	_, e := math.Frexp(radius)
	copied := &scaled[T]{src, -e}
	norm, err := longest(ctx, copied, opt.Workers)
	if err != nil {
		return nil, err
	}
	r, err := checkRows(ctx, copied, opt, norm)
	if err != nil {
		return nil, err
	}
	r.Radius, r.Perceptron = radius, nil // it learned from other rows
	holds := true
	if r.Witness != nil {
		r.Passes++
		holds, err = verifyWitness(ctx, src, r.Witness)
	}
	for _, plane := range []**Plane{&r.Origin, &r.Widest} {
		p := *plane
		if p == nil || err != nil {
			continue
		}
		whole := p.Exact
		if whole == nil {
			whole = integers(p.Weights)
		}
		bad := int64(-1)
		bad, r.Exact, err = verifySeparator(ctx, src, whole, radius, opt.Workers)
		r.Passes++
		switch {
		case bad < 0:
			*plane = &Plane{p.Weights, math.Ldexp(p.Margin, e), math.Ldexp(p.AtMost, e), p.Exact}
		case plane == &r.Origin:
			holds = false
		default:
			r.Widest = nil
		}
	}
	if !holds {
		r = &Result{Verdict: Undecided, Radius: radius, Passes: r.Passes,
			Reason: "float64 can't hold the squares of both the longest rows and the smallest numbers: scale the features"}
	}
	return r, err
}

// scaled is the rows of a source times a power of two. float64 must hold them.
type scaled[T kernel.Float] struct {
	block.Source[T]
	exp int
}

func (s *scaled[T]) Blocks(ctx context.Context) iter.Seq2[*block.Block[T], error] {
	return func(yield func(*block.Block[T], error) bool) {
		for b, err := range s.Source.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			b = b.Clone()
			values := b.X
			if b.Sparse != nil {
				values = b.Sparse.Val
			}
			for i, v := range values {
				values[i] = T(math.Ldexp(float64(v), s.exp))
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}
