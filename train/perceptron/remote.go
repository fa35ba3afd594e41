package perceptron

import (
	"context"

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

func passPiece[T kernel.Float](ctx context.Context, piece passes.Piece[T], args passArgs[T]) (mixing.Part[T], error) {
	return Pass(ctx, piece.Source, args.opt, args.epoch, piece.Number, args.w)
}

// remoteEpoch has the cluster make the passes of an epoch, and returns what the shards have made of it.
func (x *shards[T]) remoteEpoch(ctx context.Context, epoch int64, dealt [][]int64) (parts []mixing.Part[T], err error) {
	l := x.all
	task := passes.Choose[T, passArgs[T], mixing.Part[T]](passTask32, passTask64)
	opt := l.opt
	opt.Checkpoint, opt.Progress, opt.Init = nil, nil, nil // which are of all shards
	err = passes.Each(ctx, l.src, task, passArgs[T]{opt, epoch, l.w}, dealt, func(p mixing.Part[T]) error {
		parts = append(parts, p)
		return nil
	})
	return parts, err
}
