package svm

import (
	"context"

	"halfspace/block"
	"halfspace/internal/distributed"
	"halfspace/kernel/f64"
	"halfspace/train/learner"
)

// The hinge has a dual variable for each row, called its base; see smoothing. On a cluster, this process keeps the base
// of all rows, and sends each piece the base of its rows.

// remote tells whether a cluster makes the passes over the rows.
func (p *problem) remote() bool {
	cluster, _ := block.RemoteOf(p.src)
	return cluster != nil
}

// pieces returns the chunks of each piece of a pass, and a function that returns the base of the rows of piece i.
func (p *problem) pieces() (chunks [][]int64, base func(i int) []float64) {
	chunks = distributed.Consecutive(p.src.Rows())
	return chunks, func(i int) []float64 {
		lo, hi := distributed.RowsOf(chunks[i], p.src.Rows())
		return p.loss.base[lo:hi]
	}
}

// problemOf returns a problem with the rows of a piece and the hinge. It returns distributed.ErrOtherRows if the length of
// base isn't the number of rows.
func problemOf(src distributed.Piece, slope float64, base []float64) (*problem, error) {
	if int64(len(base)) != src.Rows() {
		return nil, distributed.ErrOtherRows
	}
	p := newProblem(src.Source, Settings{Options: Options{Loss: Hinge}})
	p.loss.slope, p.loss.base = slope, base
	return p, nil
}

// hingeArgs are the arguments of a pass of the hinge: the point, the slope, and whether to compute the Hessian.
type hingeArgs struct {
	At      point
	Slope   float64
	Hessian bool
}

// hingeSums are the sums over the chunks of a piece.
type hingeSums struct {
	Chunks   []chunkSums
	Products [][]float64 // for each chunk, the change of the Hessian; nil without a Hessian
	Base     []float64   // base of each row if it changed; otherwise nil
}

// hingeTask makes the passes of the hinge. Each piece gets the base of its rows.
var hingeTask = distributed.NewOwn("svm.hinge", hingeOf)

func hingeOf(ctx context.Context, src distributed.Piece, args *hingeArgs, base []float64) (s *hingeSums, err error) {
	p, err := problemOf(src, args.Slope, base)
	if err != nil {
		return nil, err
	}
	s = &hingeSums{}
	type pair struct {
		products []float64
		sums     chunkSums
	}
	err = block.ReduceChunks(ctx, src.Source, src.Workers, func(chunk block.Chunk) *pair {
		r := &pair{}
		if args.Hessian {
			r.products = learner.ScatterChunk(src.Spec(), chunk, p.cols,
				func(chunk block.Chunk, s, _ []float64) { r.sums = p.chunk(chunk, args.At, s) })
		} else {
			r.sums = p.chunk(chunk, args.At, nil)
		}
		return r
	}, func(r *pair) { s.Chunks, s.Products = append(s.Chunks, r.sums), append(s.Products, r.products) })
	if args.At.SlopeFactor > 0 {
		s.Base = base
	}
	return s, err
}

// passRemote makes a pass of the hinge on the cluster. Unless products is nil, it adds the change of the Hessian to
// products.
func (p *problem) passRemote(ctx context.Context, pt point, products []float64, at *sums) error {
	pieces, base := p.pieces()
	var raised []float64
	err := distributed.EachOwn(ctx, p.src, hingeTask, &hingeArgs{pt, p.loss.slope, products != nil}, pieces, base,
		func(s *hingeSums) error {
			for k, r := range s.Chunks {
				if products != nil {
					f64.Axpy(products, 1, s.Products[k])
				}
				at.add(r)
			}
			raised = append(raised, s.Base...)
			return nil
		})
	if err == nil {
		copy(p.loss.base, raised)
	}
	return err
}

// nearArgs is the base of the rows of a piece, and the numbers of the rows that are already chosen.
type nearArgs struct {
	Base   []float64
	Chosen []uint32
}

// nearSums are the near rows of each chunk of a piece, and the base of all rows of the piece.
type nearSums struct {
	Chunks []nearRows
	Base   []float64
}

// nearTask finds the near rows of a piece at a point.
var nearTask = distributed.NewOwn("svm.near", nearIn)

func nearIn(ctx context.Context, src distributed.Piece, args *hingeArgs, own *nearArgs) (s *nearSums, err error) {
	p, err := problemOf(src, args.Slope, own.Base)
	if err != nil {
		return nil, err
	}
	chosen := make([]bool, len(own.Base))
	for _, row := range own.Chosen {
		chosen[row] = true
	}
	s = &nearSums{Base: own.Base}
	err = block.ReduceChunks(ctx, src.Source, src.Workers,
		func(chunk block.Chunk) nearRows { return p.nearOfChunk(chunk, args.At.W, chosen) },
		func(r nearRows) { s.Chunks = append(s.Chunks, r) })
	return s, err
}

// nearRemote is eachNear on a cluster.
func (s *solver) nearRemote(ctx context.Context, add func(nearRows)) error {
	pieces, base := s.pieces()
	var all []float64
	var found []int
	err := distributed.EachOwn(ctx, s.src, nearTask, &hingeArgs{At: point{W: s.w}, Slope: s.loss.slope}, pieces, func(i int) *nearArgs {
		own := &nearArgs{Base: base(i)}
		lo, hi := distributed.RowsOf(pieces[i], s.src.Rows())
		for r, chosen := range s.chosenRows[lo:hi] {
			if chosen {
				own.Chosen = append(own.Chosen, uint32(r))
			}
		}
		return own
	}, func(p *nearSums) error {
		for _, r := range p.Chunks {
			for k := range r.Numbers {
				r.Numbers[k] += len(all)
			}
			found = append(found, r.Numbers...)
			add(r)
		}
		all = append(all, p.Base...)
		return nil
	})
	if err != nil {
		return err
	}
	copy(s.loss.base, all)
	for _, row := range found {
		s.chosenRows[row] = true
	}
	return nil
}
