package cluster

import (
	"context"
	"fmt"
	"sync"

	"halfspace/internal/block"
	"halfspace/internal/distributed"
	"halfspace/internal/worker"
)

// pieceWorker computes the pieces that this process gets.
var pieceWorker = worker.New(0, "")

// computePiece computes a piece of the pass in a folder, and writes its result there.
func computePiece(ctx context.Context, folder string, number int64) error {
	o, p, err := orders.get(ctx, folder)
	if err != nil {
		return err
	}
	if number < 0 || number >= int64(len(o.Pieces)) {
		return fmt.Errorf("%s: there is no piece %d", folder, number)
	}
	piece := worker.Piece{Number: int(number), Chunks: o.Pieces[number]}
	if o.HasOwnArgs {
		if piece.OwnArgs, err = readSealed(ctx, folder+"/"+ownArgsName(number)); err != nil {
			return err
		}
	}
	result, err := pieceWorker.Compute(ctx, o.Training, p, piece)
	if err != nil && ctx.Err() != nil {
		return err
	}
	return writeResult(ctx, folder, number, result, err)
}

// orders keeps the order of the last pass.
var orders lastOrder

type lastOrder struct {
	mu     sync.Mutex
	folder string
	order  *order
	pass   block.Pass
}

func (l *lastOrder) get(ctx context.Context, folder string) (*order, block.Pass, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.folder == folder {
		return l.order, l.pass, nil
	}
	text, err := readSealed(ctx, folder+"/order")
	if err != nil {
		return nil, block.Pass{}, err
	}
	o := new(order)
	if err := distributed.Decode(text, o); err != nil {
		return nil, block.Pass{}, fmt.Errorf("%s: %w", folder, err)
	}
	pass, err := distributed.DecodePass(o.Pass)
	if err != nil {
		return nil, pass, err
	}
	l.folder, l.order, l.pass = folder, o, pass
	return o, pass, nil
}
