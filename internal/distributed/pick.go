package distributed

import (
	"context"
	"errors"
	"iter"
	"math/bits"
	"slices"

	"halfspace/internal/block"
)

// Pick returns a source of some rows of src, in their order. For each pass it calls keep once, and then calls the
// function that keep returned with the label of each row of src in turn; that function tells whether the source has the
// row. rows is the number of rows of the source, and each the largest number of rows in its blocks.
func Pick(src block.Source, rows int64, each int, keep func() func(y float32) bool) block.Source {
	return pickedSource{src, rows, each, keep}
}

type pickedSource struct {
	block.Source
	rows int64
	each int
	keep func() func(y float32) bool
}

func (p pickedSource) Rows() int64 { return p.rows }

func (p pickedSource) Blocks(ctx context.Context) iter.Seq2[*block.Block, error] {
	return func(yield func(*block.Block, error) bool) {
		keep, spec, rows := p.keep(), p.Spec(), int(min(p.rows, int64(p.each)))
		var to *block.Block
		n := 0 // rows in to
		for from, err := range p.Source.Blocks(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if to == nil && from.Sparse != nil {
				to = block.NewSparseFor(spec, 0, rows, 0)
			} else if to == nil {
				to = block.NewFor(spec, 0, rows)
			}
			for r, y := range from.Y {
				if !keep(y) {
					continue
				}
				copyRow(to, n, from, r)
				if n++; n < rows {
					continue
				}
				if !yield(to, nil) {
					return
				}
				n = 0
				if to.First += int64(rows); to.Sparse != nil {
					to.Clear(to.First)
				}
			}
		}
		if n > 0 {
			yield(to.Slice(0, n), nil)
		}
	}
}

// copyRow copies row r of from to row n of to. If the blocks are sparse, it appends the row.
func copyRow(to *block.Block, n int, from *block.Block, r int) {
	if from.Sparse != nil {
		to.AppendRow(from, r)
		return
	}
	copy(to.X[n*to.Stride:(n+1)*to.Stride], from.X[r*from.Stride:])
	if to.Y[n] = from.Y[r]; to.W != nil {
		to.W[n] = from.W[r]
	}
}

// PickedCluster returns a cluster that makes passes over the chosen rows of src, in their order. Row i is chosen if bit
// i%64 of chosen[i/64] is set. The cluster sends each piece to the cluster of src, with the chunks of src that hold the
// piece's rows. PickedCluster returns nil if src has no cluster.
func PickedCluster(src block.Source, chosen []uint64) block.Cluster {
	if cluster, _ := block.RemoteOf(src); cluster == nil {
		return nil
	}
	c := &choice{src: src, chosenBits: chosen}
	n := int64(0)
	for chunk := range slices.Chunk(chosen, words) {
		c.rowsBefore = append(c.rowsBefore, n)
		for _, w := range chunk {
			n += int64(bits.OnesCount64(w))
		}
	}
	c.rowsBefore = append(c.rowsBefore, n)
	return c
}

// words is the number of words with the bits of one chunk.
const words = block.ChunkRows / 64

// A choice is a cluster for some rows of src.
type choice struct {
	src        block.Source
	chosenBits []uint64
	rowsBefore []int64 // number of chosen rows before each chunk of src; the last element is their total
}

// pickTask computes the task in its argument on the chosen rows of a piece. Its result is the bytes of that task's
// result.
var pickTask = NewOwn("passes.pick", pickPiece)

// A pick is a piece's own arguments.
type pick struct {
	chosenBits []uint64 // the bits of the rows of its chunks
	ownArgs    []byte   // of EncodeOwn
	err        string
}

func (p *pick) Fields() []any { return []any{&p.chosenBits, &p.ownArgs, &p.err} }

// Pass makes a pass; see block.Cluster.
func (c *choice) Pass(ctx context.Context, p block.Pass, merge func(result any) error) error {
	coded, err := EncodePass(p)
	if err != nil {
		return err
	}
	pieces := make([][]int64, len(p.Pieces))
	for i, chunks := range p.Pieces {
		pieces[i] = c.chunksAround(chunks)
	}
	return EachOwn(ctx, c.src, pickTask, coded, pieces, func(i int) pick {
		own, err := EncodeOwn(p, i)
		if err != nil {
			return pick{err: err.Error()}
		}
		return pick{chosenBits: c.bits(p.Pieces[i], pieces[i]), ownArgs: own}
	}, func(r []byte) error {
		result, err := DecodeResult(p, r)
		if err != nil {
			return err
		}
		return merge(result)
	})
}

// chunksAround returns the chunks of src that contain rows of the given chunks of the choice.
func (c *choice) chunksAround(chunks []int64) (of []int64) {
	for _, chunk := range chunks {
		// one after the chunk with the choice's row chunk*block.ChunkRows
		first, _ := slices.BinarySearch(c.rowsBefore, chunk*block.ChunkRows+1)
		for first--; first < len(c.rowsBefore)-1 && c.rowsBefore[first] < (chunk+1)*block.ChunkRows; first++ {
			if n := len(of); n == 0 || of[n-1] < int64(first) {
				of = append(of, int64(first))
			}
		}
	}
	return of
}

// bits returns, for the chunks of src in of, the bits of the rows that belong to the given chunks of the choice.
func (c *choice) bits(chunks, of []int64) (all []uint64) {
	for _, from := range of {
		n := c.rowsBefore[from]
		for _, w := range c.chosenBits[from*words : min((from+1)*words, int64(len(c.chosenBits)))] {
			own := uint64(0)
			for ; w != 0; w &= w - 1 {
				if _, ok := slices.BinarySearch(chunks, n/block.ChunkRows); ok {
					own |= w & -w
				}
				n++
			}
			all = append(all, own)
		}
	}
	return all
}

func pickPiece(ctx context.Context, piece Piece, coded []byte, own pick) ([]byte, error) {
	if own.err != "" {
		return nil, errors.New(own.err)
	}
	pass, err := DecodePass(coded)
	if err != nil {
		return nil, err
	}
	n := int64(0)
	for _, w := range own.chosenBits {
		n += int64(bits.OnesCount64(w))
	}
	chosen, err := block.Collect(ctx, Pick(piece.Source, n, block.ChunkRows, func() func(float32) bool {
		row := -1
		return func(float32) bool {
			row++
			return own.chosenBits[row/64]>>(row%64)&1 > 0
		}
	}))
	if err != nil {
		return nil, err
	}
	return Run(ctx, pass, own.ownArgs, block.AssumeValid(block.Source(chosen)), piece.Number, piece.Workers)
}
