package perceptron

import (
	"context"

	"halfspace/block"
	"halfspace/internal/distributed"
	"halfspace/train/internal/online"
)

// passTask makes Pass on a cluster. A piece is a shard.
var passTask *distributed.Task[passArgs, online.Part]

func init() { passTask = distributed.New("perceptron.pass", passPiece) } // set here, because passPiece uses passTask indirectly

// passArgs are the arguments of Pass that are the same for all shards.
type passArgs struct {
	opt   Options
	epoch int64
	w     []float32
}

// someTask makes someUpdate on a cluster.
var someTask = distributed.New("perceptron.some", somePiece)

func somePiece(ctx context.Context, piece distributed.Piece, args passArgs) (bool, error) {
	l, err := newShard(piece.Source, args.opt, 0, args.w)
	if err != nil {
		return false, err
	}
	return l.someUpdate(ctx, l.w)
}

// mayUpdate is someUpdate, made on the cluster of the rows if there is one.
func (l *training) mayUpdate(ctx context.Context, w []float32) (some bool, err error) {
	if cluster, _ := block.RemoteOf(l.src); cluster == nil {
		return l.someUpdate(ctx, w)
	}
	task := someTask
	err = distributed.Each(ctx, l.src, task, passArgs{l.sent(), 0, w}, distributed.Consecutive(l.rows), func(b bool) error {
		some = some || b
		return nil
	})
	return some, err
}

// sent returns the options for a cluster. It leaves out the checkpoint, the progress and the initial weights, which
// stay here.
func (l *training) sent() Options {
	opt := l.opt
	opt.Checkpoint, opt.Progress, opt.Init = nil, nil, nil
	return opt
}

func passPiece(ctx context.Context, piece distributed.Piece, args passArgs) (online.Part, error) {
	return Pass(ctx, piece.Source, args.opt, args.epoch, piece.Number, args.w)
}

// remoteEpoch makes the passes of an epoch on the cluster, and returns the parts of the shards.
func (x *shards) remoteEpoch(ctx context.Context, epoch int64, dealt [][]int64) (parts []online.Part, err error) {
	l := x.all
	task := passTask
	err = distributed.Each(ctx, l.src, task, passArgs{l.sent(), epoch, l.w}, dealt, func(p online.Part) error {
		parts = append(parts, p)
		return nil
	})
	return parts, err
}
