package svm

import (
	"context"

	"halfspace/block"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/train"
)

// The hinge has a dual variable for each row, called its base; see smoothing. On a cluster this process keeps them, and sends each
// piece those of its rows.

// remote tells whether a cluster makes the passes over the rows.
func (p *problem[T]) remote() bool {
	cluster, _ := block.RemoteOf(p.src)
	return cluster != nil
}

// pieces returns the runs of each piece of a pass, and a function that returns the base of the rows of piece i.
func (p *problem[T]) pieces() (runs [][]int64, base func(i int) []float64) {
	runs = passes.Consecutive(p.src.Rows())
	return runs, func(i int) []float64 {
		lo, hi := passes.RowsOf(runs[i], p.src.Rows())
		return p.loss.base[lo:hi]
	}
}

// problemOf returns the rows of a piece with the hinge. It is an error if base is that of other rows.
func problemOf[T kernel.Float](src passes.Piece[T], slope float64, base []float64) (*problem[T], error) {
	if int64(len(base)) != src.Rows() {
		return nil, passes.ErrOtherRows
	}
	p := newProblem(src.Source, Options{Loss: Hinge})
	p.loss.slope, p.loss.base = slope, base
	return p, nil
}

// hingeArgs say where a pass over the rows computes sums, and which.
type hingeArgs struct {
	at      point
	slope   float64
	hessian bool
}

// hingeSums are the sums over the runs of a piece.
type hingeSums struct {
	runs     []runSums
	products [][]float64 // of each run for the change of the Hessian; nil if it isn't wanted
	base     []float64   // of each row, if it became another one; else nil
}

// hingeTask32 and hingeTask64 are the passes of the hinge. A piece has the base of its rows.
var (
	hingeTask32 = passes.NewOwn("svm.hinge", hingeOf[float32])
	hingeTask64 = passes.NewOwn("svm.hinge", hingeOf[float64])
)

func hingeOf[T kernel.Float](ctx context.Context, src passes.Piece[T], args *hingeArgs, base []float64) (s *hingeSums, err error) {
	p, err := problemOf(src, args.slope, base)
	if err != nil {
		return nil, err
	}
	s = &hingeSums{}
	type pair struct {
		products []float64
		sums     runSums
	}
	err = block.ReduceRuns(ctx, src.Source, src.Workers, func(run block.Run[T]) *pair {
		r := &pair{}
		if args.hessian {
			r.products = train.ScatterRun(src.Spec(), run, p.cols, func(run block.Run[T], s, _ []float64) { r.sums = p.run(run, args.at, s) })
		} else {
			r.sums = p.run(run, args.at, nil)
		}
		return r
	}, func(r *pair) { s.runs, s.products = append(s.runs, r.sums), append(s.products, r.products) })
	if args.at.raise > 0 {
		s.base = base
	}
	return s, err
}

// passRemote makes a pass of the hinge. It adds the change of the Hessian to products, unless that is nil.
func (p *problem[T]) passRemote(ctx context.Context, pt point, products []float64, at *sums) error {
	pieces, base := p.pieces()
	var raised []float64
	task := passes.ChooseOwn[T, *hingeArgs, []float64, *hingeSums](hingeTask32, hingeTask64)
	err := passes.EachOwn(ctx, p.src, task, &hingeArgs{pt, p.loss.slope, products != nil}, pieces, base, func(s *hingeSums) error {
		for k, r := range s.runs {
			if products != nil {
				kernel.Axpy(products, 1, s.products[k])
			}
			at.add(r)
		}
		raised = append(raised, s.base...)
		return nil
	})
	if err == nil {
		copy(p.loss.base, raised)
	}
	return err
}

// nearArgs are the weights and the slope of a pass that looks for near rows.
type nearArgs struct {
	w     []float64
	slope float64
}

// nearOwn is the base of the rows of a piece, and the numbers of those that are chosen already.
type nearOwn struct {
	base   []float64
	chosen []uint32
}

// nearSums are the near rows of each run of a piece, and the base of all its rows.
type nearSums[T kernel.Float] struct {
	runs []nearRows[T]
	base []float64
}

// nearTask32 and nearTask64 look for the near rows of a piece.
var (
	nearTask32 = passes.NewOwn("svm.near", nearIn[float32])
	nearTask64 = passes.NewOwn("svm.near", nearIn[float64])
)

func nearIn[T kernel.Float](ctx context.Context, src passes.Piece[T], args *nearArgs, own *nearOwn) (s *nearSums[T], err error) {
	p, err := problemOf(src, args.slope, own.base)
	if err != nil {
		return nil, err
	}
	chosen := make([]bool, len(own.base))
	for _, row := range own.chosen {
		chosen[row] = true
	}
	s = &nearSums[T]{base: own.base}
	err = block.ReduceRuns(ctx, src.Source, src.Workers, func(run block.Run[T]) nearRows[T] { return p.nearOfRun(run, args.w, chosen) },
		func(r nearRows[T]) { s.runs = append(s.runs, r) })
	return s, err
}

// nearRemote is eachNear on a cluster.
func (s *solver[T]) nearRemote(ctx context.Context, add func(nearRows[T])) error {
	pieces, base := s.pieces()
	var all []float64
	var found []int
	task := passes.ChooseOwn[T, *nearArgs, *nearOwn, *nearSums[T]](nearTask32, nearTask64)
	err := passes.EachOwn(ctx, s.src, task, &nearArgs{s.w, s.loss.slope}, pieces, func(i int) *nearOwn {
		own := &nearOwn{base: base(i)}
		lo, hi := passes.RowsOf(pieces[i], s.src.Rows())
		for r, chosen := range s.chosen[lo:hi] {
			if chosen {
				own.chosen = append(own.chosen, uint32(r))
			}
		}
		return own
	}, func(p *nearSums[T]) error {
		for _, r := range p.runs {
			for k := range r.numbers {
				r.numbers[k] += len(all)
			}
			found = append(found, r.numbers...)
			add(r)
		}
		all = append(all, p.base...)
		return nil
	})
	if err != nil {
		return err
	}
	copy(s.loss.base, all)
	for _, row := range found {
		s.chosen[row] = true
	}
	return nil
}
