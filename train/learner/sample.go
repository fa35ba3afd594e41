package learner

import (
	"context"
	"slices"

	"halfspace/internal/block"
	"halfspace/internal/passes"
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
	if _, stay := src.(*block.Data); !stay {
		var rows []int64
		for k := range n {
			for r := range int64(block.ChunkRows) {
				rows = append(rows, k*all/n*block.ChunkRows+r)
			}
		}
		blocks, err := passes.Gather(ctx, src, rows)
		return block.NewData(src.Spec(), blocks), err
	}
	var blocks []*block.Block
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
			chunk.First = k * block.ChunkRows
			blocks = append(blocks, chunk)
		}
	}
	return block.NewData(src.Spec(), slices.Clip(blocks)), nil
}
