package logistic

import (
	"context"
	"crypto/sha256"

	"halfspace/block"
	"halfspace/internal/checkpoint"
	"halfspace/internal/distributed"
	"halfspace/internal/message"
	"halfspace/train/internal/online"
	"halfspace/train/internal/optimize"
	"halfspace/train/learner"
)

// A mover is a state of stochastic gradient descent that takes steps.
type mover interface {
	learn(rows *block.Block, c *scratch, sum *sums) // takes steps on the rows, and adds their losses to sum
	mean(w []float64)                               // sets w to the mean of the weights
	sum() func() [sha256.Size]byte                  // hash of the last weights
	state(w *checkpoint.Walk)

	position() *stepPosition      // the caller may change the stepPosition
	mixedVectors() [][]float64    // returns the vectors that shards mix: the mover's own vectors, not copies
	setVectors(mixed [][]float64) // copies the given vectors to these vectors
}

// A stepPosition is the position and the size of the steps of a mover.
type stepPosition struct {
	Step      int64   // number of the next step, from 0
	AllRows   float64 // number of rows whose loss is minimised
	EpochRows float64 // number of rows that the mover visits in an epoch; with shards, the average of a shard
}

func (c *stepPosition) position() *stepPosition { return c }

func (a *walk) mixedVectors() [][]float64 { return [][]float64{a.v, a.average} }

func (a *walk) setVectors(vectors [][]float64) {
	copy(a.v, vectors[0])
	copy(a.average, vectors[1])
}

// mixedVectors sets u to the weights and v to their mean, because only these can be mixed. It returns uv, the biases
// and their means.
func (a *lazyWalk) mixedVectors() [][]float64 {
	a.unscale()
	for i := 1; i < len(a.uv); i += 2 {
		a.uv[i] /= a.growth
	}
	a.growth = 1
	return [][]float64{a.uv, a.bias, a.meanBias}
}

func (a *lazyWalk) setVectors(vectors [][]float64) {
	for i, v := range [][]float64{a.uv, a.bias, a.meanBias} {
		copy(v, vectors[i])
	}
	a.scale, a.shift, a.growth = 1, 0, 1
}

func (s *solver) newMover(sc *scaling, c stepPosition) mover {
	if optimize.HasManyColumns(s.cols) {
		return newLazy(s, sc.Square, c)
	}
	return &walk{solver: s, scaling: sc, stepPosition: &c, v: s.zeros(), average: s.zeros(), w: s.zeros(), g: s.zeros()}
}

// epoch returns a function that makes epoch s.epochs of descend. The function adds the losses of the visits to sum.
func (s *solver) epoch(sc *scaling, by mover) (func(ctx context.Context, sum *sums) error, error) {
	if s.opt.Shards > 1 {
		return s.shardsEpoch(sc, by)
	}
	pass, err := online.NewPass(s.src, learner.SharedOptions(&s.opt), 0, nil)
	return func(ctx context.Context, sum *sums) error {
		by.position().Step = s.steps
		err := s.visit(ctx, s.src, pass, s.epochs, func(rows *block.Block, c *scratch) { by.learn(rows, c, sum) })
		s.steps = by.position().Step
		return err
	}, err
}

// shardsEpoch is epoch for opt.Shards above 1.
func (s *solver) shardsEpoch(sc *scaling, by mover) (func(ctx context.Context, sum *sums) error, error) {
	if s.pivots != nil {
		return nil, message.Errorf("sgd with --shards takes no columns far from zero: use --standardize, or use 1 shard")
	}
	shards, err := online.NewShards(s.src, learner.SharedOptions(&s.opt), func(rows block.Source, number int) (online.Member, error) {
		return s.newShard(rows, number, sc, *by.position(), by.mixedVectors()), nil
	}, func(ctx context.Context, epoch int64, dealt [][]int64) (parts []online.ShardResult, err error) {
		args := shardArgs{s.opt, *sc, *by.position(), epoch, by.mixedVectors()}
		args.Opt.Checkpoint, args.Opt.Progress = nil, nil
		err = distributed.Each(ctx, s.src, shardTask, args, dealt, func(p online.ShardResult) error {
			parts = append(parts, p)
			return nil
		})
		return parts, err
	})
	each := int64(batchRows)
	if optimize.HasManyColumns(s.cols) {
		each = 1
	}
	perEpoch := (s.src.Rows() + each*s.opt.Shards - 1) / (each * s.opt.Shards)
	return func(ctx context.Context, sum *sums) error {
		by.position().Step = s.epochs * perEpoch
		parts, err := shards.Epoch(ctx, s.epochs, func() {})
		if err != nil {
			parts = shards.TakeResults()
		}
		for _, p := range parts {
			s.steps += p.Updates
			sum.Loss += p.Loss
		}
		if len(parts) > 0 {
			by.setVectors(online.MeanState(parts))
		}
		return err
	}, err
}

// A shard takes the steps of one epoch on the rows of one shard.
type shard struct {
	mover
	solver *solver
	rows   block.Source
	number int
	first  int64 // number of its first step
	visits int64
	losses sums
}

// newShard returns a shard that begins with the given vectors of a mover.
func (s *solver) newShard(rows block.Source, number int, sc *scaling, c stepPosition, vectors [][]float64) *shard {
	x := &shard{mover: s.newMover(sc, c), solver: s, rows: rows, number: number, first: c.Step}
	x.setVectors(vectors)
	return x
}

// Pass takes the steps of the epoch; see online.Member. It never pauses.
func (x *shard) Pass(ctx context.Context, epoch int64) error {
	opt := learner.SharedOptions(&x.solver.opt)
	opt.Workers = 1
	pass, err := online.NewPass(x.rows, opt, x.number, nil)
	if err != nil {
		return err
	}
	return x.solver.visit(ctx, x.rows, pass, epoch, func(part *block.Block, c *scratch) {
		x.learn(part, c, &x.losses)
		x.visits += int64(part.Len())
	})
}

func (x *shard) Result() online.ShardResult {
	return online.ShardResult{State: x.mixedVectors(), Loss: x.losses.Loss, Visits: x.visits, Updates: x.position().Step - x.first}
}

func (x *shard) Visits() int64 { return x.visits }

// State does nothing: checkpoints are taken only between two epochs.
func (x *shard) State(*checkpoint.Walk) {}

// shardTask takes the steps of a shard on a cluster. A piece is a shard.
var shardTask *distributed.Task[shardArgs, online.ShardResult]

func init() { shardTask = distributed.New("logistic.sgd", shardPass) } // set here, because shardPass uses shardTask indirectly

type shardArgs struct {
	Opt     Settings
	Scaling scaling
	Course  stepPosition
	Epoch   int64
	Vectors [][]float64
}

func shardPass(ctx context.Context, piece distributed.Piece, args shardArgs) (part online.ShardResult, err error) {
	rows, err := block.Validate(ctx, piece.Source, piece.Workers)
	if err != nil {
		return part, err
	}
	x := newSolver(rows, args.Opt).newShard(rows, piece.Number, &args.Scaling, args.Course, args.Vectors)
	err = x.Pass(ctx, args.Epoch)
	return x.Result(), err
}
