package passes

import (
	"context"

	"halfspace/internal/block"
)

// Gather returns copies of the rows with the given numbers, which ascend. The rows of each chunk make a block, so that
// sums within chunks keep their order. The blocks are numbered as chunks.
func Gather(ctx context.Context, src block.Source, rows []int64) (blocks []*block.Block, err error) {
	add := func(gathered []*block.Block) error {
		for _, b := range gathered {
			b = b.Clone() // to aligned memory
			b.First = int64(len(blocks)) * block.ChunkRows
			blocks = append(blocks, b)
		}
		return nil
	}
	if InProcess(src) {
		gathered, err := gather(ctx, Piece{Source: src}, struct{}{}, rows)
		if err != nil {
			return nil, err
		}
		return blocks, add(gathered)
	}
	var pieces, own [][]int64 // the chunks of each piece, and its rows, numbered from its first one
	for _, chunks := range Consecutive(src.Rows()) {
		var piece, numbers []int64
		for _, chunk := range chunks {
			before := len(numbers)
			for ; len(rows) > 0 && rows[0]/block.ChunkRows == chunk; rows = rows[1:] {
				numbers = append(numbers, int64(len(piece))*block.ChunkRows+rows[0]%block.ChunkRows)
			}
			if len(numbers) > before {
				piece = append(piece, chunk)
			}
		}
		if piece != nil {
			pieces, own = append(pieces, piece), append(own, numbers)
		}
	}
	err = gatherTask.Each(ctx, src, struct{}{}, pieces, func(i int) []int64 { return own[i] }, add)
	return blocks, err
}

var gatherTask = NewOwnTask("passes.gather", gather)

// gather returns the rows of a piece with the given numbers: a block for each chunk with such rows.
func gather(ctx context.Context, piece Piece, _ struct{}, rows []int64) (blocks []*block.Block, err error) {
	read := int64(0)
	for chunks, err := range block.Chunks(ctx, piece.Source, 1) {
		if err != nil {
			return nil, err
		}
		for _, chunk := range chunks {
			read += int64(chunk.Len())
			var numbers []int
			for ; len(rows) > 0 && rows[0] < chunk.First+int64(chunk.Len()); rows = rows[1:] {
				numbers = append(numbers, int(rows[0]-chunk.First))
			}
			if numbers != nil {
				blocks = append(blocks, chunk.Gather(numbers))
			}
		}
		if len(rows) == 0 && read < piece.Source.Rows()/2 { // else it reads on: a whole pass makes a cache, a fingerprint
			break
		}
	}
	return blocks, nil
}
