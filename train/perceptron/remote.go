package perceptron

import (
	"context"

	"halfspace/block"
	"halfspace/internal/passes"
	"halfspace/kernel"
	"halfspace/train/mixing"
)

// passTask32 and passTask64 are Pass on a cluster. A piece is a shard.
var (
	passTask32 = passes.New("perceptron.pass", passPiece[float32])
	passTask64 = passes.New("perceptron.pass", passPiece[float64])
)

// passArgs are the arguments of Pass that all shards share.
type passArgs[T kernel.Float] struct {
	opt   Options
	epoch int64
	w     []T
}

// someTask32 and someTask64 are someUpdate on a cluster.
var (
	someTask32 = passes.New("perceptron.some", somePiece[float32])
	someTask64 = passes.New("perceptron.some", somePiece[float64])
)

func somePiece[T kernel.Float](ctx context.Context, piece passes.Piece[T], args passArgs[T]) (bool, error) {
	l, err := newShard(piece.Source, args.opt, 0, args.w)
	if err != nil {
		return false, err
	}
	return l.someUpdate(ctx, l.w)
}

// mayUpdate is someUpdate, on the cluster of the rows if there is one.
func (l *learner[T]) mayUpdate(ctx context.Context, w []T) (some bool, err error) {
	if cluster, _ := block.RemoteOf(l.src); cluster == nil {
		return l.someUpdate(ctx, w)
	}
	task := passes.Choose[T, passArgs[T], bool](someTask32, someTask64)
	err = passes.Each(ctx, l.src, task, passArgs[T]{l.sent(), 0, w}, passes.Consecutive(l.rows), func(b bool) error {
		some = some || b
		return nil
	})
	return some, err
}

// sent returns the options for a cluster, without the checkpoint, the progress and the initial weights, which stay here.
func (l *learner[T]) sent() Options {
	opt := l.opt
	opt.Checkpoint, opt.Progress, opt.Init = nil, nil, nil
	return opt
}

func passPiece[T kernel.Float](ctx context.Context, piece passes.Piece[T], args passArgs[T]) (mixing.Part[T], error) {
	return Pass(ctx, piece.Source, args.opt, args.epoch, piece.Number, args.w)
}

// remoteEpoch has the cluster make the passes of an epoch, and returns what the shards have made of it.
func (x *shards[T]) remoteEpoch(ctx context.Context, epoch int64, dealt [][]int64) (parts []mixing.Part[T], err error) {
	l := x.all
	task := passes.Choose[T, passArgs[T], mixing.Part[T]](passTask32, passTask64)
	err = passes.Each(ctx, l.src, task, passArgs[T]{l.sent(), epoch, l.w}, dealt, func(p mixing.Part[T]) error {
		parts = append(parts, p)
		return nil
	})
	return parts, err
}
