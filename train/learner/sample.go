package learner

import (
	"context"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/distributed"
	"halfspace/kernel"
)

const (
	sampleShare         = 8  // the sample has at most 1/sampleShare of the rows
	sampleRowsPerColumn = 64 // the sample has at least sampleRowsPerColumn rows for each column
)

// Sample returns as many chunks as a block has, as far from each other as possible. It returns nil if there are too few
// rows for a sample to save time. It makes one pass over the rows. If src is a *block.Data, the sample shares its
// memory.
func Sample(ctx context.Context, src block.Source) (*block.Data, error) {
	cols := src.Spec().Cols()
	all := src.Rows() / block.ChunkRows
	n := min(int64(block.Rows(cols)/block.ChunkRows), all/sampleShare)
	if n*block.ChunkRows < int64(sampleRowsPerColumn*cols) {
		return nil, nil
	}
	if cluster, _ := block.RemoteOf(src); cluster != nil {
		return remoteSample(ctx, src, n)
	}
	var blocks []*block.Block
	_, stay := src.(*block.Data)
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		for k := int64(len(blocks)); k < n; k++ {
			lo := k*all/n*block.ChunkRows - b.First
			if lo >= int64(b.Len()) {
				break
			}
			chunk := b.Slice(int(lo), int(lo)+block.ChunkRows)
			if !stay {
				chunk = chunk.Clone()
			}
			chunk.First = k * block.ChunkRows
			blocks = append(blocks, chunk)
		}
	}
	return block.NewData(src.Spec(), slices.Clip(blocks)), nil
}

// sampleTask returns copies of the chunks of a piece from a cluster.
var sampleTask = distributed.New("train.sample", func(ctx context.Context, piece distributed.Piece,
	_ struct{}) (chunks []*block.Block, err error) {
	for b, err := range piece.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		chunks = append(chunks, b.Clone())
	}
	return chunks, nil
})

// remoteSample is Sample on the cluster of src. It fetches n chunks; each chunk is one piece.
func remoteSample(ctx context.Context, src block.Source, n int64) (*block.Data, error) {
	all := src.Rows() / block.ChunkRows
	var pieces [][]int64
	for k := range n {
		pieces = append(pieces, []int64{k * all / n})
	}
	var blocks []*block.Block
	err := distributed.Each(ctx, src, sampleTask, struct{}{}, pieces, func(chunks []*block.Block) error {
		for _, chunk := range chunks {
			chunk = chunk.Clone() // to aligned memory
			chunk.First = int64(len(blocks)) * block.ChunkRows
			blocks = append(blocks, chunk)
		}
		return nil
	})
	return block.NewData(src.Spec(), blocks), err
}

// AppendRow appends row r of from to a block, in the same form and with the same centring. The block may be a zero value.
func AppendRow(to, from *block.Block, r int) {
	to.Cols, to.Stride, to.Centring = from.Cols, from.Stride, from.Centring
	if from.Sparse != nil {
		if to.Sparse == nil {
			to.Sparse = &kernel.SparseRows{Ptr: []int64{0}}
		}
		to.AppendRow(from, r)
		return
	}
	to.X, to.Y = append(to.X, from.X[r*from.Stride:(r+1)*from.Stride]...), append(to.Y, from.Y[r])
	if from.W != nil {
		to.W = append(to.W, from.W[r])
	}
}
